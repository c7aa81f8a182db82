// AccountingFilter: which attempts a question is about. A plain value; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace ares::store {

// Both ends belong to it; an end that is absent is none.
struct Range {
  std::optional<std::int64_t> least{}, most{};
};

// All conditions must hold; an empty list is no condition.
struct AccountingFilter {
  std::vector<JobKey>
      jobs;  // without a task: the job or array with all its tasks, or the task of that own number
  std::vector<std::string> users;   // by name, or
  std::vector<std::uint64_t> uids;  // by number: any of both
  std::vector<std::uint64_t> gids;
  std::vector<std::string> accounts, partitions, names, qos, wckeys;
  std::vector<std::string> nodes;  // ran on any of these
  // "RUNNING", "REQUEUED": in one of them at some time of the window; what is final: entered in the
  // window.
  std::vector<std::string> states;
  std::optional<Time> start, end;      // the window, both included. Without states: known in it
  Range node_count, cpus, time_limit;  // seconds; unlimited is more than any limit
  bool all_attempts = false;           // else only the last of each job
  std::uint32_t limit = 0;             // rows; 0 or too many = as many as one answer should hold
  std::optional<JobKey> after;         // paging: only keys behind this one
  std::vector<std::uint32_t>
      fields;  // numbers of AccountingRow's fields that are wanted; empty = all
};

}  // namespace ares::store
