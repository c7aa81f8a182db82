#include "aresstepd/steps/task_usage.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <string_view>

#include "os/fd.h"
#include "os/file.h"

namespace ares::stepd {
namespace {

// The number behind `key` in a file of lines "key: number ...".
std::optional<std::int64_t> number_of(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// Field `number` of /proc/PID/stat, counted from 1 as in proc(5); those up to the name, which may contain
// anything, cannot be asked for.
std::int64_t stat_field(std::string_view stat, int number) {
  std::string_view rest = stat.substr(std::min(stat.rfind(')') + 1, stat.size()));
  for (int field = 2; field < number && !rest.empty(); ++field) {
    const std::size_t space = rest.find(' ');
    rest = space == std::string_view::npos ? std::string_view() : rest.substr(space + 1);
  }
  std::int64_t value = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return value;
}

Duration ticks(std::int64_t count) {
  static const long per_second = ::sysconf(_SC_CLK_TCK);
  return std::chrono::microseconds(count * 1'000'000 / (per_second > 0 ? per_second : 100));
}

}  // namespace

std::optional<steps::TaskEnd> usage_of(pid_t pid) {
  const os::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return std::nullopt;
  const Result<std::string> about =
      os::read_file("/proc/self/fdinfo/" + std::to_string(process.get()));
  const std::optional<std::int64_t> shown =
      about ? number_of(*about, "\nPid:") : std::optional<std::int64_t>();
  if (!shown || *shown <= 0) return std::nullopt;
  const std::string directory = "/proc/" + std::to_string(*shown);
  const Result<std::string> stat = os::read_file(directory + "/stat");
  if (!stat) return std::nullopt;
  constexpr int kUser = 14, kSystem = 15, kChildrenUser = 16, kChildrenSystem = 17;
  steps::TaskEnd used;
  used.user_cpu = ticks(stat_field(*stat, kUser) + stat_field(*stat, kChildrenUser));
  used.system_cpu = ticks(stat_field(*stat, kSystem) + stat_field(*stat, kChildrenSystem));
  if (const Result<std::string> status = os::read_file(directory + "/status"))
    used.max_rss = number_of(*status, "VmHWM:").value_or(0) * 1024;
  if (const Result<std::string> io = os::read_file(directory + "/io")) {
    used.disk_read = number_of(*io, "\nread_bytes:").value_or(0);
    used.disk_written = number_of(*io, "\nwrite_bytes:").value_or(0);
  }
  return used;
}

}  // namespace ares::stepd
