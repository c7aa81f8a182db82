#include "core/sched/pass/gang_turns.h"

#include <algorithm>
#include <tuple>

#include "core/accounts/limits/promise_floor.h"
#include "core/cluster/staying.h"
#include "core/cluster/time_limit.h"
#include "core/job/decide/deciding.h"
#include "core/sched/pass/permit.h"
#include "core/sched/place/devices.h"
#include "core/sched/place/placed_limits.h"
#include "core/sched/place/plugin_classes.h"
#include "core/sched/queue/reason_text.h"
#include "core/state/timers.h"
#include "model/job/gpu_part.h"

namespace ares::core::sched {
namespace {

// Where promises lie free amounts rise and fall, so times are tried one by one, but not more than these.
constexpr std::size_t kTimesTried = 200;

// Marks nodes of the index and puts them back as they were unless told to keep them.
class Marks {
 public:
  explicit Marks(ClusterIndex& index) : index_(index) {}
  Marks(const Marks&) = delete;
  Marks& operator=(const Marks&) = delete;
  ~Marks() {
    for (auto& [at, node] : before_) {
      // Answers that were given about it as it was marked are not taken for answers about what it is again.
      const auto stamp = index_.nodes()[at].stamp;
      index_.nodes()[at] = std::move(node);
      index_.nodes()[at].stamp = stamp;
      index_.note_given(at);
    }
  }
  void keep() { before_.clear(); }

  NodeShare give(const PlacedShare& share, const JobSpec& spec) {
    IndexedNode& node = index_.nodes()[share.node];
    before_.try_emplace(share.node, node);
    NodeShare chosen = choose_devices(node, share, spec.gpu_constraint, index_);
    node.tenants.add_started(spec.uid, spec.exclusive_user);
    index_.note_given(share.node);
    return chosen;
  }

