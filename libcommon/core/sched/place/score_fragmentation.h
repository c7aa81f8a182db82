// WorkloadHistogram: what the jobs that wait and run ask of a node, by class; and how many GPUs of a node are useless to it. Owned by a
// Planner, which keeps it up to date from pass to pass; not thread-safe.
//
// Source: Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent",
// USENIX ATC 2023, section 3. A node n is fragmented for a class m by F(n, m): all of its free GPUs if m asks for none or does
// not fit on the node, else those free GPUs, and rests of shared ones, that m cannot use: of other types; of shared ones all if m asks for
// whole GPUs, else rests smaller than m's part.
// F(n) is the sum over the classes, each weighted with how many there are. A job goes where F(n) grows least.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/sched/index/cluster_index.h"
#include "model/engine/state.h"
#include "model/job/whole_gpu.h"

namespace ares::core::sched {

struct Demand;

// Of the classes that ask for GPUs so many count, the commonest; ties by what they ask for.
inline constexpr std::size_t kMaxClasses = 64;

// The part of a GPU that a job would take.
struct TakenPart {
  std::size_t column = 0;
  std::int64_t thousandths = 0;
  std::int64_t left = 0;  // of the shared device that it would join; 0: it takes a whole one
};

class WorkloadHistogram {
 public:
  // One node's share of a job: CPUs, bytes and GPUs by column of Amounts, then GPUs of any one type, then, if the one GPU that it asks
  // for may be shared, its part in thousandths.
  using Class = std::vector<std::int64_t>;

  // So many more node shares of that class, fewer if negative.
  void add(const Class& share, std::int64_t count);
  // Takes in what has changed between two states. Precondition: the same partitions, and the index's GPU types.
  void update(const ClusterState& before, const ClusterState& after, ClusterIndex& index);
  // Chooses the classes that count. To be called after changes.
  void settle();

  // The GPUs of a node with this much free that are useless, in thousandths, each class weighted with its number.
  std::int64_t useless(std::span<const std::int64_t> free,
                       std::span<const SharedGpu> shared = {}) const;
  // By how much that grows if `take` of it is given away. Of a part of a GPU `take` has a whole one, and `free` has one more if the part
  // is of a shared device.
  std::int64_t growth(std::span<const std::int64_t> free, std::span<const std::int64_t> take,
                      std::span<const SharedGpu> shared = {}, const TakenPart& part = {}) const;

  // All the weights together: what growth is divided by to be that of the expected job.
  std::int64_t weight() const { return weight_; }

  friend bool operator==(const WorkloadHistogram& a, const WorkloadHistogram& b) {
    return a.counts_ == b.counts_;
  }

 private:
  template <class Get, class EachRest>
  std::int64_t useless_of(std::size_t stride, const Get& free, const EachRest& each_rest) const;
  void count(const Job& job, std::int64_t sign, const ClusterState& state, ClusterIndex& index);

  std::map<Class, std::int64_t> counts_;
  bool changed_ = false;
  // What counts: the weight of all classes without GPUs, and of each of the others with its class, of one stride.
  std::int64_t without_gpus_ = 0;
  std::int64_t weight_ = 0;
  std::vector<std::int64_t> weights_;
  std::vector<std::int64_t> classes_;
  std::size_t width_ = 0;
};

// What a demand asks of one node, spread evenly.
WorkloadHistogram::Class workload_class_of(const Demand& demand, std::size_t stride);

}  // namespace ares::core::sched
