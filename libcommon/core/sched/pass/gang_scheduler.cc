#include "core/sched/pass/gang_scheduler.h"

#include <algorithm>
#include <tuple>

#include "core/accounts/limits/planned_start_threshold.h"
#include "core/cluster/reservation_access.h"
#include "core/cluster/time_limit.h"
#include "core/job/decide/decision_context.h"
#include "core/sched/pass/permit.h"
#include "core/sched/place/devices.h"
#include "core/sched/place/placed_limits.h"
#include "core/sched/place/plugin_classes.h"
#include "core/sched/queue/reason_text.h"
#include "core/sched/queue/shown_priority.h"
#include "core/state/timers.h"
#include "model/job/gpu_part.h"

namespace ares::core::sched {
namespace {

// With planned starts free amounts rise and fall, so times are tried one by one, but no more than
// this number.
constexpr std::size_t kTimesTried = 200;

// Marks nodes of the index and restores them unless commit() is called.
class ScopedAllocation {
 public:
  explicit ScopedAllocation(ClusterIndex& index) : index_(index) {}
  ScopedAllocation(const ScopedAllocation&) = delete;
  ScopedAllocation& operator=(const ScopedAllocation&) = delete;
  ~ScopedAllocation() {
    for (auto& [at, node] : before_) {
      // The stamp is kept, so that plugin answers about the marked node are not used for the
      // restored one.
      const auto stamp = index_.nodes()[at].stamp;
      index_.nodes()[at] = std::move(node);
      index_.nodes()[at].stamp = stamp;
      index_.update_free(at);
    }
  }
  void commit() { before_.clear(); }

  NodeShare allocate(const PlacedShare& share, const JobSpec& spec) {
    IndexedNode& node = index_.nodes()[share.node];
    before_.try_emplace(share.node, node);
    NodeShare chosen = choose_devices(node, share, spec.gpu_constraint, index_);
    node.tenants.add_started(spec.uid, spec.exclusive_user);
    index_.update_free(share.node);
    return chosen;
  }

 private:
  ClusterIndex& index_;
  std::map<NodeIndex, IndexedNode> before_;
};

// Members that are hardest to place come first, so that the remaining resources are not fragmented
// when they are placed. Computed from the specification only, because a demand may have columns of
// GPU types that no node has any more.
auto placement_difficulty(const JobSpec& spec) {
  std::int64_t gpus = 0;
  for (const auto& [list, times] :
       {std::pair(&spec.gpus_per_node, spec.min_nodes), std::pair(&spec.gpus_total, 1u),
        std::pair(&spec.gpus_per_task, spec.tasks)})
    for (const GpuRequest& gpu : *list) gpus += thousandths_of(gpu) * times;
  return std::tuple(spec.exclusive, gpus, std::int64_t{spec.tasks} * spec.cpus_per_task,
                    spec.min_nodes, spec.memory_per_node.value_or(Bytes{}));
}

// Whether all members are present and only limits that other jobs use up keep them from starting.
bool waits_for_limits(const GangAdmissionStatus& admission) {
  const auto& members = admission.gang.members;
  return admission.gang.complete() &&
         std::none_of(members.begin(), members.end(),
                      [](const Job* job) { return blocked_by_record(*job).has_value(); }) &&
         std::all_of(admission.refused.begin(), admission.refused.end(), [](const auto& one) {
           return one.second.reason == Reason::limit ||
                  one.second.reason == Reason::waiting_for_gang;
         });
}

}  // namespace

bool GangScheduler::GangEntry::may_spread() const {
  return members.size() > 1 &&
         std::any_of(members.begin(), members.end(), [](const Member& member) {
           const Demand& demand = member.job_class->demand;
           return demand.max_nodes > 1 || demand.strategy != PlacementStrategy::spread;
         });
}

const Demand& GangScheduler::GangEntry::demand(std::size_t at, bool spread) const {
  if (!spread) return members[at].job_class->demand;
  if (spread_demands.empty()) {
    spread_demands.reserve(members.size());
    for (const Member& member : members) {
      Demand& demand = spread_demands.emplace_back(member.job_class->demand);
      demand.strategy = PlacementStrategy::spread;
      demand.preferred = nullptr;
      if (!demand.limited()) demand.network = nullptr;
    }
  }
  return spread_demands[at];
}

PendingPtr GangScheduler::consider(Queued& queued) {
  const Job& job = *queued.entry.job;
  const auto [place, first] = entries_.try_emplace(job.gang);
  GangEntry& entry = place->second;
  last_without_planned_start_ = JobId{0};
  if (first) evaluate(queued, entry);
  if (entry.starts) return nullptr;
  entry.seen.push_back(&queued);
  return entry.reasons.at(job.key);
}

void GangScheduler::evaluate(const Queued& leader, GangEntry& entry) {
  GangAdmissionStatus admission = admit_gang(p_.state, p_.use, *leader.entry.job, p_.now);
  if (admission.wake) p_.plan.wake_by(*admission.wake);
  if (!admission.refused.empty()) {
    if (waits_for_limits(admission)) {
      entry.gang = admission.gang;
      entry.members = members_of(entry.gang);
      keep_limits(entry, nullptr, std::nullopt);
    }
    for (auto& [key, info] : admission.refused)
      entry.reasons[key] = std::make_shared<const PendingInfo>(std::move(info));
    return;
  }
  entry.rank = leader.rank;
  entry.gang = std::move(admission.gang);
  entry.members = members_of(entry.gang);
  if (over_limits(entry, nullptr)) return set_reasons(entry, *entry.refusal);
  if (short_of_licenses(entry)) return;
  if (p_.planned_starts.closed(entry.members.front().partition,
                               entry.gang.members.front()->spec->reservations) ||
      !start(entry))
    block(leader, entry);
}

std::vector<GangScheduler::Member> GangScheduler::members_of(const Gang& gang) {
  std::vector<Member> members;
  for (const Job* job : gang.members) {
    Member member{job, p_.state.partitions.find(job->spec->partitions.front()), nullptr, {}};
    const auto relaxed_at = relaxed_from(*job);
    const bool relaxed = relaxed_at && *relaxed_at <= p_.now;
    if (relaxed_at && !relaxed) p_.plan.wake_by(*relaxed_at);
    member.job_class = &p_.job_classes.of({job, member.partition, 0}, p_.index, relaxed);
    member.limit = limit_at(p_.state, *job, *member.partition, p_.now);
    members.push_back(member);
  }
  std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
    return placement_difficulty(*a.job->spec) > placement_difficulty(*b.job->spec);
  });
  return members;
}

