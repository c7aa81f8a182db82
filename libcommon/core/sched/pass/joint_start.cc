#include "core/sched/pass/joint_start.h"

#include <algorithm>
#include <map>

namespace ares::core::sched {
namespace {

// With planned starts free amounts rise and fall, so times are tried one by one, but no more than
// this number.
constexpr std::size_t kTimesTried = 200;

// A search may cost one in so many units of what is left to the pass, so that one gang does not keep
// the jobs behind it from being considered.
constexpr std::uint64_t kShareOfBudget = 8;

class Search {
 public:
  Search(const StartGroup& group, const std::vector<JobClass*>& classes, const ClusterIndex& index,
         const Profile& profile, std::uint64_t units)
      : group_(group), classes_(classes), index_(index), profile_(profile), units_(units) {
    for (const GangOrder order : gang_orders(group))
      if (order != GangOrder::close) orders_.push_back(demands_in_order(group, order, index));
  }

  // Starts with the latest of the members' own earliest starts. From there on the times at which
  // anything changes are tried one by one, as long as planned starts or reservations may reduce
  // free amounts. After that, what fits at one time fits at every later one.
  std::optional<JointStart> run(Time from) {
    bool falls = false;
    std::map<std::pair<const JobClass*, std::optional<Seconds>>, Time> alone;
    Time at = std::max(from, profile_.now());
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      const JobClass& job_class = *classes_[i];
      const std::optional<Seconds> limit = group_.members[i].limit;
      const auto [place, added] = alone.try_emplace({&job_class, limit});
      if (!added) continue;
      const auto found = find_earliest_start(job_class.demand, limit, job_class.nodes(), index_,
                                             profile_, work_, from);
      if (!found) {
        if (work_.exhausted()) return latest(changes_after(at));
        return std::nullopt;
      }
      at = std::max(at, found->at);
      falls = falls || has_planned_start(job_class.nodes(), profile_) ||
              affected_by_reservations(job_class.demand, job_class.nodes(), index_);
    }
    // What has not started now, by the devices that are free, does not start now.
    if (at > profile_.now())
      if (auto placements = fit_at(at)) return JointStart{at, *std::move(placements)};
    return search_after(at, falls);
  }

  std::uint64_t spent() const { return spent_ + units_ - work_.left(); }

 private:
  std::optional<JointStart> search_after(Time at, bool falls) {
    const std::vector<Time> times = changes_after(at);
    auto found = first_of(times, falls);
    if (found || !work_.exhausted()) return found;
    return latest(times);
  }

  // The earliest one was too expensive to find. The latest keeps others from delaying it for ever.
  std::optional<JointStart> latest(const std::vector<Time>& times) {
    if (times.empty() || units_ == 0) return std::nullopt;
    spent_ += units_;
    work_ = SearchBudget(units_);
    if (auto placements = fit_at(times.back()))
      if (!work_.exhausted()) return JointStart{times.back(), *std::move(placements)};
    return std::nullopt;
  }

  std::optional<JointStart> first_of(const std::vector<Time>& times, bool falls) {
    std::optional<JointStart> found;
    const auto fits = [&](std::size_t i) {
      if (work_.exhausted()) return false;
      auto placements = fit_at(times[i]);
      if (!placements) return false;
      found = JointStart{times[i], *std::move(placements)};
      return true;
    };
    std::size_t low = 0;
    for (; falls && low < std::min(kTimesTried, times.size()); ++low)
      if (fits(low)) return found;
    std::size_t high = times.size();
    if (low == high || !fits(high - 1)) return std::nullopt;
    for (--high; low < high;) {
      const std::size_t middle = low + (high - low) / 2;
      if (fits(middle))
        high = middle;
      else
        low = middle + 1;
    }
    return work_.exhausted() ? std::nullopt : found;
  }

  std::optional<std::vector<Placement>> fit_at(Time at) {
    for (const std::vector<Demand>& demands : orders_)
      if (auto placements = fit_at(at, demands)) return placements;
    return std::nullopt;
  }

  std::optional<std::vector<Placement>> fit_at(Time at, const std::vector<Demand>& demands) {
    Profile trial = profile_;
    std::vector<Placement> placements;
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      const JobClass& job_class = *classes_[i];
      const std::optional<Seconds> limit = group_.members[i].limit;
      const bool in_order = !demands.empty() && group_.members[i].job_class == &job_class;
      auto placement = fit_between(in_order ? demands[i] : job_class.demand, job_class.nodes(),
                                   index_, trial, at, Profile::end_of(at, limit), work_);
      if (!placement) return std::nullopt;
      trial.add_planned_start(*placement, at, limit);
      placements.push_back(*std::move(placement));
    }
    return placements;
  }

  // The times after `at` when free amounts of any of their nodes change; ascending.
  std::vector<Time> changes_after(Time at) const {
    std::vector<NodeIndex> nodes;
    for (const JobClass* job_class : classes_) {
      const auto list = job_class->nodes().nodes;
      nodes.insert(nodes.end(), list.begin(), list.end());
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    std::vector<Time> times;
    Amounts row(index_.stride());
    for (const NodeIndex node : nodes) {
      profile_.each_step(node, at, row, [&](Time step, std::span<const std::int64_t>) {
        if (step > at) times.push_back(step);
        return true;
      });
      index_.reservations().each_change(node, at, [&](Time step) { times.push_back(step); });
    }
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    return times;
  }

  const StartGroup& group_;
  const std::vector<JobClass*>& classes_;
  const ClusterIndex& index_;
  const Profile& profile_;
  const std::uint64_t units_;  // of work that one of two searches may cost
  SearchBudget work_{units_};
  std::uint64_t spent_ = 0;                  // by the first one, once it has ended
  std::vector<std::vector<Demand>> orders_;  // to try one after the other
};

}  // namespace

std::optional<JointStart> find_joint_start(const StartGroup& group,
                                           const std::vector<JobClass*>& classes,
                                           const ClusterIndex& index, const Profile& profile,
                                           SearchBudget& work, Time from) {
  Search search(group, classes, index, profile, work.left() / kShareOfBudget);
  auto found = search.run(from);
  work.spend(search.spent());
  return found;
}

}  // namespace ares::core::sched
