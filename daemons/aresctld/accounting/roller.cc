#include "aresctld/accounting/roller.h"

#include <spdlog/spdlog.h>

#include <chrono>

namespace ares::aresctld {
namespace {

constexpr Seconds kBehindTheHour{20};  // so that what ended with the hour is committed
constexpr Seconds kRetry{60};          // while the database is away
constexpr std::chrono::seconds kOnDemand{5};

}  // namespace

Roller::~Roller() {
  stop();
}

void Roller::start() {
  thread_ = std::thread([this] { run(); });
}

void Roller::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Roller::rest(Duration time) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, time, [this] { return stopping_; });
  return !stopping_;
}

// All that can be summed up by now. False: the database is away.
bool Roller::sum_up(store::Rollup& rollup) {
  for (;;) {
    const auto more = rollup.next();
    if (!more) {
      if (more.error().message != complained_)
        spdlog::warn("accounting is not summed up for now: {}", more.error().message);
      complained_ = more.error().message;
      return false;
    }
    complained_.clear();
    if (!*more || !rest(Duration(0))) return true;
  }
}

void Roller::run() {
  store::Rollup rollup(options_);
  if (const auto reader = rollup.has_reader(); reader && !*reader)
    spdlog::warn(
        "there is no database role ares_reader, and {} may not create it: a superuser can, with "
        "CREATE ROLE ares_reader NOLOGIN; SELECT ares_views.grant_reader()",
        options_.user);
  for (;;) {
    const bool done = sum_up(rollup);
    const Time now = clock_.now();
    const Time next =
        std::chrono::floor<std::chrono::hours>(now) + std::chrono::hours(1) + kBehindTheHour;
    if (!rest(done ? next - now : Duration(kRetry))) return;
  }
}

Result<api::RolledUp> Roller::on_demand(const api::Rollup& request) {
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
