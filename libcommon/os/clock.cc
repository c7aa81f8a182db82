#include "os/clock.h"

#include <time.h>

#include "os/file.h"

namespace ares::os {
namespace {

Duration read_clock(clockid_t id) {
  timespec t{};
  ::clock_gettime(id, &t);
  return std::chrono::seconds(t.tv_sec) +
         std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(t.tv_nsec));
}

Result<std::string> first_line(const char* path) {
  Result<std::string> text = read_file(path);
  if (!text) return text;
  return text->substr(0, text->find('\n'));
}

}  // namespace

Time wall_now() {
  return Time(read_clock(CLOCK_REALTIME));
}
BootTime boot_now() {
  return BootTime(read_clock(CLOCK_BOOTTIME));
}

Result<std::string> boot_id() {
  return first_line("/proc/sys/kernel/random/boot_id");
}
Result<std::string> fresh_uuid() {
  return first_line("/proc/sys/kernel/random/uuid");
}

std::uint64_t process_start_ticks(std::int64_t pid) {
  Result<std::string> stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!stat) return 0;
  // The command name may contain spaces and parentheses, so fields are counted from the last ')'.
  std::size_t at = stat->rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat->find(' ', at + 1);
  return at == std::string::npos ? 0 : std::strtoull(stat->c_str() + at, nullptr, 10);
}

}  // namespace ares::os
