#include "core/sched/pass/preempt.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/sched/place/devices.h"
#include "core/sched/place/shared_gpus.h"

namespace ares::core::sched {
namespace {

using AttemptKeys = std::set<AttemptKey>;

// The victims that end, and those that are suspended and release only their CPUs.
struct Removed {
  AttemptKeys ended, suspended;
};

template <class Row>
auto gpus_end(Row& amounts, const ClusterIndex& index) {
  return amounts.begin() + static_cast<std::ptrdiff_t>(index.gpu_end());
}

// Whether the node has less than its charges hold, because it registered again with less. What the
// end of a job releases there is not known.
bool is_overcommitted(const ClusterIndex& index, const IndexedNode& node) {
  Amounts sum(index.stride(), 0);
  std::set<GpuIndex> shared;
  for (const Charge& charge : node.node->charges) {
    const Amounts amounts = amounts_held(index, node, charge, std::nullopt);
    const bool again = charge.gpu_part > 0 && !shared.insert(charge.gpus.front()).second;
    for (std::size_t i = 0; i < (again ? kFirstGpu : index.gpu_end()); ++i) sum[i] += amounts[i];
  }
  for (std::size_t i = 0; i < sum.size(); ++i)
    if (sum[i] > node.total[i]) return true;
  return false;
}

// A node with victims: its free amounts at every step of the planned run, and what each victim adds
// until when.
struct NodeWithVictims {
  struct Share {
    std::size_t victim = 0;
    // When the victim would have released that anyway.
    Time end{};
    Amounts amounts;
  };
  struct Device {  // shared by victims
    std::vector<std::size_t> victims;
    std::size_t column = 0;
    // When the last sharer would have released it anyway.
    Time end{};
  };
  std::vector<Time> times;
  std::vector<std::int64_t> rows;
  std::vector<Share> shares;
  std::vector<Device> devices;
};

class Search {
 public:
  Search(const PreemptionSearch& in, std::vector<DemandOnNodes> group, std::optional<Seconds> limit,
         std::vector<Victim> candidates)
      : in_(in),
        group_(std::move(group)),
        from_(in.profile.now() + kSoon),
        to_(Profile::end_of(std::max(from_, in.ready), limit)),
        candidates_(std::move(candidates)) {
    std::sort(candidates_.begin(), candidates_.end());
    for (const DemandOnNodes& one : group_)
      nodes_.insert(nodes_.end(), one.nodes.nodes.begin(), one.nodes.nodes.end());
    std::sort(nodes_.begin(), nodes_.end());
    nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
    survey();
  }

  std::optional<PreemptionPlan> run() {
    std::vector<bool> chosen(candidates_.size(), true);
    if (candidates_.empty() || !place(chosen)) return std::nullopt;
    chosen.assign(candidates_.size(), false);
    if (place(chosen) || in_.work.exhausted()) return std::nullopt;
    auto placements = cheapest(chosen);
    if (!placements || !spare(chosen, *placements)) return std::nullopt;
    return result(chosen, *std::move(placements));
  }

 private:
  using Placements = std::vector<Placement>;  // one for each member of the group

  // Computes what every node offers without preemption, and a NodeWithVictims for each
  // node with victims.
  void survey() {
    std::unordered_map<NodeIndex, NodeWithVictims> found;
    std::map<AttemptKey, std::size_t> places;
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      for (const AttemptKey& attempt : candidates_[i].attempts) places[attempt] = i;
    const std::size_t stride = in_.index.stride();
    base_.resize(nodes_.size() * stride);
    victims_nodes_.resize(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const NodeIndex at = nodes_[i];
      const IndexedNode& node = in_.index.nodes()[at];
      in_.profile.min_free(at, from_, to_, std::span(base_).subspan(i * stride, stride));
      NodeWithVictims victims_node;
      for (const Charge& charge : node.node->charges)
        if (const auto place = places.find(charge.attempt); place != places.end()) {
          Amounts released =
              amounts_of(in_.index, node, charge, in_.index.cpu_share_column(in_.state, charge));
          if (candidates_[place->second].only_suspended)
            released = cpus_only(std::move(released), in_.index);
          victims_node.shares.push_back(
              {place->second,
               expected_end(in_.state, charge, in_.profile.now()).value_or(in_.profile.horizon()),
               std::move(released)});
        }
      if (victims_node.shares.empty() || is_overcommitted(in_.index, node)) continue;
      for (const ReclaimableGpu& gpu :
           reclaimable_gpus(in_.state, node, [&](const AttemptKey& one) {
             const auto place = places.find(one);
             return place != places.end() && !candidates_[place->second].only_suspended;
           })) {
        NodeWithVictims::Device device{
            {}, gpu.column, in_.profile.shared_until(at, gpu.gpu).value_or(from_)};
        for (const AttemptKey& sharer : gpu.sharers) device.victims.push_back(places.at(sharer));
        victims_node.devices.push_back(std::move(device));
      }
      Amounts row(stride);
      in_.profile.each_step(at, from_, row, [&](Time time, std::span<const std::int64_t> free) {
        if (to_ && time >= *to_) return false;
        victims_node.times.push_back(time);
        victims_node.rows.insert(victims_node.rows.end(), free.begin(), free.end());
        // Otherwise the minimum is at the first step.
        return in_.profile.falls(at);
      });
      victims_nodes_[i] = std::move(victims_node);
    }
    in_.work.spend(nodes_.size());
  }

