// What the processes in an attempt's control groups use at this moment. Any process that may read the groups; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "base/units.h"

namespace ares::os {

struct LiveUse {
  Bytes memory{};  // anonymous memory now; 0 = not counted
  Bytes
      peak_memory{};  // the most that was charged to the group, page cache included; 0 = not counted
  Duration user_cpu{}, system_cpu{};  // 0 = not counted
  std::uint32_t processes = 0;
};

// `directories` as in Cgroup::directories(): paths separated by ':'. None if none of them exists.
std::optional<LiveUse> live_use(std::string_view directories);

// Of the file's line `key NUMBER`; 0 if it has none.
std::int64_t read_count(const std::string& path, std::string_view key);

}  // namespace ares::os
