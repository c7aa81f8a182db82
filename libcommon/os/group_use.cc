#include "os/group_use.h"

#include <algorithm>
#include <sstream>

#include "os/file.h"

namespace ares::os {
namespace {

std::int64_t read_number(const std::string& path) {
  std::istringstream words(read_file(path).value_or(""));
  std::int64_t value = 0;
  words >> value;
  return std::max<std::int64_t>(0, value);
}

// Adds what this group counts and no other did: a controller belongs to one hierarchy.
void add(LiveUse& use, const std::string& group, std::string_view procs) {
  const auto most = [](Bytes& known, std::int64_t bytes) { known = std::max(known, Bytes(bytes)); };
  for (const char* file : {"/memory.peak", "/memory.max_usage_in_bytes"})
    most(use.peak_memory, read_number(group + file));
  for (const char* key : {"anon", "total_rss"})
    most(use.memory, read_count(group + "/memory.stat", key));
  const std::string cpu = group + "/cpu.stat";
  use.user_cpu = std::max(use.user_cpu, Duration(read_count(cpu, "user_usec")));
  use.system_cpu = std::max(use.system_cpu, Duration(read_count(cpu, "system_usec")));
  const auto processes = std::count(procs.begin(), procs.end(), '\n');
  use.processes = std::max(use.processes, static_cast<std::uint32_t>(processes));
}

// `procs` has one pid a line. One that ends meanwhile is counted with its parent, in both or in none: the
// processes are read one after the other.
DiskUse disk_use_of(std::string_view procs) {
  constexpr int kMostProcesses = 1000;  // each takes 10 us
  DiskCounters sum;
  for (int i = 0; i < kMostProcesses && !procs.empty(); ++i) {
    const std::size_t end = std::min(procs.find('\n'), procs.size());
    sum += read_disk_counters("/proc/" + std::string(procs.substr(0, end)) + "/io");
    procs.remove_prefix(std::min(end + 1, procs.size()));
  }
  return sum.use();
}

}  // namespace

std::int64_t read_count(const std::string& path, std::string_view key) {
  std::istringstream words(read_file(path).value_or(""));
  std::int64_t value = 0;
  for (std::string word; words >> word >> value;)
    if (word == key) return value;
  return 0;
}

DiskCounters& DiskCounters::operator+=(const DiskCounters& other) {
  read += other.read;
  written += other.written;
  cancelled += other.cancelled;
  return *this;
}

DiskCounters DiskCounters::operator-(const DiskCounters& other) const {
  return {read - other.read, written - other.written, cancelled - other.cancelled};
}

DiskUse DiskCounters::use() const {
  return {Bytes(std::max<std::int64_t>(0, read)),
          Bytes(std::max<std::int64_t>(0, written - cancelled))};
}

DiskCounters read_disk_counters(const std::string& path) {
  std::istringstream words(read_file(path).value_or(""));
  DiskCounters counters;
  std::int64_t value = 0;
  for (std::string word; words >> word >> value;) {
    if (word == "read_bytes:") counters.read = value;
    if (word == "write_bytes:") counters.written = value;
    if (word == "cancelled_write_bytes:") counters.cancelled = value;
  }
  return counters;
}

std::optional<LiveUse> live_use(std::string_view directories) {
  std::optional<LiveUse> use;
  while (!directories.empty()) {
    const std::size_t end = std::min(directories.find(':'), directories.size());
    const std::string group(directories.substr(0, end));
    directories.remove_prefix(std::min(end + 1, directories.size()));
    const Result<std::string> procs = read_file(group + "/cgroup.procs");
    if (!procs) continue;
    if (!use) use.emplace().disk = disk_use_of(*procs);
    add(*use, group, *procs);
  }
  return use;
}

}  // namespace ares::os
