#include "os/namespace.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>

#include "os/fd.h"

namespace ares::os {
namespace {

constexpr std::uint64_t kAll = CLONE_NEWPID | CLONE_NEWNS;
constexpr const char* kSharedMemory = "/dev/shm";
constexpr const char* kMessageQueues = "/dev/mqueue";
constexpr decltype(statfs::f_type) kMqueueMagic = 0x19800202;  // not in linux/magic.h

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

bool kernel_has_ipc_namespaces() {
  return ::access("/proc/self/ns/ipc", F_OK) == 0;
}

// What a job leaves in the machine's /dev/shm would stay in memory.
int mount_shared_memory() {
  struct statfs machine {};
  if (::statfs(kSharedMemory, &machine) != 0) return errno == ENOENT ? 0 : errno;
  char options[48] = "mode=1777,size=";
  char* end = options + std::strlen("mode=1777");
  if (machine.f_type == TMPFS_MAGIC) {  // else its size says nothing of memory
    end = options + std::strlen(options);
    const auto block = static_cast<std::uint64_t>(machine.f_bsize);
    end = std::to_chars(end, end + 24, std::uint64_t{machine.f_blocks} * block).ptr;
  }
  *end = '\0';
  const unsigned long flags = MS_NOSUID | MS_NODEV | (machine.f_flags & ST_NOEXEC ? MS_NOEXEC : 0);
  return ::mount("tmpfs", kSharedMemory, "tmpfs", flags, options) == 0 ? 0 : errno;
}

// A mount shows the queues of the IPC namespace in which it was made.
void mount_message_queues() {
  struct statfs machine {};
  if (::statfs(kMessageQueues, &machine) != 0 || machine.f_type != kMqueueMagic) return;
  (void)::mount("mqueue", kMessageQueues, "mqueue", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
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

std::uint64_t clone_flags(NamespaceKind kind, Ipc ipc) {
  const std::uint64_t all =
      ipc == Ipc::own && kernel_has_ipc_namespaces() ? kAll | CLONE_NEWIPC : kAll;
  switch (kind) {
    case NamespaceKind::none: return 0;
    case NamespaceKind::privileged: return all;
    case NamespaceKind::unprivileged: return all | CLONE_NEWUSER;
  }
  return 0;
}

Entered enter_namespace(NamespaceKind kind, Ipc ipc, const NamespaceOwner& owner) {
  if (kind == NamespaceKind::none) return {};
  if (kind == NamespaceKind::unprivileged)
    if (const int error = map_owner(owner); error != 0) return {error, error};
  if (::mount("none", "/", nullptr, MS_SLAVE | MS_REC, nullptr) != 0) return {errno, errno};
  Entered entered;
  // Pids here are not those outside, so /proc must be this namespace's.
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    entered.error = errno;
  if (ipc == Ipc::of_machine) return entered;
  entered.ipc_error = mount_shared_memory();
  mount_message_queues();
  return entered;
}

namespace {

// Makes the namespace in a child, which exits with the number that `result` takes from what it met.
Status try_namespace(NamespaceKind kind, Ipc ipc, const char* cannot,
                     int (*result)(NamespaceKind kind, const Entered& entered)) {
  const NamespaceOwner owner = namespace_owner();
  const pid_t pid = fork_with(clone_flags(kind, ipc));
  if (pid < 0) return fail(errno_error(cannot));
  if (pid == 0) ::_exit(result(kind, enter_namespace(kind, ipc, owner)));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status))
    return fail(ErrorCode::internal, std::string(cannot) + ": the process that tried was killed");
  if (WEXITSTATUS(status) != 0) return fail(errno_error(cannot, WEXITSTATUS(status)));
  return {};
}

}  // namespace

Status can_make_namespace(NamespaceKind kind, Ipc ipc) {
  return try_namespace(kind, ipc, "cannot make a pid namespace",
                       [](NamespaceKind made, const Entered& entered) {
                         // For root it is useful even if its /proc cannot be mounted.
                         return made == NamespaceKind::privileged ? 0 : entered.error;
                       });
}

Status can_make_own_ipc(NamespaceKind kind) {
  if (!kernel_has_ipc_namespaces())
    return fail(ErrorCode::failed_precondition, "this kernel has no IPC namespaces");
  return try_namespace(kind, Ipc::own, "cannot give jobs a /dev/shm of their own",
                       [](NamespaceKind, const Entered& entered) { return entered.ipc_error; });
}

bool hidden_by_own_ipc(const std::string& path) {
  std::error_code error;
  const std::string real = std::filesystem::weakly_canonical(path, error).string() + "/";
  return real.starts_with(std::string(kSharedMemory) + "/") ||
         real.starts_with(std::string(kMessageQueues) + "/");
}

}  // namespace ares::os
