// NodeLog: the table `node_event`, what happened to nodes.
// Any thread may query; see PgPool.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "proto/gen/api.pb.h"
#include "store/pg/pg_options.h"

namespace ares::store {

class PgPool;

struct NodeLogFilter {
  std::vector<std::string> nodes;  // empty = all
  std::optional<Time> start, end;  // `end` is exclusive
  std::uint64_t before = 0;        // only rows with a lower number; 0 = all
  std::uint32_t limit = 0;         // 0 = a page
};

class NodeLog {
 public:
  explicit NodeLog(PgOptions options, std::size_t connections = 2);
  ~NodeLog();

  // One page, latest first; without the names of users. unavailable: the database is unreachable.
  Result<api::NodeEvents> query(const NodeLogFilter& filter);

 private:
  std::unique_ptr<PgPool> pool_;
};

}  // namespace ares::store
