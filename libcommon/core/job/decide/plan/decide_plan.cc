// Checks the scheduler's plan against the current state and takes the groups that still hold.
#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "core/accounts/limits/accrual_limits.h"
#include "core/accounts/limits/limit_use.h"
#include "core/accounts/limits/partition_bounds.h"
#include "core/accounts/membership.h"
#include "core/accounts/usage/charge.h"
#include "core/cluster/expedite.h"
#include "core/cluster/licenses.h"
#include "core/cluster/preemptible.h"
#include "core/cluster/reservation_access.h"
#include "core/cluster/resume_conflict.h"
#include "core/cluster/spare_nodes.h"
#include "core/cluster/time_limit.h"
#include "core/job/checks/alternative_checks.h"
#include "core/job/checks/gpu_part_checks.h"
#include "core/job/decide/decision_context.h"
#include "core/job/decide/master_port.h"
#include "core/job/decide/plan/plan_claims.h"
#include "core/job/decide/plan/start_checks.h"
#include "core/job/gang.h"
#include "core/state/indexes.h"
#include "core/state/timers.h"

namespace ares::core {
namespace {

class Check {
 public:
  Check(const DecisionContext& q)
      : q_(q),
        licenses_(q.state, q.policy),
        accrual_limits_(q.state.accounting, q.state.partitions, q.policy),
        use_(q.state, q.policy, q.now, q.sums),
        checks_(q, claims_, use_) {}

  // Lets the job begin to accrue age, unless the plan starts it.
  void take(const Accruing& wanted, Decision& d) {
    const Job* job = q_.state.jobs.find(wanted.key);
    if (!job || !claims_.claim_job(wanted.key)) return;
    claims_.commit();
    if (may_start_to_accrue(*job, wanted, accrual_limits_, use_, q_.now))
      d.events.emplace_back(AccrualBegan{wanted.key, wanted.since});
  }

  // Takes all starts of the group, all its preemption claims or its resumption, or nothing.
  bool take(const PlanGroup& group, Decision& d) {
    for (const auto& [key, version] : group.jobs) {
      if (!unchanged(key, version)) return false;
    }
    if (!group.claims.empty()) return group.starts.empty() && take(group.claims, d);
    if (group.resume) return group.starts.empty() && resume(*group.resume, d);
    if (group.starts.empty()) return false;
    std::vector<JobKey> starting;
    for (const Start& start : group.starts) starting.push_back(start.key);
    if (!starts_whole_gangs(q_.state, starting)) return false;
    std::vector<EventBody> events;
    const std::size_t used = use_.mark();
    for (const Start& start : group.starts) {
      if (take(start, events)) continue;
      use_.roll_back_to(used);
      claims_.roll_back();
      for (const auto* licenses : new_licenses_) licenses_.release(*licenses);
      new_licenses_.clear();
      return false;
    }
    claims_.commit();
    new_licenses_.clear();
    for (EventBody& event : events) d.events.push_back(std::move(event));
    for (const Start& start : group.starts) d.jobs.push_back(start.key);
    return true;
  }

 private:
  // An array's record changes with each task that ends, so each task's start is checked by itself.
  bool unchanged(const JobKey& key, Lsn version) const {
    const Job* job = q_.state.jobs.find(key);
    if (!job) job = q_.state.jobs.find(JobKey{key.job, {}});
    return job && (job->array || job->version == version);
  }

