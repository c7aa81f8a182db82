#include "core/sched/pass/preemptor.h"

#include <algorithm>

#include "core/cluster/preemptible.h"
#include "core/cluster/time_limit.h"
#include "core/job/decide/decision_context.h"
#include "core/sched/place/devices.h"
#include "core/sched/place/placed_limits.h"
#include "core/sched/place/plugin_classes.h"
#include "core/state/timers.h"

namespace ares::core::sched {
namespace {

// Searches in one pass; each may read every node a few times for each victim.
constexpr std::uint32_t kMaxSearches = 16;

Placement placement_of(const ClusterIndex& index, const Job& job) {
  const PreemptionClaim& claim = *job.preemption_claim;
  const auto cpu_share = index.cpu_share_column(claim.partition);
  Placement placement;
  for (const NodeShare& share : claim.nodes) {
    const auto at = index.find(share.node);
    if (!at || (!index.nodes()[*at].usable && !is_kept_for(index.nodes()[*at], job))) return {};
    const Node& node = *index.nodes()[*at].node;
    // The node may have registered again without the GPU.
    for (const GpuIndex gpu : share.gpus)
      if (std::none_of(node.inventory.gpus.begin(), node.inventory.gpus.end(),
                       [&](const Gpu& has) { return has.index == gpu; }))
        return {};
    const Charge as_charge{{}, {}, share.cpus, share.memory, share.gpus, {}};
    PlacedShare& placed =
        placement.emplace_back(*at, share.tasks, amounts_held(index, node, as_charge, cpu_share));
    if (share.gpu_part == 0) continue;
    const auto gpus = placed.amounts.begin() + kFirstGpu;
    const auto end = placed.amounts.begin() + static_cast<std::ptrdiff_t>(index.gpu_end());
    const auto device = std::find(gpus, end, 1);
    if (device == end) return {};
    placed.part =
        PlacedPart{static_cast<std::size_t>(device - placed.amounts.begin()), share.gpu_part};
  }
  return placement;
}

}  // namespace

std::string preemption_text(const ClusterState& state, const PreemptionClaim& claim) {
  constexpr std::size_t kNamed = 8;
  std::string names;
  std::size_t gone = 0;
  for (std::size_t i = 0; i < claim.victims.size(); ++i) {
    const AttemptKey& victim = claim.victims[i];
    if (i < kNamed) names += (i > 0 ? ", " : "") + job_text(victim.job);
    const Job* job = state.jobs.find(victim.job);
    const bool there = job && job->attempt == victim.attempt && holds_resources(job->state) &&
                       job->state != JobState::suspended;
    gone += there ? 0 : 1;
  }
  const std::size_t all = claim.victims.size();
  if (all > kNamed) names += " and " + std::to_string(all - kNamed) + " more";
  return "waits until " + std::to_string(all) + (all == 1 ? " job" : " jobs") +
         " that it preempts " + (all == 1 ? "has" : "have") + " ended: " + names + "; " +
         std::to_string(gone) + " of " + std::to_string(all) +
         (gone == 1 ? " has so far" : " have so far");
}

PreemptionDenial preemption_denial(const ClusterState& state, const Policy& policy, const Job& job,
                                   Time now) {
  const auto& names = job.spec->partitions;
  const bool concerned = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const Partition* partition = state.partitions.find(name);
    return partition && preempts(state, policy, *partition, *job.spec);
  });
  if (!concerned || is_binding(job, now)) return {};
  if (!job.spec->gpu_alternatives.empty())
    return {"preempts no job, because it names several kinds of GPUs", std::nullopt};
  if (job.array && job.array->throttle > 0)
    return {"preempts no job, because its array limits how many of its tasks run", std::nullopt};
  if (job.preempted)
    return {"preempts no job before it has run again, because it was preempted itself",
            std::nullopt};
  const EvictionsLeft left = evictions_left(state, policy, job.spec->uid, now);
  if (left.count > 0) return {};
  const auto most = [](std::uint32_t count, const char* in) {
    return count == 0 ? std::string() : std::to_string(count) + " in " + in;
  };
  const std::string hour = most(policy.preemption.per_hour, "an hour"),
                    day = most(policy.preemption.per_day, "a day");
  return {"preempts no job now, because its user has reached the limit on preemptions: " + hour +
              (hour.empty() || day.empty() ? "" : ", ") + day,
          left.more_at};
}

