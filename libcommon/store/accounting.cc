#include "store/accounting.h"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "store/pg_connection.h"
#include "store/pg_rows.h"

namespace ares::store {
namespace {

using Element = ArrayParam::Element;

// Columns in the order in which read_row() takes them.
constexpr const char* kColumns =
    "a.job_id, a.task, a.own_id, a.attempt, a.name, a.user_name, a.uid, a.gid, a.account, a.qos, "
    "a.partition, a.state, a.reason, a.cancelled_by, a.submitted, a.eligible, a.allocated, "
    "a.started, a.ended, a.exit_code, a.exit_signal, a.node_count, a.cpus, a.node_list, "
    "a.requested_tres, a.allocated_tres, a.user_cpu, a.system_cpu, a.max_rss, a.time_limit, "
    "a.restarts, a.work_dir, a.submit_host, a.submit_zone, coalesce(a.array_spec, '')";

AccountingRow read_row(const PgRows& rows, int row) {
  int column = 0;
  const auto number = [&] { return rows.bigint(row, column++); };
  const auto text = [&] { return rows.text(row, column++); };
  const auto time = [&] { return rows.maybe_time(row, column++); };
  AccountingRow out;
  out.key.job = JobId(static_cast<std::uint64_t>(number()));
  out.key.task = task_from_column(number());
  out.own_id = JobId(static_cast<std::uint64_t>(number()));
  out.attempt = AttemptNo(static_cast<std::uint32_t>(number()));
  out.name = text();
  out.user = text();
  out.uid = UserId(static_cast<std::uint32_t>(number()));
  out.gid = GroupId(static_cast<std::uint32_t>(number()));
  out.account = text();
  out.qos = text();
  out.partition = text();
  out.state = text();
  out.reason = text();
  if (const auto by = rows.maybe_bigint(row, column++))
    out.cancelled_by = UserId(static_cast<std::uint32_t>(*by));
  out.submitted = time().value_or(Time{});
  out.eligible = time();
  out.allocated = time();
  out.started = time();
  out.ended = time();
  out.exit_code = static_cast<std::int32_t>(number());
  out.exit_signal = static_cast<std::int32_t>(number());
  out.node_count = static_cast<std::uint32_t>(number());
  out.cpus = static_cast<std::uint64_t>(number());
  out.node_list = text();
  out.requested_tres = text();
  out.allocated_tres = text();
  out.user_cpu = Duration(number());
  out.system_cpu = Duration(number());
  out.max_rss = Bytes(number());
  if (const auto limit = rows.maybe_bigint(row, column++)) out.time_limit = Seconds(*limit);
  out.restarts = static_cast<std::uint32_t>(number());
  out.work_dir = text();
  out.submit_host = text();
  out.submit_zone = text();
  out.array_spec = text();
  return out;
}

// A WHERE clause that grows condition by condition. Its text consists of constants only; everything a
// user said is a parameter.
class Conditions {
 public:
  void text_in(const char* column, const std::vector<std::string>& values) {
    if (!values.empty()) add(std::string(column) + " = ANY(" + texts(values) + "::text[])");
  }

  void users(const std::vector<std::string>& users) {
    if (users.empty()) return;
    std::vector<std::uint64_t> uids;
    for (const std::string& user : users) {
      std::uint32_t uid = 0;
      const auto [end, error] = std::from_chars(user.data(), user.data() + user.size(), uid);
      if (error == std::errc{} && end == user.data() + user.size()) uids.push_back(uid);
    }
    std::string either = "a.user_name = ANY(" + texts(users) + "::text[])";
    if (!uids.empty()) either = "(" + either + " OR a.uid = ANY(" + numbers(uids) + "::bigint[]))";
    add(std::move(either));
  }

  void jobs(const std::vector<JobKey>& keys) {
    if (keys.empty()) return;
    std::vector<std::uint64_t> ids, whole;
    ArrayParam task_job(Element::bigint), task(Element::bigint);
    for (const JobKey& key : keys) {
      ids.push_back(key.job.value());
      if (key.task.is_none()) {
        whole.push_back(key.job.value());
      } else {
        task_job.add(key.job.value());
        task.add(task_column(key.task));
      }
    }
    const std::string whole_ids = numbers(whole) + "::bigint[]";
    // The first condition is for the indexes, the second for the tasks.
    add("(a.job_id = ANY(" + numbers(ids) + "::bigint[]) OR a.own_id = ANY(" + whole_ids + "))");
    add("(a.job_id = ANY(" + whole_ids + ") OR a.own_id = ANY(" + whole_ids +
        ") OR (a.job_id, a.task) IN (SELECT * FROM unnest(" + next() + "::bigint[], " + next(1) +
        "::bigint[])))");
    params_.array(std::move(task_job)).array(std::move(task));
  }

  void window(const std::optional<Time>& start, const std::optional<Time>& end) {
    if (start) {
      add("(a.ended IS NULL OR a.ended >= " + next() + "::timestamptz)");
      params_.timestamp(*start);
    }
    if (end) {
      add("a.submitted <= " + next() + "::timestamptz");
      params_.timestamp(*end);
    }
  }