// All members get the reason of the first one for which there are not enough licences.
bool GangScheduler::short_of_licenses(GangEntry& entry) {
  PlanGroup unused;
  const bool enough = take_licenses(entry.members, unused);
  for (const Start& start : unused.starts) p_.licenses.release(start.licenses);
  if (enough) return false;
  const Job& job = *entry.members[unused.starts.size()].job;
  set_reasons_from(entry, job,
                   {Reason::licenses, p_.licenses.explain(*job.spec), std::nullopt, {}});
  return true;
}

// Adds a start for each member that gets its licences, up to the first that does not.
bool GangScheduler::take_licenses(const std::vector<Member>& members, PlanGroup& group) {
  for (const Member& member : members) {
    const auto licenses = p_.licenses.choose(*member.job->spec);
    if (!licenses || !p_.licenses.allocate(*member.job->spec, *licenses)) return false;
    group.starts.push_back({member.job->key, member.partition->name, member.limit, {}, *licenses});
  }
  return true;
}

// A placement on resources that are free now and stay free as long as the member runs.
std::optional<Placement> GangScheduler::place(const GangEntry& entry, std::size_t at, bool spread,
                                              std::optional<Profile>& trial,
                                              const Placements& taken) {
  const Member& member = entry.members[at];
  const Demand& demand = entry.demand(at, spread);
  const NodeSet nodes = member.job_class->nodes();
  auto placement = fit_on(demand, nodes, p_.index, CapacityBasis::free_now, p_.work);
  if (!placement) return std::nullopt;
  if (!has_planned_start(*placement, p_.profile) &&
      !affected_by_reservations(demand, *placement, p_.index))
    return placement;
  if (!trial) {
    trial.emplace(p_.profile);
    for (std::size_t i = 0; i < taken.size(); ++i)
      trial->start(taken[i], entry.members[i].limit, *entry.members[i].job->spec);
  }
  return fit_between(demand, nodes, p_.index, *trial, p_.now, Profile::end_of(p_.now, member.limit),
                     p_.work, JoinShared::now);
}

bool GangScheduler::start(GangEntry& entry) {
  const auto blocked = [](const Member& member) {
    return member.job_class->known_blocked(member.limit) ||
           !member.job_class->candidates.problem.empty();
  };
  if (p_.work.exhausted() || std::any_of(entry.members.begin(), entry.members.end(), blocked))
    return false;
  return start(entry, false) || (entry.may_spread() && start(entry, true));
}

