#include "core/sched/place/score_fragmentation.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/saturating.h"
#include "core/sched/index/demand.h"
#include "model/job/gpu_alternatives.h"

namespace ares::core::sched {
namespace {

// Number of tasks of the record that may be waiting or running.
std::int64_t weight_of(const Job& job) {
  if (holds_resources(job.state)) return 1;
  if (job.state != JobState::pending || job.hold != Hold::none) return 0;
  return job.array ? static_cast<std::int64_t>(job.array->waiting.count()) : 1;
}

bool wants_gpus(std::span<const std::int64_t> share) {
  return std::any_of(share.begin() + kFirstGpu, share.end(),
                     [](std::int64_t count) { return count > 0; });
}

std::int64_t rest_of(const SharedGpu& shared) {
  return std::int64_t{kWholeGpu} - shared.used;
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// Thousandths of a node's GPUs that a job of a class with a part could use.
template <class Get, class EachRest>
std::int64_t usable_part(std::span<const std::int64_t> share, std::size_t stride, const Get& get,
                         const EachRest& each_rest) {
  const auto of_its_type = [&](std::size_t c) { return share[c] > 0 || share[stride] > 0; };
  std::int64_t sum = 0;
  for (std::size_t c = kFirstGpu; c < stride; ++c)
    if (of_its_type(c)) sum += get(c) * kWholeGpu;
  each_rest([&](std::size_t c, std::int64_t rest) {
    if (of_its_type(c) && rest >= share[stride + 1]) sum += rest;
  });
  return sum;
}

// Thousandths of a node's GPUs that a job of the class could use. `get` returns the free amount of
// a column in whole GPUs; `each_rest` visits the free parts of shared GPUs.
template <class Get, class EachRest>
std::int64_t usable(std::span<const std::int64_t> share, std::size_t stride, const Get& get,
                    const EachRest& each_rest) {
  const std::int64_t any = share[stride];
  for (std::size_t c = 0; c < kFirstGpu; ++c)
    if (get(c) < share[c]) return 0;
  if (share[stride + 1] > 0) return usable_part(share, stride, get, each_rest);
  for (std::size_t c = kFirstGpu; c < stride; ++c)
    if (get(c) < share[c]) return 0;
  std::int64_t gpus = 0;
  bool any_fits = any == 0;
  for (std::size_t c = kFirstGpu; c < stride; ++c) {
    const bool for_any = any > 0 && get(c) - share[c] >= any;
    any_fits = any_fits || for_any;
    if (share[c] > 0 || for_any) gpus += get(c);
  }
  return any_fits ? gpus * kWholeGpu : 0;
}

}  // namespace

void WorkloadHistogram::add(const Class& share, std::int64_t count) {
  const auto [entry, added] = counts_.try_emplace(share, 0);
  entry->second += count;
  if (entry->second == 0) counts_.erase(entry);
  changed_ = true;
}

void WorkloadHistogram::count(const Job& job, std::int64_t sign, const ClusterState& state,
                              ClusterIndex& index) {
  const std::int64_t jobs = weight_of(job);
  if (jobs == 0 || !job.spec || job.spec->partitions.empty()) return;
  const Partition* partition = state.partitions.find(job.spec->partitions.front());
  if (!partition) return;
  // For a job that can use one of several alternatives, the first one counts.
  const JobSpec& spec = *job.spec;
  const std::size_t got = job.allocation ? job.allocation->alternative : 0;
  const Demand demand =
      got == 0 || got >= spec.gpu_alternatives.size() || !holds_resources(job.state)
          ? make_amounts(spec, *partition, index)
          : make_amounts(with_alternative(spec, got), *partition, index);
  if (demand.unknown_gpu_type) return;
  add(workload_class_of(demand), sign * jobs * std::int64_t{demand.min_nodes});
}

void WorkloadHistogram::update(const ClusterState& before, const ClusterState& after,
                               ClusterIndex& index) {
  CowMap<JobKey, Job>::diff(
      before.jobs, after.jobs, [&](const JobKey&, const Job* was, const Job* is) {
        if (was && is && was->spec == is->spec && weight_of(*was) == weight_of(*is) &&
            (!is->spec || is->spec->gpu_alternatives.empty()))
          return;
        if (was) count(*was, -1, before, index);
        if (is) count(*is, 1, after, index);
      });
  settle();
}

void WorkloadHistogram::settle() {
  if (!changed_) return;
  changed_ = false;
  without_gpus_ = 0;
  std::vector<std::pair<std::int64_t, const Class*>> with;
  for (const auto& [share, count] : counts_) {
    if (wants_gpus(share))
      with.emplace_back(-count, &share);
    else
      without_gpus_ += count;
  }
  const auto most = with.begin() + static_cast<std::ptrdiff_t>(std::min(with.size(), kMaxClasses));
  std::partial_sort(with.begin(), most, with.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first, *a.second) < std::tie(b.first, *b.second);
  });
  weights_.clear();
  classes_.clear();
  width_ = with.empty() ? 0 : with.front().second->size();
  for (auto entry = with.begin(); entry != most; ++entry) {
    weights_.push_back(-entry->first);
    classes_.insert(classes_.end(), entry->second->begin(), entry->second->end());
  }
  weight_ = without_gpus_ + std::accumulate(weights_.begin(), weights_.end(), std::int64_t{0});
}