  void behind(const std::optional<JobKey>& key) {
    if (!key) return;
    add("(a.job_id, a.task) > (" + next() + "::bigint, " + next(1) + "::bigint)");
    params_.bigint(key->job.value()).bigint(task_column(key->task));
  }

  void last_attempt() {
    add("NOT EXISTS (SELECT FROM attempt l WHERE l.job_id = a.job_id AND l.task = a.task "
        "AND l.attempt > a.attempt)");
  }

  std::string limit(std::int64_t rows) {
    std::string position = next();
    params_.bigint(rows);
    return position + "::bigint";
  }

  const std::string& sql() const { return sql_; }
  const PgParams& params() const { return params_; }

 private:
  // "$4": the place of the parameter that is added next, or of one after it.
  std::string next(std::size_t later = 0) const {
    return "$" + std::to_string(params_.values().size() + 1 + later);
  }

  std::string texts(const std::vector<std::string>& values) {
    ArrayParam array(Element::text);
    for (const std::string& value : values) array.add(std::string_view(value));
    std::string position = next();
    params_.array(std::move(array));
    return position;
  }

  std::string numbers(const std::vector<std::uint64_t>& values) {
    ArrayParam array(Element::bigint);
    for (const std::uint64_t value : values) array.add(value);
    std::string position = next();
    params_.array(std::move(array));
    return position;
  }

  void add(std::string condition) {
    sql_ += sql_.empty() ? " WHERE " : " AND ";
    sql_ += condition;
  }

  std::string sql_;
  PgParams params_;
};

}  // namespace

// Connections are made when first needed and kept; a broken one is replaced.
class Accounting::Pool {
 public:
  Pool(PgOptions options, std::size_t connections)
      : options_(std::move(options)), left_(std::max<std::size_t>(connections, 1)) {}

  Result<PgRows> query(const std::string& sql, const PgParams& params) {
    Lease lease(*this);
    // A kept connection may have died unnoticed, with a restart of the server: try once more.
    const bool kept = lease.connection.has_value();
    auto rows = lease.query(options_, sql, params);
    if (!rows && kept && !lease.connection) rows = lease.query(options_, sql, params);
    return rows;
  }

 private:
  // One of the places in the pool, with its connection if it has one.
  struct Lease {
    explicit Lease(Pool& from) : pool(from) {
      std::unique_lock lock(pool.mutex_);
      pool.freed_.wait(lock, [this] { return pool.left_ > 0; });
      --pool.left_;
      if (pool.idle_.empty()) return;
      connection.emplace(std::move(pool.idle_.back()));
      pool.idle_.pop_back();
    }
    ~Lease() {
      const std::lock_guard lock(pool.mutex_);
      ++pool.left_;
      if (connection) pool.idle_.push_back(std::move(*connection));
      pool.freed_.notify_one();
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    Result<PgRows> query(const PgOptions& options, const std::string& sql, const PgParams& params) {
      if (!connection) {
        auto made = PgConnection::connect(options, PgConnection::Use::report);
        if (!made) return fail(made.error());
        connection.emplace(std::move(*made));
      }
      auto rows = connection->query(sql.c_str(), params);
      if (connection->broken()) connection.reset();
      return rows;
    }

    Pool& pool;
    std::optional<PgConnection> connection;
  };

  const PgOptions options_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::size_t left_;
  std::vector<PgConnection> idle_;
};

Accounting::Accounting(PgOptions options, std::size_t connections)
    : pool_(std::make_unique<Pool>(std::move(options), connections)) {}
Accounting::~Accounting() = default;

Result<AccountingPage> Accounting::query(const AccountingFilter& filter) {
  const std::uint32_t limit =
      filter.limit == 0 ? kAccountingPage : std::min(filter.limit, kAccountingPage);
  Conditions where;
  where.jobs(filter.jobs);
  where.users(filter.users);
  where.text_in("a.account", filter.accounts);
  where.text_in("a.partition", filter.partitions);
  where.text_in("a.name", filter.names);
  std::vector<std::string> states;
  for (const JobState state : filter.states) states.emplace_back(to_string(state));
  where.text_in("a.state", states);
  where.window(filter.start, filter.end);
  where.behind(filter.after);
  if (!filter.all_attempts) where.last_attempt();
  const std::string page = where.limit(limit);

  auto rows = pool_->query(std::string("SELECT * FROM (SELECT ") + kColumns + " FROM attempt a" +
                               where.sql() + " ORDER BY a.job_id, a.task FETCH FIRST (" + page +
                               ") ROWS WITH TIES) AS found ORDER BY job_id, task, attempt",
                           where.params());
  if (!rows) return fail(rows.error());
  AccountingPage out;
  out.rows.reserve(static_cast<std::size_t>(rows->size()));
  for (int row = 0; row < rows->size(); ++row) out.rows.push_back(read_row(*rows, row));
  out.more = out.rows.size() >= limit;
  return out;
}

}  // namespace ares::store