  bool take(const Start& start, std::vector<EventBody>& events) {
    const Job* own = q_.state.jobs.find(start.key);
    const Job* array =
        start.key.task.is_none() ? nullptr : q_.state.jobs.find(JobKey{start.key.job, {}});
    const Job* job = own ? own : array;
    if (!job || (own && own->array) || !claims_.claim_job(start.key)) return false;
    const std::uint32_t tasks = start.key.task.is_none() ? 0 : ++claims_.tasks(start.key.job);
    if (!own && (!array->array || !array->array->waiting.contains(start.key.task.value)))
      return false;
    if (!checks_.may_start(*job) || !checks_.is_within_bounds(*job, start)) return false;
    if (array && array->array && array->array->throttle > 0 &&
        array->array->holding + tasks > array->array->throttle)
      return false;
    if (!has_requested_part(q_.state, *job->spec, start.partition, start.alternative,
                            start.nodes) ||
        !matches_alternative(q_.state, *job->spec, start.partition, start.alternative, start.nodes))
      return false;
    if (!checks_.respects_reservations(*job, start) || !checks_.is_eligible(*job, start))
      return false;
    for (const NodeShare& share : start.nodes) {
      if (!checks_.fits(*job, start, share, claims_.on(share.node)) ||
          !checks_.within_cpu_share(start, share) || !checks_.within_attempts(share) ||
          !checks_.leaves_restricted(*job->spec, start, share))
        return false;
      claims_.claim_share(start.key, share, *job->spec, start.partition);
    }
    if (!licenses_.allocate(*job->spec, start.licenses)) return false;
    new_licenses_.push_back(&start.licenses);
    if (!own) events.emplace_back(TaskSplit{start.key, task_rank(*array, start.key.task)});
    const TresByNode allocated_tres = amounts_of(q_.state.nodes, start.nodes, start.licenses);
    Allocated allocated{start.key,
                        job->attempt.next(),
                        start.partition,
                        checks_.limit_of(*job, start),
                        start.nodes,
                        start.licenses,
                        start.alternative,
                        tres_to_record(*job, start, allocated_tres),
                        {}};
    Allocation whole{{}, start.partition, q_.now, start.nodes, {}, start.licenses};
    whole.tres = allocated.tres;
    allocated.charged_to = charged_to(q_.state, q_.policy, *job->spec, whole);
    use_.start(*job->spec, *q_.state.partitions.find(start.partition), start.time_limit,
               &allocated_tres);
    allocated.nodes.change_each([&](NodeShare& share) {
      share.phase = SharePhase::preparing;
      share.usage = {};
      const Node* node = q_.state.nodes.find(share.node);
      share.leased = job->spec->requeue && node && node->can_freeze;
    });
    allocated.master_port =
        choose_master_port(q_.policy.master_ports, q_.state, *job, start, claims_);
    allocated.priority = start.priority;
    events.emplace_back(std::move(allocated));
    return true;
  }

  // Preempts the victims and claims what they release for the jobs, or does nothing.
  bool take(const std::vector<ProposedClaim>& claims, Decision& d) {
    const std::vector<AttemptKey>& victims = claims.front().claim.victims;
    const AttemptSet gone(victims.begin(), victims.end());
    if (gone.empty() || gone.size() != victims.size() || !takes_whole_gangs(gone)) return false;
    std::vector<JobKey> keys;
    for (const ProposedClaim& wanted : claims) keys.push_back(wanted.key);
    if (!starts_whole_gangs(q_.state, keys)) return false;
    const std::size_t before = preemption_claims_.size();
    const std::size_t used = use_.mark();
    for (const ProposedClaim& wanted : claims) {
      if (wanted.claim.victims == victims && take(wanted, gone)) continue;
      use_.roll_back_to(used);
      claims_.roll_back();
      for (std::size_t i = before; i < preemption_claims_.size(); ++i)
        licenses_.release(preemption_claims_[i].first->claim.licenses);
      preemption_claims_.resize(before);
      return false;
    }
    claims_.commit();
    accept(claims, d);
    return true;
  }

  bool take(const ProposedClaim& wanted, const AttemptSet& gone) {
    const JobKey& key = wanted.key;
    const Job* own = q_.state.jobs.find(key);
    const Job* array = key.task.is_none() ? nullptr : q_.state.jobs.find(JobKey{key.job, {}});
    const Job* job = own ? own : array;
    if (!job || (own && own->array)) return false;
    if (!own && (!array->array || !array->array->waiting.contains(key.task.value))) return false;
    if (!checks_.may_start(*job) || !may_preempt(*job, q_.now)) return false;
    const PreemptionClaim& claim = wanted.claim;
    const Start start{key, claim.partition, claim.time_limit, claim.nodes, claim.licenses};
    if (!checks_.is_within_bounds(*job, start) || !checks_.respects_reservations(*job, start))
      return false;
    if (!has_requested_part(q_.state, *job->spec, start.partition, start.alternative, start.nodes))
      return false;
    if (!checks_.is_eligible(*job, start)) return false;
    if (!job->spec->gpu_alternatives.empty() ||
        (array && array->array && array->array->throttle > 0))
      return false;
    if (!may_preempt_victims(gone, *job, claim.partition)) return false;
    for (const NodeShare& share : claim.nodes)
      if (!fits_after_preemption(*job, start, share, gone) ||
          !checks_.leaves_restricted(*job->spec, start, share))
        return false;
    if (!claims_.claim_job(key) || !licenses_.allocate(*job->spec, claim.licenses)) return false;
    const TresByNode amounts = amounts_of(q_.state.nodes, claim.nodes, claim.licenses);
    use_.start(*job->spec, *q_.state.partitions.find(claim.partition), claim.time_limit, &amounts);
    preemption_claims_.emplace_back(&wanted, job->spec.get());
    return true;
  }