 private:
  ClusterIndex& index_;
  std::map<NodeIndex, IndexedNode> before_;
};

// Who is hardest to place comes first, so that what is left over is not in pieces when its turn comes. Of the specification alone:
// a demand may know columns of GPU types that no node has any more.
auto hardness(const JobSpec& spec) {
  std::int64_t gpus = 0;
  for (const auto& [list, times] :
       {std::pair(&spec.gpus_per_node, spec.min_nodes), std::pair(&spec.gpus_total, 1u),
        std::pair(&spec.gpus_per_task, spec.tasks)})
    for (const GpuRequest& gpu : *list) gpus += thousandths_of(gpu) * times;
  return std::tuple(spec.exclusive, gpus, std::int64_t{spec.tasks} * spec.cpus_per_task,
                    spec.min_nodes, spec.memory_per_node.value_or(Bytes{}));
}

// Whether they are all here, and nothing but what others run keeps them.
bool waits_for_limits(const Gathering& gathering) {
  const auto& members = gathering.gang.members;
  return gathering.gang.complete() &&
         std::none_of(members.begin(), members.end(),
                      [](const Job* job) { return blocked_by_record(*job).has_value(); }) &&
         std::all_of(gathering.refused.begin(), gathering.refused.end(), [](const auto& one) {
           return one.second.reason == Reason::limit ||
                  one.second.reason == Reason::waiting_for_gang;
         });
}

}  // namespace

bool GangTurns::Account::may_go_wide() const {
  return members.size() > 1 &&
         std::any_of(members.begin(), members.end(), [](const Member& member) {
           const Demand& demand = member.job_class->demand;
           return demand.max_nodes > 1 || demand.strategy != PlacementStrategy::spread;
         });
}

const Demand& GangTurns::Account::demand(std::size_t at, bool wide) const {
  if (!wide) return members[at].job_class->demand;
  if (spread.empty()) {
    spread.reserve(members.size());
    for (const Member& member : members) {
      Demand& demand = spread.emplace_back(member.job_class->demand);
      demand.strategy = PlacementStrategy::spread;
      demand.preferred = nullptr;
      if (!demand.limited()) demand.network = nullptr;
    }
  }
  return spread[at];
}

PendingPtr GangTurns::turn(Queued& queued) {
  const Job& job = *queued.entry.job;
  const auto [place, first] = accounts_.try_emplace(job.gang);
  Account& account = place->second;
  last_without_planned_start_ = JobId{0};
  if (first) consider(queued, account);
  if (account.starts) return nullptr;
  account.seen.push_back(&queued);
  return account.reasons.at(job.key);
}

void GangTurns::consider(const Queued& leader, Account& account) {
  Gathering gathering = gather(p_.state, p_.use, *leader.entry.job, p_.now);
  if (gathering.wake)
    p_.plan.wake = std::min(p_.plan.wake.value_or(*gathering.wake), *gathering.wake);
  if (!gathering.refused.empty()) {
    if (waits_for_limits(gathering)) {
      account.gang = gathering.gang;
      account.members = members_of(account.gang);
      keep_limits(account, nullptr, std::nullopt);
    }
    for (auto& [key, info] : gathering.refused)
      account.reasons[key] = std::make_shared<const PendingInfo>(std::move(info));
    return;
  }
  account.gang = std::move(gathering.gang);
  account.members = members_of(account.gang);
  if (over_limits(account, nullptr)) return set_reasons(account, *account.refusal);
  if (lack_licenses(account)) return;
  if (p_.planned_starts.closed(account.members.front().partition,
                               account.gang.members.front()->spec->reservations) ||
      !start(account))
    block(leader, account);
}

std::vector<GangTurns::Member> GangTurns::members_of(const Gang& gang) {
  std::vector<Member> members;
  for (const Job* job : gang.members) {
    Member member{job, p_.state.partitions.find(job->spec->partitions.front()), nullptr, {}};
    const auto relaxed_at = relaxed_from(*job);
    const bool relaxed = relaxed_at && *relaxed_at <= p_.now;
    if (relaxed_at && !relaxed)
      p_.plan.wake = std::min(p_.plan.wake.value_or(*relaxed_at), *relaxed_at);
    member.job_class = &p_.job_classes.of({job, member.partition, 0}, p_.index, relaxed);
    const auto asked = limit_within(p_.state, job->spec->reservations,
                                    time_limit_of(*job, *member.partition), p_.now);
    const auto left = time_left(*job, p_.now);
    member.limit = left ? std::min(asked.value_or(*left), *left) : asked;
    members.push_back(member);
  }
  std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
    return hardness(*a.job->spec) > hardness(*b.job->spec);
  });
  return members;
}

// All are said to wait for whom the licences do not suffice.
bool GangTurns::lack_licenses(Account& account) {
  PlanGroup unused;
  const bool enough = take_licenses(account.members, unused);
  for (const Start& start : unused.starts) p_.licenses.give_back(start.licenses);
  if (enough) return false;
  const Job& job = *account.members[unused.starts.size()].job;
  set_reasons_from(account, job,
                   {Reason::licenses, p_.licenses.explain(*job.spec), std::nullopt, {}});
  return true;
}

// Makes a start for each member that gets its licences, up to the first that does not.
bool GangTurns::take_licenses(const std::vector<Member>& members, PlanGroup& group) {
  for (const Member& member : members) {
    const auto licenses = p_.licenses.choose(*member.job->spec);
    if (!licenses || !p_.licenses.take(*member.job->spec, *licenses)) return false;
    group.starts.push_back({member.job->key, member.partition->name, member.limit, {}, *licenses});
  }
  return true;
}

// What is free now, and stays free for as long as the member runs.
std::optional<Placement> GangTurns::place(const Account& account, std::size_t at, bool wide,
                                          std::optional<Profile>& trial, const Placements& taken) {
  const Member& member = account.members[at];
  const Demand& demand = account.demand(at, wide);
  const NodeSet nodes = member.job_class->nodes();
  auto placement = fit_on(demand, nodes, p_.index, CapacityBasis::free_now, p_.work);
  if (!placement) return std::nullopt;
  if (!has_planned_start(*placement, p_.profile) &&
      !affected_by_reservations(demand, *placement, p_.index))
    return placement;
  if (!trial) {
    trial.emplace(p_.profile);
    for (std::size_t i = 0; i < taken.size(); ++i)
      trial->start(taken[i], account.members[i].limit, *account.members[i].job->spec);
  }
  return fit_between(demand, nodes, p_.index, *trial, p_.now, Profile::end_of(p_.now, member.limit),
                     p_.work, JoinShared::now);
}

