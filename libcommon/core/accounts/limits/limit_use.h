// LimitUse: the use of all that limits on several jobs bound (Grp*, MaxJobs, MaxSubmitJobs, those
// per user and account of a QOS), and whether one more job fits. Counted from the state, so that it
// cannot drift; start() and others add to it. Lives for one pass or decision; not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/accounts/limits/job_limits.h"
#include "core/accounts/limits/usage_totals.h"
#include "core/fairness/decay.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

class LimitUse {
 public:
  // All must outlive it. `kept`: totals that the caller keeps, of any state; null: computed anew.
  LimitUse(const ClusterState& state, const Policy& policy, Time now, UsageTotals* kept = nullptr)
      : state_(state),
        policy_(policy),
        now_(now),
        sums_(kept ? *kept : own_),
        cluster_totals_(state, policy) {}
  LimitUse(const LimitUse&) = delete;
  LimitUse& operator=(const LimitUse&) = delete;

  Enforce enforce() const { return policy_.accounting.enforce; }
  // Whether limits are enforced; if not, the other functions need not be called.
  bool active() const { return enforce() >= Enforce::limits && !state_.accounting.empty(); }

  // The first limit, on one job or on several, that the job would exceed if it started now: of the
  // QOS, its user, the accounts above. All Grp limits apply; of other kinds the nearest.
  std::optional<OverLimit> over(const JobSpec& spec, const Partition& partition,
                                std::optional<Seconds> time_limit,
                                const TresByNode* allocated_tres = nullptr);
  // The fair share (0 to 1) for such jobs in this pass; none if it is unknown. Jobs below the usage
  // threshold of a QOS count as over a limit.
  using FairShare = std::function<std::optional<double>(const JobSpec&)>;
  void set_fair_share(FairShare fair_share) { fair_share_ = std::move(fair_share); }

  // The first limit that the job exceeds by itself, regardless of other jobs.
  std::optional<OverLimit> over_alone(const JobSpec& spec, const Partition& partition,
                                      std::optional<Seconds> time_limit,
                                      const TresByNode* allocated_tres = nullptr);
  // The limit that is exceeded if `jobs` more jobs (for an array: tasks) are submitted.
  std::optional<OverLimit> over_submitted(const JobSpec& spec, const std::string& partition,
                                          std::uint64_t jobs);

  // Whether one more waiting job may begin to accrue age.
  bool may_accrue(const UsageKey& usage_key);

  // A waiting job, and what it would start with.
  struct Waiting {
    const JobSpec* spec = nullptr;
    const Partition* partition = nullptr;
    std::optional<Seconds> time_limit;
    std::optional<TresByNode> allocated_tres{};  // where it is known
  };
  // Sets headroom under limits on running jobs aside for jobs that wait together: others may use
  // it only if they end before it is needed. `at`: the planned start; none: once enough running jobs
  // have ended. Each limit has headroom for its first waiting jobs only; jobs that alone exceed a
  // limit get none. `name`: for texts of refusals. Specifications and partitions must outlive this.
  void set_aside_headroom(std::vector<Waiting> who, std::string name, std::optional<Time> at);
  bool may_set_aside(const std::vector<Waiting>& who);

  // Refusals are cached by the address of the specification. Call this before an address may be
  // used again. Starts of other jobs do not remove refusals.
  void clear_refusals() { refused_.clear(); }

  // Count a start (allocation, else request), submitted or accruing jobs; roll_back_to() undoes it.
  void start(const JobSpec& spec, const Partition& partition, std::optional<Seconds> time_limit,
             const TresByNode* allocated_tres);
  void submit(const JobSpec& spec, const std::string& partition, std::uint64_t jobs);
  void accrue(const UsageKey& usage_key);
  // Precondition: these jobs are counted as submitted.
  void withdraw(const JobSpec& spec, const std::string& partition, std::uint64_t jobs) {
    submit(spec, partition, 0 - jobs);
  }
  std::size_t mark() const { return added_.size(); }
  void roll_back_to(std::size_t mark);

