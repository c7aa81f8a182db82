#include "os/limit_groups.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <utility>

#include "base/bitset.h"
#include "os/device_filter.h"
#include "os/fd.h"
#include "os/file.h"
#include "os/group_use.h"
#include "os/groups/step_groups.h"

namespace ares::os {
namespace {

constexpr std::size_t kMostCpus = 65536;
constexpr std::uint64_t kPeriod = 100'000;  // microseconds, in which a quota counts

bool write_value(const std::string& path, std::string_view value) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

// Those of the file; empty if it has none or does not exist.
Bitset read_set(const std::string& path) {
  const Result<std::string> text = read_file(path);
  const Result<Bitset> set = text ? parse_bitset(*text, kMostCpus) : fail(text.error());
  return set ? *set : Bitset(kMostCpus);
}

// The numbers of `wanted` that are in `there`: a node may be configured with CPUs that it does not
// have.
Bitset those_there(const std::vector<std::uint32_t>& wanted, const Bitset& there) {
  Bitset set(kMostCpus);
  for (const std::uint32_t number : wanted)
    if (number < kMostCpus) set.set(number);
  return set &= there;
}

std::string quota(std::uint32_t cpus) {
  return std::to_string(kPeriod * cpus);
}

}  // namespace

Limits Limits::of_each_kind() {
  Limits limits;
  limits.memory = Bytes(1);
  limits.cpus = {0};
  limits.cpu_count = 1;
  limits.processes = 1;
  limits.denied_devices = {""};
  return limits;
}

LimitGroups::LimitGroups(const Hierarchies& hierarchies, const std::string& name, Limits limits)
    : limits_(std::move(limits)), name_(name) {
  if (limits_.memory.value() > 0) memory_place_ = place(hierarchies, "memory");
  if (!limits_.cpus.empty()) cpuset_place_ = place(hierarchies, "cpuset");
  if (limits_.cpu_count > 0) cpu_place_ = place(hierarchies, "cpu");
  if (limits_.processes > 0) pids_place_ = place(hierarchies, "pids");
  if (!limits_.denied_devices.empty()) devices_place_ = place(hierarchies, "devices");
}

LimitGroups::LimitGroups(LimitGroups&& other) noexcept
    : limits_(std::move(other.limits_)),
      name_(std::move(other.name_)),
      memory_place_(std::move(other.memory_place_)),
      cpuset_place_(std::move(other.cpuset_place_)),
      cpu_place_(std::move(other.cpu_place_)),
      pids_place_(std::move(other.pids_place_)),
      devices_place_(std::move(other.devices_place_)),
      planned_(std::move(other.planned_)),
      unified_(std::move(other.unified_)),
      controllers_(std::move(other.controllers_)),
      made_(std::exchange(other.made_, {})),
      entered_(std::move(other.entered_)),
      entered_by_(other.entered_by_),
      memory_(std::move(other.memory_)),
      cpus_(other.cpus_),
      cpu_time_(other.cpu_time_),
      processes_(other.processes_),
      devices_(other.devices_) {}

LimitGroups::~LimitGroups() {
  for (const std::string& group : made_) remove_group(group);
}

// Controllers may share a hierarchy (cpu,cpuacct), and so the group.
LimitGroups::Place LimitGroups::place(const Hierarchies& hierarchies, const char* controller) {
  Place found{hierarchies.v1(controller), {}};
  if (found.parent.empty()) return found;
  found.group = found.parent + "/" + name_;
  if (std::find(planned_.begin(), planned_.end(), found.group) == planned_.end())
    planned_.push_back(found.group);
  return found;
}

bool LimitGroups::has(const char* controller) const {
  std::istringstream words(controllers_);
  for (std::string word; words >> word;)
    if (word == controller) return true;
  return false;
}

// Returns the group, or "" if it cannot be used.
std::string LimitGroups::make(const Place& place) {
  if (place.group.empty()) return {};
  if (std::find(made_.begin(), made_.end(), place.group) != made_.end()) return place.group;
  if (::mkdir(place.group.c_str(), 0755) != 0 && errno != EEXIST) return {};
  made_.push_back(place.group);
  return place.group;
}

void LimitGroups::create(const std::string& unified) {
  unified_ = unified;
  if (!unified_.empty()) controllers_ = read_file(unified_ + "/cgroup.controllers").value_or("");
  if (limits_.memory.value() > 0) memory_.on = limit_memory();
  if (!limits_.cpus.empty()) cpus_ = keep_on_cpus();
  if (limits_.cpu_count > 0 && (!cpus_ || limits_.cpus.size() > limits_.cpu_count))
    cpu_time_ = limit_cpu_time();
  if (limits_.processes > 0) processes_ = limit_processes();
  if (!limits_.denied_devices.empty()) devices_ = deny_devices();
  // A process cannot enter a cpuset without CPUs, and needs no group that limits nothing.
  const auto unused = [this](const std::string& group) {
    const bool used =
        (memory_.on && group == memory_place_.group) || (cpus_ && group == cpuset_place_.group) ||
        (cpu_time_ && group == cpu_place_.group) || (processes_ && group == pids_place_.group) ||
        (devices_ && group == devices_place_.group);
    // EBUSY: made ahead, and entered.
    return !used && (::rmdir(group.c_str()) == 0 || errno != EBUSY);
  };
  std::erase_if(made_, unused);
}

bool LimitGroups::limit_memory() {
  const std::string limit = std::to_string(limits_.memory.value());
  if (has("memory") && write_value(unified_ + "/memory.max", limit)) {
    write_value(unified_ + "/memory.swap.max", "0");
    memory_.events = unified_ + "/memory.events";
    memory_.peak = unified_ + "/memory.peak";
    return true;
  }
  const std::string group = make(memory_place_);
  if (group.empty() || !write_value(group + "/memory.limit_in_bytes", limit)) return false;
  write_value(group + "/memory.memsw.limit_in_bytes", limit);
  memory_.events = group + "/memory.oom_control";
  memory_.peak = group + "/memory.max_usage_in_bytes";
  return true;
}

bool LimitGroups::keep_on_cpus() {
  const bool v2 = has("cpuset");
  const std::string& parent = cpuset_place_.parent;
  if (!v2 && parent.empty()) return false;
  const Bitset wanted = those_there(
      limits_.cpus, read_set(v2 ? unified_ + "/cpuset.cpus.effective" : parent + "/cpuset.cpus"));
  if (wanted.none()) return false;
  const std::string cpus = format_bitset(wanted);
  if (!v2) return !make_cpuset(cpus).empty();
  if (!write_value(unified_ + "/cpuset.cpus", cpus)) return false;
  const Bitset nodes =
      those_there(limits_.memory_nodes, read_set(unified_ + "/cpuset.mems.effective"));
  if (nodes.any()) write_value(unified_ + "/cpuset.mems", format_bitset(nodes));
  return true;
}

// Returns the v1 group with these CPUs, or "" if it cannot be used.
std::string LimitGroups::make_cpuset(const std::string& cpus) {
  const std::string group = make(cpuset_place_);
  if (group.empty()) return {};
  const Bitset all = read_set(cpuset_place_.parent + "/cpuset.mems");
  const Bitset own = those_there(limits_.memory_nodes, all);
  const std::string mems = format_bitset(own.any() ? own : all);
  // Its parent balances the load of these CPUs. A second domain would have to be built with each job.
  write_value(group + "/cpuset.sched_load_balance", "0");
  const bool usable =
      write_value(group + "/cpuset.cpus", cpus) && write_value(group + "/cpuset.mems", mems);
  return usable ? group : std::string();
}

// Neither those of `cpu`, which a job on its CPUs does not need, nor of `devices`, which only nodes
// with GPUs need.
bool LimitGroups::create_ahead() {
  make(memory_place_);
  make(pids_place_);
  if (const std::string& parent = cpuset_place_.parent; !parent.empty()) {
    const std::string all = format_bitset(read_set(parent + "/cpuset.cpus"));
    if (make_cpuset(all).empty()) {  // no process can enter it
      ::rmdir(cpuset_place_.group.c_str());
      std::erase(made_, cpuset_place_.group);
    }
  }
  return !made_.empty();
}

void LimitGroups::limit(Limits limits, const std::string& unified) {
  limits_ = std::move(limits);
  create(unified);
}

bool LimitGroups::limit_cpu_time() {
  if (has("cpu"))
    return write_value(unified_ + "/cpu.max",
                       quota(limits_.cpu_count) + " " + std::to_string(kPeriod));
  const std::string group = make(cpu_place_);
  return !group.empty() && write_value(group + "/cpu.cfs_period_us", std::to_string(kPeriod)) &&
         write_value(group + "/cpu.cfs_quota_us", quota(limits_.cpu_count));
}

bool LimitGroups::limit_processes() {
  const std::string limit = std::to_string(limits_.processes);
  if (has("pids") && write_value(unified_ + "/pids.max", limit)) return true;
  const std::string group = make(pids_place_);
  return !group.empty() && write_value(group + "/pids.max", limit);
}

// All others stay as the parent allows them.
bool LimitGroups::deny_devices() {
  const std::string group = make(devices_place_);
  if (!group.empty() && std::all_of(limits_.denied_devices.begin(), limits_.denied_devices.end(),
                                    [&](const std::string& device) {
                                      return write_value(group + "/devices.deny", device + " rwm");
                                    }))
    return true;
  return !unified_.empty() && attach_device_filter(unified_, limits_.denied_devices).has_value();
}

Status LimitGroups::attach(pid_t pid) {
  if (std::exchange(entered_by_, pid) != pid) entered_.clear();
  for (const std::string& group : made_) {
    if (std::find(entered_.begin(), entered_.end(), group) != entered_.end()) continue;
    entered_.push_back(group);
    if (write_value(group + "/cgroup.procs", std::to_string(pid))) continue;
    if (group != cpu_place_.group) return fail(errno_error("cannot move the task into " + group));
    // Kernels with RT_GROUP_SCHED refuse real-time processes, as init is under a lease.
    cpu_time_ = false;
  }
  return {};
}

bool LimitGroups::ran_out_of_memory() const {
  return memory_.on && read_count(memory_.events, "oom_kill") > 0;
}

GroupUse LimitGroups::use() const {
  GroupUse use;
  if (memory_.on) {
    std::istringstream peak(read_file(memory_.peak).value_or(""));
    if (std::int64_t bytes = 0; peak >> bytes) use.peak_memory = Bytes(bytes);
  }
  if (!unified_.empty()) {  // counted there with and without the controller
    use.user_cpu = Duration(read_count(unified_ + "/cpu.stat", "user_usec"));
    use.system_cpu = Duration(read_count(unified_ + "/cpu.stat", "system_usec"));
  }
  return use;
}

}  // namespace ares::os
