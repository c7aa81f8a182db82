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
#include "base/units.h"
#include "model/job.h"
#include "store/pg_options.h"

namespace ares::store {

// All conditions must hold; an empty list is no condition.
struct AccountingFilter {
  std::vector<JobKey>
      jobs;  // without a task: the job or array with all its tasks, or the task of that own number
  std::vector<std::string> users;  // names, or uids in decimal
  std::vector<std::string> accounts;
  std::vector<std::string> partitions;
  std::vector<std::string> names;
  std::vector<JobState> states;    // as they are now
  std::optional<Time> start, end;  // known to the cluster at some time between these, both included
  bool all_attempts = false;       // else only the last of each job
  std::uint32_t limit = 0;         // rows; 0 or too many = kAccountingPage
  std::optional<JobKey> after;     // paging: only keys behind this one
};

inline constexpr std::uint32_t kAccountingPage = 10'000;

struct AccountingRow {
  JobKey key;
  JobId own_id;
  AttemptNo attempt;  // 0 = never allocated
  std::string name;
  std::string user;
  UserId uid;
  GroupId gid;
  std::string account;
  std::string qos;
  std::string partition;
  std::string state;   // "COMPLETED"
  std::string reason;  // "None"
  std::optional<UserId> cancelled_by;
  Time submitted{};
  std::optional<Time> eligible, allocated, started, ended;
  std::int32_t exit_code = 0;
  std::int32_t exit_signal = 0;
  std::uint32_t node_count = 0;
  std::uint64_t cpus = 0;
  std::string node_list;
  std::string requested_tres;
  std::string allocated_tres;
  Duration user_cpu{};
  Duration system_cpu{};
  Bytes max_rss{};
  std::optional<Seconds> time_limit;  // none = unlimited
  std::uint32_t restarts = 0;
  std::string work_dir;
  std::string submit_host;
  std::string submit_zone;
  std::string array_spec;  // tasks of the array it belongs to; empty = none
};

// Ascending (job, task, attempt). A page never splits the attempts of a job, so it may be a little
// longer than asked for.
struct AccountingPage {
  std::vector<AccountingRow> rows;
  bool more = false;  // ask again behind the last row; there may be nothing
};

class Accounting {
 public:
  explicit Accounting(PgOptions options, std::size_t connections = 2);
  ~Accounting();

  // unavailable: the database is away. resource_exhausted: the question takes longer than a minute.
  Result<AccountingPage> query(const AccountingFilter& filter);

 private:
  class Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace ares::store
