// Tests: candidate_start_times, profile, expected_releases
// The earliest start, compared with trying every time of change in order.
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "base/random.h"
#include "core/sched/place/filter.h"
#include "core/sched/time/backfill.h"
#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;

// Only demands whose feasibility is monotonic in free amounts, so that binary search is valid.
JobSpec random_spec(Random& dice) {
  JobSpec spec = TestCluster::spec(1 + dice.upto(5), 1 + dice.upto(2));
  if (dice.percent(30)) spec.max_nodes = dice.percent(50) ? 0 : spec.min_nodes + dice.upto(3);
  if (dice.percent(40)) spec.cpus_per_task = 1 + dice.upto(2);
  if (dice.percent(20)) spec.tasks_per_node = 1 + dice.upto(2);
  if (dice.percent(30)) spec.memory_per_node = Bytes::mib(dice.upto(4) * 500);
  if (dice.percent(30)) spec.gpus_per_node = {{dice.percent(50) ? "" : "a100", 1 + dice.upto(2)}};
  if (dice.percent(10)) spec.exclusive = true;
  if (dice.percent(10)) spec.exclusive_user = true;
  spec.uid = UserId(1 + dice.upto(2));
  if (dice.percent(10)) spec.required_nodes = {"n1"};
  if (dice.percent(85)) spec.time_limit = minutes(1 + dice.upto(100));
  return spec;
}

struct Scene {
  TestCluster cluster;
  explicit Scene(Random& dice) {
    for (std::uint32_t i = 1; i <= 2 + dice.upto(5); ++i) {
      const std::string name = "n" + std::to_string(i);
      cluster.add_node(name, 2 + dice.upto(6), Bytes::mib(4000));
      if (dice.percent(50)) cluster.add_gpus(name, "a100", 1 + dice.upto(3));
      if (dice.percent(30)) cluster.add_gpus(name, "h100", 1 + dice.upto(3));
    }
    for (int i = 0; i < 12; ++i) cluster.submit(random_spec(dice));
    cluster.take(cluster.plan(), kNow);
  }
};

TEST(Earliest, IsTheFirstTimeAtWhichItFits) {
  int found = 0, later = 0, beside_promises = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Random dice(seed);
    Scene scene(dice);
    const ClusterState& state = scene.cluster.state;
    const Partition main = scene.cluster.partition();
    ClusterIndex index(state);
    ExpectedReleases releases;
    const Time now = kNow + minutes(dice.upto(30));
    Profile profile(state, index, releases, now);
    std::set<Time> changes = {now};
    state.jobs.for_each([&](const JobKey&, const Job& job) {
      if (job.started && job.allocation->time_limit)
        changes.insert(
            std::max(*job.started + *job.allocation->time_limit, now + std::chrono::seconds(1)));
    });
    changes.insert(profile.horizon());
    for (int i = 0; i < 8; ++i) {
      const Job job = scene.cluster.job(random_spec(dice));
      const Demand demand = make_demand(*job.spec, main, index);
      const Candidates candidates = filter(job, main, index);
      if (!candidates.problem.empty()) continue;
      const NodeSet set{candidates.usable, candidates.required, &candidates.usable.bits()};
      const auto limit = job.spec->time_limit;
      SearchBudget work = SearchBudget::unbounded();
      const auto reservation = find_earliest_start(demand, limit, set, index, profile, work);
      std::optional<EarliestStart> expected;
      for (const Time at : changes)
        if (auto placement = fit_between(demand, {set.nodes, set.required}, index, profile, at,
                                         Profile::end_of(at, limit), work)) {
          expected = EarliestStart{at, *std::move(placement)};
          break;
        }
      ASSERT_EQ(reservation.has_value(), expected.has_value()) << "seed " << seed << " job " << i;
      if (!expected) continue;
      ASSERT_EQ(reservation->at, expected->at) << "seed " << seed << " job " << i;
      ASSERT_EQ(reservation->placement.size(), expected->placement.size());
      for (std::size_t n = 0; n < expected->placement.size(); ++n) {
        ASSERT_EQ(reservation->placement[n].node, expected->placement[n].node) << "seed " << seed;
        ASSERT_EQ(reservation->placement[n].amounts, expected->placement[n].amounts);
      }
      ++found;
      later += expected->at > now ? 1 : 0;
      beside_promises += i > 0 ? 1 : 0;
      profile.add_planned_start(expected->placement, expected->at, limit);
      changes.insert(expected->at);
      if (limit) changes.insert(expected->at + *limit);
    }
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(later, 500);
  EXPECT_GT(beside_promises, 500);
}

}  // namespace
}  // namespace ares::core::sched
