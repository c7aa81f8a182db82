// Accounting rows of a batch: the tables `attempt_live` and `attempt_done`.
// Used by pg_rows.cc; journal thread only.
#pragma once

#include <map>
#include <vector>

#include "store/journal/journal.h"
#include "store/pg/catalogue.h"
#include "store/pg/pg_connection.h"

namespace ares::store {

std::vector<const PgStatement*> attempt_statements();

// Times at which the finished attempts of a batch released their resources. An attempt is charged until then, possibly long after its
// script ended. The time is never earlier than times already stored.
class ReleaseTimes {
 public:
  explicit ReleaseTimes(const Batch& batch);
  Time of(const JobKey& job) const;

 private:
  std::map<JobKey, Time> at_;
  Time otherwise_;
};

// `attempts` contains each key at most once.
void attempt_steps(const std::vector<const Attempt*>& attempts, ClusterId cluster,
                   const Catalogue& catalogue, const ReleaseTimes& released,
                   std::vector<PgStep>& steps);

}  // namespace ares::store