bool GangTurns::start(Account& account) {
  const auto blocked = [](const Member& member) {
    return member.job_class->known_blocked(member.limit) ||
           !member.job_class->candidates.problem.empty();
  };
  if (p_.work.exhausted() || std::any_of(account.members.begin(), account.members.end(), blocked))
    return false;
  return start(account, false) || (account.may_go_wide() && start(account, true));
}

GangTurns::Placements GangTurns::find(const Account& account, bool wide) {
  Marks marks(p_.index);
  std::optional<Profile> trial;
  Placements placements;
  for (std::size_t i = 0; i < account.members.size(); ++i) {
    const Member& member = account.members[i];
    auto placement = place(account, i, wide, trial, placements);
    if (!placement) break;
    for (const PlacedShare& share : *placement) marks.give(share, *member.job->spec);
    if (trial) trial->start(*placement, member.limit, *member.job->spec);
    placements.push_back(*std::move(placement));
  }
  return placements;
}

// Whether that is all of them, and plugins let them go.
bool GangTurns::permitted(Account& account, const Placements& placements) {
  std::vector<PermitMember> asking;
  for (std::size_t i = 0; i < account.members.size(); ++i)
    asking.push_back({account.members[i].job, i < placements.size() ? &placements[i] : nullptr});
  if (!permit(p_.state, asking).granted) return false;
  const Partition& partition = *account.members.front().partition;
  if (over_limits(account, &placements)) return false;
  if (!p_.index.plugin_classes() || !p_.index.plugin_classes()->permits(partition)) return true;
  std::vector<Leaving> leaving;
  for (std::size_t i = 0; i < placements.size(); ++i)
    leaving.push_back({account.members[i].job, TaskIndex{}, &partition, &placements[i]});
  if (auto why = p_.index.plugin_classes()->refusal(leaving, p_.index))
    account.refusal = PendingInfo{Reason::plugin, *std::move(why), std::nullopt, {}};
  return !account.refusal;
}

// Each of them beside what runs and the others: by what they ask for, or once it is known by what they would get.
bool GangTurns::over_limits(Account& account, const Placements* placements) {
  if (!p_.use.active()) return false;
  const std::size_t mark = p_.use.mark();
  for (std::size_t i = 0; i < account.members.size() && !account.refusal; ++i) {
    const Member& member = account.members[i];
    const JobSpec& spec = *member.job->spec;
    TresByNode gets;
    if (placements) gets = placed_amounts((*placements)[i], certain_licenses(spec), p_.index);
    const TresByNode* known = placements ? &gets : nullptr;
    if (auto over = p_.use.over(spec, *member.partition, member.limit, known)) {
      account.refusal = PendingInfo{
          Reason::limit, "job " + job_text(member.job->key) + ": " + over->text, std::nullopt, {}};
      account.refusal->limit = std::move(over->name);
      if (over->wanes)
        p_.plan.wake = std::min(p_.plan.wake.value_or(p_.now + kLimitRecheckPeriod),
                                p_.now + kLimitRecheckPeriod);
    }
    p_.use.start(spec, *member.partition, member.limit, known);
  }
  p_.use.back_to(mark);
  if (account.refusal) keep_limits(account, placements, std::nullopt);
  return account.refusal.has_value();
}

void GangTurns::keep_limits(const Account& account, const Placements* placements,
                            std::optional<Time> at) {
  if (!p_.use.active() || p_.work.exhausted()) return;
  std::vector<LimitUse::Waiting> who;
  for (std::size_t i = 0; i < account.members.size(); ++i) {
    const Member& member = account.members[i];
    const JobSpec& spec = *member.job->spec;
    auto& one = who.emplace_back(LimitUse::Waiting{&spec, member.partition, member.limit});
    if (placements) one.gets = placed_amounts((*placements)[i], certain_licenses(spec), p_.index);
  }
  if (!p_.use.may_keep(who)) return;
  for (const Member& member : account.members)
    if (p_.job_classes.impossible(*member.job_class, p_.index, false)) return;
  p_.use.keep_room(std::move(who), "gang " + account.gang.request.name, at);
}

