// A dump of all that the scheduler plans from: made by the controller for adiag, read by asim, which plans it again.
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "model/engine/state.h"

namespace ares::proto {

struct ViewDump {
  ClusterState state;           // without requests, which no plan depends on; indexes are rebuilt
  Time now{};                   // for which the plan was made
  std::uint64_t budget = 0;     // of that pass, in work units
  std::uint32_t estimates = 0;  // core::Budget::estimates
  std::uint64_t plan = 0;       // digest of the controller's own plan
  std::string config;           // config::Portable
  std::string topologies;
  std::string release;  // of the controller
};

// resource_exhausted: it is larger than one message can be.
Result<std::string> encode_view(const ViewDump& dump);

// data_loss: it is no such dump, is damaged, or was written by a newer release; the text says which.
Result<ViewDump> decode_view(std::string_view bytes);

}  // namespace ares::proto
