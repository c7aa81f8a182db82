#include "core/sched/pass/starter.h"

#include <algorithm>
#include <utility>

#include "core/cluster/spare_nodes.h"
#include "core/cluster/time_limit.h"
#include "core/job/decide/decision_context.h"
#include "core/sched/place/devices.h"
#include "core/sched/place/placed_limits.h"
#include "core/sched/place/plugin_classes.h"
#include "core/sched/queue/alternatives.h"
#include "core/sched/queue/shown_priority.h"
#include "core/state/timers.h"

namespace ares::core::sched {

Starter::Trial::~Trial() {
  for (auto& [at, node] : before_) {
    // The stamp is kept, so that plugin answers about the marked node are not used for the restored
    // one.
    const auto stamp = p_.index.nodes()[at].stamp;
    p_.index.nodes()[at] = std::move(node);
    p_.index.nodes()[at].stamp = stamp;
    p_.index.update_free(at);
  }
  for (const Member* member : taken_) p_.licenses.release(member->licenses);
  p_.use.roll_back_to(use_mark_);
}

void Starter::Trial::take(const Member& member) {
  const JobSpec& spec = member.spec();
  if (p_.use.active()) {
    // By the request, as long as the placement is not known.
    TresByNode amounts;
    if (!member.placement.empty())
      amounts = placed_amounts(member.placement, member.licenses, p_.index);
    p_.use.start(spec, member.partition(), member.limit,
                 member.placement.empty() ? nullptr : &amounts);
  }
  for (const PlacedShare& share : member.placement) {
    IndexedNode& node = p_.index.nodes()[share.node];
    before_.try_emplace(share.node, node);
    choose_devices(node, share, spec.gpu_constraint, p_.index);
    node.tenants.add_started(spec.uid, spec.exclusive_user);
    p_.index.update_free(share.node);
  }
  p_.licenses.allocate(spec, member.licenses);
  if (profile_) profile_->start(member.placement, member.limit, spec);
  taken_.push_back(&member);
}

const Profile& Starter::Trial::profile() {
  if (taken_.empty()) return p_.profile;
  if (!profile_) {
    profile_.emplace(p_.profile);
    for (const Member* member : taken_)
      profile_->start(member->placement, member->limit, member->spec());
  }
  return *profile_;
}

template <class Place>
std::optional<Refusal> Starter::for_each_member(StartGroup& group, Place&& place) {
  std::optional<Refusal> refused;
  {
    Trial trial(p_);
    for (Member& member : group.members) {
      refused = place(member, trial);
      if (!refused) refused = over_limits(group, member);
      if (refused) break;
      if (&member != &group.members.back()) trial.take(member);
    }
  }
  if (refused && refused->over_limit) set_aside_headroom(group, std::nullopt);
  return refused;
}

std::optional<Refusal> Starter::try_start(StartGroup& group) {
  if (!group.alone())
    for (const Member& member : group.members)
      if (p_.work.exhausted() || member.job_class->known_blocked(member.limit) ||
          !member.job_class->candidates.problem.empty())
        return Refusal{};
  std::optional<Refusal> refused;
  if (group.alone()) {
    refused = for_each_member(
        group, [&](Member& member, Trial& trial) { return place(group, member, nullptr, trial); });
  } else {
    for (const GangOrder order : gang_orders(group)) {
      const std::vector<Demand> demands = demands_in_order(group, order, p_.index);
      if (demands.empty() && order != GangOrder::ranked) continue;
      for (Member& member : group.members) member.placement.clear();
      refused = for_each_member(group, [&](Member& member, Trial& trial) {
        const auto at = static_cast<std::size_t>(&member - group.members.data());
        return place(group, member, demands.empty() ? nullptr : &demands[at], trial);
      });
      if (!refused || refused->why) break;
    }
  }
  if (!refused) refused = refused_by_plugins(group);
  if (!refused) commit(group);
  return refused;
}

std::optional<Refusal> Starter::start_placed(StartGroup& group) {
  auto refused = for_each_member(group, [](Member&, Trial&) { return std::optional<Refusal>(); });
  if (!refused) refused = refused_by_plugins(group);
  if (!refused) commit(group);
  return refused;
}

std::optional<Refusal> Starter::refusal_by_request(StartGroup& group) {
  return for_each_member(group, [&](Member& member, Trial&) { return choose_licenses(member); });
}

std::optional<Refusal> Starter::choose_licenses(Member& member) {
  auto licenses = p_.licenses.choose(member.spec());
  if (!licenses)
    return Refusal{make_info(Reason::licenses, p_.licenses.explain(member.spec())), &member};
  member.licenses = *std::move(licenses);
  return std::nullopt;
}

std::optional<Refusal> Starter::place(const StartGroup& group, Member& member, const Demand* demand,
                                      Trial& trial) {
  if (auto refused = choose_licenses(member)) return refused;
  const Job& job = member.job();
  std::optional<Refusal> refused;
  bool found = member.job_class->alternatives.empty()
                   ? place_on(*member.job_class, member, demand, trial)
                   : place_alternative(group, member, trial, refused);
  if (!found && job.expedited && job.spec->spare_nodes > 0)
    found = place_with_fewer_spares(member, trial);
  if (found) return std::nullopt;
  return refused ? refused : Refusal{nullptr, &member};
}

bool Starter::place_on(JobClass& job_class, Member& member, const Demand* demand, Trial& trial) {
  const JobSpec& spec = member.spec();
  std::optional<Seconds>& limit = member.limit;
  auto placement = place_for(job_class, limit, demand, trial);
  if (!placement && spec.time_min && (!limit || *limit > *spec.time_min)) {
    placement = place_for(job_class, spec.time_min, demand, trial);
    if (!placement) return false;
    constexpr std::chrono::minutes kLongest = std::chrono::hours(24 * 365);
    auto low = std::chrono::ceil<std::chrono::minutes>(*spec.time_min);
    auto high = limit ? std::chrono::ceil<std::chrono::minutes>(*limit) : kLongest;
    limit = spec.time_min;
    while (high - low > std::chrono::minutes(1) && !p_.work.exhausted()) {
      const auto middle = low + (high - low) / 2;
      auto longer = fit_between(job_class.demand, job_class.nodes(), p_.index, trial.profile(),
                                p_.now, Profile::end_of(p_.now, middle), p_.work, JoinShared::now);
      if (!longer) {
        high = middle;
        continue;
      }
      low = middle;
      limit = middle;
      placement = std::move(longer);
    }
  }
  if (!placement) return false;
  member.placement = *std::move(placement);
  return true;
}

std::optional<Placement> Starter::place_for(JobClass& job_class, std::optional<Seconds> limit,
                                            const Demand* other, Trial& trial) {
  // What does not fit beside members of its gang, or in another order, may fit elsewhere.
  const bool decisive = trial.empty() && !other;
  if (decisive && is_blocked(job_class, limit)) return std::nullopt;
  const Demand& demand = other ? *other : job_class.demand;
  auto placement = fit_on(demand, job_class.nodes(), p_.index, CapacityBasis::free_now, p_.work);
  if (!placement) {
    if (!decisive) return std::nullopt;
    job_class.blocked = true;
    job_class.record_shortfall(p_.index);
    job_class.blocked_by_plugin =
        demand.plugin_class && job_class.fits_without_plugins(p_.index, CapacityBasis::free_now);
    return std::nullopt;
  }
  if (!has_planned_start(*placement, p_.profile) &&
      !affected_by_reservations(demand, *placement, p_.index))
    return placement;
  placement = fit_between(demand, job_class.nodes(), p_.index, trial.profile(), p_.now,
                          Profile::end_of(p_.now, limit), p_.work, JoinShared::now);
  if (placement || !decisive) return placement;
  job_class.record_blocked_limit(limit);
  if (!p_.profile.any_planned_start()) job_class.blocked_by_reservation = true;
  return std::nullopt;
}

bool Starter::place_alternative(const StartGroup& group, Member& member, Trial& trial,
                                std::optional<Refusal>& refused) {
  const std::optional<Seconds> asked = member.limit;
  const auto place_now = [&](std::size_t i) {
    member.limit = asked;
    if (!place_on(*member.job_class->alternatives[i], member, nullptr, trial)) return false;
    auto over = over_limits(group, member);
    if (!over) return true;
    refused = std::move(over);
    return false;
  };
  const auto when = [&](std::size_t i) {
    return find_earliest_start_of(member, *member.job_class->alternatives[i], asked, &trial);
  };
  const AlternativeChoice choice =
      choose_alternative(member.spec(), p_.now, asked, place_now, when);
  if (!choice.starts()) {
    member.limit = asked;
    return false;
  }
  member.alternative = static_cast<std::uint32_t>(*choice.now);
  return true;
}

bool Starter::place_with_fewer_spares(Member& member, Trial& trial) {
  const Job& job = member.job();
  const std::uint32_t most = job.spec->min_nodes - least_nodes(job);
  const auto relaxed_at = relaxed_from(job);
  const std::optional<Seconds> asked = member.limit;
  Job fewer = job;
  for (std::uint32_t missing = 1; missing <= most; ++missing) {
    fewer.spec = std::make_shared<const JobSpec>(with_fewer_nodes(*job.spec, missing));
    JobClass& job_class = p_.job_classes.of({&fewer, member.entry.partition, member.entry.choice},
                                            p_.index, relaxed_at && *relaxed_at <= p_.now);
    member.limit = asked;
    if (place_on(job_class, member, nullptr, trial)) return true;
  }
  return false;
}

std::optional<EarliestStart> Starter::find_earliest_start_of(const Member& member,
                                                             JobClass& job_class,
                                                             std::optional<Seconds> limit,
                                                             Trial* beside) {
  if (member.job_class != &job_class && p_.job_classes.impossible(job_class, p_.index, false))
    return std::nullopt;
  const Time from =
      std::max(job_class.not_before(limit),
               p_.planned_starts.not_before(member.entry.partition, member.spec().reservations));
  if (beside && !beside->empty())
    return sched::find_earliest_start(job_class.demand, limit, job_class.nodes(), p_.index,
                                      beside->profile(), p_.work, from);
  return p_.earliest_starts.find(job_class.demand, job_class.nodes(), limit, p_.index, p_.profile,
                                 p_.work, from);
}

bool Starter::is_blocked(JobClass& job_class, std::optional<Seconds> limit) {
  if (job_class.known_blocked(limit) || p_.work.exhausted() ||
      !job_class.candidates.problem.empty())
    return true;
  if (!job_class.still_blocked(p_.index)) return false;
  // The same cost as without the stored result.
  p_.work.spend(job_class.nodes().nodes.size());
  job_class.blocked = true;
  return true;
}

std::optional<Refusal> Starter::over_limits(const StartGroup& group, const Member& member) {
  if (!p_.use.active()) return std::nullopt;
  TresByNode amounts;
  if (!member.placement.empty())
    amounts = placed_amounts(member.placement, member.licenses, p_.index);
  auto over = p_.use.over(member.spec(), member.partition(), member.limit,
                          member.placement.empty() ? nullptr : &amounts);
  if (!over) return std::nullopt;
  if (!group.alone()) over->text = "job " + job_text(member.job().key) + ": " + over->text;
  PendingInfo info{Reason::limit, std::move(over->text), std::nullopt, {}};
  info.limit = std::move(over->name);
  if (over->varies_with_time) p_.plan.wake_by(p_.now + kLimitRecheckPeriod);
  return Refusal{std::make_shared<const PendingInfo>(std::move(info)), nullptr,
                 !over->varies_with_time};
}

void Starter::set_aside_headroom(const StartGroup& group, std::optional<Time> at) {
  if (!p_.use.active()) return;
  std::vector<LimitUse::Waiting> who;
  for (const Member& member : group.members) {
    auto& one =
        who.emplace_back(LimitUse::Waiting{&member.spec(), member.entry.partition, member.limit});
    if (!member.placement.empty())
      one.allocated_tres = placed_amounts(member.placement, member.licenses, p_.index);
  }
  if (!p_.use.may_set_aside(who)) return;
  for (const Member& member : group.members)
    if (member.placement.empty() &&
        (p_.work.exhausted() || p_.job_classes.impossible(*member.job_class, p_.index, false)))
      return;
  p_.use.set_aside_headroom(std::move(who), group.text(), at);
}

std::optional<Refusal> Starter::refused_by_plugins(const StartGroup& group) {
  const PluginClasses* plugins = p_.index.plugin_classes();
  if (!plugins || !plugins->permits(group.members.front().partition())) return std::nullopt;
  std::vector<ProposedStart> proposed;
  for (const Member& member : group.members)
    proposed.push_back({member.entry.job, member.task, member.entry.partition, &member.placement});
  if (auto why = plugins->refusal(proposed, p_.index))
    return Refusal{make_info(Reason::plugin, *std::move(why))};
  return std::nullopt;
}

void Starter::commit(StartGroup& group) {
  PlanGroup out;
  for (Member& member : group.members) {
    const Job& job = member.job();
    const JobSpec& spec = *job.spec;
    out.jobs.emplace_back(job.key, job.version);
    p_.licenses.allocate(spec, member.licenses);
    std::vector<NodeShare> shares;
    for (const PlacedShare& share : member.placement) {
      IndexedNode& node = p_.index.nodes()[share.node];
      const std::pair<NodeId, Lsn> seen{node.node->id, node.node->version};
      if (group.alone() || std::find(out.nodes.begin(), out.nodes.end(), seen) == out.nodes.end())
        out.nodes.push_back(seen);
      shares.push_back(choose_devices(node, share, spec.gpu_constraint, p_.index));
      p_.allocated.push_back(share.node);
      node.tenants.add_started(spec.uid, spec.exclusive_user);
      p_.index.update_free(share.node);
    }
    out.starts.push_back({{job.key.job, member.task},
                          member.partition().name,
                          member.limit,
                          NodeShares(std::move(shares)),
                          member.licenses,
                          member.alternative,
                          shown_priority(group.rank, job)});
    p_.profile.start(member.placement, member.limit, spec);
    p_.service_order.add_allocated(spec, member.placement);
    if (p_.use.active()) {
      const TresByNode amounts = placed_amounts(member.placement, member.licenses, p_.index);
      p_.use.start(spec, member.partition(), member.limit, &amounts);
    }
    if (!member.task.is_none()) ++p_.array_starts[job.key.job];
  }
  p_.plan.groups.push_back(std::move(out));
}

}  // namespace ares::core::sched
