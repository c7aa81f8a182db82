// Excerpts of recorded logs (tests/data/README.md), replayed on clusters that are too small for
// them, so that jobs have to wait.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "property/plan_digest.h"
#include "unit/sched/cluster.h"

namespace ares::property {
namespace {

using namespace core::sched;

// A job of an excerpt. Zero: unknown, or none.
struct LoggedJob {
  std::int64_t submit = 0, run = 0, limit = 0;  // seconds
  std::uint32_t user = 0, tasks = 0, cpus = 0;  // CPUs per task
  std::int64_t memory = 0;                      // MiB
  std::uint32_t gpus = 0, part = 0;             // thousandths of a GPU
};

std::vector<LoggedJob> read_log(const std::string& name) {
  const std::string path = ARES_SOURCE_DIR "/tests/data/logs/" + name + ".txt";
  std::ifstream file(path);
  std::vector<LoggedJob> jobs;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    LoggedJob job;
    std::istringstream words(line);
    words >> job.submit >> job.run >> job.limit >> job.user >> job.tasks >> job.cpus >>
        job.memory >> job.gpus >> job.part;
    if (!words) throw std::runtime_error(path + ": " + line);
    jobs.push_back(job);
  }
  if (jobs.empty()) throw std::runtime_error("there are no jobs in " + path);
  return jobs;
}

struct Setting {
  const char* log;
  std::uint32_t nodes, cpus, gpus;  // of each node
  std::int64_t squeeze;             // factor by which submissions are accelerated
  Backfill backfill;
};

JobSpec spec_of(const LoggedJob& job, const Setting& setting) {
  const std::uint32_t tasks = std::min(job.tasks, setting.nodes * setting.cpus);
  JobSpec spec = TestCluster::spec(tasks, 1);
  spec.max_nodes = 0;
  spec.cpus_per_task = std::min(job.cpus, setting.cpus);
  spec.uid = UserId(job.user);
  spec.user = "u" + std::to_string(job.user);
  if (job.limit > 0) spec.time_limit = Seconds(job.limit);
  if (job.memory > 0)
    spec.memory_per_node = Bytes::mib(std::min<std::int64_t>(job.memory, 400'000));
  if (job.part > 0)
    spec.gpus_per_node = {{"", 0, job.part}};
  else if (job.gpus > 0)
    spec.gpus_per_node = {{"", std::min(job.gpus, setting.gpus)}};
  return spec;
}

// Jobs are submitted and end as in the log; there is a pass at each such time.
void run_again(PlanDigests& out, const Setting& setting) {
  TestCluster cluster;
  for (std::uint32_t i = 1; i <= setting.nodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    cluster.add_node(name, setting.cpus, Bytes::mib(400'000));
    if (setting.gpus > 0) cluster.add_gpus(name, i % 3 == 0 ? "h100" : "a100", setting.gpus);
  }
  cluster.policy.backfill = setting.backfill;
  const std::vector<LoggedJob> jobs = read_log(setting.log);
  core::Planner planner;
  std::map<JobKey, Seconds> runs;
  std::set<std::pair<Time, JobKey>> ends;
  std::size_t next = 0, views = 0;
  const auto submit_time = [&](const LoggedJob& job) {
    return kNow + Seconds(job.submit / setting.squeeze);
  };
  while (next < jobs.size() || !ends.empty()) {
    const bool submits =
        next < jobs.size() && (ends.empty() || submit_time(jobs[next]) < ends.begin()->first);
    const Time now = submits ? submit_time(jobs[next]) : ends.begin()->first;
    while (!ends.empty() && ends.begin()->first <= now) {
      cluster.end(ends.begin()->second);
      ends.erase(ends.begin());
    }
    for (; next < jobs.size() && submit_time(jobs[next]) <= now; ++next) {
      Job job = cluster.job(spec_of(jobs[next], setting));
      job.submitted = job.eligible = now;
      runs[job.key] = Seconds(jobs[next].run);
      cluster.put(std::move(job));
    }
    if (next / 50 > views) {
      out.view(std::string(setting.log) + "-" + std::to_string(views), cluster.state,
               cluster.policy, {}, now);
      views = next / 50;
    }
    const Plan plan = planner.plan(cluster.state, cluster.policy, {}, now);
    out.add_to_series(std::string(setting.log) + "-all", plan);
    for (const PlanGroup& group : plan.groups)
      for (const Start& start : group.starts) {
        const Seconds run = runs.at(start.key);
        ends.emplace(now + (start.time_limit ? std::min(run, *start.time_limit) : run), start.key);
      }
    cluster.take(plan, now);
  }
}

}  // namespace

void add_recorded_logs(PlanDigests& out) {
  using enum BackfillKind;
  for (const Setting& setting :
       {Setting{"kth", 60, 1, 0, 1, {easy, 1}}, Setting{"ctc", 128, 1, 0, 1, {conservative, 1}},
        Setting{"hpc2n", 80, 2, 0, 1, {easy, 4}}, Setting{"curie", 64, 16, 0, 1, {easy, 1}},
        Setting{"thunder", 40, 4, 0, 1, {none, 1}}, Setting{"nasa", 64, 1, 0, 1, {easy, 2}},
        Setting{"philly", 6, 16, 8, 2, {conservative, 1}},
        Setting{"openb", 2, 64, 4, 3, {easy, 2}}})
    run_again(out, setting);
}

}  // namespace ares::property
