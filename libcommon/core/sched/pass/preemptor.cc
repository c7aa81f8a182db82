#include "core/sched/pass/preemptor.h"

#include <algorithm>

#include "core/cluster/preemptible.h"
#include "core/cluster/time_limit.h"
#include "core/job/decide/decision_context.h"
#include "core/sched/pass/joint_start.h"
#include "core/sched/pass/preemption_text.h"
#include "core/sched/place/devices.h"
#include "core/sched/place/placed_limits.h"
#include "core/sched/place/plugin_classes.h"
#include "core/sched/place/unrestricted_cpus.h"
#include "core/state/timers.h"

namespace ares::core::sched {
namespace {

// Searches in one pass; each may read every node a few times for each victim.
constexpr std::uint32_t kMaxSearches = 16;

Placement placement_of(const ClusterIndex& index, const Job& job, const Partition& partition) {
  const PreemptionClaim& claim = *job.preemption_claim;
  const Demand demand = make_amounts(*job.spec, partition, index);
  const auto cpu_share = index.cpu_share_column(claim.partition);
  Placement placement;
  for (const NodeShare& share : claim.nodes) {
    const auto at = index.find(share.node);
    if (!at || (!index.nodes()[*at].usable && !is_kept_for(index.nodes()[*at], job))) return {};
    const IndexedNode& node = index.nodes()[*at];
    const auto& has_gpus = node.node->inventory.gpus;
    // The node may have registered again without the GPU.
    for (const GpuIndex gpu : share.gpus)
      if (std::none_of(has_gpus.begin(), has_gpus.end(),
                       [&](const Gpu& has) { return has.index == gpu; }))
        return {};
    Charge as_charge{{}, {}, share.cpus, share.memory, share.gpus, {}};
    as_charge.tmp_disk = job.spec->tmp_disk;
    as_charge.cpu_thousandths = share.cpu_thousandths;
    PlacedShare& placed = placement.emplace_back(
        PlacedShare{*at, share.tasks, amounts_held(index, node, as_charge, cpu_share)});
    if (share.gpu_part == 0) {
      count_unrestricted(demand, node.free, node.total, placed);
      continue;
    }
    const auto gpus = placed.amounts.begin() + kFirstGpu;
    const auto end = placed.amounts.begin() + static_cast<std::ptrdiff_t>(index.gpu_end());
    const auto device = std::find(gpus, end, 1);
    if (device == end) return {};
    placed.part =
        PlacedPart{static_cast<std::size_t>(device - placed.amounts.begin()), share.gpu_part};
    count_unrestricted(demand, node.free, node.total, placed);
  }
  return placement;
}

}  // namespace

std::vector<Preemptor::ClaimedStart> Preemptor::claimed_starts(const ArrayStarts& starting) {
  std::vector<ClaimedStart> all;
  std::map<JobId, std::size_t> gangs;  // position in `all`
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
    Placement placement = placement_of(pass_.index, *job, *partition);
    if (placement.empty()) return;
    auto limit = limit_at(pass_.state, *job, *partition, pass_.now);
    if (claim.time_limit) limit = std::min(limit.value_or(*claim.time_limit), *claim.time_limit);
    Member member{entry, key.task, nullptr, limit, std::move(placement), claim.licenses};
    if (!waits_with_gang(*job)) {
      all.emplace_back().members.push_back(std::move(member));
      return;
    }
    const auto [at, first] = gangs.try_emplace(job->gang, all.size());
    if (first) all.emplace_back().gang = gang_of(pass_.state, *job);
    all[at->second].members.push_back(std::move(member));
  });
  std::erase_if(all, [](const ClaimedStart& one) {
    return one.gang && (!one.gang->complete() || one.gang->present != one.members.size());
  });
  return all;
}

