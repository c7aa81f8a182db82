// Accounting: questions about attempts, running and past, answered from the database over read-only
// connections of its own, so that no report ever waits for the journal or holds it up.
// Any thread may ask; at most as many ask at once as there are connections, the others wait.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "proto/gen/api.pb.h"
#include "store/pg/pg_options.h"

namespace ares::store {

// Both ends belong to it; an end that is absent is none.
struct Range {
  std::optional<std::int64_t> least{}, most{};
};

class PgPool;

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

// How many rows one answer holds at most.
std::uint32_t accounting_page(const AccountingFilter& filter);

class Accounting {
 public:
  explicit Accounting(PgOptions options, std::size_t connections = 2);
  ~Accounting();

  // Rows ascend by (job, task, attempt), what has no task before the tasks. Keys and attempts are
  // always filled in. A page never splits the attempts of a job, so it may be a little longer than
  // asked for; `last` is set where there may be `more`.
  // unavailable: the database is away. resource_exhausted: the question takes longer than a minute.
  Result<api::AccountingRows> query(const AccountingFilter& filter);

 private:
  std::unique_ptr<PgPool> pool_;
};

// Where a key stands in the order of rows: an array's own record comes before its tasks.
bool row_before(const JobKey& a, const JobKey& b);

}  // namespace ares::store
