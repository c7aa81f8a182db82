// UsageRecords: input for recomputing usage: the charged attempts and the stored usage.
// One thread at a time; blocks on the database.
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
  std::vector<TresAmount> held;  // as returned by tres_of()
  ChargedTo charged_to;
};

class UsageRecords {
 public:
  explicit UsageRecords(PgOptions options) : options_(std::move(options)) {}

  // Reads accounting records, usage and its start time in one snapshot and passes them to `kept`; then passes each attempt to `each` that
  // released resources after `horizon` or that start time, whichever is later. Earlier attempts are ignored. failed_precondition:
  // some of these attempts are archived, or were charged by a release that did not store ChargedTo.
  Status read(Time horizon, const std::function<void(const ClusterState&)>& kept,
              const std::function<void(const ChargedAttempt&)>& each);

 private:
  PgOptions options_;
};

}  // namespace ares::store
