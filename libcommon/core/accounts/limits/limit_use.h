// LimitUse: what is in use of everything that limits on many jobs together bound (Grp*, MaxJobs, MaxSubmitJobs, those per user and per
// account of a QOS), and whether one more job is within them. It is counted from the state, so that it cannot drift, and from then on
// knows of what starts. Lives for one pass of the planner or one decision; not thread-safe.
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
  // All must outlive it. `kept`: sums that somebody remembers, of whatever state; null: made anew.
  LimitUse(const ClusterState& state, const Policy& policy, Time now, UsageTotals* kept = nullptr)
      : state_(state),
        policy_(policy),
        now_(now),
        sums_(kept ? *kept : own_),
        cluster_totals_(state, policy) {}
  LimitUse(const LimitUse&) = delete;
  LimitUse& operator=(const LimitUse&) = delete;

  Enforce enforce() const { return policy_.accounting.enforce; }
  // Whether jobs are held to any limits: without that nobody need ask.
  bool active() const { return enforce() >= Enforce::limits && !state_.accounting.empty(); }

  // The first limit, by itself or on all together, that the job would be over if it started now: the QOS's, its user's, those of the
  // accounts above. All limits of a kind Grp hold; of the others the nearest.
  std::optional<OverLimit> over(const JobSpec& spec, const Partition& partition,
                                std::optional<Seconds> time_limit,
                                const TresByNode* allocated_tres = nullptr);
  // The fair share, from 0 to 1, of whoever runs jobs like that, as it is in this pass; none where nobody knows. Those below the
  // threshold of a QOS are over a limit then.
  using FairShare = std::function<std::optional<double>(const JobSpec&)>;
  void set_fair_share(FairShare fair_share) { fair_share_ = std::move(fair_share); }

  // The first that it is over by itself, whatever else runs.
  std::optional<OverLimit> over_alone(const JobSpec& spec, const Partition& partition,
                                      std::optional<Seconds> time_limit,
                                      const TresByNode* allocated_tres = nullptr);
  // If so many jobs more (tasks, of an array) were submitted there.
  std::optional<OverLimit> over_submitted(const JobSpec& spec, const std::string& partition,
                                          std::uint64_t jobs);

  // Whether there is room for one more waiting job to gain age.
  bool may_accrue(const UsageKey& usage_key);

  // Who waits, and with what it would start.
  struct Waiting {
    const JobSpec* spec = nullptr;
    const Partition* partition = nullptr;
    std::optional<Seconds> time_limit;
    std::optional<TresByNode> allocated_tres{};  // where it is known
  };
  // From here on room is kept under the limits on what runs at a time for those who wait together and come first: others may use it
  // only if they end before it is needed. `at`: when they were promised a start; none: as soon as enough of what runs has ended. Of the
  // jobs that a limit bounds only the first have room kept. Nothing is kept for who is over a limit whatever else runs. `name`: as
  // whoever is refused for their sake is told. Specifications and partitions must outlive this.
  void set_aside_headroom(std::vector<Waiting> who, std::string name, std::optional<Time> at);
  bool may_set_aside(const std::vector<Waiting>& who);

  // What jobs of one specification were told is remembered, by its address: whoever asks about one that is gone before the next is made
  // has it forgotten in between. More that runs lifts no refusal.
  void clear_refusals() { refused_.clear(); }

  // From here on that runs as well, with what it gets or else asks for, or so many wait. Those after a mark are taken back as if they had never been.
  void start(const JobSpec& spec, const Partition& partition, std::optional<Seconds> time_limit,
             const TresByNode* allocated_tres);
  void submit(const JobSpec& spec, const std::string& partition, std::uint64_t jobs);
  void accrue(const UsageKey& usage_key);
  // Precondition: they are among those that wait.
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
  // TRES-minutes that what runs may still use; and as usage will be charged, thousandths of the QOS's usage factor.
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
    std::optional<Time> planned_start;         // it starts then
    Time at{};                                 // when there is room for it
    std::optional<std::size_t> computed_with;  // with so many of `added_`, at the first question
    std::map<LimitBoundKey, fairness::U128> spare;  // what others may have then
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
  // Of what runs, until its limits; that of "wall" is of the jobs themselves.
  fairness::U128 run_minutes_of(const LimitScope& scope, std::string_view tres, bool charged);
  Minutes minutes_of_run(const UsageKey& usage_key, const std::vector<TresAmount>& tres,
                         std::uint64_t minutes) const;
  void count_run_minutes();
  // What is stored, as it decays, and what has been used of what runs, in minutes.
  fairness::U128 used_minutes_of(const LimitScope& scope, const std::string& tres);
  std::vector<LimitScope> scopes_charged_by(const Job& job);
  Seconds half_life_at(const LimitScope& scope) const;
  fairness::Amount stored_of(const LimitScope& scope, const std::string& tres) const;
  void each_running(const std::function<void(const Job&)>& visit) const;
  void add(Added added);
  void change(const Added& added, int sign);
  static std::set<std::string> bounded_tres(const LimitSet& limit_set);
  fairness::U128 in_use(const LimitBound& bound);
  enum class Others : std::uint8_t { none, all, by_minutes };  // of what others run: what counts
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
  std::map<LimitScope, Sum> more_;                            // what was added
  std::optional<std::map<LimitScope, Minutes>> run_minutes_;  // once it was asked about
  std::optional<Uses> running_use_;                           // likewise
  std::map<std::pair<LimitScope, std::string>, fairness::U128> used_;
  std::vector<Added> added_;
  std::vector<SetAside> set_aside_;
  std::set<LimitBoundKey> set_aside_bounds_;
  std::optional<std::vector<Run>> runs_;  // once it was asked about
  std::map<std::tuple<const JobSpec*, const Partition*, std::optional<Seconds>>, OverLimit>
      refused_;
};

}  // namespace ares::core
