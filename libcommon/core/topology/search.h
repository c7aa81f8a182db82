// The branch and bound behind choose_gpus(): the best clique of a given size.
// One search belongs to one call; its machine may be shared.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>

#include "core/topology/gpu_set.h"
#include "core/topology/machine.h"

namespace ares::core::topology {

// How good a set is, in the machine's weights. Lexicographic; sums of scores order as their parts do.
struct Score {
  std::int64_t within = 0;  // of its pairs, each counted twice
  std::int64_t remaining =
      0;  // minus its members' weights to all free GPUs: the same `within` leaves more, the greater this is
  friend auto operator<=>(const Score&, const Score&) = default;
  friend Score operator+(Score a, Score b) {
    return {a.within + b.within, a.remaining + b.remaining};
  }
};

class Search {
 public:
  // `free` GPUs, of which `count` are to be taken so that any two are partners at `level` and mates in `shape`.
  // Precondition: 1 <= count <= free.count(), and all of `free` are of the machine.
  Search(const MachineTopology& machine, GpuSet free, unsigned count, Shape shape);

  // The best set for that level, or none. Precondition of calls in a row: levels get lower.
  std::optional<GpuSet> best(const MachineTopology::Level& level);

  // Over all calls.
  unsigned steps() const { return steps_; }
  bool gave_up() const { return gave_up_; }

 private:
  using PerGpu = std::array<std::int64_t, kMaxGpus>;
  struct Partial {
    GpuSet gpus;
    Score score;
    PerGpu linked;  // of each candidate, its weight to `gpus`
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
  PerGpu degree_;                            // weight to all free GPUs
  std::array<GpuSet, kMaxGpus> neighbours_;  // whom it may be together with
  std::array<PerGpu, kMaxGpus>
      nearest_;  // [gpu][n]: the sum of its n largest weights to candidates
  std::optional<GpuSet> best_;
  Score best_score_;
  unsigned steps_ = 0;
  unsigned level_steps_ = 0;
  bool gave_up_ = false;
};

// Whether NVLinks join the GPUs to one whole without help of others.
bool nvlinked(const MachineTopology& machine, GpuSet gpus);

}  // namespace ares::core::topology
