// What another configuration would change, and when each change takes effect.
// Pure functions over immutable values; any thread.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace ares::config {

enum class TakesEffect : std::uint8_t {
  at_once,
  controller_restart,  // of aresctld
  node_restart,        // of the aresd concerned
  never,               // refused: it would be another cluster
};

struct Change {
  std::string subject;  // "partition main", "nodes n[1-4]", "policy"
  std::string field;    // empty: the whole of it comes or goes
  std::string before;   // as ares.yaml writes it; empty: was not there
  std::string after;    // empty: is not there any more
  TakesEffect effect = TakesEffect::at_once;
  bool undoes_command = false;  // what was before had been set by a command
};

// In the file's order; nodes that change alike share a row. `in_force` are the partitions as they are now, with what commands have
// changed since `running` was applied.
std::vector<Change> diff(const Config& running, const std::vector<Partition>& in_force,
                         const Config& next);

// `next` with everything that takes effect only at a restart as it is in `running`: what is true once `next` has been applied.
Config keep_until_restart(const Config& running, Config next);

}  // namespace ares::config
