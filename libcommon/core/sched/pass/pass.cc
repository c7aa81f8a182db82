// The part of a pass that decides which jobs start, where, and for how long.
#include "core/sched/pass/pass.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/cluster/reservation_access.h"
#include "core/cluster/spare_nodes.h"
#include "core/cluster/time_limit.h"
#include "core/job/decide/decision_context.h"
#include "core/sched/place/devices.h"
#include "core/sched/place/placed_limits.h"
#include "core/sched/place/plugin_classes.h"
#include "core/sched/place/shared_gpus.h"
#include "core/sched/queue/alternatives.h"
#include "core/sched/queue/reason_text.h"
#include "core/sched/queue/shown_priority.h"
#include "core/state/timers.h"

namespace ares::core {

using namespace sched;

namespace {

const char* const kThrottled = "as many tasks of the array run as it allows";

}  // namespace

Planner::Pass::Pass(Memory& memory, const ClusterState& state, const Policy& policy, Budget budget,
                    Time now, PassObserver* observer)
    : memory_(memory),
      state_(state),
      index_(memory.index),
      budget_(budget),
      now_(now),
      use_(state, policy, now, &memory.sums),
      service_order_(memory.queue.entries(), memory.ranking, index_),
      profile_(state, index_, memory.releases, now),
      licenses_(state, policy),
      planned_starts_(policy),
      work_(budget.units),
      preemptor_({state, policy, index_, profile_, licenses_, work_, now, use_}),
      resumer_({state, index_, profile_, now}),
      observer_(observer),
      gangs_({state_, index_, memory.job_classes, service_order_, profile_, licenses_,
              planned_starts_, work_, plan_, memory.allocated, budget, now, use_, observer}) {
  use_.set_fair_share(
      [&memory](const JobSpec& spec) { return memory.ranking.fair_share_of(spec); });
  plan_.seen = state.lsn;
  plan_.budget = budget.units;
  plan_.config_hash = policy.config_hash;
}

Plan Planner::Pass::run() {
  const bool dropped = memory_.job_classes.begin_pass();
  if (dropped) {
    memory_.earliest_starts.clear();
    memory_.queue.forget_job_classes();
  }
  pass_ = memory_.job_classes.pass();
  serve_claims();
  while (Queued* queued = next()) {
    if (observer_ && observer_->done()) break;
    if (resumer_.any_left() && queued->entry.partition)
      resume_suspended(queued->entry.partition->tier);
    consider(*queued);
  }
  resume_suspended(std::numeric_limits<std::int32_t>::min());
  preempt_late();
  estimate();
  publish_choices();
  if (const auto change = preemptor_.wake()) plan_.wake_by(*change);
  plan_.pending = memory_.reasons;
  if (const auto change = index_.reservations().next_change(now_)) plan_.wake_by(*change);
  if (const auto change = memory_.ranking.changes_at(); change && !memory_.queue.empty())
    plan_.wake_by(*change);
  return std::move(plan_);
}

bool Planner::Pass::keeps_waiting(const JobClass& job_class, std::optional<Seconds> limit) const {
  return job_class.skip_in_pass == pass_ && job_class.known_blocked(limit);
}

Queued* Planner::Pass::next() {
  if (!work_.exhausted() && !observer_ && !resumer_.any_left()) {
    const std::vector<Waiting>& waiting = memory_.queue.waiting();
    service_order_.skip([&](std::size_t at) {
      const auto& [job_class, limit] = waiting[at];
      return job_class && keeps_waiting(*job_class, limit == Seconds::max() ? std::nullopt
                                                                            : std::optional(limit));
    });
  }
  return service_order_.next();
}

void Planner::Pass::consider(Queued& queued) {
  if (queued.waits && keeps_waiting(*queued.job_class, queued.limit) && !work_.exhausted() &&
      !observer_)
    return;
  if (already_served(queued)) return;
  const QueueEntry& entry = queued.entry;
  if (observer_ && observer_->observes(queued.entry.job->key))
    return observer_->on_job({entry, index_, profile_, licenses_, array_starts_, use_,
                              planned_starts_.closed(entry.partition, reservations_of(queued)),
                              work_.exhausted()});
  if (!queued.is_static) {
    if (waits_with_gang(*entry.job)) return consider_gang(queued);
    consider_with_checks(queued);
    return;
  }
  JobClass& job_class = job_class_of(queued, false);
  if (planned_starts_.closed(entry.partition) || !start_one(queued, TaskIndex{}, job_class))
    block(queued, job_class);
}

void Planner::Pass::serve_claims() {
  for (const Preemptor::ClaimedStart& claimed : preemptor_.claimed_starts(array_starts_)) {
    const Job& job = *claimed.entry.job;
    if (observer_ && observer_->observes(job.key)) continue;
    const auto relaxed_at = relaxed_from(job);
    const JobClass& job_class =
        memory_.job_classes.of(claimed.entry, index_, relaxed_at && *relaxed_at <= now_);
    const bool available = preemptor_.is_available(claimed, job_class);
    if (!available ||
        !permitted(claimed.entry, job.key.task,
                   {claimed.placement, job.preemption_claim->licenses, claimed.limit})) {
      PendingInfo info = preemptor_.enforce_claim(claimed, job_class);
      const TresByNode allocated_tres =
          placed_amounts(claimed.placement, job.preemption_claim->licenses, index_);
      use_.start(*job.spec, *claimed.entry.partition, claimed.limit, &allocated_tres);
      claim_reasons_[job.key] = available ? std::exchange(refusal_, nullptr)
                                          : std::make_shared<const PendingInfo>(std::move(info));
      continue;
    }
    Placement placement = claimed.placement;
    name_free_devices(index_, placement);
    allocate(claimed.entry, job.key.task, claimed.limit, *licenses_.choose(*job.spec), placement, 0,
             shown_priority(memory_.ranking.rank_of(claimed.entry), job));
    started_.insert(job.key);
  }
}

void Planner::Pass::resume_suspended(std::int32_t tier) {
  while (resumer_.due(tier)) {
    auto resumed = resumer_.next();
    if (!resumed) continue;
    for (const PlacedShare& share : resumed->placement) memory_.allocated.push_back(share.node);
    service_order_.add_allocated(*resumed->job->spec, resumed->placement);
    plan_.groups.push_back(std::move(resumed->group));
  }
}

bool Planner::Pass::already_served(Queued& queued) {
  if (state_.preemption_claims.empty() && claim_reasons_.empty()) return false;
  const JobKey& key = queued.entry.job->key;
  if (const auto found = claim_reasons_.find(key); found != claim_reasons_.end()) {
    set_reason(queued, found->second);
    return true;
  }
  if (!started_.contains(key) || !queued.entry.job->preemption_claim) return false;
  clear_reason(queued);
  return true;
}

bool Planner::Pass::preempt_for(Queued& queued, const JobClass& job_class) {
  const Job& job = *queued.entry.job;
  if (!preemptor_.can_preempt(queued.entry.partition) ||
      planned_starts_.closed(queued.entry.partition, reservations_of(queued)))
    return false;
  TaskIndex task = job.key.task;
  if (job.array) {
    const auto next = next_task_.find(job.key);
    if (next == next_task_.end()) return false;
    task = TaskIndex{*next->second};
  }
  auto preemption = preemptor_.preempt(queued.entry, job_class, task, limit_now(queued));
  if (!preemption) return false;
  plan_.groups.push_back(std::move(preemption->group));
  const auto info = std::make_shared<const PendingInfo>(std::move(preemption->reason));
  claim_reasons_[job.key] = info;
  if (!queued.is_static && job.spec->partitions.size() > 1)
    choices_[job.key] = info;
  else
    set_reason(queued, info);
  return true;
}

void Planner::Pass::preempt_late() {
  for (Queued* queued : preempt_later_) {
    const JobKey& key = queued->entry.job->key;
    if (!started_.contains(key) && !claim_reasons_.contains(key))
      preempt_for(*queued, *queued->job_class);
  }
}

JobClass& Planner::Pass::job_class_of(Queued& queued, bool relaxed) {
  if (queued.job_class && queued.job_class->relaxed != relaxed) queued.job_class = nullptr;
  JobClass& job_class = queued.job_class ? memory_.job_classes.refresh(*queued.job_class, index_)
                                         : memory_.job_classes.of(queued.entry, index_, relaxed);
  queued.job_class = &job_class;
  return job_class;
}

void Planner::Pass::consider_gang(Queued& queued) {
  if (PendingPtr why = gangs_.consider(queued))
    set_reason(queued, std::move(why));
  else
    return clear_reason(queued);
  if (gangs_.without_planned_start(queued) && blocked_.size() < budget_.estimates)
    blocked_.push_back(&queued);
}

void Planner::Pass::consider_with_checks(Queued& queued) {
  const QueueEntry& entry = queued.entry;
  if (!may_start(queued)) return;
  const auto relaxed_at = relaxed_from(*entry.job);
  const bool relaxed = relaxed_at && *relaxed_at <= now_;
  JobClass& job_class = job_class_of(queued, relaxed);
  if (!planned_starts_.closed(entry.partition, reservations_of(queued)) &&
      (entry.job->array ? start_tasks(queued, job_class)
                        : start_one(queued, entry.job->key.task, job_class)))
    return;
  if (refusal_) return block(queued, job_class);
  if (relaxed_at && !relaxed) plan_.wake_by(*relaxed_at);
  if (entry.job->array && throttle_allowance(state_, *entry.job, array_starts_) == 0)
    set_reason(queued, make_info(Reason::job_array_task_limit, kThrottled));
  else if (!licenses_.choose(*entry.job->spec))
    set_reason(queued, make_info(Reason::licenses, licenses_.explain(*entry.job->spec)));
  else
    block(queued, job_class);
}

bool Planner::Pass::may_start(Queued& queued) {
  const QueueEntry& entry = queued.entry;
  if (started_.contains(entry.job->key)) return false;
  const Admission admission = admit(state_, use_, entry, array_starts_, now_);
  if (admission.wake) plan_.wake_by(*admission.wake);
  if (admission.refused) {
    if (admission.refused->reason == Reason::limit && !admission.wake) keep_limits(queued);
    set_reason(queued, std::make_shared<const PendingInfo>(*admission.refused));
    return false;
  }
  if (!licenses_.choose(*entry.job->spec)) {
    set_reason(queued, make_info(Reason::licenses, licenses_.explain(*entry.job->spec)));
    return false;
  }
  return true;
}

void Planner::Pass::keep_limits(Queued& queued) {
  const QueueEntry& entry = queued.entry;
  const Job& job = *entry.job;
  std::vector<LimitUse::Waiting> who{{job.spec.get(), entry.partition, limit_now(queued)}};
  if (!use_.may_set_aside(who) || !licenses_.choose(*job.spec) || work_.exhausted() ||
      all_refusals(state_, use_, entry, array_starts_, now_).size() > 1)
    return;
  const auto relaxed_at = relaxed_from(job);
  JobClass& job_class = job_class_of(queued, relaxed_at && *relaxed_at <= now_);
  if (!memory_.job_classes.impossible(job_class, index_, false))
    use_.set_aside_headroom(std::move(who), "job " + job_text(job.key), std::nullopt);
}

bool Planner::Pass::start_tasks(Queued& queued, JobClass& job_class) {
  const Job& job = *queued.entry.job;
  const std::uint32_t allowed = throttle_allowance(state_, job, array_starts_);
  const IntervalSet& waiting = job.array->waiting;
  IntervalSet::Iterator& next = next_task_.try_emplace(job.key, waiting.begin()).first->second;
  for (std::uint32_t count = 0; next != waiting.end(); ++count) {
    if (count == allowed || !start_one(queued, TaskIndex{*next}, job_class)) return false;
    if (++next != waiting.end() && service_order_.defer_current()) return true;
  }
  clear_reason(queued);
  return true;
}

bool Planner::Pass::start_one(Queued& queued, TaskIndex task, JobClass& job_class) {
  std::optional<Seconds> limit = limit_now(queued);
  // The record of a job that keeps waiting is not read at all.
  if (queued.is_static && is_blocked(job_class, limit)) return false;
  const Job& job = *queued.entry.job;
  auto licenses = licenses_.choose(*job.spec);
  if (!licenses) return false;
  std::uint32_t alternative = 0;
  auto placement = job_class.alternatives.empty()
                       ? place(*job.spec, job_class, limit)
                       : place_alternative(queued, job_class, limit, *licenses, alternative);
  if (!placement && job.expedited && job.spec->spare_nodes > 0)
    placement = place_with_fewer_spares(queued, limit);
  if (!placement || !permitted(queued.entry, task, {*placement, *licenses, limit})) return false;
  // The refusal of another of its alternatives.
  refusal_.reset();
  allocate(queued.entry, task, limit, *licenses, *placement, alternative,
           shown_priority(queued.rank, job));
  if (!job.array) {
    started_.insert(job.key);
    clear_reason(queued);
  }
  return true;
}

void Planner::Pass::allocate(const QueueEntry& entry, TaskIndex task, std::optional<Seconds> limit,
                             const std::vector<LicenseRequest>& licenses,
                             const Placement& placement, std::uint32_t alternative,
                             std::uint32_t priority) {
  const Job& job = *entry.job;
  PlanGroup group;
  group.jobs.emplace_back(job.key, job.version);
  Start start{
      {job.key.job, task}, entry.partition->name, limit, {}, licenses, alternative, priority};
  licenses_.allocate(*job.spec, licenses);
  std::vector<NodeShare> shares;
  for (const PlacedShare& share : placement) {
    IndexedNode& node = index_.nodes()[share.node];
    group.nodes.emplace_back(node.node->id, node.node->version);
    shares.push_back(choose_devices(node, share, job.spec->gpu_constraint, index_));
    memory_.allocated.push_back(share.node);
    node.tenants.add_started(job.spec->uid, job.spec->exclusive_user);
    index_.update_free(share.node);
  }
  start.nodes = NodeShares(std::move(shares));
  group.starts.push_back(std::move(start));
  plan_.groups.push_back(std::move(group));
  profile_.start(placement, limit, *job.spec);
  service_order_.add_allocated(*job.spec, placement);
  if (use_.active()) {
    const TresByNode allocated_tres = placed_amounts(placement, licenses, index_);
    use_.start(*job.spec, *entry.partition, limit, &allocated_tres);
  }
  if (!task.is_none()) ++array_starts_[job.key.job];
}

bool Planner::Pass::within_limits(const QueueEntry& entry, const StartTerms& terms) {
  if (!use_.active()) return true;
  const TresByNode allocated_tres = placed_amounts(terms.placement, terms.licenses, index_);
  auto over = use_.over(*entry.job->spec, *entry.partition, terms.limit, &allocated_tres);
  if (!over) return true;
  PendingInfo info{Reason::limit, std::move(over->text), std::nullopt, {}};
  info.limit = std::move(over->name);
  refusal_ = std::make_shared<const PendingInfo>(std::move(info));
  if (over->varies_with_time)
    plan_.wake_by(now_ + kLimitRecheckPeriod);
  else
    use_.set_aside_headroom({{entry.job->spec.get(), entry.partition, terms.limit, allocated_tres}},
                            "job " + job_text(entry.job->key), std::nullopt);
  return false;
}

bool Planner::Pass::permitted(const QueueEntry& entry, TaskIndex task, const StartTerms& terms) {
  if (!within_limits(entry, terms)) return false;
  const Placement& placement = terms.placement;
  if (!index_.plugin_classes() || !index_.plugin_classes()->permits(*entry.partition)) return true;
  const ProposedStart proposed{entry.job, task, entry.partition, &placement};
  const auto why = index_.plugin_classes()->refusal({&proposed, 1}, index_);
  if (why) refusal_ = make_info(Reason::plugin, *why);
  return !why;
}

std::optional<Seconds> Planner::Pass::limit_now(const Queued& queued) const {
  if (queued.is_static) return queued.limit;
  return limit_at(state_, *queued.entry.job, queued.limit, now_);
}

std::optional<Placement> Planner::Pass::place(const JobSpec& spec, JobClass& job_class,
                                              std::optional<Seconds>& limit) {
  auto placement = place(job_class, limit);
  if (placement || !spec.time_min || (limit && *limit <= *spec.time_min)) return placement;
  placement = place(job_class, spec.time_min);
  if (!placement) return std::nullopt;
  constexpr std::chrono::minutes kLongest = std::chrono::hours(24 * 365);
  auto low = std::chrono::ceil<std::chrono::minutes>(*spec.time_min);
  auto high = limit ? std::chrono::ceil<std::chrono::minutes>(*limit) : kLongest;
  limit = spec.time_min;
  while (high - low > std::chrono::minutes(1) && !work_.exhausted()) {
    const auto middle = low + (high - low) / 2;
    auto longer = fit_between(job_class.demand, job_class.nodes(), index_, profile_, now_,
                              Profile::end_of(now_, middle), work_, JoinShared::now);
    if (!longer) {
      high = middle;
      continue;
    }
    low = middle;
    limit = middle;
    placement = std::move(longer);
  }
  return placement;
}

std::optional<Placement> Planner::Pass::place_with_fewer_spares(const Queued& queued,
                                                                std::optional<Seconds>& limit) {
  const Job& job = *queued.entry.job;
  const std::uint32_t most = job.spec->min_nodes - least_nodes(job);
  const auto relaxed_at = relaxed_from(job);
  Job fewer = job;
  std::optional<Placement> placement;
  for (std::uint32_t missing = 1; missing <= most && !placement; ++missing) {
    fewer.spec = std::make_shared<const JobSpec>(with_fewer_nodes(*job.spec, missing));
    JobClass& job_class =
        memory_.job_classes.of({&fewer, queued.entry.partition, queued.entry.choice}, index_,
                               relaxed_at && *relaxed_at <= now_);
    limit = limit_now(queued);
    placement = place(*fewer.spec, job_class, limit);
  }
  return placement;
}

std::optional<Placement> Planner::Pass::place_alternative(
    const Queued& queued, JobClass& job_class, std::optional<Seconds>& limit,
    const std::vector<LicenseRequest>& licenses, std::uint32_t& alternative) {
  const JobSpec& spec = *queued.entry.job->spec;
  const std::optional<Seconds> asked = limit;
  std::optional<Placement> placement;
  const auto place_now = [&](std::size_t i) {
    limit = asked;
    placement = place(spec, *job_class.alternatives[i], limit);
    if (placement && !within_limits(queued.entry, {*placement, licenses, limit})) placement.reset();
    return placement.has_value();
  };
  const AlternativeChoice choice =
      choose_alternative(spec, now_, asked, place_now, [&](std::size_t i) {
        return find_earliest_start_of(queued, *job_class.alternatives[i], asked);
      });
  if (!choice.starts()) return std::nullopt;
  alternative = static_cast<std::uint32_t>(*choice.now);
  return placement;
}

std::optional<EarliestStart> Planner::Pass::find_earliest_start_of(const Queued& queued,
                                                                   JobClass& job_class,
                                                                   std::optional<Seconds> limit) {
  if (queued.job_class != &job_class && memory_.job_classes.impossible(job_class, index_, false))
    return std::nullopt;
  const Time from =
      std::max(job_class.not_before(limit),
               planned_starts_.not_before(queued.entry.partition, reservations_of(queued)));
  return memory_.earliest_starts.find(job_class.demand, job_class.nodes(), limit, index_, profile_,
                                      work_, from);
}

bool Planner::Pass::is_blocked(JobClass& job_class, std::optional<Seconds> limit) {
  if (job_class.known_blocked(limit) || work_.exhausted() || !job_class.candidates.problem.empty())
    return true;
  if (!job_class.still_blocked(index_)) return false;
  // The same cost as without the stored result.
  work_.spend(job_class.nodes().nodes.size());
  job_class.blocked = true;
  return true;
}

std::optional<Placement> Planner::Pass::place(JobClass& job_class, std::optional<Seconds> limit) {
  if (is_blocked(job_class, limit)) return std::nullopt;
  auto placement =
      fit_on(job_class.demand, job_class.nodes(), index_, CapacityBasis::free_now, work_);
  if (!placement) {
    job_class.blocked = true;
    job_class.record_shortfall(index_);
    job_class.blocked_by_plugin = job_class.demand.plugin_class &&
                                  job_class.fits_without_plugins(index_, CapacityBasis::free_now);
    return std::nullopt;
  }
  if (!has_planned_start(*placement, profile_) &&
      !affected_by_reservations(job_class.demand, *placement, index_))
    return placement;
  placement = fit_between(job_class.demand, job_class.nodes(), index_, profile_, now_,
                          Profile::end_of(now_, limit), work_, JoinShared::now);
  if (!placement) job_class.record_blocked_limit(limit);
  if (!placement && !profile_.any_planned_start()) job_class.blocked_by_reservation = true;
  return placement;
}

}  // namespace ares::core
