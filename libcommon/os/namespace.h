// Namespaces of attempts: which kind this process can make, and how the first process in one sets it
// up. Stateless functions; any thread.
//
// When the first process of a pid namespace ends, the kernel kills all others in it, whatever session,
// parent or environment they have. With an IPC namespace, /dev/shm, the objects of System V and the
// message queues of POSIX are the attempt's own, so that they end with its processes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace ares::os {

enum class NamespaceKind : std::uint8_t {
  none,
  privileged,    // a pid and a mount namespace; needs root
  unprivileged,  // the same inside a user namespace, where only the caller's user and group exist
};

// Whether an attempt gets an IPC namespace with its others. Kernels without CONFIG_IPC_NS make none.
enum class Ipc : std::uint8_t { of_machine, own };

// The kind for this process: privileged for root, who runs jobs of other users, which a user namespace
// does not permit; else unprivileged. Says nothing about whether it can be made.
NamespaceKind namespace_kind();

// Whether such a namespace can be made and set up here, or why not. Forks a child that tries it and
// exits. No error for `none`.
Status can_make_namespace(NamespaceKind kind, Ipc ipc = Ipc::own);
// Whether what jobs leave in shared memory can be made to end with them, or why not.
Status can_make_own_ipc(NamespaceKind kind);
// Whether processes with an IPC namespace see another file than the machine at this path.
bool hidden_by_own_ipc(const std::string& path);

// Flags of clone3(2) for it.
std::uint64_t clone_flags(NamespaceKind kind, Ipc ipc = Ipc::own);

// The user and group that exist in an unprivileged namespace.
struct NamespaceOwner {
  uid_t uid;
  gid_t gid;
};
NamespaceOwner namespace_owner();  // to be called before the namespace is made

// Errors of enter_namespace(): 0 or an errno.
struct Entered {
  int error = 0;      // the owner is not mapped or /proc is the machine's
  int ipc_error = 0;  // /dev/shm is the machine's although Ipc::own was asked for
};

// Called in the first process of a new namespace: maps the owner to the same numbers and mounts the
// namespace's /proc. With Ipc::own it mounts an empty /dev/shm of the same size as the machine's and
// an empty /dev/mqueue, where the machine has them. Later mounts of the machine still arrive.
// Async-signal-safe.
Entered enter_namespace(NamespaceKind kind, Ipc ipc, const NamespaceOwner& owner);

// fork() with clone3 flags, without libc's at-fork handlers. `cgroup` is a directory of the unified
// hierarchy that the child starts in, or -1.
pid_t fork_with(std::uint64_t flags, int cgroup = -1);

}  // namespace ares::os