template <class Get, class EachRest>
std::int64_t WorkloadHistogram::useless_of(std::size_t stride, const Get& get,
                                           const EachRest& each_rest) const {
  std::int64_t all = 0;
  for (std::size_t c = kFirstGpu; c < stride; ++c) all += get(c) * kWholeGpu;
  each_rest([&](std::size_t, std::int64_t rest) { all += rest; });
  if (all == 0) return 0;
  std::int64_t sum = without_gpus_ * all;
  for (std::size_t i = 0; i < weights_.size(); ++i)
    sum += weights_[i] *
           (all - usable(std::span(classes_).subspan(i * width_, width_), stride, get, each_rest));
  return sum;
}

std::int64_t WorkloadHistogram::useless(std::span<const std::int64_t> free,
                                        std::span<const SharedGpu> shared) const {
  return useless_of(
      free.size(), [&](std::size_t c) { return free[c]; },
      [&](const auto& visit) {
        for (const SharedGpu& one : shared) visit(one.column, rest_of(one));
      });
}

std::int64_t WorkloadHistogram::growth(std::span<const std::int64_t> free,
                                       std::span<const std::int64_t> take,
                                       std::span<const SharedGpu> shared,
                                       const TakenPart& part) const {
  const auto is_its = [&](const SharedGpu& one) {
    return one.column == part.column && rest_of(one) == part.left;
  };
  const auto joined =
      part.left > 0 ? std::find_if(shared.begin(), shared.end(), is_its) : shared.end();
  const auto before = [&](std::size_t c) {
    return free[c] - (joined != shared.end() && c == part.column ? 1 : 0);
  };
  const auto each_before = [&](const auto& visit) {
    for (const SharedGpu& one : shared) visit(one.column, rest_of(one));
  };
  const auto after = [&](std::size_t c) { return free[c] - take[c]; };
  const auto each_after = [&](const auto& visit) {
    for (auto one = shared.begin(); one != shared.end(); ++one)
      visit(one->column, rest_of(*one) - (one == joined ? part.thousandths : 0));
    if (part.thousandths > 0 && joined == shared.end())
      visit(part.column, kWholeGpu - part.thousandths);
  };
  return useless_of(free.size(), after, each_after) - useless_of(free.size(), before, each_before);
}

WorkloadHistogram::Class workload_class_of(const Demand& demand) {
  const std::size_t stride = demand.gpu_end;
  WorkloadHistogram::Class share(stride + 2, 0);
  const std::int64_t nodes = std::max(demand.min_nodes, 1u);
  const std::int64_t tasks = demand.tasks_per_node > 0
                                 ? std::min<std::int64_t>(demand.tasks_per_node, demand.tasks)
                                 : ceil_div(demand.tasks, nodes);
  share[kCpus] = std::max(tasks * demand.cpus_per_task, std::int64_t{demand.min_cpus_per_node});
  const std::int64_t memory = demand.memory.value();
  switch (demand.memory_rule) {
    case MemoryRule::none:
    case MemoryRule::whole: break;  // the amount depends on the node
    case MemoryRule::per_node: share[kMemory] = memory; break;
    case MemoryRule::per_cpu: share[kMemory] = memory_of_cpus(demand, share[kCpus]); break;
    case MemoryRule::per_task: share[kMemory] = capped_product(memory, tasks); break;
  }
  for (const auto& [column, count] : demand.gpus_per_node) share[column] += count;
  for (const auto& [column, count] : demand.gpus_total) share[column] += ceil_div(count, nodes);
  for (const auto& [column, count] : demand.gpus_per_task) share[column] += count * tasks;
  share[stride] = std::int64_t{demand.any_gpus_per_node} + ceil_div(demand.any_gpus_total, nodes) +
                  demand.any_gpus_per_task * tasks;
  share[stride + 1] = demand.gpu_part;
  return share;
}

}  // namespace ares::core::sched