  // The members of a gang that runs are preempted together.
  bool takes_whole_gangs(const AttemptSet& victims) const {
    std::map<JobId, std::pair<const Job*, std::uint32_t>> gangs;
    for (const AttemptKey& victim : victims) {
      const Job* job = q_.state.jobs.find(victim.job);
      if (!job || !job->spec->gang) continue;
      gangs[job->gang].first = job;
      ++gangs[job->gang].second;
    }
    return std::all_of(gangs.begin(), gangs.end(), [&](const auto& gang) {
      return active_members(q_.state, *gang.second.first) == gang.second.second;
    });
  }

  // Resumes a job that was suspended for another one, on its own CPUs.
  bool resume(const AttemptKey& attempt, Decision& d) {
    const Job* job = q_.state.jobs.find(attempt.job);
    if (!job || job->attempt != attempt.attempt || !is_resumable(*job)) return false;
    for (const NodeShare& share : job->allocation->nodes)
      if (is_kept_for_another(q_.state, share.node, attempt.job)) return false;
    std::vector<PlannedShare> planned_shares;
    for (const NodeShare& share : job->allocation->nodes)
      for (const PlanClaims::Share& other : claims_.on(share.node))
        planned_shares.push_back({other.key, other.share});
    // CPUs claimed for other jobs count by their number only, because those jobs can use any CPUs.
    std::deque<NodeShare> kept;
    for (const auto& [wanted, of] : preemption_claims_)
      for (const NodeShare& share : wanted->claim.nodes) {
        kept.push_back(share);
        kept.back().cpu_ids.clear();
        planned_shares.push_back({wanted->key, &kept.back()});
      }
    if (resume_conflict(q_.state, *job, q_.now, planned_shares) || !claims_.claim_job(attempt.job))
      return false;
    for (const NodeShare& share : job->allocation->nodes) {
      NodeShare& cpus = resumed_.emplace_back(share);  // memory and GPUs are charged already
      cpus.memory = Bytes{};
      cpus.gpus.clear();
      cpus.gpu_part = 0;
      claims_.claim_share(attempt.job, cpus, *job->spec, job->allocation->partition);
    }
    claims_.commit();
    d.events.emplace_back(Resumed{attempt, {}});
    d.jobs.push_back(attempt.job);
    return true;
  }

  bool may_preempt_victims(const AttemptSet& victims, const Job& job,
                           const std::string& partition) {
    const Partition* its = q_.state.partitions.find(partition);
    const bool all = its && std::all_of(victims.begin(), victims.end(), [&](const AttemptKey& v) {
                       const Job* victim = q_.state.jobs.find(v.job);
                       if (!victim || victim->attempt != v.attempt || ended_.contains(v))
                         return false;
                       const auto from =
                           preemptible_from(q_.state, q_.policy, *job.spec, *its, *victim);
                       return from && *from <= q_.now;
                     });
    const std::uint64_t used = used_[job.spec->uid] + victims.size();
    return all && used <= evictions_left(q_.state, q_.policy, job.spec->uid, q_.now).count;
  }

  // Whether the share fits once the victims and all ending attempts are gone, beside other claims.
  bool fits_after_preemption(const Job& job, const Start& start, const NodeShare& share,
                             const AttemptSet& gone) {
    // Claims count as amounts only, because their jobs can use other devices.
    std::deque<NodeShare> counted;
    std::vector<PlanClaims::Share> others = claims_.on(share.node);
    const auto add = [&](const PreemptionClaim& claim, const JobSpec& of) {
      for (const NodeShare& other : claim.nodes) {
        if (other.node != share.node) continue;
        NodeShare& amounts = counted.emplace_back(other);
        amounts.gpus.clear();
        amounts.gpu_part = 0;
        amounts.cpu_ids.clear();
        others.push_back({&amounts, &of});
      }
    };
    q_.state.preemption_claims.for_each([&](const JobKey& key, Lsn) {
      const Job* other = q_.state.jobs.find(key);
      if (other && key != start.key && is_binding(*other, q_.now))
        add(*other->preemption_claim, *other->spec);
    });
    for (const auto& [wanted, of] : preemption_claims_) add(wanted->claim, *of);
    return checks_.fits(job, start, share, others, &gone);
  }