GangScheduler::Placements GangScheduler::find(const GangEntry& entry, bool spread) {
  ScopedAllocation allocation(p_.index);
  std::optional<Profile> trial;
  Placements placements;
  for (std::size_t i = 0; i < entry.members.size(); ++i) {
    const Member& member = entry.members[i];
    auto placement = place(entry, i, spread, trial, placements);
    if (!placement) break;
    for (const PlacedShare& share : *placement) allocation.allocate(share, *member.job->spec);
    if (trial) trial->start(*placement, member.limit, *member.job->spec);
    placements.push_back(*std::move(placement));
  }
  return placements;
}

// Whether the members are complete and plugins permit the start.
bool GangScheduler::permitted(GangEntry& entry, const Placements& placements) {
  std::vector<ProposedStart> asking;
  for (std::size_t i = 0; i < entry.members.size(); ++i)
    asking.push_back({entry.members[i].job,
                      {},
                      entry.members[i].partition,
                      i < placements.size() ? &placements[i] : nullptr});
  if (!permit(p_.state, asking).granted) return false;
  const Partition& partition = *entry.members.front().partition;
  if (over_limits(entry, &placements)) return false;
  if (!p_.index.plugin_classes() || !p_.index.plugin_classes()->permits(partition)) return true;
  std::vector<ProposedStart> proposed;
  for (std::size_t i = 0; i < placements.size(); ++i)
    proposed.push_back({entry.members[i].job, TaskIndex{}, &partition, &placements[i]});
  if (auto why = p_.index.plugin_classes()->refusal(proposed, p_.index))
    entry.refusal = PendingInfo{Reason::plugin, *std::move(why), std::nullopt, {}};
  return !entry.refusal;
}

// Whether a member would exceed limits, together with running jobs and the other members; by its
// request, or by its placement once that is known.
bool GangScheduler::over_limits(GangEntry& entry, const Placements* placements) {
  if (!p_.use.active()) return false;
  const std::size_t mark = p_.use.mark();
  for (std::size_t i = 0; i < entry.members.size() && !entry.refusal; ++i) {
    const Member& member = entry.members[i];
    const JobSpec& spec = *member.job->spec;
    TresByNode allocated_tres;
    if (placements)
      allocated_tres = placed_amounts((*placements)[i], certain_licenses(spec), p_.index);
    const TresByNode* known = placements ? &allocated_tres : nullptr;
    if (auto over = p_.use.over(spec, *member.partition, member.limit, known)) {
      entry.refusal = PendingInfo{
          Reason::limit, "job " + job_text(member.job->key) + ": " + over->text, std::nullopt, {}};
      entry.refusal->limit = std::move(over->name);
      if (over->varies_with_time) p_.plan.wake_by(p_.now + kLimitRecheckPeriod);
    }
    p_.use.start(spec, *member.partition, member.limit, known);
  }
  p_.use.roll_back_to(mark);
  if (entry.refusal) keep_limits(entry, placements, std::nullopt);
  return entry.refusal.has_value();
}

void GangScheduler::keep_limits(const GangEntry& entry, const Placements* placements,
                                std::optional<Time> at) {
  if (!p_.use.active() || p_.work.exhausted()) return;
  std::vector<LimitUse::Waiting> who;
  for (std::size_t i = 0; i < entry.members.size(); ++i) {
    const Member& member = entry.members[i];
    const JobSpec& spec = *member.job->spec;
    auto& one = who.emplace_back(LimitUse::Waiting{&spec, member.partition, member.limit});
    if (placements)
      one.allocated_tres = placed_amounts((*placements)[i], certain_licenses(spec), p_.index);
  }
  if (!p_.use.may_set_aside(who)) return;
  for (const Member& member : entry.members)
    if (p_.job_classes.impossible(*member.job_class, p_.index, false)) return;
  p_.use.set_aside_headroom(std::move(who), "gang " + entry.gang.request.name, at);
}

bool GangScheduler::start(GangEntry& entry, bool spread) {
  const Placements placements = find(entry, spread);
  if (!permitted(entry, placements)) return false;
  ScopedAllocation allocation(p_.index);
  std::vector<std::vector<NodeShare>> shares;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    auto& nodes = shares.emplace_back();
    for (const PlacedShare& share : placements[i])
      nodes.push_back(allocation.allocate(share, *entry.members[i].job->spec));
  }
  PlanGroup group;
  take_licenses(entry.members, group);
  for (std::size_t i = 0; i < shares.size(); ++i)
    group.starts[i].nodes = NodeShares(std::move(shares[i]));
  allocation.commit();
  commit(entry, std::move(group), placements);
  return true;
}

