#include "sim/observer.h"

#include <algorithm>

#include "core/engine/invariants.h"
#include "core/job/effects/effects.h"
#include "node/records.h"

namespace ares::sim {
namespace {

const NodeShare* share_of(const ClusterState& state, const AttemptKey& key, NodeId node) {
  const Job* job = state.jobs.find(key.job);
  if (!job || job->attempt != key.attempt || !job->allocation) return nullptr;
  for (const NodeShare& share : job->allocation->nodes)
    if (share.node == node) return &share;
  return nullptr;
}

bool is_live(SharePhase phase) {
  return phase == SharePhase::preparing || phase == SharePhase::ready ||
         phase == SharePhase::running;
}

}  // namespace

// --- user code ----------------------------------------------------------------------------------

// No other attempt of the job may run at the same time.
void Observer::check_alone(const AttemptKey& key, const char* what) const {
  const auto newest = newest_.find(key.job);
  if (newest != newest_.end() && newest->second.first > key.attempt &&
      !rolled_back(newest->second.second))
    throw Violation{text_of(key) + " " + what + " although a later attempt has started user code"};
  for (auto it = live_.lower_bound({AttemptKey{key.job, AttemptNo(0)}, 0});
       it != live_.end() && it->first.first.job == key.job; ++it) {
    if (it->first.first != key && !it->second.frozen && !rolled_back(it->second.fence))
      throw Violation{text_of(key) + " " + what + " while " + text_of(it->first.first) +
                      " runs on machine " + std::to_string(it->first.second)};
  }
}

void Observer::user_started(const AttemptKey& key, Fence fence, std::uint32_t machine,
                            std::uint32_t cpus_in_use, std::uint32_t cpus) {
  stage_.note("USER CODE STARTS", number_of(key), machine,
              [&] { return text_of(key) + " on machine " + std::to_string(machine); });
  // Of what a rollback took back the database knows nothing; it may be asked for again, which
  // ares-backup(7) says.
  const bool expected = !rolled_back(fence);
  if (expected) {
    if (++starts_[{key, fence}] > 1) throw Violation{text_of(key) + " started user code twice"};
    if (!database_->started(key) && rollbacks_.empty())
      throw Violation{text_of(key) + " started user code before its Started was durable"};
    check_alone(key, "started user code");
    newest_[key.job] = {key.attempt, fence};
  }
  started_on_.insert({{key, machine}, fence});
  check_room(key, fence, machine, cpus_in_use, cpus);
}

// On a node of the job after the first one: what the script starts there by steps runs from now on.
void Observer::steps_may_run(const AttemptKey& key, Fence fence, std::uint32_t machine,
                             std::uint32_t cpus_in_use, std::uint32_t cpus) {
  stage_.note("steps may run", number_of(key), machine,
              [&] { return text_of(key) + " on machine " + std::to_string(machine); });
  if (!rolled_back(fence)) {
    if (!database_->started(key) && rollbacks_.empty())
      throw Violation{text_of(key) + " may run steps before its Started was durable"};
    check_alone(key, "may run steps");
  }
  check_room(key, fence, machine, cpus_in_use, cpus);
}

void Observer::check_room(const AttemptKey& key, Fence fence, std::uint32_t machine,
                          std::uint32_t cpus_in_use, std::uint32_t cpus) {
  const bool crowded = std::any_of(live_.begin(), live_.end(), [&](const auto& other) {
    return other.first.second == machine && rolled_back(other.second.fence);
  });
  live_[{key, machine}] = {fence, false};
  if (cpus_in_use > cpus && !rolled_back(fence) && !crowded)
    throw Violation{"machine " + std::to_string(machine) + " runs " + std::to_string(cpus_in_use) +
                    " CPUs of work and has " + std::to_string(cpus)};
}

bool Observer::has_released_cpus(const AttemptKey& key) const {
  const Job* job = database_->replayed().jobs.find(key.job);
  return job && job->attempt == key.attempt && job->allocation && job->allocation->cpus_released;
}

void Observer::user_ended(const AttemptKey& key, std::uint32_t machine, ExitStatus exit) {
  stage_.note("user code ends", number_of(key), static_cast<std::uint64_t>(exit.code),
              [&] { return text_of(key) + " code " + std::to_string(exit.code); });
  ends_[key] = exit;
  live_.erase({key, machine});
}

void Observer::user_killed(const AttemptKey& key, std::uint32_t machine) {
  stage_.note("user code killed", number_of(key), machine, [&] { return text_of(key); });
  live_.erase({key, machine});
}

void Observer::user_frozen(const AttemptKey& key, std::uint32_t machine) {
  ++freezes_;
  stage_.note("frozen", number_of(key), machine, [&] { return text_of(key); });
  if (const auto it = live_.find({key, machine}); it != live_.end()) it->second.frozen = true;
}

void Observer::user_thawed(const AttemptKey& key, std::uint32_t machine) {
  stage_.note("thawed", number_of(key), machine, [&] { return text_of(key); });
  Live& live = live_[{key, machine}];
  if (!rolled_back(live.fence)) check_alone(key, "was thawed");
  live.frozen = false;
}

// --- restored databases -------------------------------------------------------------------------

bool Observer::rolled_back(Fence fence) const {
  return std::any_of(rollbacks_.begin(), rollbacks_.end(), [&](const Rollback& r) {
    return fence.value() > r.copy.value() && fence.value() <= r.lost.value();
  });
}

void Observer::database_restored(const Database::Contents& lost, bool must_refuse) {
  rollbacks_.push_back({database_->lsn(), lost.rows.lsn});
  std::set<JobKey> missing;
  for (const auto& [key, request] : given_)
    if (!database_->last_states().contains(key)) missing.insert(key);
  for (const JobKey& key : missing) acknowledged_.erase(key), given_.erase(key);
  gone_.insert(missing.begin(), missing.end());
  // Without a record of them the numbers are given again, those of earlier restores as well.
  if (must_refuse)
    missing_.insert(missing.begin(), missing.end());
  else
    hidden_ = gone_;
}

void Observer::refused() {
  ++refusals_;
  missing_.clear();
}

void Observer::job_given(JobKey key, const RequestKey& request) {
  if (!missing_.empty())
    throw Violation{"job " + std::to_string(missing_.begin()->job.value()) +
                    " was acknowledged and is gone, and without a word about it job " +
                    std::to_string(key.job.value()) + " is acknowledged"};
  const auto [given, is_new] = given_.emplace(key, request);
  const bool repeated = !is_new && given->second == request;
  if (!repeated && (!is_new || gone_.contains(key)) && !hidden_.contains(key))
    throw Violation{"the number " + std::to_string(key.job.value()) + " is given twice"};
}

// Unsynced data is lost, and with it what the node can know.
void Observer::power_lost(std::uint32_t machine) {
  std::erase_if(ready_, [&](const Place& place) { return place.second == machine; });
  std::erase_if(started_on_, [&](const auto& start) { return start.first.second == machine; });
}

// --- messages -----------------------------------------------------------------------------------

void Observer::said(std::uint32_t machine, const AttemptReport& report) {
  const Place place{report.attempt, machine};
  const auto before = announced_.find(place);
  if (before != announced_.end() && before->second.fence == report.fence &&
      (report.phase != AttemptPhase::done || !(report.exit == before->second.exit)))
    throw Violation{"machine " + std::to_string(machine) + " takes back the announced end of " +
                    text_of(report.attempt)};
  if (report.phase == AttemptPhase::done) announced_[place] = report;
  if (report.phase == AttemptPhase::ready) ready_.insert(place);
  // Applies to the node that runs the script: other nodes of the job may never have started.
  if (report.phase == AttemptPhase::never_ran && started_on_.contains({place, report.fence}))
    throw Violation{"machine " + std::to_string(machine) + " says that " + text_of(report.attempt) +
                    " never ran, and it did"};
}

// A complete list: it must include every end that was reported and not yet forgotten.
void Observer::listed(std::uint32_t machine, const std::vector<AttemptReport>& reports) {
  for (const AttemptReport& report : reports) said(machine, report);
  for (const auto& [place, end] : announced_) {
    if (place.second != machine) continue;
    if (std::none_of(reports.begin(), reports.end(),
                     [&at = place](const AttemptReport& r) { return r.attempt == at.first; }))
      throw Violation{"machine " + std::to_string(machine) + " lost the announced end of " +
                      text_of(place.first)};
  }
}

void Observer::node_said(std::uint32_t machine, const FromNode& message) {
  stage_.note("node says", machine, message.body.index(),
              [&] { return message.node + ": " + text_of(message.body); });
  if (const auto* m = std::get_if<Register>(&message.body)) listed(machine, m->attempts);
  if (const auto* m = std::get_if<Heartbeat>(&message.body)) listed(machine, m->attempts);
  if (const auto* m = std::get_if<Progress>(&message.body)) said(machine, m->report);
  if (const auto* m = std::get_if<LaunchRefused>(&message.body))
    // Allowed after Forget: a launch that was delayed for longer than the attempt existed.
    if (starts_.contains({m->attempt, m->fence}) && ready_.contains({m->attempt, machine}) &&
        !forgotten_.contains({m->attempt, machine}))
      throw Violation{"a node refuses " + text_of(m->attempt) + ", which has run"};
}

void Observer::node_told(std::uint32_t machine, const ToNode& message) {
  stage_.note("node hears", machine, message.body.index(),
              [&] { return message.node + ": " + text_of(message.body); });
  if (const auto* forget = std::get_if<Forget>(&message.body))
    announced_.erase({forget->attempt, machine}), forgotten_.insert({forget->attempt, machine});
}

// Judged by the database alone, independently of the controller.
void Observer::effect_leaves(const Effect& effect) {
  stage_.note("effect leaves", effect.node.value(), effect.body.index(), [&] {
    return text_of(effect.body) + " to node " + std::to_string(effect.node.value());
  });
  if (effect.after > database_->lsn())
    throw Violation{"a message left before its commit: " + text_of(effect.body)};
  const ClusterState& truth = database_->replayed();
  if (const auto* m = std::get_if<Prepare>(&effect.body)) {
    const Lsn at(m->launch.fence.value());
    const Event* event = database_->event(at);
    const Allocated* allocated = event ? std::get_if<Allocated>(&event->body) : nullptr;
    if (!allocated || allocated->key != m->launch.attempt.job ||
        allocated->attempt != m->launch.attempt.attempt)
      throw Violation{"Prepare under a fence that is not that of " + text_of(m->launch.attempt)};
  }
  if (const auto* m = std::get_if<Go>(&effect.body))
    if (!database_->started(m->attempt))
      throw Violation{"Go before Started is durable: " + text_of(m->attempt)};
  if (const auto* m = std::get_if<Forget>(&effect.body)) {
    const NodeShare* share = share_of(truth, m->attempt, effect.node);
    if (share && is_live(share->phase) &&
        truth.jobs.find(m->attempt.job)->allocation->fence == m->fence)
      throw Violation{"Forget before the end is durable: " + text_of(m->attempt)};
  }
  if (const auto* m = std::get_if<Welcome>(&effect.body)) {
    const Node* node = truth.nodes.find(effect.node);
    if (!node || node->incarnation < m->incarnation)
      throw Violation{"Welcome before the registration is durable"};
  }
}

void Observer::reply_leaves(const RequestKey& key, Lsn relies_on, const core::Reply& reply) {
  stage_.note("reply leaves", reply.jobs.size(), reply.failed ? 1 : 0,
              [&] { return key.id + (reply.failed ? ": " + reply.error.message : ""); });
  if (relies_on > database_->lsn())
    throw Violation{"the reply to " + key.id + " left before its commit"};
  if (reply.failed) return;
  const Request* request = database_->replayed().requests.find(key);
  if (!request) throw Violation{"the reply to " + key.id + " left and the request is not durable"};
  if (request->jobs != reply.jobs)
    throw Violation{"the reply to " + key.id + " is not the one that was recorded"};
}

// --- the controller's state ---------------------------------------------------------------------

// An event that allows a job to run again must be correct, whatever a node reported.
void Observer::journaled(const Event& event, const ClusterState& after) const {
  const auto* began = std::get_if<EndingBegan>(&event.body);
  if (!began || !began->ending.requeue) return;
  const Job* job = after.jobs.find(began->attempt.job);
  if (began->ending.state == JobState::preempted && job && !job->spec->requeue)
    throw Violation{text_of(began->attempt) + " may not run again and is preempted to be requeued"};
  if (began->ending.state != JobState::node_fail) return;
  const Fence fence = job && job->allocation ? job->allocation->fence : Fence{};
  if (job && !job->spec->requeue && starts_.contains({began->attempt, fence}))
    throw Violation{text_of(began->attempt) +
                    " has run, may not run again and is requeued for a node's failure"};
}

void Observer::state_changed(const ClusterState& state) {
  const auto violations = core::check_invariants(state);
  if (!violations.empty()) throw Violation{violations.front()};
  check_limits(state);
}

void Observer::batch_committed(const ClusterState& after) {
  if (!(after == database_->replayed()))
    throw Violation{"the live state differs from what a replay of the journal gives: " +
                    difference(after, database_->replayed())};
}

void Observer::regenerates(const Effect& effect, const ClusterState& state) {
  AttemptReport report;
  SharePhase owed_in{};
  if (const auto* m = std::get_if<Prepare>(&effect.body)) {
    report.attempt = m->launch.attempt, report.fence = m->launch.fence;
    owed_in = SharePhase::preparing;
  } else if (const auto* go = std::get_if<Go>(&effect.body)) {
    report.attempt = go->attempt, report.fence = go->fence, report.phase = AttemptPhase::ready;
    owed_in = SharePhase::ready;
  } else {
    return;
  }
  const NodeShare* share = share_of(state, report.attempt, effect.node);
  const Job* job = state.jobs.find(report.attempt.job);
  if (!share || share->phase != owed_in || job->ending) return;  // a later event of the batch
  std::vector<AttemptReport> reports;
  if (report.phase == AttemptPhase::ready) reports.push_back(report);
  for (const Effect& again : core::reconcile(policy_, state, effect.node, reports))
    if (again.body.index() == effect.body.index() && text_of(again.body) == text_of(effect.body))
      return;
  throw Violation{"would not be sent again after a restart: " + text_of(effect.body)};
}

// --- clients ------------------------------------------------------------------------------------

void Observer::acknowledged(JobKey key) {
  if (gone_.contains(key)) return;  // its answer was on the way when the database was restored
  acknowledged_.insert(key);
  if (!database_->last_states().contains(key))
    throw Violation{"job " + std::to_string(key.job.value()) +
                    " was acknowledged and is not durable"};
}

std::string Observer::unfinished() const {
  for (const JobKey& key : acknowledged_) {
    const auto found = database_->last_states().find(key);
    if (found == database_->last_states().end())
      throw Violation{"an acknowledged job was lost: " + std::to_string(key.job.value())};
    if (is_terminal(found->second)) continue;
    return "job " + std::to_string(key.job.value()) + " is still " +
           std::string(to_string(found->second));
  }
  return "";
}

void Observer::check_accounting() const {
  for (const auto& [start, count] : starts_) {
    const auto& [key, fence] = start;
    if (rolled_back(fence)) continue;
    const auto row = database_->attempts().find(key);
    if (row == database_->attempts().end())
      throw Violation{"user code of " + text_of(key) + " ran and accounting has no row"};
    const bool forgotten = !rollbacks_.empty() && !database_->started(key);
    if (!row->second.started && !forgotten)
      throw Violation{"user code of " + text_of(key) + " ran and accounting says it never started"};
  }
  for (const auto& [key, row] : database_->attempts()) {
    if (!is_terminal(row.state))
      throw Violation{"the accounting row of " + text_of(key) +
                      " never ended: " + std::string(to_string(row.state))};
    const bool by_itself =
        row.state == JobState::completed ||
        (row.state == JobState::failed && row.reason == Reason::non_zero_exit_code);
    if (!by_itself) continue;
    const auto end = ends_.find(key);
    if (end == ends_.end() || end->second.code != row.exit.code ||
        end->second.signal != row.exit.signal)
      throw Violation{"accounting says that " + text_of(key) + " ended " +
                      std::string(to_string(row.state)) + " with code " +
                      std::to_string(row.exit.code) + ", and it did not"};
  }
}

}  // namespace ares::sim