std::vector<Preemptor::ClaimedStart> Preemptor::claimed_starts(const ArrayStarts& starting) {
  std::vector<ClaimedStart> all;
  pass_.state.preemption_claims.for_each([&](const JobKey& key, Lsn) {
    const Job* job = pass_.state.jobs.find(key);
    if (!job || !is_binding(*job, pass_.now)) return;
    const PreemptionClaim& claim = *job->preemption_claim;
    wake_by(claim.until);
    if (blocked_by_record(*job)) return;
    const auto& asked = job->spec->partitions;
    const auto choice = std::find(asked.begin(), asked.end(), claim.partition);
    const Partition* partition = pass_.state.partitions.find(claim.partition);
    if (choice == asked.end() || !partition) return;
    const QueueEntry entry{job, partition, static_cast<std::uint32_t>(choice - asked.begin())};
    if (admit(pass_.state, pass_.use, entry, starting, pass_.now).refused) return;
    Placement placement = placement_of(pass_.index, *job);
    if (placement.empty()) return;
    auto limit = limit_at(pass_.state, *job, *partition, pass_.now);
    if (claim.time_limit) limit = std::min(limit.value_or(*claim.time_limit), *claim.time_limit);
    all.push_back({entry, std::move(placement), limit});
  });
  return all;
}

bool Preemptor::is_available(const ClaimedStart& claimed, const JobClass& job_class) const {
  const Demand& demand = job_class.demand;
  const auto end = Profile::end_of(pass_.now, claimed.limit);
  const auto chosen = pass_.licenses.choose(*claimed.entry.job->spec);
  if (!chosen) return false;
  return std::all_of(claimed.placement.begin(), claimed.placement.end(),
                     [&](const PlacedShare& share) {
                       const IndexedNode& node = pass_.index.nodes()[share.node];
                       Amounts free = node.free;
                       cap_gpus(demand, node, GpusOf::free_now, pass_.index, free);
                       for (std::size_t i = 0; i < free.size(); ++i)
                         if (free[i] < share.amounts[i]) return false;
                       if (demand.exclusive && node.free[kCpus] != node.total[kCpus]) return false;
                       return pass_.profile.admits(share.node, demand.access, pass_.now, end);
                     });
}

PendingInfo Preemptor::enforce_claim(const ClaimedStart& claimed, const JobClass& job_class) {
  const Job& job = *claimed.entry.job;
  const PreemptionClaim& claim = *job.preemption_claim;
  add_planned_start(job_class.demand, claimed.placement, claim.ready, claimed.limit);
  pass_.licenses.allocate(*job.spec, claim.licenses);
  PendingInfo info{Reason::preempting, preemption_text(pass_.state, claim), std::nullopt, {}};
  info.expected_start = std::max(claim.ready, pass_.now);
  for (const NodeShare& share : claim.nodes) info.expected_nodes.push_back(share.node);
  return info;
}

bool Preemptor::can_preempt(const Partition* partition) {
  if (!partition) return false;
  const auto [found, added] = can_preempt_.try_emplace(partition, false);
  if (added) found->second = preempts(pass_.state, pass_.policy, *partition);
  return found->second;
}

namespace {

// How long the job has run since its last committed checkpoint: what is done again after a preemption.
Duration work_at_risk(const Job& job, Time now) {
  const Time started = job.started.value_or(now);
  const Duration ran = now - started - suspended_for(job, now);
  if (job.checkpoints.empty() || job.checkpoints.front().attempt != job.attempt) return ran;
  const Checkpoint& last = job.checkpoints.front();
  const Duration saved = last.at - started - last.suspended;
  return std::clamp(ran - saved, Duration{}, std::max(ran, Duration{}));
}

}  // namespace

bool Preemptor::can_preempt(const QueueEntry& entry) {
  if (!can_preempt(entry.partition)) return false;
  const auto [found, added] =
      can_preempt_qos_.try_emplace({entry.partition, entry.job->spec->qos}, false);
  if (added)
    found->second = preempts(pass_.state, pass_.policy, *entry.partition, *entry.job->spec);
  return found->second;
}

const std::vector<Preemptor::Running>& Preemptor::running() {
  if (running_) return *running_;
  running_.emplace();
  for (const IndexedNode& node : pass_.index.nodes())
    for (const Charge& charge : node.node->charges) {
      const Job* job = pass_.state.jobs.find(charge.attempt.job);
      if (!job || job->state != JobState::running || job->attempt != charge.attempt.attempt ||
          !job->allocation || job->allocation->nodes.front().node != node.node->id)
        continue;
      if (preempt_mode_of(pass_.state, *job) == PreemptMode::off) continue;
      const Partition* partition = pass_.state.partitions.find(job->allocation->partition);
      Running one{job, {}, {}};
      std::int64_t cpus = 0;
      for (const NodeShare& share : job->allocation->nodes) {
        cpus += share.cpus;
        if (const auto at = pass_.index.find(share.node)) one.nodes.push_back(*at);
      }
      const Duration ran = work_at_risk(*job, pass_.now);
      one.victim = {charge.attempt, partition->tier,
                    qos_priority(pass_.state, pass_.policy, *job->spec), cpus * ran.count(),
                    releases_only_cpus(pass_.state, *job)};
      if (one.victim.only_suspended) one.victim.lost = 0;
      running_->push_back(std::move(one));
    }
  return *running_;
}

