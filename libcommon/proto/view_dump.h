// A dump of all input of the scheduler: made by the controller for adiag, replayed by asim.
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
  ClusterState state;           // without requests; decode_view() rebuilds the indexes
  Time now{};                   // time of the pass
  std::uint64_t budget = 0;     // of that pass, in work units
  std::uint32_t estimates = 0;  // core::Budget::estimates
  std::uint64_t plan = 0;       // digest of the controller's own plan
  std::string config;           // from config::PortableConfig
  std::string topologies;
  std::string release;  // of the controller
};

// resource_exhausted: it is larger than one message can be (2 GiB).
Result<std::string> encode_view(const ViewDump& dump);

// data_loss: not a dump, damaged, or written by a newer release; the text says which.
Result<ViewDump> decode_view(std::string_view bytes);

}  // namespace ares::proto
