// AccountingFilter: selects attempts for a query. A plain value; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace ares::store {

// Both ends are included; an absent end is no bound.
struct Range {
  std::optional<std::int64_t> least{}, most{};
};

// All conditions must hold. An empty list is no condition.
struct AccountingFilter {
  std::vector<JobKey>
      jobs;  // without a task: the job or array with all its tasks, or the task with this own id
  std::vector<JobKey> among;        // likewise: both lists must have it
  std::vector<std::string> users;   // by name, or
  std::vector<std::uint64_t> uids;  // by number; one of the two lists must match
  std::vector<std::uint64_t> gids;
  std::vector<std::string> accounts, partitions, names, qos, wckeys;
  std::vector<std::string> nodes;  // ran on any of these
  // "RUNNING", "REQUEUED": in one of these states during the window; a final state: entered during
  // the window.
  std::vector<std::string> states;
  std::optional<Time> start, end;      // both included; without states: it existed then
  Range node_count, cpus, time_limit;  // seconds; unlimited exceeds every limit
  bool all_attempts = false;           // otherwise only the last attempt of each job
  std::uint32_t limit = 0;             // rows; 0 or too many = as many as fit into one answer
  std::optional<JobKey> after;         // paging: only keys after this one
  bool steps = false;                  // with the steps of each attempt
  std::vector<std::uint32_t>
      fields;  // numbers of the requested fields of AccountingRow; empty = all of the fields
};

}  // namespace ares::store