void GangScheduler::commit(GangEntry& entry, PlanGroup group, const Placements& placements) {
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const Member& member = entry.members[i];
    group.starts[i].priority = shown_priority(entry.rank, *member.job);
    group.jobs.emplace_back(member.job->key, member.job->version);
    for (const PlacedShare& share : placements[i]) {
      const Node& node = *p_.index.nodes()[share.node].node;
      const std::pair<NodeId, Lsn> seen{node.id, node.version};
      if (std::find(group.nodes.begin(), group.nodes.end(), seen) == group.nodes.end())
        group.nodes.push_back(seen);
      p_.allocated.push_back(share.node);
    }
    p_.profile.start(placements[i], member.limit, *member.job->spec);
    p_.service_order.add_allocated(*member.job->spec, placements[i]);
    if (!p_.use.active()) continue;
    const TresByNode allocated_tres =
        placed_amounts(placements[i], group.starts[i].licenses, p_.index);
    p_.use.start(*member.job->spec, *member.partition, member.limit, &allocated_tres);
  }
  p_.plan.groups.push_back(std::move(group));
  entry.starts = true;
}

bool GangScheduler::is_impossible(GangEntry& entry) {
  for (const Member& member : entry.members)
    if (const auto why =
            p_.job_classes.impossible(*member.job_class, p_.index, p_.budget.details)) {
      set_reasons_from(entry, *member.job, *why);
      return true;
    }
  return false;
}

// Like Pass::block() for a single job: sets the reasons and, if the backfill rule allows it, plans
// a start.
void GangScheduler::block(const Queued& leader, GangEntry& entry) {
  // It delays no other job.
  if (entry.refusal) return set_reasons(entry, *entry.refusal);
  if (!p_.work.exhausted() && is_impossible(entry)) return;
  const Partition* partition = entry.members.front().partition;
  const PlannedStartLedger::Reservations& reservations =
      entry.gang.members.front()->spec->reservations;
  const bool may = leader.may_have_planned_start();  // for all of them
  const bool first = may ? p_.planned_starts.add_waiting(partition, reservations)
                         : !p_.planned_starts.has_waiting(partition, reservations);
  PendingInfo info{first ? Reason::resources : Reason::priority, {}, std::nullopt, {}};
  if (p_.work.exhausted()) {
    info.detail = "not looked at in this pass: its budget was spent";
    return set_reasons(entry, info);
  }
  if (p_.budget.details) {
    info.detail = waiting_text(entry);
    if (!may)
      info.detail += "; " + planned_start_threshold_text(p_.state.accounting, p_.use.enforce(),
                                                         *leader.entry.job->spec, *partition);
  }
  set_reasons(entry, info);
  // It delays no other job.
  if (!may) return;
  if (p_.planned_starts.take(partition, reservations)) {
    if (!plan_start(entry) && !p_.work.exhausted())
      p_.planned_starts.release(partition, reservations);
  } else {
    last_without_planned_start_ = entry.gang.members.front()->gang;
  }
}

// Computes when and where all members will start, and keeps these resources free.
bool GangScheduler::plan_start(GangEntry& entry) {
  const Partition* partition = entry.members.front().partition;
  const PlannedStartLedger::Reservations& reservations =
      entry.gang.members.front()->spec->reservations;
  Time not_before = p_.planned_starts.not_before(partition, reservations);
  for (const Member& member : entry.members)
    not_before = std::max(not_before, member.job_class->not_before(member.limit));
  auto found = find_gang_start(entry, not_before);
  if (!found) return false;
  p_.planned_starts.record_planned_start(partition, found->at, reservations);
  keep_limits(entry, &found->placements, found->at);
  for (std::size_t i = 0; i < entry.members.size(); ++i) {
    const Member& member = entry.members[i];
    EarliestStart start{found->at, std::move(found->placements[i])};
    expand_planned_start(member.job_class->demand, member.limit, p_.index, p_.profile, start);
    p_.profile.add_planned_start(start.placement, start.at, member.limit);
    if (p_.observer) p_.observer->on_planned_start({member.job, partition, 0}, start);
    // When a job without a time limit ends.
    if (start.at >= p_.profile.horizon()) continue;
    PendingInfo info = *entry.reasons.at(member.job->key);
    info.expected_start = start.at;
    info.expected_nodes.clear();
    for (const PlacedShare& share : start.placement)
      info.expected_nodes.push_back(p_.index.nodes()[share.node].node->id);
    entry.reasons[member.job->key] = std::make_shared<const PendingInfo>(std::move(info));
  }
  return true;
}