bool Preemptor::is_available(const Member& claimed) const {
  const Demand& demand = claimed.job_class->demand;
  const auto end = Profile::end_of(pass_.now, claimed.limit);
  const auto chosen = pass_.licenses.choose(claimed.spec());
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

PendingInfo Preemptor::enforce_claim(const Member& claimed) {
  const Job& job = claimed.job();
  const PreemptionClaim& claim = *job.preemption_claim;
  add_planned_start(claimed.job_class->demand, claimed.placement, claim.ready, claimed.limit);
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
  std::map<JobId, std::size_t> gangs;  // position in running_
  for (const IndexedNode& node : pass_.index.nodes())
    for (const Charge& charge : node.node->charges) {
      const Job* job = pass_.state.jobs.find(charge.attempt.job);
      if (!job || job->state != JobState::running || job->attempt != charge.attempt.attempt ||
          !job->allocation || job->allocation->nodes.front().node != node.node->id)
        continue;
      if (preempt_mode_of(pass_.state, *job) != PreemptMode::off) add_running(*job, gangs);
    }
  std::erase_if(*running_, [&](const Running& one) { return !is_whole(one); });
  return *running_;
}

void Preemptor::add_running(const Job& job, std::map<JobId, std::size_t>& gangs) {
  const bool only_suspended = releases_only_cpus(pass_.state, job);
  std::size_t at = running_->size();
  if (job.spec->gang) at = gangs.try_emplace(job.gang, at).first->second;
  if (at == running_->size()) {
    running_->emplace_back();
    running_->back().victim.only_suspended = only_suspended;
  }
  Running& one = (*running_)[at];
  std::int64_t cpus = 0;
  for (const NodeShare& share : job.allocation->nodes) {
    cpus += share.cpus;
    if (const auto node = pass_.index.find(share.node)) one.nodes.push_back(*node);
  }
  Victim& victim = one.victim;
  const std::int32_t tier = pass_.state.partitions.find(job.allocation->partition)->tier;
  const std::uint32_t qos = qos_priority(pass_.state, pass_.policy, *job.spec);
  victim.tier = one.jobs.empty() ? tier : std::max(victim.tier, tier);
  victim.qos = std::max(victim.qos, qos);
  if (!only_suspended) victim.lost += cpus * work_at_risk(job, pass_.now).count();
  const AttemptKey attempt{job.key, job.attempt};
  victim.attempts.insert(std::lower_bound(victim.attempts.begin(), victim.attempts.end(), attempt),
                         attempt);
  one.jobs.push_back(&job);
}

// Whether nothing of its gang would go on without the others.
bool Preemptor::is_whole(const Running& one) const {
  const Job& first = *one.jobs.front();
  if (!first.spec->gang) return true;
  const auto same_mode = [&](const Job* job) {
    return releases_only_cpus(pass_.state, *job) == one.victim.only_suspended;
  };
  return std::all_of(one.jobs.begin(), one.jobs.end(), same_mode) &&
         active_members(pass_.state, first) == one.jobs.size();
}

std::optional<Time> Preemptor::preemptible_for(const StartGroup& group, const Running& one) const {
  Time latest = Time::min();
  for (const Member& member : group.members)
    for (const Job* job : one.jobs) {
      const auto from =
          preemptible_from(pass_.state, pass_.policy, member.spec(), member.partition(), *job);
      if (!from) return std::nullopt;
      latest = std::max(latest, *from);
    }
  return latest;
}

Preemptor::Candidates Preemptor::candidates(const StartGroup& group) {
  Candidates out;
  const auto may_use = [&](NodeIndex at) {
    return std::any_of(group.members.begin(), group.members.end(), [&](const Member& member) {
      return member.job_class->nodes().bits->test(at);
    });
  };
  for (const Running& one : running()) {
    if (ended_.contains(one.victim.attempts.front()) ||
        std::none_of(one.nodes.begin(), one.nodes.end(), may_use))
      continue;
    const auto from = preemptible_for(group, one);
    if (!from) continue;
    if (*from > pass_.now) {
      wake_by(*from);
      continue;
    }
    out.victims.push_back(one.victim);
    for (const Job* job : one.jobs) {
      const Seconds grace = eviction_grace(pass_.state, pass_.policy, *job);
      out.shortest = std::min(out.shortest, grace);
      out.longest = std::max(out.longest, grace);
    }
  }
  return out;
}

std::optional<PreemptionPlan> Preemptor::search(const StartGroup& group) {
  if (searches_ == kMaxSearches) return std::nullopt;
  Candidates candidates = this->candidates(group);
  if (candidates.victims.empty()) return std::nullopt;
  // A group that starts by then anyway needs no victims.
  std::vector<DemandOnNodes> demands;
  std::vector<JobClass*> classes;
  std::optional<Seconds> limit = Seconds{};
  for (const Member& member : group.members) {
    demands.push_back({member.job_class->demand, member.job_class->nodes()});
    classes.push_back(member.job_class);
    limit = limit && member.limit ? std::optional(std::max(*limit, *member.limit)) : std::nullopt;
  }
  std::optional<Time> soon;
  if (group.alone()) {
    if (const auto found = find_earliest_start(demands.front().demand, limit, demands.front().nodes,
                                               pass_.index, pass_.profile, pass_.work))
      soon = found->at;
  } else if (const auto found = find_joint_start(group, classes, pass_.index, pass_.profile,
                                                 pass_.work, Time::min())) {
    soon = found->at;
  }
  if (soon && *soon <= pass_.now + candidates.shortest) return std::nullopt;
  ++searches_;
  return find_victims(
      {pass_.state, pass_.index, pass_.profile, pass_.work, pass_.now + candidates.longest},
      std::move(demands), limit, std::move(candidates.victims));
}

bool Preemptor::may_preempt_now(const StartGroup& group) {
  return std::all_of(group.members.begin(), group.members.end(), [&](const Member& member) {
    return can_preempt(member.entry) && may_preempt(member.job(), pass_.now) &&
           is_predictable(member);
  });
}

// Whether it is certain that the job starts once the victims are gone. That is not certain if
// plugins may refuse the changed nodes, if the throttle of its array may delay its next task, or if
// GPUs of another alternative may become free before.
bool Preemptor::is_predictable(const Member& member) const {
  const Job* array = pass_.state.jobs.find({member.job().key.job, {}});
  return !member.job_class->demand.plugin_class && member.job_class->alternatives.empty() &&
         !(array && array->array && array->array->throttle > 0) &&
         !(pass_.index.plugin_classes() &&
           pass_.index.plugin_classes()->permits(member.partition()));
}

bool Preemptor::choose_licenses(StartGroup& group) {
  for (Member& member : group.members) {
    auto licenses = pass_.licenses.choose(member.spec());
    if (!licenses) {
      release_licenses(
          {group.members.first(static_cast<std::size_t>(&member - group.members.data()))});
      return false;
    }
    member.licenses = *std::move(licenses);
    pass_.licenses.allocate(member.spec(), member.licenses);
  }
  return true;
}

void Preemptor::release_licenses(const StartGroup& group) {
  for (const Member& member : group.members) pass_.licenses.release(member.licenses);
}

const EvictionsLeft& Preemptor::evictions_left_for(UserId user) {
  const auto [found, added] = evictions_left_.try_emplace(user);
  if (added) found->second = evictions_left(pass_.state, pass_.policy, user, pass_.now);
  return found->second;
}

std::optional<Preemptor::Preemption> Preemptor::preempt(StartGroup& group) {
  const Member& leader = group.members.front();
  if (!may_preempt_now(group) || pass_.work.exhausted()) return std::nullopt;
  Request request;
  for (const Member& member : group.members)
    request.emplace_back(member.job_class, member.spec().qos, member.limit);
  const auto same_job = std::pair(&leader.spec(), leader.limit);
  if (failed_.contains(request) || over_limit_.contains(same_job)) return std::nullopt;
  const UserId user = leader.spec().uid;
  const EvictionsLeft& left = evictions_left_for(user);
  if (left.more_at) wake_by(*left.more_at);
  const std::uint32_t used = evictions_used_[user];
  if (left.count <= used || !choose_licenses(group)) return std::nullopt;
  auto plan = search(group);
  if (!plan) failed_.insert(std::move(request));
  const std::size_t counted = pass_.use.mark();
  if (plan && !within_limits(group, *plan)) {
    over_limit_.insert(same_job);
    plan.reset();
  }
  if (plan && plan->victims.size() > left.count - used) plan.reset();
  if (!plan) {
    pass_.use.roll_back_to(counted);
    release_licenses(group);
    return std::nullopt;
  }
  evictions_used_[user] += static_cast<std::uint32_t>(plan->victims.size());
  return make_claims(group, *std::move(plan));
}

bool Preemptor::within_limits(const StartGroup& group, const PreemptionPlan& plan) {
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    const Member& member = group.members[i];
    const TresByNode amounts = placed_amounts(plan.placements[i], member.licenses, pass_.index);
    const auto over = pass_.use.over(member.spec(), member.partition(), member.limit, &amounts);
    if (over) {
      if (over->varies_with_time) wake_by(pass_.now + kLimitRecheckPeriod);
      return false;
    }
    pass_.use.start(member.spec(), member.partition(), member.limit, &amounts);
  }
  return true;
}

