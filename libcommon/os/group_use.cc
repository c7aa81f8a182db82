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

}  // namespace

std::int64_t read_count(const std::string& path, std::string_view key) {
  std::istringstream words(read_file(path).value_or(""));
  std::int64_t value = 0;
  for (std::string word; words >> word >> value;)
    if (word == key) return value;
  return 0;
}

std::optional<LiveUse> live_use(std::string_view directories) {
  std::optional<LiveUse> use;
  while (!directories.empty()) {
    const std::size_t end = std::min(directories.find(':'), directories.size());
    const std::string group(directories.substr(0, end));
    directories.remove_prefix(std::min(end + 1, directories.size()));
    const Result<std::string> procs = read_file(group + "/cgroup.procs");
    if (!procs) continue;
    if (!use) use.emplace();
    add(*use, group, *procs);
  }
  return use;
}

}  // namespace ares::os
