#include "aresctld/accounting/rollup_worker.h"

#include <spdlog/spdlog.h>

#include <chrono>

namespace ares::aresctld {
namespace {

constexpr Seconds kBehindTheHour{20};  // delay after an hour, so that its last events are committed
constexpr Seconds kRetry{60};          // while the database is unreachable
constexpr std::chrono::seconds kOnDemand{5};

}  // namespace

RollupWorker::~RollupWorker() {
  stop();
}

void RollupWorker::start() {
  thread_ = std::thread([this] { run(); });
}

void RollupWorker::stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool RollupWorker::sleep_for(Duration time) {
  Lock lock(mutex_);
  wake_.wait_for(lock, time, [this]() ARES_REQUIRES(mutex_) { return stopping_; });
  return !stopping_;
}

// Sums up everything that is complete by now. False: the database is unreachable.
bool RollupWorker::roll_up_all(store::Rollup& rollup) {
  for (;;) {
    const auto more = rollup.next();
    if (!more) {
      if (more.error().message != last_warning_)
        spdlog::warn("accounting is not summed up for now: {}", more.error().message);
      last_warning_ = more.error().message;
      return false;
    }
    last_warning_.clear();
    if (!*more || !sleep_for(Duration(0))) return true;
  }
}

void RollupWorker::run() {
  store::Rollup rollup(options_);
  if (const auto reader = rollup.has_reader(); reader && !*reader)
    spdlog::warn(
        "there is no database role ares_reader, and {} may not create it: a superuser can, with "
        "CREATE ROLE ares_reader NOLOGIN; SELECT ares_views.grant_reader()",
        options_.user);
  for (;;) {
    const bool done = roll_up_all(rollup);
    const Time now = clock_.now();
    const Time next =
        std::chrono::floor<std::chrono::hours>(now) + std::chrono::hours(1) + kBehindTheHour;
    if (!sleep_for(done ? next - now : Duration(kRetry))) return;
  }
}

Result<api::RolledUp> RollupWorker::on_demand(const api::Rollup& request) {
  store::Rollup rollup(options_);
  if (request.what() == api::Rollup::AGAIN) {
    const Time from{Duration(request.start())}, to{Duration(request.end())};
    if (from >= to)
      return fail(ErrorCode::invalid_argument, "the time to sum up again ends before it begins");
    if (Status done = rollup.again(from, to); !done) return fail(done.error());
  } else if (request.what() == api::Rollup::NEXT) {
    const auto until = std::chrono::steady_clock::now() + kOnDemand;
    for (bool more = true; more && std::chrono::steady_clock::now() < until;) {
      const auto next = rollup.next();
      if (!next) return fail(next.error());
      more = *next;
    }
  }
  const auto range = rollup.range();
  if (!range) return fail(range.error());
  api::RolledUp out;
  if (*range) {
    out.set_start((*range)->from.time_since_epoch().count());
    out.set_end((*range)->to.time_since_epoch().count());
  }
  return out;
}

}  // namespace ares::aresctld