bool GangTurns::start(Account& account, bool wide) {
  const Placements placements = find(account, wide);
  if (!permitted(account, placements)) return false;
  Marks marks(p_.index);
  std::vector<std::vector<NodeShare>> shares;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    auto& nodes = shares.emplace_back();
    for (const PlacedShare& share : placements[i])
      nodes.push_back(marks.give(share, *account.members[i].job->spec));
  }
  PlanGroup group;
  take_licenses(account.members, group);
  for (std::size_t i = 0; i < shares.size(); ++i)
    group.starts[i].nodes = NodeShares(std::move(shares[i]));
  marks.keep();
  commit(account, std::move(group), placements);
  return true;
}

void GangTurns::commit(Account& account, PlanGroup group, const Placements& placements) {
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const Member& member = account.members[i];
    group.jobs.emplace_back(member.job->key, member.job->version);
    for (const PlacedShare& share : placements[i]) {
      const Node& node = *p_.index.nodes()[share.node].node;
      const std::pair<NodeId, Lsn> seen{node.id, node.version};
      if (std::find(group.nodes.begin(), group.nodes.end(), seen) == group.nodes.end())
        group.nodes.push_back(seen);
      p_.given.push_back(share.node);
    }
    p_.profile.start(placements[i], member.limit, *member.job->spec);
    p_.service_order.add_allocated(*member.job->spec, placements[i]);
    if (!p_.use.active()) continue;
    const TresByNode gets = placed_amounts(placements[i], group.starts[i].licenses, p_.index);
    p_.use.start(*member.job->spec, *member.partition, member.limit, &gets);
  }
  p_.plan.groups.push_back(std::move(group));
  account.starts = true;
}

bool GangTurns::is_impossible(Account& account) {
  for (const Member& member : account.members)
    if (const auto why =
            p_.job_classes.impossible(*member.job_class, p_.index, p_.budget.details)) {
      set_reasons_from(account, *member.job, *why);
      return true;
    }
  return false;
}

// As a single job that cannot start: it is said why, and promised a start if the partition's rule is so.
void GangTurns::block(const Queued& leader, Account& account) {
  if (account.refusal)  // in nobody's way
    return set_reasons(account, *account.refusal);
  if (!p_.work.exhausted() && is_impossible(account)) return;
  const Partition* partition = account.members.front().partition;
  const PlannedStartLedger::Reservations& reservations =
      account.gang.members.front()->spec->reservations;
  const bool may = leader.may_have_planned_start();  // for all of them
  const bool first = may ? p_.planned_starts.add_waiting(partition, reservations)
                         : !p_.planned_starts.has_waiting(partition, reservations);
  PendingInfo info{first ? Reason::resources : Reason::priority, {}, std::nullopt, {}};
  if (p_.work.exhausted()) {
    info.detail = "not looked at in this pass: its budget was spent";
    return set_reasons(account, info);
  }
  if (p_.budget.details) {
    info.detail = waiting_text(account);
    if (!may)
      info.detail += "; " + promise_floor_text(p_.state.accounting, p_.use.enforce(),
                                               *leader.entry.job->spec, *partition);
  }
  set_reasons(account, info);
  if (!may) return;  // in nobody's way
  if (p_.planned_starts.take(partition, reservations)) {
    if (!plan_start(account) && !p_.work.exhausted())
      p_.planned_starts.release(partition, reservations);
  } else {
    last_without_planned_start_ = account.gang.members.front()->gang;
  }
}

