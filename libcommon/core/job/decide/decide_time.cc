// Effects of time alone: launch timeouts, deadlines, silent nodes, end of retention. A tick handles
// only what is due, oldest first, and about kMost records; the rest waits for the next tick.
#include <algorithm>
#include <chrono>
#include <set>

#include "base/duration.h"
#include "core/cluster/dead_node.h"
#include "core/cluster/launch_guard.h"
#include "core/cluster/lease_monitor.h"
#include "core/cluster/node_reboot.h"
#include "core/cluster/spare_nodes.h"
#include "core/job/decide/decision_context.h"
#include "core/job/decide/end_jobs.h"
#include "core/job/gang.h"
#include "core/state/indexes.h"
#include "core/state/timers.h"
#include "model/job/mail.h"

namespace ares::core {
namespace {

constexpr std::size_t kMost = 1000;
// More per tick than can arrive, so that remembered requests do not outlive their retention.
constexpr std::size_t kMostExpired = 5000;

// Visits the jobs whose timer of this kind has expired, oldest first, while visit(job) is true.
template <class Visit>
void each_due(const DecisionContext& q, TimerKind kind, Duration after, Visit&& visit) {
  q.state.timers.for_each_from(Timer{kind, Time::min(), {}}, [&](const Timer& timer, const Lsn&) {
    if (timer.kind != kind || timer.since + after > q.now) return false;
    const Job* job = q.state.jobs.find(timer.job);
    return !job || visit(*job);
  });
}

void fail_late(const Job& job, SharePhase stuck, const std::string& cause, Decision& d) {
  const AttemptKey attempt{job.key, job.attempt};
  if (is_active(job.state)) {
    Ending ending{
        JobState::node_fail, Reason::launch_failure, {}, job.spec->requeue, job.hold, true};
    for (const NodeShare& share : job.allocation->nodes)
      if (share.phase == stuck && !ending.failed_node) ending.failed_node = share.node;
    d.events.emplace_back(EndingBegan{attempt, ending, cause});
  }
  for (const NodeShare& share : job.allocation->nodes) {
    if (share.phase == stuck)
      d.events.emplace_back(LaunchFailed{attempt, share.node, true, cause, LaunchBlame::late});
  }
}

// A controller that has only just become active hears its nodes first: they may have come further
// than it knows.
void launches(const DecisionContext& q, Decision& d) {
  const Duration active = q.now - q.state.activated_at;
  const std::string ready =
      "not ready within " + std::to_string(q.policy.prepare_timeout.count()) + " s";
  if (active >= q.policy.prepare_timeout)
    each_due(q, TimerKind::preparing, q.policy.prepare_timeout, [&](const Job& job) {
      fail_late(job, SharePhase::preparing, ready, d);
      return d.events.size() < kMost;
    });
  const std::string running =
      "did not start the job within " + std::to_string(q.policy.start_barrier.count()) + " s";
  if (active >= q.policy.start_barrier)
    each_due(q, TimerKind::starting, q.policy.start_barrier, [&](const Job& job) {
      fail_late(job, SharePhase::ready, running, d);
      return d.events.size() < kMost;
    });
}

// A pending job that can no longer meet its deadline ends; a running job is ended at its deadline.
void deadlines(const DecisionContext& q, Decision& d) {
  each_due(q, TimerKind::deadline, Duration{0}, [&](const Job& job) {
    if (holds_resources(job.state)) {
      const Ending ending{JobState::deadline, Reason::deadline, {}, false, Hold::none, false};
      d.events.emplace_back(EndingBegan{{job.key, job.attempt}, ending});
    } else {
      d.events.emplace_back(Ended{job.key, JobState::deadline, Reason::deadline, {}});
    }
    return d.events.size() < kMost;
  });
}

// A gang that has not started by its timeout is cancelled.
void gangs(const DecisionContext& q, Decision& d) {
  std::set<JobId> seen;
  each_due(q, TimerKind::gang, Duration{0}, [&](const Job& job) {
    if (!seen.insert(job.gang).second) return true;
    for (const Job* member : gang_of(q.state, job).members)
      if (!deadline_is_lost(*member, q.now))  // else deadlines() ended it
        d.events.emplace_back(Ended{member->key, JobState::cancelled, Reason::gang_timeout, {}});
    return d.events.size() < kMost;
  });
}

// If several shares of the time limit have passed, only the largest is reported.
void time_shares(const DecisionContext& q, Decision& d) {
  each_due(q, TimerKind::notice, Duration{0}, [&](const Job& job) {
    Job told = job;
    for (auto timer = notice_timer_of(told); timer && timer->since <= q.now;
         timer = notice_timer_of(told))
      told.time_noticed = next_time_share(*told.spec, told.time_noticed);
    d.events.emplace_back(TimeNoticed{{job.key, job.attempt}, told.time_noticed});
    return d.events.size() < kMost;
  });
}

// Nodes are kept only for a time for jobs that return first.
void kept_nodes(const DecisionContext& q, Decision& d) {
  each_due(q, TimerKind::kept, Duration{0}, [&](const Job& job) {
    d.events.emplace_back(ExpediteExpired{job.key});
    return d.events.size() < kMost;
  });
}

void forget(const DecisionContext& q, Decision& d) {
  std::size_t seen = 0;
  each_due(q, TimerKind::finished, q.policy.min_job_age, [&](const Job& job) {
    if (!has_dependents(q.state, job.key.job)) {
      // Tasks go before their array: its record sorts after theirs, and its timer stands for all.
      q.state.jobs.for_each_from(JobKey{job.key.job, TaskIndex{0}},
                                 [&](const JobKey& key, const Job&) {
                                   if (key.job != job.key.job) return false;
                                   d.events.emplace_back(Forgotten{key});
                                   return d.events.size() < kMost;
                                 });
    }
    return ++seen < kMost && d.events.size() < kMost;
  });
}

// Clients still repeat what they sent to an earlier controller, and time may have leapt since: it was away for long, or its clock was
// set. Therefore nothing expires in the first hour of a controller, or in the first `request_retention` if that is shorter.
void expire(const DecisionContext& q, Decision& d) {
  constexpr Duration kTimeToRepeat = std::chrono::hours(1);
  if (q.now - q.state.activated_at < std::min<Duration>(kTimeToRepeat, q.policy.request_retention))
    return;
  std::size_t seen = 0;
  q.state.request_ages.for_each_from({Time::min(), RequestKey{}},
                                     [&](const std::pair<Time, RequestKey>& age, const Lsn&) {
                                       if (age.first > q.now || ++seen > kMostExpired) return false;
                                       d.events.emplace_back(RequestExpired{age.second});
                                       return true;
                                     });
}

// NextOccurrence moves recurring reservations: its sender knows the local time.
void reservations(const DecisionContext& q, Decision& d) {
  q.state.reservations.for_each([&](const std::string& name, const Reservation& r) {
    if (r.recurrence == Recurrence::none && r.end <= q.now && d.events.size() < kMost)
      d.events.emplace_back(ReservationRemoved{name});
  });
}

// Nodes that were set aside and are tried again, and requested reboots.
void watched_nodes(const DecisionContext& q, Decision& d) {
  q.state.watched.for_each([&](NodeId id, const Lsn&) {
    const Node* node = q.state.nodes.find(id);
    if (!node || d.events.size() >= kMost) return;
    try_again(*node, q.now, d.events);
    advance_reboot(q.policy, *node, q.now, d.events);
  });
}

// Whether the attempt can be fenced on a silent node: its lease ran out, or it was never started.
// An attempt without a lease waits until an administrator sets the node down, or it counts as dead.
// What counts is the lease it was started with, not what the node reports now.
bool can_fence(const Node& node, const Job& job, const NodeShare& share) {
  if (!job.started || share.leased) return true;
  return node.admin == AdminState::down && job.ending && !job.ending->requeue;
}

// As if an operator had declared it dead.
Decision give_up(const DecisionContext& q, const NodeSilent& c, const Node& node) {
  Decision d;
  const auto dead = dead_at(q.state, q.policy, node, c.last_heard);
  if (!dead || q.now < *dead) return d;
  end_jobs_of(q, node,
              (node.machine_gone ? "was gone for " : "did not answer for ") +
                  format_duration(q.policy.dead_node_timeout) + " (dead_node_timeout)",
              d);
  return d;
}

}  // namespace

Decision decide_time(const DecisionContext& q, const Tick&) {
  Decision d;
  launches(q, d);
  deadlines(q, d);
  gangs(q, d);
  time_shares(q, d);
  kept_nodes(q, d);
  forget(q, d);
  expire(q, d);
  reservations(q, d);
  if (d.events.size() < kMost) replace_down_nodes(q, d);
  watched_nodes(q, d);
  return d;
}

Decision decide_time(const DecisionContext& q, const NodeSilent& c) {
  Decision d;
  const Node* node = q.state.nodes.find(c.node);
  if (!node || node->contact == Contact::never) return d;
  if (node->contact == Contact::lost) return give_up(q, c, *node);
  if (q.now < silent_at(q.state, q.policy, *node, c.last_heard)) return d;
  for (const Charge& charge : node->charges) {
    const Job* job = q.state.jobs.find(charge.attempt.job);
    if (!job || job->attempt != charge.attempt.attempt || !job->allocation ||
        job->allocation->fence != charge.fence)
      continue;
    if (!holds_resources(job->state)) continue;
    const auto& shares = job->allocation->nodes;
    const auto share = std::find_if(shares.begin(), shares.end(), [&](const NodeShare& s) {
      return s.node == node->id && s.phase != SharePhase::released && s.phase != SharePhase::fenced;
    });
    if (share == shares.end() || !can_fence(*node, *job, *share)) continue;
    const bool proven = !job->started || share->leased;
    d.events.emplace_back(
        NodeFenced{charge.attempt, node->id, proven ? "" : "was set down: " + node->reason});
    if (job->state == JobState::configuring) {
      d.events.emplace_back(
          LaunchFailed{charge.attempt, node->id, true, "node " + node->name + " is silent"});
    } else if (job->state != JobState::completing && !is_spare(*job, node->id)) {
      Ending ending{JobState::node_fail, Reason::node_down, {},
                    job->spec->requeue,  job->hold,         true};
      ending.failed_node = node->id;
      d.events.emplace_back(EndingBegan{charge.attempt, ending});
    }
  }
  d.events.emplace_back(NodeLost{node->id, heard_at(q.state, *node, c.last_heard)});
  return d;
}

}  // namespace ares::core
