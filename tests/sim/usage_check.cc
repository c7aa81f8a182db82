// Checks that usage equals what ran, recomputed from the journal attempt by attempt, and that limits were never exceeded.
#include <cmath>
#include <map>
#include <set>

#include "core/accounts/account_directory.h"
#include "core/accounts/usage/charge.h"
#include "core/accounts/usage/usage.h"
#include "sim/observer.h"

namespace ares::sim {
namespace {

// The account of Clients::plain_job().
constexpr const char* kLimitedAccount = "default";

struct Ran {
  Time since{};
  std::uint64_t cpus = 0;
  std::optional<Time> still_since;
  Duration still{};
  int charged = 0;
  bool owed = false;  // there were accounting records when it began

  void go_on(Time at) {
    if (still_since) still += std::max(Duration{}, Duration{at - *still_since});
    still_since.reset();
  }
};

class UsageRecount {
 public:
  double cpu_seconds = 0, qos_cpu_seconds = 0;

  void at(Time now) { now_ = now; }
  void operator()(const AccountingChanged& e) {
    kept_ = true;
    for (const AccountingRecord& record : e.set)
      if (const auto* qos = std::get_if<Qos>(&record)) qos_.insert(usage_id(*qos));
  }
  bool is_of_qos(AssociationId id) const { return qos_.contains(id); }
  void operator()(const Allocated& e) {
    Ran held{now_, 0, {}, {}, 0, kept_};
    for (const NodeShare& share : e.nodes) held.cpus += share.cpus;
    attempts_[{e.key, e.attempt}] = held;
    current_[e.key] = {e.key, e.attempt};
  }
  void operator()(const Suspended& e) {
    attempts_[e.attempt].go_on(now_);
    attempts_[e.attempt].still_since = now_;
  }
  void operator()(const Resumed& e) { attempts_[e.attempt].go_on(now_); }
  void operator()(const EndingBegan& e) { attempts_[e.attempt].go_on(now_); }
  void operator()(const BatchFinished& e) { attempts_[e.attempt].go_on(e.at); }
  void operator()(const UsageCharged& e) {
    Ran& held = attempts_[e.attempt];
    if (++held.charged > 1)
      throw Violation{"job " + std::to_string(e.attempt.job.job.value()) + " was charged twice"};
    const Duration worked = now_ - held.since - held.still;
    const double seconds = static_cast<double>(held.cpus) *
                           std::chrono::duration<double>(std::max(Duration{}, worked)).count();
    cpu_seconds += seconds;
    for (const auto* counted : {&e.of_qos, &e.of_partition_qos})
      if (*counted) qos_cpu_seconds += seconds;
  }
  void operator()(const Ended& e) { close(e.key); }
  void operator()(const Requeued& e) { close(e.key); }
  template <class Other>
  void operator()(const Other&) {}

 private:
  // An attempt that ends must have been charged if there were accounting records at its start.
  void close(const JobKey& key) {
    const auto found = current_.find(key);
    if (found == current_.end()) return;
    if (attempts_[found->second].owed && attempts_[found->second].charged == 0)
      throw Violation{"job " + std::to_string(key.job.value()) + " ended and was not charged"};
    current_.erase(found);
  }

  Time now_{};
  bool kept_ = false;
  std::set<AssociationId> qos_;
  std::map<AttemptKey, Ran> attempts_;
  std::map<JobKey, AttemptKey> current_;  // of jobs that hold resources
};

}  // namespace

void Observer::check_usage() const {
  UsageRecount recount;
  for (const auto& [lsn, event] : database_->events()) {
    recount.at(event->at);
    std::visit(recount, event->body);
  }
  double stored = 0, of_qos = 0;
  database_->replayed().usage.for_each([&](AssociationId id, const AssociationUsage& usage) {
    (recount.is_of_qos(id) ? of_qos : stored) += core::fairness::to_double(core::usage_at(
        usage, "cpu", usage.settled_at + Seconds(1), core::rules_of(policy_).half_life, Time{}));
  });
  if (std::abs(stored - recount.cpu_seconds) > 1e-3)
    throw Violation{"usage is " + std::to_string(stored) + " CPU-seconds, and " +
                    std::to_string(recount.cpu_seconds) + " ran"};
  if (std::abs(of_qos - recount.qos_cpu_seconds) > 1e-3)
    throw Violation{"usage of QOS is " + std::to_string(of_qos) + " CPU-seconds, and " +
                    std::to_string(recount.qos_cpu_seconds) + " ran"};
}

void Observer::check_limits(const ClusterState& state) const {
  if (policy_.accounting.enforce < Enforce::limits) return;
  const Account* account = core::find_account(state.accounting, kLimitedAccount);
  if (!account) return;
  std::uint64_t jobs = 0, cpus = 0, aging = 0;
  state.jobs.for_each([&](const JobKey& key, const Job& job) {
    // A task with a record of its own continues with the accrual of its array.
    if (job.spec->account == account->name && job.accrues && key.task.is_none() && is_queued(job))
      ++aging;
    if (job.spec->account != account->name || !job.allocation || !holds_resources(job.state))
      return;
    ++jobs;
    for (const NodeShare& share : job.allocation->nodes) cpus += share.cpus;
  });
  const auto most = [&](LimitKind kind, std::string_view tres) {
    return limit_of(account->terms.limits, kind, tres).value_or(UINT64_MAX);
  };
  if (jobs > most(LimitKind::grp_jobs, {}))
    throw Violation{std::to_string(jobs) + " jobs run, more than GrpJobs"};
  if (cpus > most(LimitKind::grp_tres, "cpu"))
    throw Violation{std::to_string(cpus) + " CPUs are in use, more than GrpTRES"};
  if (aging > most(LimitKind::grp_jobs_accrue, {}))
    throw Violation{std::to_string(aging) + " jobs gain age, more than GrpJobsAccrue"};
}

}  // namespace ares::sim
