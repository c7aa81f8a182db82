#include "core/state/timers.h"

#include <algorithm>

#include "model/job/mail.h"

namespace ares {

std::optional<Timer> timer_of(const Job& job) {
  if (job.state == JobState::configuring && job.allocation) {
    return Timer{TimerKind::preparing, job.allocation->at, job.key};
  }
  if (is_active(job.state) && job.allocation && job.started) {
    const auto waits = [](const NodeShare& s) { return s.phase == SharePhase::ready; };
    if (std::any_of(job.allocation->nodes.begin(), job.allocation->nodes.end(), waits)) {
      return Timer{TimerKind::starting, *job.started, job.key};
    }
  }
  if (is_terminal(job.state) && job.ended && job.key.task.is_none()) {
    return Timer{TimerKind::finished, *job.ended, job.key};
  }
  return std::nullopt;
}

Duration suspended_for(const Job& job, Time now) {
  if (!job.allocation) return Duration{};
  Duration sum = job.allocation->suspended;
  if (job.allocation->suspension)
    sum += std::max(Duration{}, Duration{now - job.allocation->suspension->at});
  return sum;
}

std::optional<Time> limit_end(const Job& job) {
  if (!job.started || !job.allocation || !job.allocation->time_limit || job.allocation->suspension)
    return std::nullopt;
  return *job.started + job.allocation->suspended + *job.allocation->time_limit;
}

std::optional<Duration> limit_left(const Job& job) {
  if (!job.started || !job.allocation || !job.allocation->time_limit) return std::nullopt;
  const Allocation& a = *job.allocation;
  const Time until = a.suspension ? a.suspension->at : *job.started + a.suspended;
  const Duration ran = until - *job.started - a.suspended;
  return std::max(Duration{}, Duration{*a.time_limit} - ran);
}

std::optional<Seconds> time_left(const Job& job, Time now) {
  if (!job.spec->deadline) return std::nullopt;
  return std::chrono::ceil<Seconds>(*job.spec->deadline - now);
}

bool deadline_is_lost(const Job& job, Time now) {
  const auto timer = deadline_timer_of(job);
  return timer && timer->since <= now;
}

std::optional<Timer> deadline_timer_of(const Job& job) {
  if (!job.spec->deadline || is_terminal(job.state) || job.state == JobState::completing)
    return std::nullopt;
  if (holds_resources(job.state)) return Timer{TimerKind::deadline, *job.spec->deadline, job.key};
  if (!is_queued(job)) return std::nullopt;
  const Seconds needed = job.spec->time_min.value_or(job.time_limit.value_or(Seconds{0}));
  return Timer{TimerKind::deadline, *job.spec->deadline - needed, job.key};
}

bool has_own_notices(const Job& job) {
  return job.key.task.is_none() || wants_mail(*job.spec, MailType::array_tasks);
}

std::optional<Timer> notice_timer_of(const Job& job) {
  if (job.spec->mail_types == 0 || job.state != JobState::running || !has_own_notices(job))
    return std::nullopt;
  if (!job.started || !job.allocation || !job.allocation->time_limit) return std::nullopt;
  const std::uint32_t percent = next_time_share(*job.spec, job.time_noticed);
  if (percent == 0) return std::nullopt;
  const Duration used = Duration{*job.allocation->time_limit} / 100 * percent;
  return Timer{TimerKind::notice, *job.started + job.allocation->suspended + used, job.key};
}

std::optional<Timer> gang_timer_of(const Job& job) {
  if (!waits_with_gang(job) || !job.spec->gang->timeout || job.eligible == Time{})
    return std::nullopt;
  return Timer{TimerKind::gang, job.eligible + *job.spec->gang->timeout, job.key};
}

std::optional<Timer> kept_timer_of(const Job& job) {
  if (!job.expedited || job.expedited->nodes.empty()) return std::nullopt;
  return Timer{TimerKind::kept, job.expedited->until, job.key};
}

}  // namespace ares