  // The minimum that node i has free during the run once the chosen victims are gone.
  void free_of(std::size_t i, const std::vector<bool>& chosen, std::span<std::int64_t> out) const {
    const NodeWithVictims& victims_node = victims_nodes_[i];
    const std::size_t stride = out.size();
    bool first = true;
    Amounts row(stride);
    for (std::size_t step = 0; step < victims_node.times.size(); ++step) {
      std::copy_n(victims_node.rows.begin() + static_cast<std::ptrdiff_t>(step * stride), stride,
                  row.begin());
      for (const NodeWithVictims::Share& share : victims_node.shares)
        if (chosen[share.victim] && share.end > victims_node.times[step])
          for (std::size_t c = 0; c < stride; ++c) row[c] += share.amounts[c];
      for (const NodeWithVictims::Device& device : victims_node.devices)
        if (device.end > victims_node.times[step] &&
            std::all_of(device.victims.begin(), device.victims.end(),
                        [&](std::size_t victim) { return chosen[victim]; }))
          ++row[device.column];
      for (std::size_t c = 0; c < stride; ++c) out[c] = first ? row[c] : std::min(out[c], row[c]);
      first = false;
    }
  }

  // All members of the group, one beside the other.
  std::optional<Placements> place(const std::vector<bool>& chosen) {
    if (in_.work.exhausted()) return std::nullopt;
    in_.work.spend(nodes_.size());
    const std::size_t stride = in_.index.stride();
    const Removed removed = removed_by(chosen);
    std::vector<std::int64_t> rows = base_;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (!victims_nodes_[i].times.empty())
        free_of(i, chosen, std::span(rows).subspan(i * stride, stride));
    Placements placements;
    for (const DemandOnNodes& member : group_) {
      const bool last = &member == &group_.back();
      // NOLINTNEXTLINE(bugprone-use-after-move): nothing follows the last member
      auto placement = place(member, last ? std::move(rows) : rows, removed);
      if (!placement) return std::nullopt;
      for (const PlacedShare& share : *placement) {
        if (last) break;
        const auto row = std::span(rows).subspan(position_of(share.node) * stride, stride);
        const bool takes_one = in_.index.nodes()[share.node].node->guard.on_trial;
        for (std::size_t c = 0; c < stride; ++c) row[c] = takes_one ? 0 : row[c] - share.amounts[c];
      }
      placements.push_back(*std::move(placement));
    }
    return placements;
  }

  // `rows`: what is free on each node.
  std::optional<Placement> place(const DemandOnNodes& member, std::vector<std::int64_t> rows,
                                 const Removed& removed) const {
    const auto& [demand, set] = member;
    const std::size_t stride = in_.index.stride();
    std::vector<NodeOffer> offers;
    offers.reserve(set.nodes.size());
    std::size_t required = 0;
    for (const NodeIndex at : set.nodes) {
      const IndexedNode& node = in_.index.nodes()[at];
      const std::span<std::int64_t> row(rows.data() + position_of(at) * stride, stride);
      if (row[kCpus] <= 0 || !in_.profile.admits(at, demand.access, from_, to_, &removed.ended))
        continue;
      if (!demand.gpu_constraint.none())
        cap_gpus(demand, without(node, removed), GpusOf::free_now, in_.index, row);
      const bool named = is_required(set, at);
      required += named ? 1 : 0;
      offers.push_back({at, row, node.total, named});
    }
    if (required < set.required.size() || offers.empty()) return std::nullopt;
    return fit(demand, offers);
  }

