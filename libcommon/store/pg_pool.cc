#include "store/pg_pool.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ares::store {

// One of the places in the pool, with its connection if it has one.
struct PgPool::Lease {
  explicit Lease(PgPool& from) : pool(from) {
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

  Result<PgRows> query(const std::string& sql, const PgParams& params) {
    if (!connection) {
      auto made = PgConnection::connect(pool.options_, PgConnection::Use::report);
      if (!made) return fail(made.error());
      connection.emplace(std::move(*made));
    }
    auto rows = connection->query(sql.c_str(), params);
    if (connection->broken()) connection.reset();
    return rows;
  }

  PgPool& pool;
  std::optional<PgConnection> connection;
};

PgPool::PgPool(PgOptions options, std::size_t connections)
    : options_(std::move(options)), left_(std::max<std::size_t>(connections, 1)) {}

Result<PgRows> PgPool::query(const std::string& sql, const PgParams& params) {
  Lease lease(*this);
  // A kept connection may have died unnoticed, with a restart of the server: try once more.
  const bool kept = lease.connection.has_value();
  auto rows = lease.query(sql, params);
  if (!rows && kept && !lease.connection) rows = lease.query(sql, params);
  return rows;
}

}  // namespace ares::store
