// StepRecord: how one step of an attempt went, as accounting keeps it. A value; any thread may read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"
#include "base/units.h"

namespace ares {

// Numbers of rows that are not a step of arun.
inline constexpr std::int64_t kBatchStep = -1;                      // the batch script: JOB.batch
inline constexpr std::int64_t kOtherSteps = std::int64_t{1} << 32;  // all steps beyond kMostSteps
// Steps of an attempt that have a row of their own.
inline constexpr std::uint32_t kMostSteps = 1000;

// The numbers are stored and sent: append only.
enum class StepState : std::uint8_t {
  running,
  completed,
  failed,
  cancelled,
  out_of_memory,
  timeout,
};
inline constexpr StepState kLastStepState = StepState::timeout;
std::string_view to_string(StepState state);  // "RUNNING"

// The step host, which runs as the job's user, tells most of it: it is the user's own claim.
struct StepRecord {
  std::int64_t number = 0;  // of the step, or one of the above
  std::string name;         // of the program
  StepState state = StepState::running;
  std::int32_t exit_code = 0, exit_signal = 0;  // of the task that ended worst
  std::optional<UserId> cancelled_by{};
  Time started{};
  std::optional<Time> ended{};
  std::uint32_t steps = 1;  // that the row stands for
  std::uint32_t tasks = 0, cpus = 0, nodes = 0;
  std::string node_list{};  // empty: it was too long to be kept
  Duration user_cpu{}, system_cpu{};
  Bytes max_rss{}, sum_rss{};  // of one task, and of all of them
  std::string max_rss_node{};
  Bytes disk_read{}, disk_written{};
  friend bool operator==(const StepRecord&, const StepRecord&) = default;
};

}  // namespace ares
