#include "core/sched/pass/resumer.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "core/cluster/expedite.h"
#include "core/cluster/reservation_access.h"
#include "core/cluster/resume_conflict.h"
#include "core/sched/pass/preempt.h"
#include "core/state/timers.h"

namespace ares::core::sched {
namespace {

// Whether a node with these free amounts has the CPUs, of its own and of its partition's share.
// `cpus`: 0 in all other columns.
bool holds_cpus(const Amounts& free, const Amounts& cpus) {
  for (std::size_t i = 0; i < cpus.size(); ++i)
    if (cpus[i] > 0 && free[i] < cpus[i]) return false;
  return true;
}

bool holds_node(const NodeShare& share) {
  return share.phase != SharePhase::released && share.phase != SharePhase::fenced;
}

std::optional<Seconds> seconds_left(const Job& job) {
  const auto left = limit_left(job);
  if (!left) return std::nullopt;
  return std::chrono::ceil<Seconds>(*left);
}

}  // namespace

Resumer::Resumer(const Pass& pass) : pass_(pass) {
  pass.state.resumable.for_each([&](const JobKey& key, Lsn) {
    const Job* job = pass.state.jobs.find(key);
    if (!job) return;
    const Partition* partition = pass.state.partitions.find(job->allocation->partition);
    waiting_.push_back({job, partition ? partition->tier : 0});
  });
  std::sort(waiting_.begin(), waiting_.end(), [](const Waiting& a, const Waiting& b) {
    return std::tuple(-std::int64_t{a.tier}, a.job->allocation->suspension->at, a.job->key) <
           std::tuple(-std::int64_t{b.tier}, b.job->allocation->suspension->at, b.job->key);
  });
}

std::optional<Resumer::Resumed> Resumer::next() {
  const Job& job = *waiting_[at_++].job;
  auto placement = cpus_of(job);
  if (!placement) return std::nullopt;
  const auto left = seconds_left(job);
  const auto end = Profile::end_of(pass_.now, left);
  if (!can_resume_now(job, *placement, end)) {
    const Time from = earliest_resume(job, *placement, left);
    pass_.profile.add_planned_start(*placement, from, left);
    return std::nullopt;
  }
  Resumed out{{}, &job, {}};
  out.group.jobs.emplace_back(job.key, job.version);
  out.group.resume = AttemptKey{job.key, job.attempt};
  const auto cpu_share = pass_.index.cpu_share_column(job.allocation->partition);
  for (const NodeShare& share : job.allocation->nodes) {
    const auto at = holds_node(share) ? pass_.index.find(share.node) : std::nullopt;
    if (!at) continue;
    IndexedNode& node = pass_.index.nodes()[*at];
    const std::int64_t cpus = pass_.index.cpus_of(share);
    node.free[kCpus] -= cpus;
    if (cpu_share) node.free[*cpu_share] -= cpus;
    for (const std::uint32_t cpu : share.cpu_ids)
      if (cpu < node.cpus_used.size()) node.cpus_used.set(cpu);
    pass_.index.count_unrestricted(node);
    out.group.nodes.emplace_back(node.node->id, node.node->version);
    pass_.index.update_free(*at);
  }
  pass_.profile.start(*placement, left, *job.spec);
  out.placement = *std::move(placement);
  return out;
}

// CPUs only, because the job still holds everything else. None if a node is not known any more.
std::optional<Placement> Resumer::cpus_of(const Job& job) const {
  const auto cpu_share = pass_.index.cpu_share_column(job.allocation->partition);
  Placement placement;
  for (const NodeShare& share : job.allocation->nodes) {
    if (!holds_node(share)) continue;
    const auto at = pass_.index.find(share.node);
    if (!at) return std::nullopt;
    Amounts amounts(pass_.index.stride(), 0);
    const std::int64_t cpus = pass_.index.cpus_of(share);
    amounts[kCpus] = cpus;
    if (cpu_share) amounts[*cpu_share] = cpus;
    if (const auto column = pass_.index.unrestricted_column())
      amounts[*column] =
          unrestricted_of(pass_.index.nodes()[*at], cpus, share.cpu_ids, pass_.index.cpu_unit());
    placement.push_back({*at, share.tasks, std::move(amounts)});
  }
  if (placement.empty()) return std::nullopt;
  return placement;
}

bool Resumer::can_resume_now(const Job& job, const Placement& placement,
                             std::optional<Time> end) const {
  if (resume_conflict(pass_.state, job, pass_.now) || !reservations_allow(job, placement))
    return false;
  // Also subtracts what this pass has allocated and planned.
  Amounts free(pass_.index.stride());
  for (const PlacedShare& share : placement) {
    const IndexedNode& node = pass_.index.nodes()[share.node];
    if (is_kept_for_another(pass_.state, node.node->id, job.key)) return false;
    pass_.profile.min_free(share.node, pass_.now, end, free);
    for (std::size_t i = 0; i < free.size(); ++i) free[i] = std::min(free[i], node.free[i]);
    if (!holds_cpus(free, share.amounts)) return false;
  }
  for (const NodeShare& share : job.allocation->nodes) {
    const auto at = holds_node(share) ? pass_.index.find(share.node) : std::nullopt;
    if (!at) continue;
    const Bitset& used = pass_.index.nodes()[*at].cpus_used;
    for (const std::uint32_t cpu : share.cpu_ids)
      if (cpu < used.size() && used.test(cpu)) return false;
  }
  return true;
}

// An active reservation keeps the job suspended. A future one is ignored, as it is for a running
// job that was never suspended.
bool Resumer::reservations_allow(const Job& job, const Placement& placement) const {
  AccessRequest access{job.spec->uid};
  // Its own reservation may be over. The job is on its nodes already, so only reservations of
  // others matter.
  access.reservations = job.spec->reservations;
  std::erase_if(access.reservations,
                [&](const std::string& name) { return !pass_.state.reservations.find(name); });
  access.flexible = true;
  return std::all_of(placement.begin(), placement.end(), [&](const PlacedShare& share) {
    return pass_.index.reservations().admits(share.node, access, pass_.now, pass_.now + kSoon);
  });
}

bool Resumer::fits_at(const Placement& placement, Time from, std::optional<Seconds> left) const {
  Amounts free(pass_.index.stride());
  return std::all_of(placement.begin(), placement.end(), [&](const PlacedShare& share) {
    pass_.profile.min_free(share.node, from, Profile::end_of(from, left), free);
    return holds_cpus(free, share.amounts);
  });
}

// When the jobs have ended that use the CPU numbers that this job needs.
Time Resumer::others_end(const Job& job) const {
  Time at = pass_.now + kSoon;
  for (const NodeShare& share : job.allocation->nodes) {
    const Node* node = share.cpu_ids.empty() ? nullptr : pass_.state.nodes.find(share.node);
    if (!node) continue;
    for (const Charge& charge : node->charges) {
      const bool clash =
          std::any_of(charge.cpu_ids.begin(), charge.cpu_ids.end(), [&](std::uint32_t cpu) {
            return std::find(share.cpu_ids.begin(), share.cpu_ids.end(), cpu) !=
                   share.cpu_ids.end();
          });
      if (clash)
        at = std::max(
            at, expected_end(pass_.state, charge, pass_.now).value_or(pass_.profile.horizon()));
    }
  }
  return at;
}

// The first step of its nodes' profiles at which its CPUs fit; at the latest when everything is
// free.
Time Resumer::earliest_resume(const Job& job, const Placement& placement,
                              std::optional<Seconds> left) const {
  const Time from = others_end(job);
  std::set<Time> moments{from};
  Amounts row(pass_.index.stride());
  for (const PlacedShare& share : placement)
    pass_.profile.each_step(share.node, from, row, [&](Time time, std::span<const std::int64_t>) {
      moments.insert(std::max(time, from));
      return true;
    });
  for (const Time moment : moments)
    if (fits_at(placement, moment, left)) return moment;
  return *moments.rbegin();
}

}  // namespace ares::core::sched
