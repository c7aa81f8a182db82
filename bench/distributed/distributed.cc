// Twenty training jobs of four workers each on a mixed cluster: compares a scheduler that places workers one by one without topology
// with the controller's engine and planner. Prints the tables of bench/reports/distributed.md.
//   bench_distributed [--seeds N]
#include <cstdio>
#include <cstdlib>
#include <string>

#include "asim/simulation.h"
#include "config/config.h"
#include "distributed/pods.h"
#include "distributed/site.h"

namespace ares::bench {
namespace {

config::Config cluster() {
  config::PortableConfig text;
  text.yaml =
      "topology_file: fabric.yaml\n"
      "nodes:\n"
      "  - {name: \"n[1-4]\", cpus: 64, memory: 512G, gpus: \"h100:8\"}\n"
      "  - {name: \"n[5-8]\", cpus: 64, memory: 512G, gpus: \"a100:4\"}\n"
      "partitions:\n"
      "  - {name: all, nodes: ALL, topology: fabric}\n";
  text.topologies =
      "topologies:\n  - name: fabric\n    tree:\n"
      "      - {switch: leaf1, nodes: \"n[1-2]\"}\n"
      "      - {switch: leaf2, nodes: \"n[3-4]\"}\n"
      "      - {switch: leaf3, nodes: \"n[5-6]\"}\n"
      "      - {switch: leaf4, nodes: \"n[7-8]\"}\n"
      "      - {switch: spine, switches: \"leaf[1-4]\"}\n";
  auto config = config::parse(text, "the bench's cluster");
  if (!config) {
    std::fprintf(stderr, "bench_distributed: %s\n", config.error().message.c_str());
    std::exit(1);
  }
  return *config;
}

sim::Workload workload_of(const std::vector<Training>& jobs) {
  sim::Workload workload;
  workload.name = "trainings";
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    JobSpec spec;
    spec.name = "training";
    spec.min_nodes = 1;
    spec.max_nodes = kWorkers;
    spec.tasks = kWorkers;
    spec.cpus_per_task = 4;
    spec.gpus_per_task = {{"", jobs[i].gpus}};
    workload.specs.push_back(spec);
    sim::WorkJob job;
    job.number = i + 1;
    job.run = jobs[i].work;
    job.limit = 5 * jobs[i].work;  // users do not know on which nodes it will run
    job.tasks = kWorkers;
    job.spec_index = static_cast<std::uint32_t>(i);
    workload.jobs.push_back(job);
  }
  return workload;
}

Figures run_ares(const std::vector<Training>& jobs, const config::Config& config) {
  const sim::Workload workload = workload_of(jobs);
  sim::SimOptions options;
  options.stretch = [&](const sim::WorkJob& job, const ClusterState& state,
                        const Allocation& allocation) {
    std::vector<unsigned> nodes;
    for (const NodeShare& share : allocation.nodes)
      nodes.push_back(
          static_cast<unsigned>(std::atoi(state.nodes.find(share.node)->name.c_str() + 1) - 1));
    return stretch(jobs[job.number - 1].talking, nodes);
  };
  auto outcome = sim::Simulation(workload, config, options).run([](std::uint64_t, Time) {});
  if (!outcome) {
    std::fprintf(stderr, "bench_distributed: %s\n", outcome.error().message.c_str());
    std::exit(1);
  }
  Figures out;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const sim::JobOutcome& job = outcome->jobs[i];
    if (job.state != JobState::completed) continue;
    ++out.ended;
    const double end = std::chrono::duration<double>(*job.end - workload.origin).count();
    out.to_train += end;
    out.makespan = std::max(out.makespan, end);
    out.training += std::chrono::duration<double>(job.ran).count() * jobs[i].gpus * kWorkers;
  }
  if (out.ended > 0) out.to_train /= out.ended;
  return out;
}

struct Sums {
  Figures sum;
  unsigned whole = 0;  // runs in which all jobs ended
  void add(const Figures& one) {
    sum.ended += one.ended;
    if (one.ended < kJobs) return;
    ++whole;
    sum.to_train += one.to_train;
    sum.makespan += one.makespan;
    sum.training += one.training / (one.makespan * kGpus);
    sum.held += one.held / (one.makespan * kGpus);
  }
};

void print(const char* name, const Sums& sums, unsigned seeds) {
  const double runs = sums.whole;
  std::printf("| %s | %.1f %% | %u of %u |", name, 100.0 * sums.sum.ended / (seeds * kJobs),
              sums.whole, seeds);
  if (sums.whole == 0)
    std::printf(" | | | |\n");
  else
    std::printf(" %.0f | %.0f | %.1f %% | %.1f %% |\n", sums.sum.to_train / runs / 60,
                sums.sum.makespan / runs / 60, 100 * sums.sum.training / runs,
                100 * sums.sum.held / runs);
}

void compare(unsigned seeds) {
  const config::Config config = cluster();
  Sums ares, forever, patient, blind;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto jobs = trainings(seed);
    forever.add(run_pods(jobs, {true, {}}, seed));
    patient.add(run_pods(jobs, {true, Seconds(600)}, seed));
    blind.add(run_pods(jobs, {false, {}}, seed));
    ares.add(run_ares(jobs, config));
  }
  std::printf(
      "| scheduler | jobs ended | runs in which all did | time to train, mean, min | makespan, min "
      "| GPUs training | GPUs held by workers that wait |\n|---|---|---|---|---|---|---|\n");
  print("worker by worker", forever, seeds);
  print("worker by worker, gives up after 10 min", patient, seeds);
  print("all or nothing, no topology", blind, seeds);
  print("Ares", ares, seeds);
}

}  // namespace
}  // namespace ares::bench

int main(int argc, char** argv) {
  unsigned seeds = 200;
  if (argc == 3 && std::string(argv[1]) == "--seeds")
    seeds = static_cast<unsigned>(std::max(1L, std::strtol(argv[2], nullptr, 10)));
  else if (argc != 1) {
    std::fprintf(stderr, "bench_distributed: say [--seeds N]\n");
    return 1;
  }
  ares::bench::compare(seeds);
}
