// Namespaces of attempts: which kind this process can make, and how the first process in one sets it
// up. Stateless functions; any thread.
//
// When the first process of a pid namespace ends, the kernel kills all others in it, whatever session,
// parent or environment they have. /dev/shm and the objects of System V are the namespace's own, so
// that they end with its processes.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/result.h"

namespace ares::os {

enum class NamespaceKind : std::uint8_t {
  none,
  privileged,    // a pid, a mount and an IPC namespace; needs root
  unprivileged,  // the same inside a user namespace, where only the caller's user and group exist
};

// The kind for this process: privileged for root, who runs jobs of other users, which a user namespace
// does not permit; else unprivileged. Says nothing about whether it can be made.
NamespaceKind namespace_kind();

// Whether such a namespace can be made and set up here, or why not. Forks a child that tries it and
// exits. No error for `none`.
Status can_make_namespace(NamespaceKind kind);

// Flags of clone3(2) for it.
std::uint64_t clone_flags(NamespaceKind kind);

// The user and group that exist in an unprivileged namespace.
struct NamespaceOwner {
  uid_t uid;
  gid_t gid;
};
NamespaceOwner namespace_owner();  // to be called before the namespace is made

// Called in the first process of a new namespace: maps the owner to the same numbers and mounts the
// namespace's /proc, and an empty /dev/shm of the same size as the machine's, if it has one. Returns 0
// or an errno. Later mounts of the machine still arrive. Async-signal-safe.
int enter_namespace(NamespaceKind kind, const NamespaceOwner& owner);

// fork() with clone3 flags, without libc's at-fork handlers. `cgroup` is a directory of the unified
// hierarchy that the child starts in, or -1.
pid_t fork_with(std::uint64_t flags, int cgroup = -1);

}  // namespace ares::os
