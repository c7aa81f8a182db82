// The line on a terminal that says how far a job is that a command waits for. Made and destroyed by
// the command's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/output/colour.h"
#include "proto/gen/api.pb.h"
#include "rpc/client/client.h"

namespace ares::cli {

// What the controller knows of a job, and of an array the tasks that have not ended.
struct LiveJobs {
  std::vector<api::Job> rows;
  Time now{};  // the controller's clock
};

// Reads them in one listing of few fields.
Result<LiveJobs> read_live_jobs(rpc::Client& client, const JobKey& job);

// "job 12: pending (Resources)", "job 12: running 00:01:10", "array 12: 3 of 10 ended, 2 running".
// Empty if no row is left. `now` is by the controller's clock.
std::string progress_text(const JobKey& job, const std::vector<api::Job>& rows, Time now);

// The same, with the state of a single job in its colour.
std::string with_coloured_state(std::string_view line);

// Asks for the job at most every 2 seconds, in a thread of its own, and rewrites the line while the
// process is in the foreground of its terminal. The cursor stays at the begin of the line, so other messages replace it.
class ProgressLine {
 public:
  // Shows nothing unless standard error is a terminal. `client` is used as long as this exists.
  ProgressLine(rpc::Client& client, const JobKey& job, ColourWhen colour);
  ~ProgressLine();  // clears the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  class Writer;
  std::unique_ptr<Writer> writer_;  // null: nothing is shown
};

}  // namespace ares::cli
