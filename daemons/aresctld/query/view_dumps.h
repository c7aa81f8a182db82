// ViewDumps: dumps of what the scheduler plans from, kept until the operator's command has fetched all parts of them.
// Owned by the controller; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "aresctld/engine/view.h"
#include "base/result.h"
#include "config/config.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// A storage.ViewDump as bytes, with the digest of the plan that a new planner makes of the view. Costs a pass of the planner.
Result<std::string> dump_view(const View& view, const config::Config& config, Time now);

class ViewDumps {
 public:
  // The first part of a new dump.
  api::ViewPart keep(std::string dump);
  // A further one. failed_precondition: the controller has it no more. invalid_argument: it ends before `offset`.
  Result<api::ViewPart> part(std::uint64_t dump, std::uint64_t offset);

 private:
  using Bytes = std::shared_ptr<const std::string>;
  api::ViewPart cut(std::uint64_t dump, const Bytes& bytes, std::uint64_t offset);

  std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Bytes> kept_;  // ascending age
};

}  // namespace ares::aresctld
