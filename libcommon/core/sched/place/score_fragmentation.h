// WorkloadHistogram: the resources that waiting and running jobs need on a node, by class, and the
// number of GPUs of a node that are useless for these jobs. Owned by a Planner, which updates it
// from pass to pass; not thread-safe.
// Source: Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with
// Fragmentation Gradient Descent", USENIX ATC 2023, section 3. The fragmentation F(n, m) of a node
// n for a class m is: all free GPUs of n, if m needs none or does not fit on n; otherwise the free
// GPUs, and free parts of shared GPUs, that m cannot use. These are GPUs of other types, all free
// parts if m needs whole GPUs, and otherwise free parts smaller than the part that m needs.
// F(n) is the sum over the classes, each weighted with its number of jobs. A job is placed where
// F(n) grows least.
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

// Number of classes with GPUs that are used, the most frequent first; ties by their demand.
inline constexpr std::size_t kMaxClasses = 64;

// The part of a GPU that a job would take.
struct TakenPart {
  std::size_t column = 0;
  std::int64_t thousandths = 0;
  // Free thousandths of the shared device that it would join; 0: it takes a whole GPU.
  std::int64_t left = 0;
};

class WorkloadHistogram {
 public:
  // The share of a job on one node: CPUs, bytes and GPUs by column of Amounts, then GPUs of any one
  // type, then, if its one GPU may be shared, the part in thousandths.
  using Class = std::vector<std::int64_t>;

  // Adds `count` node shares of the class; removes them if `count` is negative.
  void add(const Class& share, std::int64_t count);
  // Applies the changes between two states. Precondition: the partitions are the same, and the GPU
  // types are those of the index.
  void update(const ClusterState& before, const ClusterState& after, ClusterIndex& index);
  // Chooses the classes that are used. Must be called after changes.
  void settle();

  // Useless GPUs of a node with these free amounts, in thousandths; each class is weighted with its
  // number. Amounts go up to the last GPU column, here and below.
  std::int64_t useless(std::span<const std::int64_t> free,
                       std::span<const SharedGpu> shared = {}) const;
  // Growth of useless() if `take` is allocated. For a part of a GPU `take` contains a whole GPU,
  // and `free` contains one more GPU if the part is on a shared device.
  std::int64_t growth(std::span<const std::int64_t> free, std::span<const std::int64_t> take,
                      std::span<const SharedGpu> shared = {}, const TakenPart& part = {}) const;

  // Sum of all weights. Growth divided by it is the growth for the expected job.
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
  // The classes that are used: the weight of all classes without GPUs, and the weight of each other
  // class with its row, of one stride.
  std::int64_t without_gpus_ = 0;
  std::int64_t weight_ = 0;
  std::vector<std::int64_t> weights_;
  std::vector<std::int64_t> classes_;
  std::size_t width_ = 0;
};

// What a demand needs on one node if its tasks are spread evenly.
WorkloadHistogram::Class workload_class_of(const Demand& demand);

}  // namespace ares::core::sched
