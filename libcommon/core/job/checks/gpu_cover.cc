#include "core/job/checks/gpu_cover.h"

#include <algorithm>
#include <utility>

namespace ares::core {
namespace {

// Nodes that have the same number of GPUs of one type.
struct Equal {
  std::uint64_t gpus = 0, nodes = 0;
};

// The fewest of the nodes, sorted by descending GPUs, that have the wanted GPUs.
std::optional<std::uint64_t> fewest_of(const std::vector<Equal>& sorted, std::uint64_t wanted) {
  std::uint64_t used = 0;
  for (const auto& [gpus, nodes] : sorted) {
    if (wanted == 0) break;
    const std::uint64_t take = std::min(nodes, (wanted + gpus - 1) / gpus);
    used += take;
    wanted -= std::min(wanted, take * gpus);
  }
  if (wanted > 0) return std::nullopt;
  return used;
}

// Tries the numbers of nodes of each kind that has several types. Of the other nodes the largest of
// each type are the best ones.
class Cover {
 public:
  Cover(const NodesByGpus& nodes, const GpuCounts& wanted)
      : left_(wanted), all_(wanted.size()), single_(wanted.size()) {
    for (const auto& [gpus, count] : nodes) {
      std::size_t types = 0, last = 0;
      for (std::size_t type = 0; type < wanted.size(); ++type) {
        if (gpus[type] == 0) continue;
        all_[type].push_back({gpus[type], count});
        last = type;
        ++types;
      }
      if (types == 1) single_[last].push_back({gpus[last], count});
      if (types > 1) several_.emplace_back(gpus, count);
    }
    for (auto* lists : {&all_, &single_})
      for (std::vector<Equal>& list : *lists)
        std::sort(list.begin(), list.end(),
                  [](const Equal& a, const Equal& b) { return a.gpus > b.gpus; });
  }

  std::optional<std::uint64_t> fewest() {
    const auto least = lower_bound();
    if (!least) return std::nullopt;
    choose(0, 0);
    return tried_ > kMostTried ? least : best_;
  }

 private:
  static constexpr std::uint64_t kMostTried = 100'000;

  // As if each node could give all its types, and as many nodes as the type that needs most.
  std::optional<std::uint64_t> lower_bound() const {
    std::uint64_t least = 0;
    for (std::size_t type = 0; type < left_.size(); ++type) {
      const auto nodes = fewest_of(all_[type], left_[type]);
      if (!nodes) return std::nullopt;
      least = std::max(least, *nodes);
    }
    return least;
  }

  // `used`: the nodes that are chosen of the kinds before `kind`.
  void choose(std::size_t kind, std::uint64_t used) {
    if (++tried_ > kMostTried || (best_ && used >= *best_)) return;
    if (kind == several_.size()) return take_single(used);
    const auto& [gpus, count] = several_[kind];
    std::uint64_t most = 0;
    for (std::size_t type = 0; type < left_.size(); ++type)
      if (gpus[type] > 0) most = std::max(most, (left_[type] + gpus[type] - 1) / gpus[type]);
    for (std::uint64_t take = std::min(most, count) + 1; take-- > 0;) {
      const GpuCounts before = left_;
      for (std::size_t type = 0; type < left_.size(); ++type)
        left_[type] -= std::min(left_[type], take * gpus[type]);
      choose(kind + 1, used + take);
      left_ = before;
    }
  }

  void take_single(std::uint64_t used) {
    for (std::size_t type = 0; type < left_.size(); ++type) {
      const auto nodes = fewest_of(single_[type], left_[type]);
      if (!nodes) return;
      used += *nodes;
    }
    if (!best_ || used < *best_) best_ = used;
  }

  GpuCounts left_;
  std::vector<std::vector<Equal>> all_, single_;  // by type; of single_ nodes with this type only
  std::vector<std::pair<GpuCounts, std::uint64_t>> several_;
  std::optional<std::uint64_t> best_;
  std::uint64_t tried_ = 0;
};

}  // namespace

std::optional<std::uint64_t> fewest_nodes(const NodesByGpus& nodes, const GpuCounts& wanted) {
  return Cover(nodes, wanted).fewest();
}

}  // namespace ares::core