  void accept(const std::vector<ProposedClaim>& claims, Decision& d) {
    std::vector<AttemptKey> victims = claims.front().claim.victims;
    std::sort(victims.begin(), victims.end());
    Time ready = q_.now;
    for (const AttemptKey& victim : victims)
      ready = std::max(
          ready, q_.now + eviction_grace(q_.state, q_.policy, *q_.state.jobs.find(victim.job)));
    for (const ProposedClaim& wanted : claims) {
      const JobKey& key = wanted.key;
      PreemptionClaim claim = wanted.claim;
      claim.victims = victims;
      claim.at = q_.now;
      claim.ready = ready;
      claim.until = ready + kClaimSlack;
      if (!q_.state.jobs.find(key)) {
        const Job& array = *q_.state.jobs.find(JobKey{key.job, {}});
        d.events.emplace_back(TaskSplit{key, task_rank(array, key.task)});
      }
      d.events.emplace_back(Earmarked{key, std::move(claim)});
      d.jobs.push_back(key);
    }
    for (const AttemptKey& attempt : victims) {
      ended_.insert(attempt);
      const Job& victim = *q_.state.jobs.find(attempt.job);
      const JobKey& key = preemptor_of(victim, claims);
      const Job* own = q_.state.jobs.find(key);
      const Job& job = own ? *own : *q_.state.jobs.find(JobKey{key.job, {}});
      ++used_[job.spec->uid];
      if (releases_only_cpus(q_.state, victim)) {
        d.events.emplace_back(Suspended{attempt, {}, {}, key});
        audit(job, attempt, "suspended for job " + job_text(key), d);
        continue;
      }
      const Ending ending = eviction_of(q_.state, q_.policy, victim, key, q_.now);
      d.events.emplace_back(EndingBegan{attempt, ending});
      audit(job, attempt,
            std::string(ending.requeue ? "requeued" : "cancelled") + " for job " + job_text(key),
            d);
    }
  }

  // The first job that gets a node of the victim.
  static const JobKey& preemptor_of(const Job& victim, const std::vector<ProposedClaim>& claims) {
    const auto gets = [&](const NodeShare& share) {
      return [&share](const ProposedClaim& wanted) {
        return std::any_of(wanted.claim.nodes.begin(), wanted.claim.nodes.end(),
                           [&](const NodeShare& own) { return own.node == share.node; });
      };
    };
    for (const NodeShare& share : victim.allocation->nodes)
      if (const auto one = std::find_if(claims.begin(), claims.end(), gets(share));
          one != claims.end())
        return one->key;
    return claims.front().key;
  }

  void audit(const Job& job, const AttemptKey& victim, std::string outcome, Decision& d) const {
    d.events.emplace_back(Audited{{q_.now,
                                   job.spec->uid,
                                   job.spec->user,
                                   {},
                                   "preempt",
                                   "job " + job_text(victim.job),
                                   std::move(outcome)}});
  }

  // Amounts for accounting beyond the shares. Fixed now: inventories and weights may change later.
  std::vector<TresAmount> tres_to_record(const Job& job, const Start& start,
                                         const TresByNode& allocated_tres) const {
    const RequestedTres requested{*job.spec, *q_.state.partitions.find(start.partition),
                                  rules_of(q_.policy), start.time_limit, &allocated_tres};
    std::vector<TresAmount> noted{{"billing", requested.amount("billing")}};
    for (const auto& node : allocated_tres)
      for (const auto& [tres, amount] : node)
        if (tres.starts_with("gres/gpu:")) add_tres(noted, {{tres, amount}});
    return noted;
  }

  const DecisionContext& q_;
  PlanClaims claims_;
  LicensePool licenses_;
  AccrualLimits accrual_limits_;
  LimitUse use_;  // including what this plan took
  StartChecks checks_;
  std::vector<std::pair<const ProposedClaim*, const JobSpec*>> preemption_claims_;  // by this plan
  std::deque<NodeShare> resumed_;         // CPUs of jobs that this plan resumes
  AttemptSet ended_;                      // victims of this plan
  std::map<UserId, std::uint32_t> used_;  // number of victims of this plan, by the preemptor's user
  std::vector<const std::vector<LicenseRequest>*> new_licenses_;  // of the current group
};

}  // namespace

Decision decide_plan(const DecisionContext& q, const TakePlan& command) {
  Decision d;
  Check check(q);
  RejectedGroups rejected;
  std::size_t refused = 0;
  for (const PlanGroup& group : command.plan.groups) {
    if (!rejected.touches(group) && check.take(group, d)) continue;
    rejected.add(group);
    ++refused;
  }
  for (const Accruing& accruing : command.plan.accruing) check.take(accruing, d);
  // A plan without any effect is not recorded for replay.
  if (!d.events.empty()) {
    d.events.insert(d.events.begin(),
                    PlanPass{command.plan.seen, command.plan.budget, command.plan.config_hash});
  }
  d.text = std::to_string(command.plan.groups.size() - refused) + " of " +
           std::to_string(command.plan.groups.size()) + " groups taken";
  return d;
}

}  // namespace ares::core