std::optional<GangScheduler::Placements> GangScheduler::fit_at(const GangEntry& entry, Time at) {
  auto placements = fit_at(entry, at, false);
  if (!placements && entry.may_spread()) placements = fit_at(entry, at, true);
  return placements;
}

std::optional<GangScheduler::Placements> GangScheduler::fit_at(const GangEntry& entry, Time at,
                                                               bool spread) {
  Profile trial = p_.profile;
  Placements placements;
  for (std::size_t i = 0; i < entry.members.size(); ++i) {
    const Member& member = entry.members[i];
    auto placement = fit_between(entry.demand(i, spread), member.job_class->nodes(), p_.index,
                                 trial, at, Profile::end_of(at, member.limit), p_.work);
    if (!placement) return std::nullopt;
    trial.add_planned_start(*placement, at, member.limit);
    placements.push_back(*std::move(placement));
  }
  return placements;
}

// The times after `at` when free amounts of any of their nodes change; ascending.
std::vector<Time> GangScheduler::changes_after(const std::vector<Member>& members, Time at) const {
  std::vector<NodeIndex> nodes;
  for (const Member& member : members) {
    const auto list = member.job_class->nodes().nodes;
    nodes.insert(nodes.end(), list.begin(), list.end());
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  std::vector<Time> times;
  Amounts row(p_.index.stride());
  for (const NodeIndex node : nodes) {
    p_.profile.each_step(node, at, row, [&](Time step, std::span<const std::int64_t>) {
      if (step > at) times.push_back(step);
      return true;
    });
    p_.index.reservations().each_change(node, at, [&](Time step) { times.push_back(step); });
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

// Starts with the latest of the members' own earliest starts. From there on the times at which
// anything changes are tried one by one, as long as planned starts or reservations may reduce free
// amounts. After that, what fits at one time fits at every later one.
std::optional<GangScheduler::GangStart> GangScheduler::find_gang_start(const GangEntry& entry,
                                                                       Time from) {
  const std::vector<Member>& members = entry.members;
  bool falls = false;
  std::map<std::pair<const JobClass*, std::optional<Seconds>>, Time> alone;
  Time at = std::max(from, p_.now);
  for (const Member& member : members) {
    const auto [place, added] = alone.try_emplace({member.job_class, member.limit});
    if (!added) continue;
    const JobClass& job_class = *member.job_class;
    const auto found = find_earliest_start(job_class.demand, member.limit, job_class.nodes(),
                                           p_.index, p_.profile, p_.work, from);
    if (!found) return std::nullopt;
    at = std::max(at, found->at);
    falls = falls || has_planned_start(job_class.nodes(), p_.profile) ||
            affected_by_reservations(job_class.demand, job_class.nodes(), p_.index);
  }
  if (auto placements = fit_at(entry, at)) return GangStart{at, *std::move(placements)};
  const std::vector<Time> times = changes_after(members, at);
  std::optional<GangStart> found;
  const auto fits = [&](std::size_t i) {
    if (p_.work.exhausted()) return false;
    auto placements = fit_at(entry, times[i]);
    if (placements) found = GangStart{times[i], *std::move(placements)};
    return placements.has_value();
  };
  std::size_t low = 0;
  for (; falls && low < std::min(kTimesTried, times.size()); ++low)
    if (fits(low)) return found;
  std::size_t high = times.size();
  if (low == high || !fits(high - 1)) return std::nullopt;
  for (--high; low < high;) {
    const std::size_t middle = low + (high - low) / 2;
    if (fits(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return p_.work.exhausted() ? std::nullopt : found;
}

void GangScheduler::set_reasons(GangEntry& entry, const PendingInfo& info) {
  const auto same = std::make_shared<const PendingInfo>(info);
  for (const Member& member : entry.members) entry.reasons[member.job->key] = same;
}

// Called if one member cannot start whatever the others could do.
void GangScheduler::set_reasons_from(GangEntry& entry, const Job& blocking, PendingInfo info) {
  PendingInfo others{Reason::waiting_for_gang,
                     "all members of gang " + blocking.spec->gang->name + " are here; job " +
                         job_text(blocking.key) + " waits (" + std::string(to_string(info.reason)) +
                         ")",
                     std::nullopt,
                     {}};
  set_reasons(entry, others);
  entry.reasons[blocking.key] = std::make_shared<const PendingInfo>(std::move(info));
}

// Describes the wait of the member that is hardest to place.
std::string GangScheduler::waiting_text(const GangEntry& entry) const {
  const Member& hardest = entry.members.front();
  return gang_start_text(entry.gang) + "job " + job_text(hardest.job->key) + " " +
         explain_blocked(*hardest.job_class, p_.index);
}

}  // namespace ares::core::sched