  std::size_t position_of(NodeIndex node) const {
    return static_cast<std::size_t>(std::lower_bound(nodes_.begin(), nodes_.end(), node) -
                                    nodes_.begin());
  }

  // The shortest prefix of the victims in order of cost with which the demand fits, as marks.
  std::optional<Placements> cheapest(std::vector<bool>& chosen) {
    std::size_t low = 1, high = candidates_.size();
    std::optional<Placements> found;
    while (low <= high && !in_.work.exhausted()) {
      const std::size_t middle = low + (high - low) / 2;
      std::fill(chosen.begin(), chosen.end(), false);
      std::fill_n(chosen.begin(), middle, true);
      if (auto placements = place(chosen)) {
        found = std::move(placements);
        high = middle - 1;
      } else {
        low = middle + 1;
      }
    }
    if (!found) return std::nullopt;
    std::fill(chosen.begin(), chosen.end(), false);
    std::fill_n(chosen.begin(), high + 1, true);
    return found;
  }

  // Drops victims that are not needed: first all on nodes outside the placements, then one by one,
  // the most expensive first.
  bool spare(std::vector<bool>& chosen, Placements& placements) {
    std::vector<bool> here(chosen.size(), false);
    for (const Placement& placement : placements)
      for (const PlacedShare& share : placement)
        for (const NodeWithVictims::Share& s : victims_nodes_[position_of(share.node)].shares)
          here[s.victim] = true;
    std::vector<bool> fewer = chosen;
    for (std::size_t i = 0; i < fewer.size(); ++i) fewer[i] = fewer[i] && here[i];
    if (auto still = place(fewer)) {
      chosen = fewer;
      placements = *std::move(still);
    }
    for (std::size_t i = chosen.size(); i-- > 0;) {
      if (!chosen[i]) continue;
      chosen[i] = false;
      if (auto still = place(chosen))
        placements = *std::move(still);
      else
        chosen[i] = true;
    }
    return !in_.work.exhausted();
  }

  Removed removed_by(const std::vector<bool>& chosen) const {
    Removed out;
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (chosen[i])
        (candidates_[i].only_suspended ? out.suspended : out.ended)
            .insert(candidates_[i].attempts.begin(), candidates_[i].attempts.end());
    return out;
  }

  // The node after these victims have released their resources.
  IndexedNode without(const IndexedNode& node, const Removed& removed) const {
    IndexedNode out = node;
    for (const Charge& charge : node.node->charges) {
      const bool only_suspended = removed.suspended.contains(charge.attempt);
      if (!only_suspended && !removed.ended.contains(charge.attempt) &&
          !is_ending(in_.state, charge))
        continue;
      Amounts amounts =
          amounts_held(in_.index, node, charge, in_.index.cpu_share_column(in_.state, charge));
      if (only_suspended) amounts = cpus_only(std::move(amounts), in_.index);
      const bool all = !only_suspended && (charge.gpu_part == 0 ||
                                           unshare_gpu(out, charge.gpus.front(), charge.gpu_part));
      // Other jobs still share the device, or the suspended job keeps it.
      if (!all) std::fill(amounts.begin() + kFirstGpu, gpus_end(amounts, in_.index), 0);
      for (std::size_t c = 0; c < amounts.size(); ++c)
        out.free[c] = std::min(out.free[c] + amounts[c], out.total[c]);
      std::erase_if(out.gpus_used, [&](GpuIndex gpu) {
        return all && std::find(charge.gpus.begin(), charge.gpus.end(), gpu) != charge.gpus.end();
      });
      for (const std::uint32_t cpu : charge.cpu_ids)
        if (cpu < out.cpus_used.size()) out.cpus_used.reset(cpu);
    }
    in_.index.count_unrestricted(out);
    return out;
  }

  // Whether the GPUs that are left beside earlier members have the links that the demand needs.
  bool has_linked_gpus(const Demand& demand, const IndexedNode& node,
                       const PlacedShare& share) const {
    if (demand.gpu_constraint.none()) return true;
    Amounts left = node.free;
    cap_gpus(demand, node, GpusOf::free_now, in_.index, left);
    return std::equal(left.begin() + kFirstGpu, gpus_end(left, in_.index),
                      share.amounts.begin() + kFirstGpu, std::greater_equal<>{});
  }

