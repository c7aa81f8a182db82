#include "aresctld/accounting/usage_rebuild.h"

#include <algorithm>
#include <optional>

#include "base/saturating.h"
#include "core/accounts/usage/usage_recount.h"
#include "model/accounts/current_usage.h"
#include "model/job/gpu_part.h"
#include "proto/request_digest.h"
#include "store/accounting/usage_records.h"

namespace ares::aresctld {
namespace {

constexpr int kMostShown = 1000;
constexpr int kForgotten = 40;  // half-lives: older usage has decayed to less than 1e-12

// Attempts that ended before this time no longer contribute to usage.
Time horizon(const ClusterState& state, const Fairness& rules, Time now) {
  bool decays = rules.half_life > Seconds{0};
  state.accounting.for_each([&](const RecordKey&, const AccountingRecord& record) {
    if (const auto* qos = std::get_if<Qos>(&record))
      decays = decays && !qos->has(QosFlag::no_decay);
  });
  return decays ? now - kForgotten * rules.half_life : Time{};
}

core::PastAttempt past(const store::ChargedAttempt& from) {
  core::PastAttempt to{from.allocated, from.released, from.suspended, {}, from.charged_to};
  for (const TresAmount& one : from.held)
    if (one.tres == kCpuThousandths)
      to.held["cpu"] = one.amount;  // behind the same amount rounded up
    else if (one.tres != "billing")
      to.held[one.tres] = one.tres.starts_with("gres/gpu")
                              ? one.amount
                              : capped_product<std::uint64_t>(one.amount, kWholeGpu);
  return to;
}

api::UsageRebuilt answer(const core::UsageRecount::Outcome& outcome, std::uint64_t attempts) {
  api::UsageRebuilt to;
  for (const core::UsageDifference& one : outcome.differences) {
    if (to.differences_size() == kMostShown) break;
    auto& out = *to.add_differences();
    out.set_whose(one.whose);
    out.set_tres(one.tres);
    out.set_kept(one.stored);
    out.set_reckoned(one.recounted);
  }
  to.set_different(outcome.differences.size());
  to.set_sums(outcome.sums);
  to.set_attempts(attempts);
  return to;
}

}  // namespace

void UsageRebuilder::rebuild(const Principal& caller, const Policy& policy,
                             const api::Request& request, const OnDone& done) {
  // Only one rebuild at a time: two would apply the same corrections twice.
  if (busy_.exchange(true))
    return done(fail(ErrorCode::unavailable, "usage is already being recomputed: try later"));
  const OnDone finish = [this, done](Result<api::UsageRebuilt> result) {
    busy_ = false;
    done(std::move(result));
  };
  const Fairness& rules = core::rules_of(policy);
  std::optional<ClusterState> kept;
  std::optional<core::UsageRecount> recount;
  std::uint64_t attempts = 0;
  const Status read = store::UsageRecords(database_).read(
      horizon(*views_.read().state, rules, clock_.now()),
      [&](const ClusterState& state) {
        kept = state;
        recount.emplace(*kept, rules, std::max(clock_.now(), kept->now) + Duration{1});
      },
      [&](const store::ChargedAttempt& one) {
        recount->add(one.account, past(one));
        ++attempts;
      });
  if (!read) return finish(fail(read.error()));
  core::UsageRecount::Outcome outcome = recount->compare();
  api::UsageRebuilt out = answer(outcome, attempts);
  if (request.rebuild_usage().check() || outcome.corrections.empty()) return finish(std::move(out));
  UserCommand command;
  command.who = caller;
  command.request_id = request.request_id();
  command.digest = proto::request_digest(request);
  command.body = CorrectUsage{std::move(outcome.corrections)};
  engine_.post(Command{std::move(command)},
               [finish, out = std::move(out)](const core::Reply& reply) mutable {
                 if (reply.failed) return finish(fail(reply.error));
                 out.set_corrected(true);
                 finish(std::move(out));
               });
}

}  // namespace ares::aresctld
