// ViewDumps: dumps of the scheduler's input, kept until a client has fetched all parts.
// Owned by the controller; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "aresctld/engine/view.h"
#include "base/mutex.h"
#include "base/result.h"
#include "config/config.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// A storage.ViewDump in bytes, with the digest of a new planner's plan. Runs a pass of the planner.
Result<std::string> dump_view(const View& view, const config::Config& config, Time now);

class ViewDumps {
 public:
  // Keeps a new dump and returns its first part.
  api::ViewPart keep(std::string dump);
  // A further part. failed_precondition: no longer kept. invalid_argument: it ends before `offset`.
  Result<api::ViewPart> part(std::uint64_t dump, std::uint64_t offset);

 private:
  using Bytes = std::shared_ptr<const std::string>;
  api::ViewPart cut(std::uint64_t dump, const Bytes& bytes, std::uint64_t offset);

  Mutex mutex_;
  std::uint64_t last_ ARES_GUARDED_BY(mutex_) = 0;
  std::map<std::uint64_t, Bytes> kept_ ARES_GUARDED_BY(mutex_);  // oldest first
};

}  // namespace ares::aresctld