Preemptor::Candidates Preemptor::candidates(const QueueEntry& entry, const NodeSet& set) {
  Candidates out;
  for (const Running& one : running()) {
    if (ended_.contains(one.victim.attempt)) continue;
    if (std::none_of(one.nodes.begin(), one.nodes.end(),
                     [&](NodeIndex at) { return set.bits->test(at); }))
      continue;
    const auto from =
        preemptible_from(pass_.state, pass_.policy, *entry.job->spec, *entry.partition, *one.job);
    if (!from) continue;
    if (*from > pass_.now) {
      wake_by(*from);
      continue;
    }
    out.victims.push_back(one.victim);
    const Seconds grace = eviction_grace(pass_.state, pass_.policy, *one.job);
    out.shortest = std::min(out.shortest, grace);
    out.longest = std::max(out.longest, grace);
  }
  return out;
}

std::optional<PreemptionPlan> Preemptor::search(const QueueEntry& entry, const JobClass& job_class,
                                                std::optional<Seconds> limit) {
  const NodeSet set = job_class.nodes();
  Candidates candidates = this->candidates(entry, set);
  if (candidates.victims.empty()) return std::nullopt;
  // A job that starts by then anyway needs no victims.
  const auto soon =
      find_earliest_start(job_class.demand, limit, set, pass_.index, pass_.profile, pass_.work);
  if (soon && soon->at <= pass_.now + candidates.shortest) return std::nullopt;
  if (searches_ == kMaxSearches) return std::nullopt;
  ++searches_;
  return find_victims(
      {pass_.state, pass_.index, pass_.profile, pass_.work, pass_.now + candidates.longest},
      job_class.demand, limit, set, std::move(candidates.victims));
}

// Whether it is certain that the job starts once the victims are gone. That is not certain if
// plugins may refuse the changed nodes, if the throttle of its array may delay its next task, or if
// GPUs of another alternative may become free before.
bool Preemptor::is_predictable(const QueueEntry& entry, const JobClass& job_class) const {
  const Job& job = *entry.job;
  return !job_class.demand.plugin_class && job_class.alternatives.empty() &&
         !(job.array && job.array->throttle > 0) &&
         !(pass_.index.plugin_classes() && pass_.index.plugin_classes()->permits(*entry.partition));
}

const EvictionsLeft& Preemptor::evictions_left_for(UserId user) {
  const auto [found, added] = evictions_left_.try_emplace(user);
  if (added) found->second = evictions_left(pass_.state, pass_.policy, user, pass_.now);
  return found->second;
}

std::optional<Preemptor::Preemption> Preemptor::preempt(const QueueEntry& entry,
                                                        const JobClass& job_class, TaskIndex task,
                                                        std::optional<Seconds> limit) {
  const Job& job = *entry.job;
  if (!can_preempt(entry) || !may_preempt(job, pass_.now)) return std::nullopt;
  if (!is_predictable(entry, job_class)) return std::nullopt;
  const auto licenses = pass_.licenses.choose(*job.spec);
  if (!licenses || pass_.work.exhausted()) return std::nullopt;
  const auto same_class =
      std::tuple(static_cast<const JobClass*>(&job_class), job.spec->qos, limit);
  const auto same_job = std::pair(job.spec.get(), limit);
  if (failed_.contains(same_class) || over_limit_.contains(same_job)) return std::nullopt;
  const EvictionsLeft& left = evictions_left_for(job.spec->uid);
  if (left.more_at) wake_by(*left.more_at);
  const std::uint32_t used = evictions_used_[job.spec->uid];
  if (left.count <= used) return std::nullopt;
  auto plan = search(entry, job_class, limit);
  if (!plan) {
    failed_.insert(same_class);
    return std::nullopt;
  }
  const TresByNode allocated_tres = placed_amounts(plan->placement, *licenses, pass_.index);
  if (const auto over = pass_.use.over(*job.spec, *entry.partition, limit, &allocated_tres)) {
    over_limit_.insert(same_job);
    if (over->varies_with_time) wake_by(pass_.now + kLimitRecheckPeriod);
    return std::nullopt;
  }
  const auto count = static_cast<std::uint32_t>(plan->victims.size());
  if (count > left.count - used) return std::nullopt;
  evictions_used_[job.spec->uid] += count;

  Preemption preemption;
  ProposedClaim out{{job.key.job, task}, {}};
  PreemptionClaim& claim = out.claim;
  claim.partition = entry.partition->name;
  claim.time_limit = limit;
  claim.nodes = NodeShares(std::move(plan->shares));
  claim.licenses = *licenses;
  claim.victims = plan->victims;
  claim.at = pass_.now;
  claim.ready = pass_.now;
  for (const AttemptKey& victim : claim.victims)
    claim.ready = std::max(
        claim.ready,
        pass_.now + eviction_grace(pass_.state, pass_.policy, *pass_.state.jobs.find(victim.job)));
  claim.until = claim.ready + kClaimSlack;
  preemption.group.jobs.emplace_back(job.key, job.version);
  release(claim.victims);
  add_planned_start(job_class.demand, plan->placement, claim.ready, limit);
  pass_.licenses.allocate(*job.spec, *licenses);
  pass_.use.start(*job.spec, *entry.partition, limit, &allocated_tres);
  preemption.reason = {Reason::preempting, preemption_text(pass_.state, claim), claim.ready, {}};
  for (const NodeShare& share : claim.nodes) {
    const Node& node = *pass_.index.nodes()[*pass_.index.find(share.node)].node;
    preemption.group.nodes.emplace_back(node.id, node.version);
    preemption.reason.expected_nodes.push_back(share.node);
  }
  preemption.group.claim = std::move(out);
  return preemption;
}

