#include "os/groups/step_groups.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <sstream>
#include <string_view>
#include <utility>

#include "os/fd.h"
#include "os/file.h"
#include "os/group_use.h"
#include "os/hierarchies.h"

namespace ares::os {
namespace {

constexpr const char* kLimit = "/memory.limit_in_bytes";
constexpr const char* kLimitWithSwap = "/memory.memsw.limit_in_bytes";

std::string path_of(const std::string& parent, std::size_t number) {
  return parent + "/step." + std::to_string(number);
}

Status write_value(const std::string& path, std::string_view value) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file && ::write(file.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size()))
    return {};
  return fail(errno_error("cannot write to " + path));
}

// That of all processes of the group; 0 = it cannot be read.
std::uint64_t limit_of(const std::string& group) {
  const std::string text = read_file(group + kLimit).value_or("");
  std::uint64_t bytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), bytes);
  return bytes;
}

Error none(const std::string& why) {
  return {ErrorCode::failed_precondition, "this node cannot limit the memory of a step: " + why};
}

// Any process of the job's user could have entered the group of a step, also one of another job: version 1
// looks at the file's owner only. It would keep the memory of a job that has ended.
void remove_step_group(const std::string& path) {
  if (::rmdir(path.c_str()) == 0 || errno != EBUSY) return;
  const std::string processes = path + "/cgroup.procs";
  (void)!::chown(processes.c_str(), 0, static_cast<gid_t>(-1));  // nothing enters any more
  constexpr int kTries = 500;
  constexpr useconds_t kPause = 2000;  // killed processes take a moment to exit
  for (int i = 0; i < kTries; ++i) {
    std::istringstream pids(read_file(processes).value_or(""));
    for (pid_t pid = 0; pids >> pid;)
      if (pid > 1) ::kill(pid, SIGKILL);
    if (::rmdir(path.c_str()) == 0 || errno != EBUSY) return;
    ::usleep(kPause);
  }
}

}  // namespace

bool remove_group(const std::string& path) {
  if (::rmdir(path.c_str()) == 0) return true;
  if (errno != EBUSY && errno != ENOTEMPTY) return false;
  for (std::size_t i = 0; i < StepGroups::kMost; ++i) remove_step_group(path_of(path, i));
  return ::rmdir(path.c_str()) == 0;
}

Result<std::unique_ptr<StepGroups>> StepGroups::make(Bytes limit, uid_t user) {
  const Result<Hierarchies> hierarchies = Hierarchies::of_this_process();
  const std::string parent = hierarchies ? hierarchies->v1("memory") : std::string();
  if (parent.empty()) return fail(none("the memory controller is not one of cgroup version 1"));
  const std::uint64_t in_force = limit_of(parent);
  if (limit.value() <= 0 || in_force == 0 || in_force > static_cast<std::uint64_t>(limit.value()))
    return fail(none("the memory of the job is not limited by a control group"));
  return make_below(parent, user);
}

Result<std::unique_ptr<StepGroups>> StepGroups::make_below(const std::string& parent, uid_t user) {
  // Else what is used below would not count for the job. Kernels since 5.11 always count it.
  if (read_file(parent + "/memory.use_hierarchy").value_or("1").starts_with('0'))
    if (!write_value(parent + "/memory.use_hierarchy", "1"))
      return fail(none("its kernel does not count the memory of groups within groups"));
  for (std::size_t i = 0; i < kMost; ++i) {
    const std::string path = path_of(parent, i);
    if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)
      return fail(none(errno_error("cannot make " + path).message));
    for (const char* file : {kLimit, kLimitWithSwap, "/cgroup.procs"})
      if (::chown((path + file).c_str(), user, static_cast<gid_t>(-1)) != 0 && errno != ENOENT)
        return fail(none(errno_error("cannot give " + path + file + " to the user").message));
  }
  return std::unique_ptr<StepGroups>(new StepGroups(parent));
}

Result<std::unique_ptr<StepGroups::Group>> StepGroups::take(Bytes limit) {
  Status unusable;
  for (std::size_t i = 0; i < kMost; ++i) {
    const std::string path = path_of(parent_, i);
    // What an earlier step left running stays there.
    if (taken_[i] || !read_file(path + "/cgroup.procs").value_or("0").empty()) continue;
    const std::string text = std::to_string(limit.value());
    // That with swap is never below the other. It is not there on kernels that do not count swap.
    (void)write_value(path + kLimitWithSwap, "-1");
    // Memory that an earlier step left, such as files in /dev/shm, may be more than the limit.
    if (Status set = write_value(path + kLimit, text); !set) {
      unusable = std::move(set);
      continue;
    }
    (void)write_value(path + kLimitWithSwap, text);
    taken_[i] = true;
    return std::unique_ptr<Group>(new Group(*this, i));
  }
  if (!unusable) return fail(unusable.error());
  return fail(ErrorCode::resource_exhausted,
              "at most " + std::to_string(kMost) +
                  " steps with a limit of their own on memory can run on a node at a time");
}

StepGroups::Group::Group(StepGroups& groups, std::size_t number)
    : groups_(groups),
      number_(number),
      path_(path_of(groups.parent_, number)),
      killed_before_(read_count(path_ + "/memory.oom_control", "oom_kill")) {}

StepGroups::Group::~Group() {
  groups_.taken_[number_] = false;
}

bool StepGroups::Group::ran_out_of_memory() const {
  return read_count(path_ + "/memory.oom_control", "oom_kill") > killed_before_;
}

}  // namespace ares::os