// Every member's claim names all victims, because the members start together.
Preemptor::Preemption Preemptor::make_claims(const StartGroup& group, PreemptionPlan plan) {
  Preemption out;
  Time ready = pass_.now;
  for (const AttemptKey& victim : plan.victims)
    ready = std::max(ready, pass_.now + eviction_grace(pass_.state, pass_.policy,
                                                       *pass_.state.jobs.find(victim.job)));
  release(plan.victims);
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    const Member& member = group.members[i];
    const Job& job = member.job();
    ProposedClaim proposed{{job.key.job, member.task}, {}};
    PreemptionClaim& claim = proposed.claim;
    claim.partition = member.partition().name;
    claim.time_limit = member.limit;
    claim.nodes = NodeShares(std::move(plan.shares[i]));
    claim.licenses = member.licenses;
    claim.victims = plan.victims;
    claim.at = pass_.now;
    claim.ready = ready;
    claim.until = ready + kClaimSlack;
    out.group.jobs.emplace_back(job.key, job.version);
    add_planned_start(member.job_class->demand, std::move(plan.placements[i]), ready, member.limit);
    PendingInfo& reason = out.reasons.emplace_back(
        PendingInfo{Reason::preempting, preemption_text(pass_.state, claim), ready, {}});
    for (const NodeShare& share : claim.nodes) {
      const Node& node = *pass_.index.nodes()[*pass_.index.find(share.node)].node;
      out.group.nodes.emplace_back(node.id, node.version);
      reason.expected_nodes.push_back(share.node);
    }
    out.group.claims.push_back(std::move(proposed));
  }
  return out;
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
      const IndexedNode& node = pass_.index.nodes()[*at];
      for (const Charge& charge : node.node->charges)
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
