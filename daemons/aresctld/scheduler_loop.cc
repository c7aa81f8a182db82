#include "aresctld/scheduler_loop.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "core/sched/plan.h"

namespace ares::aresctld {
namespace {

// Between passes that nothing but time caused.
constexpr std::chrono::milliseconds kShortestPause{100};

}  // namespace

SchedulerLoop::SchedulerLoop(ViewBoard& views, EngineLoop& engine, Clock& clock,
                             std::shared_ptr<const Policy> policy)
    : views_(views), engine_(engine), clock_(clock), policy_(std::move(policy)) {}

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
  Lsn seen;
  std::optional<Duration> wake;
  while (views_.wait_beyond(seen, wake)) {
    const View view = views_.read();
    seen = view.state->lsn;
    const Time now = clock_.now();
    Plan plan = core::plan(*view.state, *policy_, core::Budget{}, now);
    wake.reset();
    if (plan.wake) wake = std::max<Duration>(*plan.wake - now, kShortestPause);

    auto pending = std::make_shared<PendingInfos>();
    for (auto& [key, info] : plan.pending)
      pending->emplace_hint(pending->end(), key, std::move(info));
    views_.publish_pending(std::move(pending));
    plan.pending.clear();
    if (!plan.groups.empty()) propose(std::move(plan));
  }
}

void SchedulerLoop::propose(Plan plan) {
  // Shared with the reply, which may come after this thread has been told to stop.
  auto settled = std::make_shared<std::promise<void>>();
  auto outcome = settled->get_future();
  engine_.post(Command{TakePlan{std::move(plan)}},
               [settled](const core::Reply&) { settled->set_value(); });
  outcome.wait();
}

}  // namespace ares::aresctld
