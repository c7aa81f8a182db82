#include "core/sched/time/expected_releases.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/state/timers.h"

namespace ares::core::sched {
namespace {

// An attempt past its limit is being killed, so at every pass its end is expected after this time.
constexpr auto kOverdue = std::chrono::seconds(1);

// Larger than the number of changes of one pass.
constexpr std::size_t kMaxChanges = 16'384;

// Adds the charge to `row`, which has the index's columns. A part of a GPU adds nothing, because
// the device becomes free only with its last sharer.
void add_amounts(const ClusterIndex& index, const Node& node, const Charge& charge,
                 std::span<std::int64_t> row) {
  row[kCpus] += index.cpus_of(charge);
  row[kMemory] += charge.memory.value();
  if (charge.gpus.empty() || charge.gpu_part > 0) return;
  for (const Gpu& gpu : node.inventory.gpus)
    if (std::find(charge.gpus.begin(), charge.gpus.end(), gpu.index) != charge.gpus.end())
      if (const auto column = index.gpu_column(gpu.type)) ++row[*column];
}

// The end independent of the current time: in the past for an attempt that is ending, Time::max()
// if it is not known. `begun` is set to false if the time limit counts from now on.
Time fixed_end(const ClusterState& state, const Charge& charge, Time now, bool& begun) {
  const Job* job = state.jobs.find(charge.attempt.job);
  if (!job || job->attempt != charge.attempt.attempt || !job->allocation) return Time::max();
  if (job->ending || job->state == JobState::completing) return Time::min();
  // When a suspended job resumes is not known, so neither is the time at which it releases what it
  // still holds.
  if (!job->allocation->time_limit || job->allocation->suspension) return Time::max();
  begun = job->started.has_value();
  return begun ? *limit_end(*job)
               : std::max(job->allocation->at, now) + *job->allocation->time_limit;
}

// The charge that releases each shared GPU last, with the column of the GPU.
using LastSharers = std::vector<std::pair<const Charge*, std::size_t>>;

// `charges` are in the order of their ends.
LastSharers last_sharers(const ClusterIndex& index, const Node& node,
                         const std::vector<std::pair<Time, const Charge*>>& charges) {
  std::map<GpuIndex, const Charge*> of_gpu;
  for (const auto& [end, charge] : charges)
    if (charge->gpu_part > 0 && !charge->gpus.empty()) of_gpu[charge->gpus.front()] = charge;
  LastSharers last;
  if (of_gpu.empty()) return last;
  for (const Gpu& gpu : node.inventory.gpus)
    if (const auto found = of_gpu.find(gpu.index); found != of_gpu.end())
      if (const auto column = index.gpu_column(gpu.type)) last.emplace_back(found->second, *column);
  return last;
}

// Adds what each charge gives back in the columns of partitions' CPUs, attempts and temporary storage. Where a limit has been lowered nothing
// comes free until less than the limit is used.
void add_shares(const std::vector<std::pair<Time, const Charge*>>& charges,
                const ClusterIndex& index, const ClusterState& state, NodeIndex at,
                ExpectedReleases::NodeReleases& out) {
  const Amounts& total = index.nodes()[at].total;
  for (std::size_t column = index.gpu_end(); column < index.shares_end(); ++column) {
    const auto held = [&](const Charge& charge) -> std::int64_t {
      if (column == index.attempts_column()) return 1;
      if (column == index.tmp_disk_column()) return whole_mebibytes(charge.tmp_disk);
      return index.cpu_share_column(state, charge) == column ? index.cpus_of(charge) : 0;
    };
    std::int64_t used = 0;
    for (const auto& [end, charge] : charges) used += held(*charge);
    std::int64_t free = std::max<std::int64_t>(total[column] - used, 0);
    for (std::size_t i = 0; i < charges.size(); ++i) {
      used -= held(*charges[i].second);
      const std::int64_t then = std::max<std::int64_t>(total[column] - used, 0);
      out.amounts[i * index.stride() + column] = then - free;
      free = then;
    }
  }
}

// Adds what each charge gives back of the CPUs that are not kept for jobs with GPUs, from the last one
// to the first.
void add_unrestricted(const std::vector<std::pair<Time, const Charge*>>& charges,
                      const ClusterIndex& index, NodeIndex at,
                      ExpectedReleases::NodeReleases& out) {
  const auto column = index.unrestricted_column();
  if (!column) return;
  const IndexedNode& node = index.nodes()[at];
  Bitset used(node.cpus_used.size());
  std::int64_t charged = 0, after = node.total[*column];
  for (std::size_t i = charges.size(); i-- > 0;) {
    const Charge& charge = *charges[i].second;
    charged += index.cpus_of(charge);
    for (const std::uint32_t cpu : charge.cpu_ids)
      if (cpu < used.size()) used.set(cpu);
    const std::int64_t before = std::min(
        unrestricted_free(node, node.total[*column], used, charged, index.cpu_unit()), after);
    out.amounts[i * index.stride() + *column] = after - before;
    after = before;
  }
}

}  // namespace

std::optional<Time> expected_end(const ClusterState& state, const Charge& charge, Time now) {
  bool begun = true;
  const Time end = fixed_end(state, charge, now, begun);
  if (end == Time::max()) return std::nullopt;
  return std::max(end, now + kOverdue);
}

void ExpectedReleases::update(const ClusterState& before, const ClusterState& after,
                              const ClusterIndex& index) {
  changes_.trim(kMaxChanges);
  const auto forget = [&](NodeId id) {
    const auto at = index.find(id);
    if (at) changes_.add(*at);
    if (at && *at < nodes_.size()) nodes_[*at].known = false;
  };
  CowMap<NodeId, Node>::diff(before.nodes, after.nodes,
                             [&](NodeId id, const Node*, const Node*) { forget(id); });
  CowMap<JobKey, Job>::diff(before.jobs, after.jobs,
                            [&](const JobKey&, const Job* was, const Job* is) {
                              for (const Job* job : {was, is})
                                if (job && job->allocation)
                                  for (const NodeShare& share : job->allocation->nodes)
                                    forget(share.node);
                            });
}

const ExpectedReleases::NodeReleases& ExpectedReleases::of(NodeIndex at, const ClusterState& state,
                                                           const ClusterIndex& index, Time now) {
  if (nodes_.size() < index.nodes().size()) nodes_.resize(index.nodes().size());
  Entry& entry = nodes_[at];
  if (!entry.known || (entry.node.time_dependent && entry.read_at != now))
    read(entry, at, state, index, now);
  return entry.node;
}

void ExpectedReleases::read(Entry& entry, NodeIndex at, const ClusterState& state,
                            const ClusterIndex& index, Time now) {
  const Node& node = *index.nodes()[at].node;
  entry.known = true;
  entry.read_at = now;
  NodeReleases& out = entry.node;
  out.time_dependent = false;
  out.ends.clear();
  out.amounts.clear();
  out.shared.clear();
  std::vector<std::pair<Time, const Charge*>> charges;
  for (const Charge& charge : node.charges) {
    bool begun = true;
    charges.emplace_back(fixed_end(state, charge, now, begun), &charge);
    if (!begun) out.time_dependent = true;
  }
  std::stable_sort(charges.begin(), charges.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const LastSharers last = last_sharers(index, node, charges);
  Amounts sum(index.stride(), 0);
  for (const auto& [end, charge] : charges) {
    const std::size_t row = out.amounts.size();
    out.ends.push_back(end);
    out.amounts.resize(row + index.stride(), 0);
    add_amounts(index, node, *charge, std::span(out.amounts).subspan(row));
    for (const auto& [sharer, column] : last)
      if (sharer == charge) {
        ++out.amounts[row + column];
        out.shared.emplace_back(charge->gpus.front(), end);
      }
    for (std::size_t column = 0; column < sum.size(); ++column)
      sum[column] += out.amounts[row + column];
  }
  add_shares(charges, index, state, at, out);
  add_unrestricted(charges, index, at, out);
  // An over-committed node, which registered again with less, has less than the charges would
  // release. No releases are assumed for it.
  const Amounts& total = index.nodes()[at].total;
  for (std::size_t column = 0; column < sum.size(); ++column)
    if (sum[column] > total[column]) {
      out.ends.clear();
      out.amounts.clear();
      out.shared.clear();
      return;
    }
}

}  // namespace ares::core::sched