void Preemptor::wake_by(Time at) {
  if (at > pass_.now) wake_ = std::min(wake_.value_or(at), at);
}

// From here on the profile treats the victims as gone soon, as later passes will.
void Preemptor::release(const std::vector<AttemptKey>& victims) {
  release_shared(victims);
  for (const AttemptKey& victim : victims) {
    ended_.insert(victim);
    for (const NodeShare& share : pass_.state.jobs.find(victim.job)->allocation->nodes) {
      const auto at = pass_.index.find(share.node);
      if (!at) continue;
      const Node& node = *pass_.index.nodes()[*at].node;
      for (const Charge& charge : node.charges)
        if (charge.attempt == victim) {
          Amounts amounts = amounts_of(pass_.index, node, charge,
                                       pass_.index.cpu_share_column(pass_.state, charge));
          if (releases_only_cpus(pass_.state, *pass_.state.jobs.find(victim.job)))
            amounts = cpus_only(std::move(amounts), pass_.index);
          pass_.profile.release_early(*at, pass_.now + kSoon,
                                      expected_end(pass_.state, charge, pass_.now), amounts);
        }
    }
  }
}

// Releases the GPUs whose sharers are all victims or ending anyway.
void Preemptor::release_shared(const std::vector<AttemptKey>& victims) {
  std::set<NodeIndex> nodes;
  for (const AttemptKey& victim : victims)
    for (const NodeShare& share : pass_.state.jobs.find(victim.job)->allocation->nodes)
      if (const auto at = pass_.index.find(share.node); at && share.gpu_part > 0) nodes.insert(*at);
  const auto gone = [&](const AttemptKey& one) {
    return ended_.contains(one) || std::binary_search(victims.begin(), victims.end(), one);
  };
  for (const NodeIndex at : nodes)
    for (const ReclaimableGpu& gpu : reclaimable_gpus(pass_.state, pass_.index.nodes()[at], gone)) {
      const bool now =
          std::any_of(gpu.sharers.begin(), gpu.sharers.end(), [&](const AttemptKey& k) {
            return std::binary_search(victims.begin(), victims.end(), k);
          });
      const auto until = pass_.profile.shared_until(at, gpu.gpu);
      if (!now || !until) continue;
      Amounts one(pass_.index.stride(), 0);
      one[gpu.column] = 1;
      pass_.profile.release_early(at, pass_.now + kSoon, until, one);
    }
}

// Lasts until the time limit has passed, counted from the expected start, so that planned starts
// behind it do not move.
void Preemptor::add_planned_start(const Demand& demand, Placement placement, Time ready,
                                  std::optional<Seconds> limit) {
  const Time from = pass_.now + kSoon;
  const std::optional<Time> end = Profile::end_of(std::max(ready, from), limit);
  Amounts free(pass_.index.stride());
  for (PlacedShare& share : placement) {
    // Counts cannot show which GPUs have the requested links. All that become free are kept, so
    // that the right ones will be among them.
    if (!demand.gpu_constraint.none()) {
      pass_.profile.min_free(share.node, from, end, free);
      for (std::size_t column = kFirstGpu; column < demand.gpu_end; ++column)
        if (share.amounts[column] > 0)
          share.amounts[column] = std::max(share.amounts[column], free[column]);
    }
    if (demand.access.exclusive_user) share.amounts = pass_.index.nodes()[share.node].total;
  }
  pass_.profile.add_planned_start_until(placement, from, end);
}

}  // namespace ares::core::sched
