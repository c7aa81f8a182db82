// The record `ledger` of an attempt: what accounting keeps of its steps, as the step host on the job's
// first node writes it (aresstepd/steps/step_ledger.h). The host runs as the job's user, so that a reader
// takes nothing for granted. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster/node_layout.h"
#include "model/job/step_record.h"
#include "node/records.h"

namespace ares::node {

// One step, in a file that is mapped: the layout never changes. All times are microseconds, all amounts
// bytes.
struct LedgerRow {
  static constexpr std::uint32_t kFree = 0, kRunning = 1, kEnded = 2;
  std::uint32_t use = kFree;
  std::uint32_t number = 0;
  std::uint32_t state = 0;  // StepState, once it has ended
  std::int32_t exit_code = 0, exit_signal = 0;
  std::uint32_t cancelled = 0, cancelled_by = 0;  // whether, and the user
  std::uint32_t steps = 0, tasks = 0, cpus = 0, nodes = 0;
  std::uint32_t max_rss_node = 0;  // its rank in the job
  std::int64_t started = 0, ended = 0;
  std::int64_t user_cpu = 0, system_cpu = 0;
  std::int64_t first_user_cpu = 0, first_system_cpu = 0;  // on the first node of the job alone
  std::int64_t max_rss = 0, sum_rss = 0;
  std::int64_t disk_read = 0, disk_written = 0;
  char name[64] = {};    // of the program; without NUL if it is as long
  char ranks[120] = {};  // of its nodes in the job, "0-3,7"; empty: they did not fit
};
static_assert(sizeof(LedgerRow) == 12 * 4 + 10 * 8 + 64 + 120);

struct LedgerPage {
  char magic[8] = {'A', 'R', 'S', 'T', 'E', 'P', 'S', '1'};
  std::uint32_t used = 0;  // of `rows`
  std::uint32_t reserved = 0;
  LedgerRow others;  // the sum of all steps that have no row of their own
  LedgerRow rows[kMostSteps];
};

// What the ledger says of the steps; none if it is not one. `layout` is the job's.
std::vector<StepRecord> read_ledger(std::string_view bytes, const NodeLayout& layout);

// The steps of an attempt that has ended, the batch script first; none if it had no steps. `report` is the
// first node's, of its end. A step without an end was ended with the attempt.
std::vector<StepRecord> steps_at_end(const AttemptDir& dir, const AttemptReport& report);

// The steps of a running attempt: those that run, and the last few that ended.
std::vector<StepRecord> steps_of_running(const AttemptDir& dir);

}  // namespace ares::node
