#include "aresctld/engine/scheduler_loop.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "core/sched/pass/plan.h"

namespace ares::aresctld {
namespace {

// Minimum pause before a pass that is caused by time only.
constexpr std::chrono::milliseconds kShortestPause{100};
// Shorter passes may follow each other without a pause.
constexpr std::chrono::milliseconds kShortPass{1};
// Expected starts without a planned start are for users only: computed rarely, with 1/20 of a core.
constexpr std::chrono::seconds kEstimatesEvery{2};
constexpr int kEstimatesShare = 20;

}  // namespace

SchedulerLoop::SchedulerLoop(ViewHolder& views, EngineLoop& engine, Clock& clock,
                             const ConfigHolder& config)
    : views_(views), engine_(engine), clock_(clock), config_(config) {}

SchedulerLoop::~SchedulerLoop() {
  stop();
}

void SchedulerLoop::start() {
  thread_ = std::thread([this] { run(); });
}

void SchedulerLoop::stop() {
  if (thread_.joinable()) thread_.join();
}

void SchedulerLoop::run() {
  using Steady = std::chrono::steady_clock;
  core::Planner planner;
  Lsn seen;
  std::uint64_t wakeups = 0;
  std::optional<Duration> wake;
  Steady::time_point next_estimates{};
  while (views_.wait_for_change(seen, wakeups, wake)) {
    const View view = views_.read();
    seen = view.state->lsn;
    wakeups = view.wakeups;  // before the configuration is read
    const Time now = clock_.now();
    const auto begin = Steady::now();
    core::Budget budget;
    budget.details = false;  // computed on request
    const bool with_estimates = begin >= next_estimates;
    if (!with_estimates) budget.estimates = 0;
    Plan plan = planner.plan(*view.state, *config_.policy(), budget, now);
    const auto cost = Steady::now() - begin;

    wake.reset();
    if (plan.wake) wake = std::max<Duration>(*plan.wake - now, kShortestPause);
    if (with_estimates)
      next_estimates = begin + std::max<Steady::duration>(kEstimatesEvery, kEstimatesShare * cost);
    else if (!plan.pending.empty())
      wake = std::min<Duration>(wake.value_or(kEstimatesEvery), kEstimatesEvery);
    views_.publish_pending(std::make_shared<const PendingInfos>(std::move(plan.pending)));
    plan.pending = {};
    if (!plan.groups.empty() || !plan.accruing.empty()) propose(std::move(plan));
    // After a long pass sleep as long as it took, so that half of a core remains for other threads.
    if (cost > kShortPass && !views_.sleep_for(std::chrono::duration_cast<Duration>(cost))) return;
  }
}

void SchedulerLoop::propose(Plan plan) {
  // Shared with the reply, which may be called after this thread has been stopped.
  auto settled = std::make_shared<std::promise<void>>();
  auto outcome = settled->get_future();
  engine_.post(Command{TakePlan{std::move(plan)}},
               [settled](const core::Reply&) { settled->set_value(); });
  outcome.wait();
}

}  // namespace ares::aresctld
