// What the processes in an attempt's control groups use at this moment. Any process that may read the groups; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "base/units.h"

namespace ares::os {

// Bytes that processes had fetched from storage, and dirtied for it. Not counted: what the page cache
// had, pipes, tmpfs, and what was truncated before it was written.
struct DiskUse {
  Bytes read{}, written{};
};
// Of the file /proc/PID/io or /proc/PID/task/TID/io, as in proc(5), in bytes. A process counts what it
// wrote to a file and another one truncates as written, and the other one as cancelled.
struct DiskCounters {
  std::int64_t read = 0, written = 0, cancelled = 0;
  DiskCounters& operator+=(const DiskCounters& other);
  DiskCounters operator-(const DiskCounters& other) const;
  DiskUse use() const;  // never negative
};
DiskCounters read_disk_counters(const std::string& path);  // 0 where it cannot be read

struct LiveUse {
  Bytes memory{};  // anonymous memory now; 0 = not counted
  Bytes
      peak_memory{};  // the most that was charged to the group, page cache included; 0 = not counted
  Duration user_cpu{}, system_cpu{};  // 0 = not counted
  std::uint32_t processes = 0;
  DiskUse disk;  // of up to 1000 processes in the group, and of those that they have waited for
};

// `directories` as in Cgroup::directories(): paths separated by ':'. None if none of them exists.
std::optional<LiveUse> live_use(std::string_view directories);

// Of the file's line `key NUMBER`; 0 if it has none.
std::int64_t read_count(const std::string& path, std::string_view key);

}  // namespace ares::os
