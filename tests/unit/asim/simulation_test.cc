// Complete runs of small workloads whose outcome can be computed by hand.
#include "asim/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "asim/report.h"
#include "asim/summary.h"
#include "asim/yaml_workload.h"

namespace ares::sim {
namespace {

using testing::HasSubstr;

config::Config cluster(const std::string& nodes) {
  auto config = config::parse("nodes:\n" + nodes + "partitions:\n  - {name: all, nodes: ALL}\n",
                              "cluster.yaml");
  EXPECT_TRUE(config) << config.error().message;
  return *config;
}

// Jobs of one CPU by default; times in seconds.
WorkJob job(std::int64_t submit, std::int64_t run, std::int64_t limit, std::uint32_t tasks = 1) {
  WorkJob made;
  made.submit = Seconds(submit);
  made.run = Seconds(run);
  made.limit = Seconds(limit);
  made.tasks = tasks;
  return made;
}

Workload workload(std::vector<WorkJob> jobs) {
  Workload made;
  made.specs.resize(1);
  made.specs[0].name = "job";
  made.jobs = std::move(jobs);
  for (std::size_t i = 0; i < made.jobs.size(); ++i) made.jobs[i].number = i + 1;
  return made;
}

Outcome run(const Workload& work, const config::Config& config, SimOptions options = {}) {
  auto outcome = Simulation(work, config, options).run([](std::uint64_t, Time) {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  return std::move(*outcome);
}

std::int64_t start_of(const Outcome& outcome, std::size_t job) {
  return std::chrono::duration_cast<Seconds>(outcome.jobs[job].start.value_or(Time::max()) - Time{})
      .count();
}
std::int64_t end_of(const Outcome& outcome, std::size_t job) {
  return std::chrono::duration_cast<Seconds>(outcome.jobs[job].end.value_or(Time::max()) - Time{})
      .count();
}

double value_of(const std::vector<Row>& rows, const std::string& name) {
  for (const Row& row : rows)
    if (row.name == name) return row.value.value_or(-1);
  ADD_FAILURE() << "no row " << name;
  return -1;
}

// Two CPUs are busy until 100; the second job needs both; a short job may pass it, a long one may not.
const std::vector<WorkJob> kPassing = {job(0, 100, 100), job(1, 50, 50, 2), job(2, 60, 60),
                                       job(3, 200, 200)};

TEST(Simulation, EasyBackfillStartsJobsThatDelayNoPlannedStart) {
  const Outcome outcome = run(workload(kPassing), cluster("  - {name: n1, cpus: 2}\n"));
  EXPECT_EQ(start_of(outcome, 0), 0);
  EXPECT_EQ(start_of(outcome, 2), 2);
  EXPECT_EQ(start_of(outcome, 1), 100);
  EXPECT_EQ(start_of(outcome, 3), 150);
}

TEST(Simulation, WithoutBackfillJobsStartInOrder) {
  config::Config config = cluster("  - {name: n1, cpus: 2}\n");
  config.policy.backfill.kind = BackfillKind::none;
  const Outcome outcome = run(workload(kPassing), config);
  EXPECT_EQ(start_of(outcome, 1), 100);
  EXPECT_EQ(start_of(outcome, 2), 150);
  EXPECT_EQ(start_of(outcome, 3), 150);
}

TEST(Simulation, UnusualJobsEndAsOnARealCluster) {
  const Workload work = workload({job(0, 100, 40), job(10, 0, 60), job(20, 5, 5, 9)});
  const Outcome outcome = run(work, cluster("  - {name: n1, cpus: 2}\n"));
  EXPECT_EQ(outcome.jobs[0].state, JobState::timeout);  // at its limit
  EXPECT_EQ(end_of(outcome, 0), 40);
  EXPECT_EQ(outcome.jobs[1].state, JobState::completed);
  EXPECT_EQ(start_of(outcome, 1), 10);
  EXPECT_EQ(end_of(outcome, 1), 10);
  EXPECT_FALSE(outcome.jobs[2].accepted);  // larger than the machine
  ASSERT_EQ(outcome.refused.size(), 1u);
  EXPECT_EQ(outcome.refused.begin()->second.jobs, 1u);
  const auto rows = summarise(work, outcome);
  EXPECT_EQ(value_of(rows, "refused"), 1);
  EXPECT_EQ(value_of(rows, "timed_out"), 1);
  EXPECT_EQ(value_of(rows, "makespan"), 40);
}

TEST(Simulation, NoJobReachesItsLimitWithExactEstimates) {
  SimOptions options;
  options.exact_estimates = true;
  const Outcome outcome =
      run(workload({job(0, 100, 40)}), cluster("  - {name: n1, cpus: 2}\n"), options);
  EXPECT_EQ(outcome.jobs[0].state, JobState::completed);
  EXPECT_EQ(end_of(outcome, 0), 100);
}

TEST(Simulation, JobOfSeveralNodesHoldsAllOfThemUntilItEnds) {
  const Outcome outcome = run(workload({job(0, 30, 30, 6), job(1, 10, 10)}),
                              cluster("  - {name: \"n[1-3]\", cpus: 2}\n"));
  EXPECT_EQ(outcome.jobs[0].nodes, 3u);
  EXPECT_EQ(outcome.jobs[0].cpus, 6u);
  EXPECT_EQ(start_of(outcome, 1), 30);
}

// Waits of 0, 10 and 25; runs of 20, 20 and 5.
TEST(Summary, FiguresFollowTheirDefinitions) {
  const Workload work = workload({job(0, 20, 20), job(10, 20, 20), job(15, 5, 5)});
  const Outcome outcome = run(work, cluster("  - {name: n1, cpus: 1}\n"));
  const auto rows = summarise(work, outcome);
  EXPECT_DOUBLE_EQ(value_of(rows, "wait_mean"), 35.0 / 3);
  EXPECT_DOUBLE_EQ(value_of(rows, "wait_median"), 10);
  EXPECT_DOUBLE_EQ(value_of(rows, "wait_p99"), 25);
  // 1, (10 + 20) / 20 and (25 + 5) / 10, because runs below ten seconds count as ten.
  EXPECT_DOUBLE_EQ(value_of(rows, "slowdown_mean"), (1 + 1.5 + 3) / 3);
  EXPECT_DOUBLE_EQ(value_of(rows, "utilisation"), 1);
  EXPECT_DOUBLE_EQ(value_of(rows, "queue_mean"), 35.0 / 45);
  EXPECT_DOUBLE_EQ(*jain({1, 1, 1, 1}), 1);
  EXPECT_DOUBLE_EQ(*jain({4, 0, 0, 0}), 0.25);
  EXPECT_THAT(jobs_csv(work, outcome),
              HasSubstr("\n2,0,10,20,40,COMPLETED,1,1,0,20,20,10,1.500,0,\n"));
  EXPECT_THAT(history_svg("a < b", outcome), HasSubstr("a &lt; b"));
  EXPECT_THAT(summary_json({{"workload", "w"}}, work, outcome, rows),
              HasSubstr("\"wait_median\": 10.000"));
}

TEST(Simulation, PlannedStartIsPredicted) {
  SimOptions options;
  options.predict_every = Seconds(600);
  // The prediction is 10000, the limit of the first job; the second starts when that ends after 8000.
  const Outcome outcome = run(workload({job(0, 8000, 10000), job(1, 10, 10)}),
                              cluster("  - {name: n1, cpus: 1}\n"), options);
  ASSERT_TRUE(outcome.jobs[1].predicted);
  EXPECT_EQ(*outcome.jobs[1].predicted, Time{Seconds(10000)});
  EXPECT_EQ(start_of(outcome, 1), 8000);
  EXPECT_FALSE(outcome.jobs[0].predicted);
}

TEST(Simulation, JobsOfFailedNodesRunAgain) {
  const auto work = parse_yaml_workload(
      "jobs:\n  - {count: 200, every: 60, run: [600, 7200], tasks: [1, 8]}\n", "w.yaml", 3);
  ASSERT_TRUE(work);
  SimOptions options;
  options.node_mtbf = Seconds(20'000);
  options.node_repair = Seconds(1'000);
  const config::Config config = cluster("  - {name: \"n[1-4]\", cpus: 4}\n");
  const Outcome outcome = run(*work, config, options);
  EXPECT_GT(outcome.node_failures, 5u);
  std::uint32_t restarts = 0;
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
    const JobOutcome& job = outcome.jobs[i];
    EXPECT_EQ(job.state, JobState::completed);
    EXPECT_GE(job.ran, Duration(work->jobs[i].run));
    restarts += job.restarts;
  }
  EXPECT_GT(restarts, 0u);
  // The same seed gives the same run.
  EXPECT_EQ(jobs_csv(*work, outcome), jobs_csv(*work, run(*work, config, options)));
}

TEST(Simulation, FreeGpusCountAsFragmentedWhileJobsWait) {
  Workload work = workload({job(0, 100, 100), job(0, 50, 50)});
  work.specs[0].gpus_per_node = {{"a100", 3}};
  const Outcome outcome = run(work, cluster("  - {name: n1, cpus: 8, gpus: \"a100:4\"}\n"));
  EXPECT_EQ(start_of(outcome, 1), 100);
  const auto rows = summarise(work, outcome);
  EXPECT_DOUBLE_EQ(value_of(rows, "gpu_utilisation"), 3.0 / 4);
  // One of four is free while the second job waits, which is two thirds of the time.
  EXPECT_DOUBLE_EQ(value_of(rows, "gpu_fragmentation"), 100.0 / 150 / 4);
}

TEST(History, MergedSpansKeepTheSums) {
  History history{Time{}};
  History::Level level;
  for (int i = 1; i <= 10'000; ++i) {
    level.cpus = i % 2;
    history.until(Time{Seconds(i)}, level);
  }
  EXPECT_DOUBLE_EQ(history.total().cpus, 5000);
  double sum = 0;
  const auto averages = history.averages();
  EXPECT_LE(averages.size(), 2048u);
  const double span = std::chrono::duration<double>(history.span()).count();
  for (std::size_t i = 0; i < averages.size(); ++i)
    sum += averages[i].cpus * std::min(span, 10'000 - span * static_cast<double>(i));
  EXPECT_NEAR(sum, 5000, 1e-6);
}

}  // namespace
}  // namespace ares::sim
