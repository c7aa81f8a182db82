#include "node/supervisors.h"

#include <algorithm>

namespace ares::node {
namespace {

constexpr std::uint32_t kSpawnTries = 3;
constexpr Duration kFirstPause = std::chrono::milliseconds(5);
constexpr Duration kLongestPause = std::chrono::seconds(2);
// Processes that were killed longer ago than this need an operator.
constexpr Duration kDying = std::chrono::seconds(10);

Duration pause_after(std::uint32_t tries) {
  Duration pause = kFirstPause;
  for (std::uint32_t i = 0; i < tries && pause < kLongestPause; ++i) pause *= 2;
  return std::min(pause, kLongestPause);
}

// Queues a command until the channel opens. Only the last of a kind is kept, except for signals.
void queue(std::vector<StepCommand>& waiting, StepCommand command) {
  if (!std::holds_alternative<StepSignal>(command))
    std::erase_if(waiting, [&](const StepCommand& c) { return c.index() == command.index(); });
  waiting.push_back(command);
}

}  // namespace

Supervisors::Supervisors(Spool& spool, StepTransport& transport, ExecutorEvents& events,
                         std::string boot_id)
    : spool_(spool), transport_(transport), events_(events), boot_id_(std::move(boot_id)) {}

Status Supervisors::launch(const StepSpec& spec, Moment now) {
  const AttemptKey& key = spec.launch.attempt;
  WatchedAttempt& watched = watched_[key];
  watched.fence = spec.launch.fence;
  if (watched.channel != Channel::none) return {};  // a supervisor is connected or connecting
  Result<AttemptReport> report = report_attempt(spool_, key, boot_id_);
  if (!report) {
    watched_.erase(key);
    return fail(report.error());
  }
  if (report->phase != AttemptPhase::accepted || spool_.locked(key)) {
    check_records(key, now);
    return {};
  }
  if (Status spawned = transport_.spawn(key); !spawned) {
    watched_.erase(key);
    return spawned;
  }
  watched.channel = Channel::open;
  return {};
}

void Supervisors::go(const Go& go, std::optional<BootTime> lease_until, Moment now) {
  send_or_queue(go.attempt, StepGo{go.fence, lease_until}, now);
}

void Supervisors::kill(const Kill& kill, Moment now) {
  WatchedAttempt& watched = watched_[kill.attempt];
  if (watched.kill && watched.kill->immediately && !kill.immediately) return;
  watched.fence = kill.fence;
  watched.kill = kill;
  if (watched.channel == Channel::open)
    transport_.send(kill.attempt, StepKill{kill.fence, kill.immediately, kill.grace});
  else if (watched.channel == Channel::none)
    check_records(kill.attempt, now);
}

void Supervisors::signal(const Signal& signal, Moment now) {
  send_or_queue(signal.attempt,
                StepSignal{signal.fence, signal.lsn, signal.signal, signal.batch_only}, now);
}

void Supervisors::set_limit(const SetLimit& limit, Moment now) {
  send_or_queue(limit.attempt, StepSetLimit{limit.fence, limit.lsn, limit.time_limit}, now);
}

void Supervisors::set_suspended(const SetSuspended& m, Moment now) {
  send_or_queue(m.attempt, StepSetSuspended{m.fence, m.lsn, m.suspended, m.grace}, now);
}

void Supervisors::checkpoint_known(const CheckpointKnown& message, Moment now) {
  send_or_queue(message.attempt, StepCheckpointKnown{message.fence, message.sequence}, now);
}

void Supervisors::renew_lease(const AttemptKey& key, BootTime until, Moment now) {
  send_or_queue(key, StepRenewLease{until}, now);
}

void Supervisors::release(const AttemptKey& key, Moment) {
  transport_.drop(key);
  watched_.erase(key);
}

std::vector<AttemptReport> Supervisors::list(Moment now) {
  std::vector<AttemptReport> reports;
  Result<std::vector<AttemptKey>> keys = spool_.list();
  if (!keys) return reports;
  for (const AttemptKey& key : *keys) {
    Result<AttemptReport> report = report_attempt(spool_, key, boot_id_);
    if (!report) continue;
    WatchedAttempt& watched = watched_[key];
    watched.fence = report->fence;
    if (has_ended(report->phase)) {
      clear_away(key, watched, *report, now);
      watched.last = *report;
    } else {
      watched.last = *report;
      check_records(key, now);
    }
    reports.push_back(std::move(*report));
  }
  return reports;
}

void Supervisors::send_or_queue(const AttemptKey& key, StepCommand command, Moment now) {
  auto it = watched_.find(key);
  if (it == watched_.end() || (it->second.last && has_ended(it->second.last->phase))) return;
  if (it->second.channel == Channel::open) return transport_.send(key, command);
  queue(it->second.waiting, command);
  if (it->second.channel == Channel::none && !it->second.check_at) check_records(key, now);
}

void Supervisors::opened(const AttemptKey& key, Moment now) {
  auto it = watched_.find(key);
  if (it == watched_.end()) return transport_.drop(key);
  WatchedAttempt& watched = it->second;
  watched.channel = Channel::open;
  watched.check_at.reset();
  for (const StepCommand& command : watched.waiting) transport_.send(key, command);
  watched.waiting.clear();
  if (watched.kill)
    transport_.send(key,
                    StepKill{watched.kill->fence, watched.kill->immediately, watched.kill->grace});
  check_records(key, now);  // changes that were not noticed without a channel
}

void Supervisors::noticed(const AttemptKey& key, StepNotice notice, Moment now) {
  auto it = watched_.find(key);
  if (it == watched_.end()) return;
  it->second.tries = 0;
  // It says so after it has made the record of the end durable.
  check_records(key, now, false, notice == StepNotice::finished);
}

void Supervisors::closed(const AttemptKey& key, Moment now) {
  auto it = watched_.find(key);
  if (it == watched_.end()) return;
  it->second.channel = Channel::none;
  ++it->second.tries;
  if (it->second.last && has_ended(it->second.last->phase))
    return;  // by the word of its supervisor
  check_records(key, now);
}

void Supervisors::check_records(const AttemptKey& key, Moment now, bool paused,
                                bool end_is_synced) {
  auto it = watched_.find(key);
  if (it == watched_.end()) return;
  WatchedAttempt& watched = it->second;
  watched.check_at.reset();
  Result<AttemptReport> report = report_attempt(spool_, key, boot_id_, end_is_synced);
  if (!report) {
    if (report.error().code == ErrorCode::not_found) return release(key, now);
    report = bare_report(key, watched.fence, AttemptPhase::lost, report.error().message);
  }
  if (watched.channel == Channel::none && !has_ended(report->phase)) {
    try_again(key, watched, *report, now, paused);
    if (report->phase == AttemptPhase::accepted) return;
  }
  if (has_ended(report->phase) && !(watched.last && has_ended(watched.last->phase)))
    clear_away(key, watched, *report, now);
  if (watched.last == *report) return;
  watched.last = *report;
  events_.attempt_changed(*report, now);
}

// Kills what a dead supervisor left. As long as processes may be left, an attempt is reported as
// running and checked again: the controller must not start the next attempt beside it.
void Supervisors::clear_away(const AttemptKey& key, WatchedAttempt& watched, AttemptReport& report,
                             Moment now) {
  watched.waiting.clear();
  const Remains remains = transport_.sweep(key);
  // A supervisor that wrote a result had seen the last process end.
  const bool proven = remains.state == Remains::none || report.ended_at;
  if (proven || report.phase != AttemptPhase::lost) {
    watched.lost_since.reset();
    return;
  }
  if (!watched.lost_since) watched.lost_since = now.boot;
  const Duration waited = now.boot - *watched.lost_since;
  watched.check_at = now.boot + std::clamp(waited, kFirstPause, kLongestPause);
  report.phase = AttemptPhase::running;
  report.detail.clear();
  if (remains.state == Remains::unknown || waited >= kDying) report.detail = remains.advice;
}

// The attempt has not ended and has no channel: connect, wait, or start a supervisor.
void Supervisors::try_again(const AttemptKey& key, WatchedAttempt& watched,
                            const AttemptReport& report, Moment now, bool paused) {
  if (spool_.locked(key)) {
    // A supervisor runs or is just exiting. The first connect is immediate, in case it runs.
    if (watched.tries == 0 || paused) {
      watched.channel = Channel::opening;
      transport_.connect(key);
    } else {
      watched.check_at = now.boot + pause_after(watched.tries);
    }
    return;
  }
  if (report.phase != AttemptPhase::accepted) {
    watched.check_at = now.boot;  // it released the lock meanwhile: the next check sees its end
    return;
  }
  if (watched.kill) {
    // First `cancelled`, then the lock: a new supervisor sees the record, or we see its lock.
    std::unique_ptr<AttemptDir> dir = spool_.open(key);
    Status cancelled = fail(ErrorCode::not_found, "");
    if (dir)
      cancelled = dir->create(
          Record::cancelled,
          encode(CancelledRecord{watched.fence, now.wall, "cancelled before it was started"}));
    if (!cancelled && cancelled.error().code != ErrorCode::already_exists) ++watched.tries;
    watched.check_at = cancelled ? now.boot : now.boot + pause_after(watched.tries);
    return;
  }
  if (watched.tries < kSpawnTries) {
    if (transport_.spawn(key)) {
      watched.channel = Channel::open;
      return;
    }
  }
  const Fence fence = watched.fence;
  release(key, now);
  events_.launch_failed(key, fence, true,
                        "the supervisor of the job cannot be started on this node", now);
}

void Supervisors::tick(Moment now) {
  std::vector<AttemptKey> due;
  for (const auto& [key, watched] : watched_)
    if (watched.check_at && *watched.check_at <= now.boot) due.push_back(key);
  for (const AttemptKey& key : due) check_records(key, now, true);
}

std::optional<BootTime> Supervisors::next_deadline() const {
  std::optional<BootTime> earliest;
  for (const auto& [key, watched] : watched_)
    if (watched.check_at && (!earliest || *watched.check_at < *earliest))
      earliest = watched.check_at;
  return earliest;
}

}  // namespace ares::node