// Says when and where all of them are going to start, and keeps that free.
bool GangTurns::plan_start(Account& account) {
  const Partition* partition = account.members.front().partition;
  const PlannedStartLedger::Reservations& reservations =
      account.gang.members.front()->spec->reservations;
  Time not_before = p_.planned_starts.not_before(partition, reservations);
  for (const Member& member : account.members)
    not_before = std::max(not_before, member.job_class->not_before(member.limit));
  auto found = earliest_together(account, not_before);
  if (!found) return false;
  p_.planned_starts.record_planned_start(partition, found->at, reservations);
  keep_limits(account, &found->placements, found->at);
  for (std::size_t i = 0; i < account.members.size(); ++i) {
    const Member& member = account.members[i];
    EarliestStart start{found->at, std::move(found->placements[i])};
    expand_planned_start(member.job_class->demand, member.limit, p_.index, p_.profile, start);
    p_.profile.add_planned_start(start.placement, start.at, member.limit);
    if (p_.witness) p_.witness->on_planned_start({member.job, partition, 0}, start);
    if (start.at >= p_.profile.horizon()) continue;  // when something without limit ends
    PendingInfo info = *account.reasons.at(member.job->key);
    info.expected_start = start.at;
    info.expected_nodes.clear();
    for (const PlacedShare& share : start.placement)
      info.expected_nodes.push_back(p_.index.nodes()[share.node].node->id);
    account.reasons[member.job->key] = std::make_shared<const PendingInfo>(std::move(info));
  }
  return true;
}

std::optional<GangTurns::Placements> GangTurns::fit_at(const Account& account, Time at) {
  auto placements = fit_at(account, at, false);
  if (!placements && account.may_go_wide()) placements = fit_at(account, at, true);
  return placements;
}

std::optional<GangTurns::Placements> GangTurns::fit_at(const Account& account, Time at, bool wide) {
  Profile trial = p_.profile;
  Placements placements;
  for (std::size_t i = 0; i < account.members.size(); ++i) {
    const Member& member = account.members[i];
    auto placement = fit_between(account.demand(i, wide), member.job_class->nodes(), p_.index,
                                 trial, at, Profile::end_of(at, member.limit), p_.work);
    if (!placement) return std::nullopt;
    trial.add_planned_start(*placement, at, member.limit);
    placements.push_back(*std::move(placement));
  }
  return placements;
}

// After that moment, when any of their nodes gets more or less free; ascending.
std::vector<Time> GangTurns::changes_after(const std::vector<Member>& members, Time at) const {
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

// Not before each of them would fit by itself. From there on the times at which anything changes are tried one by one as long as
// promises or reservations may take something away again; else what fits at one time fits at every later one.
std::optional<GangTurns::Together> GangTurns::earliest_together(const Account& account, Time from) {
  const std::vector<Member>& members = account.members;
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
  if (auto placements = fit_at(account, at)) return Together{at, *std::move(placements)};
  const std::vector<Time> times = changes_after(members, at);
  std::optional<Together> found;
  const auto fits = [&](std::size_t i) {
    if (p_.work.exhausted()) return false;
    auto placements = fit_at(account, times[i]);
    if (placements) found = Together{times[i], *std::move(placements)};
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

void GangTurns::set_reasons(Account& account, const PendingInfo& info) {
  const auto same = std::make_shared<const PendingInfo>(info);
  for (const Member& member : account.members) account.reasons[member.job->key] = same;
}

// One of them cannot start, whatever the others could do.
void GangTurns::set_reasons_from(Account& account, const Job& hindered, PendingInfo info) {
  PendingInfo others{Reason::waiting_for_gang,
                     "all members of gang " + hindered.spec->gang->name + " are here; job " +
                         job_text(hindered.key) + " waits (" + std::string(to_string(info.reason)) +
                         ")",
                     std::nullopt,
                     {}};
  set_reasons(account, others);
  account.reasons[hindered.key] = std::make_shared<const PendingInfo>(std::move(info));
}

// Of who is hardest to place.
std::string GangTurns::waiting_text(const Account& account) const {
  const Member& hardest = account.members.front();
  return together_text(account.gang) + "job " + job_text(hardest.job->key) + " " +
         explain_blocked(*hardest.job_class, p_.index);
}

}  // namespace ares::core::sched
