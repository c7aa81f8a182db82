#include "os/namespace.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string>

#include "os/fd.h"

namespace ares::os {
namespace {

constexpr std::uint64_t kAll = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC;

int write_text(const char* path, const char* text, std::size_t size) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const ssize_t written = ::write(fd, text, size);
  const int error = written == static_cast<ssize_t>(size) ? 0 : errno;
  ::close(fd);
  return error;
}

// "ID ID 1": this number is the same inside and outside.
int map_one(const char* path, unsigned id) {
  char line[32];
  char* end = std::to_chars(line, line + 12, id).ptr;
  *end++ = ' ';
  end = std::to_chars(end, end + 12, id).ptr;
  std::memcpy(end, " 1", 2);
  return write_text(path, line, static_cast<std::size_t>(end + 2 - line));
}

// The kernel requires "deny" before an ordinary user may map a group: dropping a group could grant
// access to a file that denies it to the group.
int map_owner(const NamespaceOwner& owner) {
  if (const int error = write_text("/proc/self/setgroups", "deny", 4); error != 0) return error;
  if (const int error = map_one("/proc/self/uid_map", owner.uid); error != 0) return error;
  return map_one("/proc/self/gid_map", owner.gid);
}

// What a job leaves in the machine's /dev/shm would stay in memory.
int mount_shared_memory() {
  constexpr const char* kSharedMemory = "/dev/shm";
  struct statvfs machine {};
  if (::statvfs(kSharedMemory, &machine) != 0) return errno == ENOENT ? 0 : errno;
  char options[48] = "mode=1777,size=";
  char* end = options + std::strlen(options);
  end = std::to_chars(end, end + 24, std::uint64_t{machine.f_blocks} * machine.f_frsize).ptr;
  *end = '\0';
  const unsigned long flags = MS_NOSUID | MS_NODEV | (machine.f_flag & ST_NOEXEC ? MS_NOEXEC : 0);
  return ::mount("tmpfs", kSharedMemory, "tmpfs", flags, options) == 0 ? 0 : errno;
}

}  // namespace

pid_t fork_with(std::uint64_t flags, int cgroup) {
  clone_args args{};
  args.flags = flags;
  args.exit_signal = SIGCHLD;
  if (cgroup >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<std::uint64_t>(cgroup);
  }
  return static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
}

NamespaceKind namespace_kind() {
  return ::geteuid() == 0 ? NamespaceKind::privileged : NamespaceKind::unprivileged;
}

NamespaceOwner namespace_owner() {
  return {::geteuid(), ::getegid()};
}

std::uint64_t clone_flags(NamespaceKind kind) {
  switch (kind) {
    case NamespaceKind::none: return 0;
    case NamespaceKind::privileged: return kAll;
    case NamespaceKind::unprivileged: return kAll | CLONE_NEWUSER;
  }
  return 0;
}

int enter_namespace(NamespaceKind kind, const NamespaceOwner& owner) {
  if (kind == NamespaceKind::none) return 0;
  if (kind == NamespaceKind::unprivileged)
    if (const int error = map_owner(owner); error != 0) return error;
  // Pids here are not those outside, so /proc must be this namespace's.
  if (::mount("none", "/", nullptr, MS_SLAVE | MS_REC, nullptr) != 0) return errno;
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    return errno;
  return mount_shared_memory();
}

Status can_make_namespace(NamespaceKind kind) {
  constexpr const char* kCannot = "cannot make a pid namespace";
  const NamespaceOwner owner = namespace_owner();
  const pid_t pid = fork_with(clone_flags(kind));
  if (pid < 0) return fail(errno_error(kCannot));
  if (pid == 0) {
    const int error = enter_namespace(kind, owner);
    // For root a pid namespace is useful even if its /proc cannot be mounted.
    ::_exit(kind == NamespaceKind::privileged ? 0 : error);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status))
    return fail(ErrorCode::internal, std::string(kCannot) + ": it was killed");
  if (WEXITSTATUS(status) != 0) return fail(errno_error(kCannot, WEXITSTATUS(status)));
  return {};
}

}  // namespace ares::os
