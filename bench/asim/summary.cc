#include "asim/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace ares::sim {
namespace {

double seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}

std::optional<double> mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> ratio(double part, double whole) {
  if (whole <= 0) return std::nullopt;
  return part / whole;
}

struct Collected {
  std::vector<double> waits, slowdowns, by_user, errors;
  std::uint64_t completed = 0, timed_out = 0, failed = 0, unfinished = 0, accepted = 0,
                restarts = 0;
  double cpu_seconds = 0;
};

Collected collect(const Workload& workload, const Outcome& outcome) {
  Collected c;
  std::map<std::uint32_t, std::pair<double, double>> users;  // sum of slowdowns, number of jobs
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
    const JobOutcome& job = outcome.jobs[i];
    if (!job.accepted) continue;
    ++c.accepted;
    c.restarts += job.restarts;
    if (!is_terminal(job.state)) {
      ++c.unfinished;
      continue;
    }
    c.completed += job.state == JobState::completed;
    c.timed_out += job.state == JobState::timeout;
    c.failed += job.state != JobState::completed && job.state != JobState::timeout;
    const Time submitted = workload.origin + workload.jobs[i].submit;
    if (!job.start) continue;
    c.waits.push_back(seconds(*job.start - submitted));
    c.cpu_seconds += seconds(job.ran) * job.cpus;
    const double slowdown = *bounded_slowdown(job, submitted);
    c.slowdowns.push_back(slowdown);
    auto& [sum, count] = users[workload.jobs[i].user];
    sum += slowdown;
    count += 1;
    if (job.predicted) c.errors.push_back(std::abs(seconds(*job.start - *job.predicted)));
  }
  for (const auto& [user, sum] : users) c.by_user.push_back(sum.first / sum.second);
  return c;
}

std::uint64_t sum_of(const std::map<std::string, std::uint64_t>& counts) {
  std::uint64_t sum = 0;
  for (const auto& [what, count] : counts) sum += count;
  return sum;
}

void add_distribution(std::vector<Row>& rows, const std::string& name, const std::string& label,
                      const std::string& unit, std::vector<double> values, int decimals) {
  rows.push_back({name + "_mean", unit, label + ", mean", mean(values), decimals});
  const std::pair<const char*, double> shares[] = {{"median", 0.5}, {"p90", 0.9}, {"p99", 0.99}};
  for (const auto& [word, share] : shares)
    rows.push_back(
        {name + "_" + word, unit, label + ", " + word, percentile(values, share), decimals});
}

void add_cost(std::vector<Row>& rows, const Cost& cost) {
  const auto count = [](std::uint64_t n) { return static_cast<double>(n); };
  rows.push_back({"passes", "", "scheduling passes", count(cost.passes)});
  rows.push_back(
      {"passes_that_started", "", "of them started something", count(cost.started_something)});
  rows.push_back({"pass_mean", "us", "time of a pass, mean",
                  ratio(cost.planning * 1e6, count(cost.passes)), 1});
  rows.push_back({"pass_longest", "us", "the longest", cost.longest_pass * 1e6, 1});
  rows.push_back({"engine_events", "", "events of the engine", count(cost.events)});
  rows.push_back({"engine_batches", "", "in batches", count(cost.batches)});
  rows.push_back({"planning", "s", "time of all passes", cost.planning, 2});
  rows.push_back({"cpu_all", "s", "processor time of the run", cost.everything, 2});
}

}  // namespace

std::optional<double> bounded_slowdown(const JobOutcome& job, Time submitted) {
  if (!job.start || !job.end) return std::nullopt;
  const double response = seconds(*job.end - submitted);
  const double run = seconds(*job.end - *job.start);
  return std::max(1.0, response / std::max(run, seconds(kTau)));
}

std::optional<double> percentile(std::vector<double>& values, double share) {
  if (values.empty()) return std::nullopt;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::optional<double> jain(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  return ratio(sum * sum, static_cast<double>(values.size()) * squares);
}

std::vector<Row> summarise(const Workload& workload, const Outcome& outcome) {
  const auto count = [](std::uint64_t n) { return static_cast<double>(n); };
  const Collected c = collect(workload, outcome);
  const double span = seconds(outcome.end - outcome.begin);
  const History::Level& total = outcome.history->total();
  std::vector<Row> rows = {
      {"jobs", "", "jobs replayed", count(outcome.jobs.size())},
      {"left_out", "", "left out of the log", count(sum_of(workload.left_out))},
      {"refused", "", "refused by the controller", count(outcome.jobs.size() - c.accepted)},
      {"completed", "", "completed", count(c.completed)},
      {"timed_out", "", "ended at their limit", count(c.timed_out)},
      {"failed", "", "ended otherwise", count(c.failed)},
      {"never_started", "", "waiting for ever", count(c.unfinished)},
  };
  if (outcome.node_failures > 0) {
    rows.push_back({"node_failures", "", "failures of nodes", count(outcome.node_failures)});
    rows.push_back({"restarts", "", "attempts lost to them", count(c.restarts)});
  }
  rows.push_back({"makespan", "s", "from the first submission to the last end", span});
  add_distribution(rows, "wait", "wait", "s", c.waits, 0);
  add_distribution(rows, "slowdown", "bounded slowdown", "", c.slowdowns, 2);
  rows.push_back({"utilisation", "", "share of the CPUs in use",
                  ratio(total.cpus, count(outcome.machine_cpus) * span), 4});
  if (outcome.machine_gpus > 0) {
    rows.push_back({"gpu_utilisation", "", "share of the GPUs in use",
                    ratio(total.gpus, count(outcome.machine_gpus) * span), 4});
    rows.push_back({"gpu_fragmentation", "", "share of the GPUs free while a job waits for some",
                    ratio(total.lost_gpus, count(outcome.machine_gpus) * span), 4});
  }
  rows.push_back({"queue_mean", "", "waiting jobs, mean over time", ratio(total.waiting, span), 1});
  rows.push_back(
      {"jain_users", "", "Jain index of the users' mean bounded slowdowns", jain(c.by_user), 4});
  if (!c.errors.empty()) {
    std::vector<double> errors = c.errors;
    rows.push_back({"predicted", "", "starts foretold an hour before", count(errors.size())});
    rows.push_back({"prediction_error_median", "s", "by how much they were wrong, median",
                    percentile(errors, 0.5)});
    rows.push_back(
        {"prediction_error_p90", "s", "by how much they were wrong, p90", percentile(errors, 0.9)});
  }
  add_cost(rows, outcome.cost);
  return rows;
}

}  // namespace ares::sim
