// Tests: expected_releases, job_classes
// Capacity timelines kept from pass to pass, compared with a search without a cache.
#include "core/sched/time/earliest_start_cache.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/random.h"
#include "core/sched/place/devices.h"
#include "core/sched/queue/job_classes.h"
#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

JobSpec random_spec(Random& dice) {
  JobSpec spec = TestCluster::spec(1 + dice.upto(9), 1 + dice.upto(1));
  if (dice.percent(40)) spec.cpus_per_task = 1 + dice.upto(2);
  if (dice.percent(30)) spec.max_nodes = spec.min_nodes + dice.upto(3);
  if (dice.percent(30)) spec.memory_per_node = Bytes::mib(dice.upto(4) * 500);
  if (dice.percent(30)) spec.gpus_per_node = {{"a100", 1 + dice.upto(2)}};
  if (dice.percent(10)) spec.exclusive = true;
  if (dice.percent(85)) spec.time_limit = minutes(1 + dice.upto(100));
  return spec;
}

class Passes {
 public:
  explicit Passes(std::uint64_t seed) : dice_(seed) {
    for (std::uint32_t i = 1; i <= 3 + dice_.upto(6); ++i) {
      const std::string name = "n" + std::to_string(i);
      cluster_.add_node(name, 2 + dice_.upto(6), Bytes::mib(4000));
      if (dice_.percent(50)) cluster_.add_gpus(name, "a100", 1 + dice_.upto(3));
    }
    seen_ = cluster_.state;
    index_.emplace(seen_);
    for (int i = 0; i < 4; ++i) asked_.push_back(cluster_.job(random_spec(dice_)));
  }

  void pass() {
    change();
    ASSERT_TRUE(index_->update(seen_, cluster_.state, allocated_));
    releases_.update(seen_, cluster_.state, *index_);
    seen_ = cluster_.state;
    allocated_.clear();
    job_classes_.begin_pass();
    Profile profile(seen_, *index_, releases_, now_);
    for (int i = 0; i < 6; ++i) {
      if (dice_.percent(20)) start(profile);
      ask(profile, asked_[dice_.upto(3)]);
    }
  }

  int found = 0, later = 0;

 private:
  void change() {
    now_ += seconds(dice_.upto(900));
    for (int i = 0; i < 3; ++i) cluster_.submit(random_spec(dice_));
    if (dice_.percent(70)) cluster_.take(cluster_.plan(now_), now_);
    std::vector<JobKey> running;
    cluster_.state.jobs.for_each([&](const JobKey& key, const Job& job) {
      if (job.allocation) running.push_back(key);
    });
    for (const JobKey& key : running)
      if (dice_.percent(15))
        cluster_.end(key);
      else if (dice_.percent(10))
        set_limit(key);
  }

  // Its nodes do not change with that.
  void set_limit(const JobKey& key) {
    Job job = *cluster_.state.jobs.find(key);
    job.allocation->time_limit = minutes(1 + dice_.upto(300));
    cluster_.put(std::move(job));
  }

  // Starts a job within the pass.
  void start(Profile& profile) {
    const Job job = cluster_.job(random_spec(dice_));
    const JobClass& job_class = job_class_of(job);
    SearchBudget work = SearchBudget::unbounded();
    const auto placement =
        fit_on(job_class.demand, job_class.nodes(), *index_, CapacityBasis::free_now, work);
    if (!placement) return;
    for (const PlacedShare& share : *placement) {
      choose_devices(index_->nodes()[share.node], share, {}, *index_);
      index_->update_free(share.node);
      allocated_.push_back(share.node);
    }
    profile.start(*placement, job.spec->time_limit, *job.spec);
  }

  void ask(const Profile& profile, const Job& job) {
    const JobClass& job_class = job_class_of(job);
    SearchBudget work = SearchBudget::unbounded();
    const Time from = dice_.percent(20) ? now_ + seconds(dice_.upto(5000)) : Time::min();
    const auto limit = job.spec->time_limit;
    const auto kept =
        cache_.find(job_class.demand, job_class.nodes(), limit, *index_, profile, work, from);
    const auto searched = find_earliest_start(job_class.demand, limit, job_class.nodes(), *index_,
                                              profile, work, from);
    ASSERT_EQ(kept.has_value(), searched.has_value());
    if (!searched) return;
    ASSERT_EQ(kept->at, searched->at);
    ASSERT_EQ(kept->placement.size(), searched->placement.size());
    for (std::size_t i = 0; i < kept->placement.size(); ++i) {
      ASSERT_EQ(kept->placement[i].node, searched->placement[i].node);
      ASSERT_EQ(kept->placement[i].amounts, searched->placement[i].amounts);
    }
    ++found;
    later += searched->at > now_ ? 1 : 0;
  }

  const JobClass& job_class_of(const Job& job) {
    return job_classes_.of({&job, seen_.partitions.find("main"), 0}, *index_);
  }

  Random dice_;
  TestCluster cluster_;
  Time now_ = kNow;
  ClusterState seen_;
  std::optional<ClusterIndex> index_;
  ExpectedReleases releases_;
  JobClasses job_classes_;
  EarliestStartCache cache_;
  std::vector<Job> asked_;
  std::vector<NodeIndex> allocated_;
};

TEST(Forecast, EqualsAFreshSearch) {
  int found = 0, later = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Passes passes(seed);
    for (int i = 0; i < 25; ++i) ASSERT_NO_FATAL_FAILURE(passes.pass());
    found += passes.found;
    later += passes.later;
  }
  EXPECT_GT(found, 5000);
  EXPECT_GT(later, 2000);
}

}  // namespace
}  // namespace ares::core::sched
