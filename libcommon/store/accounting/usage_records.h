// UsageRecords: what usage can be reckoned from again: the attempts that were charged, and what is kept of usage at the same moment.
// One thread at a time; waits for the database.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/engine/state.h"
#include "model/job/job.h"
#include "store/pg/pg_options.h"

namespace ares::store {

struct ChargedAttempt {
  std::string account;
  Time allocated{}, released{};
  Duration suspended{};
  std::vector<TresAmount> held;  // as tres_of() has it
  ChargedTo charged_to;
};

class UsageRecords {
 public:
  explicit UsageRecords(PgOptions options) : options_(std::move(options)) {}

  // Reads records of accounting, usage, and since when it counts, then each attempt that was over by then and let go of something since,
  // all of one moment. failed_precondition: some of the attempts that count are in archives, or were charged by a release that
  // did not note whom; `horizon`: what was over before counts for nothing.
  Status read(Time horizon, const std::function<void(const ClusterState&)>& kept,
              const std::function<void(const ChargedAttempt&)>& each);

 private:
  PgOptions options_;
};

}  // namespace ares::store
