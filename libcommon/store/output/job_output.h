// JobOutput: the tables `job_output` and `job_output_part`, what attempts have printed where no file gets it. It is no state of the engine:
// the node that sends a part forgets it only when it is stored, and each part may be stored again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "store/pg/pg_connection.h"
#include "store/pg/pg_options.h"

namespace ares::store {

class PgPool;

// Output of one attempt on one of its nodes.
struct OutputKey {
  JobKey job;
  AttemptNo attempt;
  std::uint32_t rank = 0;
};

// Stores parts. Owned by one thread.
class OutputWriter {
 public:
  explicit OutputWriter(PgOptions options)
      : connection_(std::move(options), PgConnection::Use::rollup) {}

  struct Stored {
    std::uint64_t size = 0;  // bytes from the first one on that are known
    bool ended = false;
  };
  // Adds the bytes from `offset` on that are not known. Durable when it returns. unavailable: try again.
  Result<Stored> append(const OutputKey& key, UserId owner, std::uint64_t offset,
                        std::string_view data, bool ended, Bytes most);

 private:
  PgLazyConnection connection_;
};

// Reads parts. Any thread; see PgPool.
class OutputReader {
 public:
  explicit OutputReader(PgOptions options, std::size_t connections);
  ~OutputReader();

  struct Piece {
    OutputKey of;
    UserId owner;
    std::uint64_t offset =
        0;                   // of `data`; beyond what was asked for: the bytes between are not kept
    std::string data;        // empty: there is nothing at or behind the offset, for now
    std::uint64_t size = 0;  // of all that was printed so far
    bool ended = false;
  };
  // At most a few parts, from `offset` on. `attempt` 0: the last one that has output. not_found: there is none.
  Result<Piece> read(JobKey job, AttemptNo attempt, std::uint32_t rank, std::uint64_t offset);

 private:
  std::unique_ptr<PgPool> pool_;
};

}  // namespace ares::store