  // None if devices that were counted as free soon are not free yet and are not released by the
  // victims.
  std::optional<PreemptionPlan> result(const std::vector<bool>& chosen,
                                       Placements placements) const {
    PreemptionPlan out;
    const Removed removed = removed_by(chosen);
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (chosen[i])
        out.victims.insert(out.victims.end(), candidates_[i].attempts.begin(),
                           candidates_[i].attempts.end());
    std::sort(out.victims.begin(), out.victims.end());
    std::map<NodeIndex, IndexedNode> nodes;  // with what the members before have taken
    for (std::size_t i = 0; i < placements.size(); ++i) {
      std::vector<NodeShare>& shares = out.shares.emplace_back();
      for (const PlacedShare& share : placements[i]) {
        const auto [found, added] = nodes.try_emplace(share.node);
        if (added) found->second = without(in_.index.nodes()[share.node], removed);
        if (!has_linked_gpus(group_[i].demand, found->second, share)) return std::nullopt;
        shares.push_back(
            choose_devices(found->second, share, group_[i].demand.gpu_constraint, in_.index));
        const auto gpus = std::accumulate(share.amounts.begin() + kFirstGpu,
                                          gpus_end(share.amounts, in_.index), std::int64_t{0});
        if (gpus != static_cast<std::int64_t>(shares.back().gpus.size())) return std::nullopt;
        if (group_[i].demand.only_unrestricted && found->second.restricted &&
            shares.back().cpu_ids.size() != shares.back().cpus)
          return std::nullopt;
      }
    }
    out.placements = std::move(placements);
    return out;
  }

  const PreemptionSearch& in_;
  const std::vector<DemandOnNodes> group_;
  std::vector<NodeIndex> nodes_;  // of all members; ascending
  const Time from_;
  const std::optional<Time> to_;
  std::vector<Victim> candidates_;
  std::vector<std::int64_t> base_;              // by position in nodes_
  std::vector<NodeWithVictims> victims_nodes_;  // by position in nodes_
};

}  // namespace

bool Victim::operator<(const Victim& other) const {
  return std::tie(tier, qos, lost, other.attempts) <
         std::tie(other.tier, other.qos, other.lost, attempts);
}

Amounts cpus_only(Amounts amounts, const ClusterIndex& index) {
  std::fill(amounts.begin() + kCpus + 1, gpus_end(amounts, index), std::int64_t{0});
  if (const auto column = index.attempts_column()) amounts[*column] = 0;
  if (const auto column = index.tmp_disk_column()) amounts[*column] = 0;
  return amounts;
}

Amounts amounts_held(const ClusterIndex& index, const IndexedNode& node, const Charge& charge,
                     std::optional<std::size_t> cpu_share) {
  Amounts amounts(index.stride(), 0);
  const std::int64_t cpus = index.cpus_of(charge);
  amounts[kCpus] = cpus;
  if (cpu_share) amounts[*cpu_share] = cpus;
  if (const auto column = index.attempts_column()) amounts[*column] = 1;
  if (const auto column = index.tmp_disk_column())
    amounts[*column] = whole_mebibytes(charge.tmp_disk);
  if (const auto column = index.unrestricted_column())
    amounts[*column] = unrestricted_of(node, cpus, charge.cpu_ids, index.cpu_unit());
  amounts[kMemory] = charge.memory.value();
  for (const Gpu& gpu : node.node->inventory.gpus)
    if (std::find(charge.gpus.begin(), charge.gpus.end(), gpu.index) != charge.gpus.end())
      if (const auto column = index.gpu_column(gpu.type)) ++amounts[*column];
  return amounts;
}

Amounts amounts_of(const ClusterIndex& index, const IndexedNode& node, const Charge& charge,
                   std::optional<std::size_t> cpu_share) {
  Amounts amounts = amounts_held(index, node, charge, cpu_share);
  if (charge.gpu_part > 0)
    std::fill(amounts.begin() + kFirstGpu, gpus_end(amounts, index), std::int64_t{0});
  return amounts;
}

bool is_ending(const ClusterState& state, const Charge& charge) {
  const Job* job = state.jobs.find(charge.attempt.job);
  return job && job->attempt == charge.attempt.attempt && job->state == JobState::completing;
}

std::optional<PreemptionPlan> find_victims(const PreemptionSearch& in,
                                           std::vector<DemandOnNodes> group,
                                           std::optional<Seconds> limit,
                                           std::vector<Victim> candidates) {
  return Search(in, std::move(group), limit, std::move(candidates)).run();
}

}  // namespace ares::core::sched
