// LimitUse: what is in use of everything that limits on many jobs together bound (Grp*, MaxJobs, MaxSubmitJobs, those per user and per
// account of a QOS), and whether one more job is within them. It is counted from the state when it is first asked about, so that it
// cannot drift, and from then on knows of what starts. Lives for one pass of the planner or one decision; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/accounts/job_limits.h"
#include "core/fairness/decay.h"
#include "model/policy.h"
#include "model/state.h"

namespace ares::core {

// Whether any such limit holds for jobs like that in that partition: then what others do may keep them from starting.
bool has_shared_limits(const Accounting& records, Enforce enforce, const JobSpec& spec,
                       const std::string& partition);

class LimitUse {
 public:
  // Both must outlive it.
  LimitUse(const ClusterState& state, const Policy& policy, Time now)
      : state_(state), policy_(policy), now_(now) {}
  LimitUse(const LimitUse&) = delete;
  LimitUse& operator=(const LimitUse&) = delete;

  Enforce enforce() const { return policy_.accounting.enforce; }
  // Whether jobs are held to any limits: without that nobody need ask.
  bool active() const { return enforce() >= Enforce::limits && !state_.accounting.empty(); }

  // The first limit, by itself or on all together, that the job would be over if it started now: the QOS's, its user's, those of the
  // accounts above. All limits of a kind Grp hold; of the others the nearest.
  std::optional<OverLimit> over(const JobSpec& spec, const Partition& partition,
                                std::optional<Seconds> time_limit,
                                const TresByNode* gets = nullptr);
  // The first that it is over by itself, whatever else runs.
  std::optional<OverLimit> over_alone(const JobSpec& spec, const Partition& partition,
                                      std::optional<Seconds> time_limit,
                                      const TresByNode* gets = nullptr);
  // If so many jobs more (tasks, of an array) were submitted there.
  std::optional<OverLimit> over_submitted(const JobSpec& spec, const std::string& partition,
                                          std::uint64_t jobs);

  // What jobs of one specification were told is remembered, by its address: whoever asks about one that is gone before the next is made
  // has it forgotten in between. More that runs lifts no refusal.
  void forget_answers() { refused_.clear(); }

  // From here on that runs as well, with what it gets or else asks for, or so many wait. Those after a mark are taken back as if they had never been.
  void start(const JobSpec& spec, const Partition& partition, std::optional<Seconds> time_limit,
             const TresByNode* gets);
  void submit(const JobSpec& spec, const std::string& partition, std::uint64_t jobs);
  // Precondition: they are among those that wait.
  void leave(const JobSpec& spec, const std::string& partition, std::uint64_t jobs) {
    submit(spec, partition, 0 - jobs);
  }
  std::size_t mark() const { return added_.size(); }
  void back_to(std::size_t mark);

 private:
  // Whose jobs are summed up.
  struct Level {
    enum class Kind : std::uint8_t { association, account, qos, qos_user, qos_account };
    Kind kind{};
    std::string name, second;  // the account; the QOS, and the user or account in it
    AssociationId id{};        // of the association, the account or the QOS
    friend auto operator<=>(const Level&, const Level&) = default;
  };
  struct Sum {
    std::uint64_t running = 0;
    std::uint64_t submitted = 0;
    std::vector<TresAmount> tres;
  };
  // TRES-minutes that what runs may still use; and as usage will be charged, thousandths of the QOS's usage factor.
  struct Minutes {
    std::map<std::string, fairness::U128, std::less<>> granted, charged;
  };
  // One limit on jobs of a party, and what it bounds.
  struct Bound {
    const Limit* limit = nullptr;
    Level level;
    std::string whose;
    bool qos = false;
  };
  // All jobs of one holder are bound by the same.
  struct Party {
    std::vector<Bound> bounds;
    bool deny = false;
    std::uint64_t factor = 0;  // thousandths that usage is charged with
  };
  struct Added {
    Holder holder;
    Sum sum;
    Minutes minutes;
  };
  using Uses = std::map<Level, std::map<std::string, fairness::Amount, std::less<>>>;

  Holder holder_of(const JobSpec& spec, const std::string& partition) const;
  const Party& party_of(const Holder& holder);
  const std::vector<Level>& levels_of(const Holder& holder);
  const Sum& sum_of(const Level& level);
  // Of what runs, until its limits; that of "wall" is of the jobs themselves.
  fairness::U128 run_minutes_of(const Level& level, std::string_view tres, bool charged);
  Minutes minutes_of_run(const Holder& holder, const std::vector<TresAmount>& tres,
                         std::uint64_t minutes) const;
  void count_run_minutes();
  // What is stored, as it decays, and what has been used of what runs, in minutes.
  fairness::U128 used_minutes_of(const Level& level, const std::string& tres);
  Seconds half_life_at(const Level& level) const;
  fairness::Amount stored_of(const Level& level, const std::string& tres) const;
  template <class Visit>
  void each_running(Visit&& visit) const;
  void change(const Added& added, int sign);
  static std::set<std::string> bounded_tres(const Party& party);
  fairness::U128 in_use(const Bound& bound);
  // `in_use` counts; without it nothing else is.
  std::optional<OverLimit> first_over(const Party& party, const Asked& asked, bool in_use);

  const ClusterState& state_;
  const Policy& policy_;
  const Time now_;
  std::map<Holder, std::vector<Level>> levels_;
  std::map<Holder, Party> parties_;
  std::map<Level, Sum>
      sums_;  // of associations, those asked about; of all others, once one was asked about
  bool all_counted_ = false;
  std::optional<std::map<Level, Minutes>> run_minutes_;  // likewise
  std::optional<Uses> running_use_;                      // likewise
  std::map<std::pair<Level, std::string>, fairness::U128> used_;
  std::vector<Added> added_;
  std::map<std::tuple<const JobSpec*, const Partition*, std::optional<Seconds>>, OverLimit>
      refused_;
};

}  // namespace ares::core
