// Branch and bound search of choose_gpus(): the best clique of a given size.
// A Search is used by one call; its machine may be shared.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>

#include "core/topology/gpu_set.h"
#include "core/topology/machine.h"

namespace ares::core::topology {

// Quality of a set in the machine's weights, compared lexicographically; sums preserve the order.
struct Score {
  std::int64_t within = 0;  // sum over its pairs, each counted twice
  // Minus its members' weights to all free GPUs: with equal `within` more leaves better GPUs.
  std::int64_t remaining = 0;
  friend auto operator<=>(const Score&, const Score&) = default;
  friend Score operator+(Score a, Score b) {
    return {a.within + b.within, a.remaining + b.remaining};
  }
};

class Search {
 public:
  // Selects `count` of `free`, any two of them partners at the level and compatible in `shape`.
  // Precondition: 1 <= count <= free.count(), and all of `free` are of the machine.
  Search(const MachineTopology& machine, GpuSet free, unsigned count, Shape shape);

  // The best set for that level, or none. Levels must be passed from the highest to lower ones.
  std::optional<GpuSet> best(const MachineTopology::Level& level);

  // Over all calls of best().
  unsigned steps() const { return steps_; }
  bool gave_up() const { return gave_up_; }

 private:
  using PerGpu = std::array<std::int64_t, kMaxGpus>;
  struct Partial {
    GpuSet gpus;
    Score score;
    PerGpu linked;  // for each candidate, its weight to `gpus`
  };

  GpuSet candidates(const MachineTopology::Level& level);
  void prepare_bounds(GpuSet candidates);
  Score gain(const Partial& partial, unsigned gpu) const;
  bool can_improve(const Partial& partial, GpuSet rest, unsigned missing) const;
  void extend(const Partial& partial, GpuSet rest, unsigned missing);
  void consider(const Partial& partial);

  const MachineTopology& machine_;
  GpuSet free_;
  unsigned count_;
  Shape shape_;
  PerGpu degree_;                            // sum of weights to all free GPUs
  std::array<GpuSet, kMaxGpus> neighbours_;  // GPUs that may be in one set with it
  // [gpu][n]: sum of its n largest weights to candidates.
  std::array<PerGpu, kMaxGpus> nearest_;
  std::optional<GpuSet> best_;
  Score best_score_;
  unsigned steps_ = 0;
  unsigned level_steps_ = 0;
  bool gave_up_ = false;
};

// Whether NVLinks connect the GPUs without using other GPUs.
bool nvlinked(const MachineTopology& machine, GpuSet gpus);

}  // namespace ares::core::topology
