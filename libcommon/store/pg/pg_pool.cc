#include "store/pg/pg_pool.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ares::store {
namespace {

constexpr std::chrono::seconds kReplicaRetry{30};

}  // namespace

// A slot of the pool, with its connection if there is one.
struct PgPool::Lease {
  explicit Lease(PgPool& from) : pool(from) {
    const bool to_replica = pool.replica_is_due();
    Lock lock(pool.mutex_);
    pool.freed_.wait(lock, [this]() ARES_REQUIRES(pool.mutex_) { return pool.left_ > 0; });
    --pool.left_;
    if (pool.idle_.empty()) return;
    pooled.emplace(std::move(pool.idle_.back()));
    pool.idle_.pop_back();
    // Close connections to the primary that were opened while the replica was unreachable.
    if (to_replica && !pooled->of_replica) pooled.reset();
  }
  ~Lease() {
    const Lock lock(pool.mutex_);
    ++pool.left_;
    if (pooled) pool.idle_.push_back(std::move(*pooled));
    pool.freed_.notify_one();
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  Status connect() {
    if (pool.replica_is_due()) {
      if (auto made = pool.connect_replica()) {
        pool.replica_is_back();
        pooled.emplace(PooledConnection{std::move(*made), true});
        return {};
      } else {
        pool.replica_is_away(made.error());
      }
    }
    auto made = PgConnection::connect(pool.options_, PgConnection::Use::report);
    if (!made) return fail(made.error());
    pooled.emplace(PooledConnection{std::move(*made), false});
    return {};
  }

  Result<PgRows> query(const std::string& sql, const PgParams& params) {
    if (!pooled)
      if (Status made = connect(); !made) return fail(made.error());
    auto rows = pooled->connection.query(sql.c_str(), params);
    if (!rows && pooled->of_replica && rows.error().code == ErrorCode::unavailable) {
      pool.replica_is_away(rows.error());
      pooled.reset();
    } else if (pooled->connection.broken()) {
      pooled.reset();
    }
    return rows;
  }

  PgPool& pool;
  std::optional<PooledConnection> pooled;
};

PgPool::PgPool(PgOptions options, std::size_t connections)
    : options_(std::move(options)), left_(std::max<std::size_t>(connections, 1)) {}

bool PgPool::replica_is_due() {
  if (options_.replica.empty()) return false;
  const Lock lock(mutex_);
  return std::chrono::steady_clock::now() >= retry_replica_at_;
}

void PgPool::replica_is_back() {
  const Lock lock(mutex_);
  if (!last_warning_.empty() && options_.on_replica_change)
    options_.on_replica_change("reports read from the replica again");
  last_warning_.clear();
}

void PgPool::replica_is_away(const Error& why) {
  const Lock lock(mutex_);
  retry_replica_at_ = std::chrono::steady_clock::now() + kReplicaRetry;
  if (last_warning_ != why.message && options_.on_replica_change)
    options_.on_replica_change("reports read from the database itself for now: " + why.message);
  last_warning_ = why.message;
}

// failed_precondition: it is a copy of another database.
Result<PgConnection> PgPool::connect_replica() const {
  auto made = PgConnection::connect(options_, PgConnection::Use::replica);
  if (!made) return fail(made.error());
  const auto system = made->query("SELECT system::text FROM controller");
  if (!system) return fail(system.error());
  if (system->size() != 1 || system->text(0, 0) != options_.replica_system)
    return fail(ErrorCode::failed_precondition,
                "the replica (" + options_.replica + ") is no copy of this database");
  return made;
}

// A query that fails because a kept connection broke is retried on a new one: the connection may have died unnoticed when its
// server restarted, or the replica may have failed.
Result<PgRows> PgPool::run(const std::function<Result<PgRows>(Lease&)>& question) {
  Lease lease(*this);
  const bool kept = lease.pooled.has_value() || !options_.replica.empty();
  auto rows = question(lease);
  if (!rows && kept && !lease.pooled) rows = question(lease);
  return rows;
}

Result<PgRows> PgPool::query(const std::string& sql, const PgParams& params) {
  return run([&](Lease& lease) { return lease.query(sql, params); });
}

Result<PgRows> PgPool::query_twice(const std::string& sql,
                                   const std::function<Statement(const PgRows&)>& second) {
  return run([&](Lease& lease) -> Result<PgRows> {
    auto first = lease.query(sql, {});
    if (!first) return first;
    const Statement statement = second(*first);
    return lease.query(statement.first, statement.second);
  });
}

}  // namespace ares::store
