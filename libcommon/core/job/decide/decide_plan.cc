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
#include "core/job/decide/plan_claims.h"
#include "core/job/gang.h"
#include "core/state/indexes.h"
#include "core/state/timers.h"

namespace ares::core {
namespace {

using AttemptSet = std::set<AttemptKey>;  // attempts that are preempted

class Check {
 public:
  Check(const DecisionContext& q)
      : q_(q),
        licenses_(q.state, q.policy),
        accrual_limits_(q.state.accounting, q.state.partitions, q.policy),
        use_(q.state, q.policy, q.now, q.sums) {}

  // Lets the job begin to accrue age, unless the plan starts it.
  void take(const Accruing& wanted, Decision& d) {
    const Job* job = q_.state.jobs.find(wanted.key);
    if (!job || !claims_.claim_job(wanted.key)) return;
    claims_.commit();
    if (may_start_to_accrue(*job, wanted, accrual_limits_, use_, q_.now))
      d.events.emplace_back(AccrualBegan{wanted.key, wanted.since});
  }

  // Takes all starts of the group, its preemption claim or its resumption, or nothing.
  bool take(const PlanGroup& group, Decision& d) {
    for (const auto& [key, version] : group.jobs) {
      if (!unchanged(key, version)) return false;
    }
    if (group.claim) return group.starts.empty() && take(*group.claim, d);
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
    if (!may_start(*job) || !is_within_bounds(*job, start)) return false;
    if (array && array->array && array->array->throttle > 0 &&
        array->array->holding + tasks > array->array->throttle)
      return false;
    if (!has_requested_part(q_.state, *job->spec, start.partition, start.alternative,
                            start.nodes) ||
        !matches_alternative(q_.state, *job->spec, start.partition, start.alternative, start.nodes))
      return false;
    if (!respects_reservations(*job, start) || !is_eligible(*job, start)) return false;
    for (const NodeShare& share : start.nodes) {
      if (!fits(*job, start, share, claims_.on(share.node)) || !within_cpu_share(start, share))
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
                        limit_of(*job, start),
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

  // Preempts the victims and claims what they release for the job, or does nothing.
  bool take(const ProposedClaim& wanted, Decision& d) {
    const JobKey& key = wanted.key;
    const Job* own = q_.state.jobs.find(key);
    const Job* array = key.task.is_none() ? nullptr : q_.state.jobs.find(JobKey{key.job, {}});
    const Job* job = own ? own : array;
    if (!job || (own && own->array)) return false;
    if (!own && (!array->array || !array->array->waiting.contains(key.task.value))) return false;
    if (!may_start(*job) || !may_preempt(*job, q_.now)) return false;
    const PreemptionClaim& claim = wanted.claim;
    const Start start{key, claim.partition, claim.time_limit, claim.nodes, claim.licenses};
    if (!is_within_bounds(*job, start) || !respects_reservations(*job, start)) return false;
    if (!has_requested_part(q_.state, *job->spec, start.partition, start.alternative, start.nodes))
      return false;
    if (!is_eligible(*job, start)) return false;
    if (!job->spec->gpu_alternatives.empty() ||
        (array && array->array && array->array->throttle > 0))
      return false;
    const AttemptSet gone(claim.victims.begin(), claim.victims.end());
    if (gone.empty() || gone.size() != claim.victims.size()) return false;
    if (!may_preempt_victims(gone, *job, claim.partition)) return false;
    for (const NodeShare& share : claim.nodes)
      if (!fits_after_preemption(*job, start, share, gone)) return false;
    if (!licenses_.allocate(*job->spec, claim.licenses) || !claims_.claim_job(key)) return false;
    claims_.commit();
    accept(wanted, own ? nullptr : array, *job, d);
    return true;
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
    return fits(job, start, share, others, &gone);
  }

  void accept(const ProposedClaim& wanted, const Job* array, const Job& job, Decision& d) {
    const JobKey& key = wanted.key;
    PreemptionClaim claim = wanted.claim;
    std::sort(claim.victims.begin(), claim.victims.end());
    claim.at = q_.now;
    claim.ready = q_.now;
    for (const AttemptKey& victim : claim.victims)
      claim.ready = std::max(claim.ready, q_.now + eviction_grace(q_.state, q_.policy,
                                                                  *q_.state.jobs.find(victim.job)));
    claim.until = claim.ready + kClaimSlack;
    preemption_claims_.emplace_back(&wanted, job.spec.get());
    used_[job.spec->uid] += static_cast<std::uint32_t>(claim.victims.size());
    if (array) d.events.emplace_back(TaskSplit{key, task_rank(*array, key.task)});
    const std::vector<AttemptKey> victims = claim.victims;
    d.events.emplace_back(Earmarked{key, std::move(claim)});
    d.jobs.push_back(key);
    for (const AttemptKey& attempt : victims) {
      ended_.insert(attempt);
      const Job& victim = *q_.state.jobs.find(attempt.job);
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

  void audit(const Job& job, const AttemptKey& victim, std::string outcome, Decision& d) const {
    d.events.emplace_back(Audited{{q_.now,
                                   job.spec->uid,
                                   job.spec->user,
                                   {},
                                   "preempt",
                                   "job " + job_text(victim.job),
                                   std::move(outcome)}});
  }

  // The plan is a moment old, so a little less time may be left until the deadline.
  std::optional<Seconds> limit_of(const Job& job, const Start& start) const {
    return limit_at(q_.state, job, start.time_limit, q_.now);
  }

  bool may_start(const Job& job) const {
    return job.state == JobState::pending && job.hold == Hold::none && job.waiting_for.empty() &&
           !job.dependency_failed && job.not_before <= q_.now &&
           job.spec->begin.value_or(Time{}) <= q_.now && !deadline_is_lost(job, q_.now);
  }

  bool is_within_bounds(const Job& job, const Start& start) const {
    const Partition* partition = q_.state.partitions.find(start.partition);
    const auto& requested = job.spec->partitions;
    if (!partition || !partition->up ||
        std::find(requested.begin(), requested.end(), start.partition) == requested.end())
      return false;
    const std::size_t nodes = start.nodes.size();
    if (nodes < least_nodes(job) || nodes > std::max(job.spec->min_nodes, job.spec->max_nodes))
      return false;
    const auto most = bounds_of(q_.state.accounting, *job.spec, *partition).max_nodes;
    if (most && nodes > *most) return false;
    if (job.spec->node_counts &&
        !job.spec->node_counts->contains(static_cast<std::uint32_t>(nodes)))
      return false;
    std::set<NodeId> distinct;
    for (const NodeShare& share : start.nodes) distinct.insert(share.node);
    if (distinct.size() != nodes) return false;
    const std::optional<Seconds> limit = effective_time_limit(job, *partition);
    return !limit || (start.time_limit && *start.time_limit <= *limit);
  }

  // Whether the partition may have so many CPUs of the node for its jobs.
  bool within_cpu_share(const Start& start, const NodeShare& share) {
    const auto most = q_.state.partitions.find(start.partition)->max_cpus_per_node;
    if (!most) return true;
    std::uint64_t used = share.cpus;
    for (const PlanClaims::Share& other : claims_.on(share.node))
      if (other.partition && *other.partition == start.partition) used += other.share->cpus;
    for (const Charge& charge : q_.state.nodes.find(share.node)->charges) {
      const Job* job = q_.state.jobs.find(charge.attempt.job);
      if (job && job->allocation && job->allocation->partition == start.partition)
        used += charge.cpus;
    }
    return used <= *most;
  }

  bool is_eligible(const Job& job, const Start& start) {
    const Enforce enforce = q_.policy.accounting.enforce;
    const Partition* partition = q_.state.partitions.find(start.partition);
    if (!partition || ineligible(q_.state.accounting, enforce, *job.spec, start.partition))
      return false;
    if (!missing_qos(q_.state.accounting, enforce, *partition).empty()) return false;
    if (!use_.active()) return true;
    const TresByNode allocated_tres = amounts_of(q_.state.nodes, start.nodes, start.licenses);
    return !use_.over(*job.spec, *partition, start.time_limit, &allocated_tres);
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

  bool respects_reservations(const Job& job, const Start& start) const {
    const auto& requested = job.spec->reservations;
    if (q_.state.reservations.size() == 0) return requested.empty();
    AccessWindow window{q_.now, std::nullopt};
    if (const auto limit = limit_of(job, start)) window.to = q_.now + *limit;
    if (window.to && *window.to < q_.now + Seconds{1})
      return false;  // its reservation is almost over
    const bool flexible = any_flexible_reservation(q_.state, requested);
    for (const std::string& name : requested) {
      const Reservation* r = q_.state.reservations.find(name);
      if (r && !may_use(*r, job.spec->uid, job.spec->account)) return false;
    }
    return std::all_of(start.nodes.begin(), start.nodes.end(), [&](const NodeShare& share) {
      const Node* node = q_.state.nodes.find(share.node);
      std::vector<const Reservation*> there;
      q_.state.reservations.for_each([&](const std::string&, const Reservation& r) {
        if (node && has_node(r, node->name)) there.push_back(&r);
      });
      return reservations_allow(there, requested, flexible, window);
    });
  }

  // `gone`: victims. They and ending attempts do not count; a suspended one gives only its CPUs.
  bool fits(const Job& job, const Start& start, const NodeShare& share,
            const std::vector<PlanClaims::Share>& others, const AttemptSet* gone = nullptr) const {
    const Node* node = q_.state.nodes.find(share.node);
    if (!node || !takes_jobs(*node) || (node->guard.on_trial && !others.empty())) return false;
    if (node->incarnation != share.incarnation || share.cpus == 0) return false;
    if (is_kept_for_another(q_.state, share.node, start.key)) return false;
    const auto& excluded = job.excluded;
    if (std::find(excluded.begin(), excluded.end(), share.node) != excluded.end()) return false;
    if (!q_.state.members.find({start.partition, node->name})) return false;

    const JobSpec& spec = *job.spec;
    const auto shut_out = [&](const std::optional<UserId>& user, bool keeps) {
      return (keeps || spec.exclusive_user) && user != spec.uid;
    };
    // A victim that is only suspended stays on the node, without its CPUs.
    const auto stays = [&](const Charge& charge) {
      return !gone ||
             (!is_ending(charge) && (!gone->contains(charge.attempt) || will_be_suspended(charge)));
    };
    for (const Charge& charge : node->charges)
      if (stays(charge) && shut_out(charge.user, charge.exclusive_user)) return false;
    for (const PlanClaims::Share& other : others)
      if (shut_out(other.of->uid, other.of->exclusive_user)) return false;

    std::uint64_t cpus = share.cpus;
    Bytes memory = share.memory;
    DeviceUse devices;
    bool clash = !devices.add(share) || repeats(share.cpu_ids);
    const auto add = [&](const auto& other, bool cpus_released = false) {
      if (!cpus_released) cpus += other.cpus;
      memory += other.memory;
      clash = clash || (!share.gpus.empty() && !devices.add(other)) ||
              (!cpus_released && intersect(share.cpu_ids, other.cpu_ids));
    };
    for (const Charge& charge : node->charges)
      if (stays(charge)) add(charge, gone && gone->contains(charge.attempt));
    for (const PlanClaims::Share& other : others) add(*other.share);
    if (share.memory < Bytes{} || share.memory > node->inventory.memory) return false;
    if (clash || cpus > node->inventory.cpus || memory > node->inventory.memory) return false;
    return std::all_of(share.gpus.begin(), share.gpus.end(), [&](GpuIndex index) {
      const auto& has = node->inventory.gpus;
      return std::any_of(has.begin(), has.end(),
                         [&](const Gpu& gpu) { return gpu.index == index; });
    });
  }

  bool will_be_suspended(const Charge& charge) const {
    const Job* job = q_.state.jobs.find(charge.attempt.job);
    return job && releases_only_cpus(q_.state, *job);
  }

  bool is_ending(const Charge& charge) const {
    const Job* job = q_.state.jobs.find(charge.attempt.job);
    return job && job->attempt == charge.attempt.attempt && job->state == JobState::completing;
  }

  template <class T>
  static bool intersect(const std::vector<T>& a, const std::vector<T>& b) {
    return std::any_of(a.begin(), a.end(),
                       [&](const T& x) { return std::find(b.begin(), b.end(), x) != b.end(); });
  }
  template <class T>
  static bool repeats(std::vector<T> list) {
    std::sort(list.begin(), list.end());
    return std::adjacent_find(list.begin(), list.end()) != list.end();
  }

  const DecisionContext& q_;
  PlanClaims claims_;
  LicensePool licenses_;
  AccrualLimits accrual_limits_;
  LimitUse use_;  // including what this plan took
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