 private:
  using LimitScope = ApplicableLimits::LimitScope;
  using LimitBound = ApplicableLimits::LimitBound;
  using LimitSet = ApplicableLimits::LimitSet;
  using Sum = UsageTotals::Sum;
  // TRES-minutes that running jobs may still use; `charged`: times the usage factor (thousandths).
  struct Minutes {
    std::map<std::string, fairness::U128, std::less<>> granted, charged;
  };
  using LimitBoundKey = std::pair<const Limit*, LimitScope>;
  struct Added {
    UsageKey usage_key;
    Sum sum;
    Minutes minutes;
    Time end = Time::max();
    std::vector<std::tuple<std::size_t, LimitBoundKey, fairness::U128>> spare{};  // that it took
  };
  struct SetAside {
    std::vector<Waiting> who;
    std::string name;
    std::optional<Time> planned_start;         // given by the caller
    Time at{};                                 // when there is room for the jobs
    std::optional<std::size_t> computed_with;  // size of `added_` when `spare` and `at` were set
    std::map<LimitBoundKey, fairness::U128> spare;  // what other jobs may use after `at`
  };
  struct Run {
    Time end;
    UsageKey usage_key;
    std::vector<TresAmount> tres;
  };
  using Uses = std::map<LimitScope, std::map<std::string, fairness::Amount, std::less<>>>;

  ApplicableLimits& applicable_limits();
  std::uint64_t count(const LimitScope& scope, std::uint64_t Sum::*field);
  std::uint64_t held(const LimitScope& scope, std::string_view tres);
  // TRES-minutes of running jobs until their time limits; "wall" counts their own minutes.
  fairness::U128 run_minutes_of(const LimitScope& scope, std::string_view tres, bool charged);
  Minutes minutes_of_run(const UsageKey& usage_key, const std::vector<TresAmount>& tres,
                         std::uint64_t minutes) const;
  void count_run_minutes();
  // TRES-minutes used: what is stored, decayed, and what running jobs have used so far.
  fairness::U128 used_minutes_of(const LimitScope& scope, const std::string& tres);
  std::vector<LimitScope> scopes_charged_by(const Job& job);
  Seconds half_life_at(const LimitScope& scope) const;
  fairness::Amount stored_of(const LimitScope& scope, const std::string& tres) const;
  void each_running(const std::function<void(const Job&)>& visit) const;
  void add(Added added);
  void change(const Added& added, int sign);
  static std::set<std::string> bounded_tres(const LimitSet& limit_set);
  fairness::U128 in_use(const LimitBound& bound);
  enum class Others : std::uint8_t { none, all, by_minutes };  // how use by other jobs counts
  std::optional<OverLimit> first_over(const LimitSet& limit_set, const RequestedTres& requested,
                                      Others others);

  std::optional<OverLimit> below_threshold(const LimitSet& limit_set, const JobSpec& spec) const;
  RequestedTres requested_by(const Waiting& one) const;
  void each_release(
      const std::function<void(Time, const UsageKey&, const std::vector<TresAmount>&)>& visit);
  void compute_spare(SetAside& headroom);
  std::optional<OverLimit> set_aside_conflict(const LimitSet& limit_set,
                                              const RequestedTres& requested);
  void use_spare(Added& added);
  void return_spare(const Added& added);

  const ClusterState& state_;
  const Policy& policy_;
  const Time now_;
  FairShare fair_share_;
  UsageTotals own_;
  UsageTotals& sums_;
  ClusterTotals cluster_totals_;
  bool counted_ = false;
  std::map<LimitScope, Sum> more_;                            // added since
  std::optional<std::map<LimitScope, Minutes>> run_minutes_;  // computed on first use
  std::optional<Uses> running_use_;                           // computed on first use
  std::map<std::pair<LimitScope, std::string>, fairness::U128> used_;
  std::vector<Added> added_;
  std::vector<SetAside> set_aside_;
  std::set<LimitBoundKey> set_aside_bounds_;
  std::optional<std::vector<Run>> runs_;  // computed on first use
  std::map<std::tuple<const JobSpec*, const Partition*, std::optional<Seconds>>, OverLimit>
      refused_;
};

}  // namespace ares::core
