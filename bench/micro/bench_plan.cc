// Cost of a scheduling pass: a full pass by a new planner, and an incremental pass after a job has ended.
//   bench_plan [NODES PENDING CLASSES]... [--passes N] [--ends N] [--estimates N] [--backfill none|easy|conservative]
// Default sizes: 1000 10000 500 and 10000 100000 5000. Times are CPU time of this thread. On a machine without an instruction
// counter run it under callgrind: --toggle-collect='measured*' counts only what is timed.
//
// The cluster is synthetic: twenty shapes of nodes with eight GPUs of three types, filled to about 90 %
// of GPUs with running jobs of one to four GPUs that end at different times. Classes of demand are drawn
// from a seeded generator and resemble public GPU traces: few classes hold most of the jobs (Zipf), one
// GPU is the most common request, a fifth request none, one in ten is a gang of 2 to 64 nodes.
#include <time.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/sched/pass/plan.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {
namespace {

constexpr Time kStart{std::chrono::hours(400'000)};
constexpr const char* kTypes[] = {"a100", "h100", "l40s"};
constexpr std::uint32_t kShapes = 20, kGpus = 8;

struct Size {
  std::uint32_t nodes = 0, pending = 0, classes = 0;
};

struct Asked {
  std::vector<Size> sizes;
  std::uint32_t passes = 5, ends = 300, estimates = 0;
  BackfillKind backfill = BackfillKind::easy;
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::uint32_t upto(std::uint32_t most) {
    return static_cast<std::uint32_t>(engine_() % (std::uint64_t{most} + 1));
  }
  template <class T, std::size_t N>
  T of(const T (&items)[N]) {
    return items[upto(N - 1)];
  }

 private:
  std::mt19937_64 engine_;
};

// A state that changes as the engine would change it.
class Cluster {
 public:
  Cluster(Size size, BackfillKind backfill) : size_(size), dice_(11) {
    policy.backfill = {backfill, 1};
    add_nodes();
    add_classes();
    for (std::uint32_t i = 0; i < size.pending; ++i) submit();
  }

  ClusterState state;
  Policy policy;
  Time now = kStart;

  void submit();
  void take(const Plan& plan);
  void end_one();

 private:
  void add_nodes();
  void add_classes();
  void fill(Node& node);
  Job new_job(std::shared_ptr<const JobSpec> spec);
  void put(Job job);
  void put(Node node) {
    const NodeId id = node.id;
    state.nodes.set(id, std::move(node));
  }

  Size size_;
  Dice dice_;
  std::uint64_t version_ = 1;
  std::vector<JobSpec> classes_;
  std::vector<double> popularity_;  // ascending, the last is 1
  std::vector<JobKey> running_;
};

Job Cluster::new_job(std::shared_ptr<const JobSpec> spec) {
  Job job;
  job.key = {state.next_job_id, TaskIndex{}};
  job.own_id = job.key.job;
  state.next_job_id = job.own_id.next();
  job.time_limit = spec->time_limit;
  job.spec = std::move(spec);
  job.submitted = job.eligible = now;
  job.version = Lsn(++version_);
  return job;
}

void Cluster::put(Job job) {
  const JobKey key = job.key;
  if (is_queued(job))
    state.pending.set(key, job.version);
  else
    state.pending.erase(key);
  state.jobs.set(key, std::move(job));
}

void Cluster::add_nodes() {
  Partition main;
  main.name = "main";
  for (std::uint32_t i = 0; i < size_.nodes; ++i) {
    Node node;
    node.id = state.next_node_id;
    state.next_node_id = node.id.next();
    node.name = "n" + std::to_string(i);
    node.contact = Contact::registered;
    const std::uint32_t shape = i % kShapes;
    node.inventory.cpus = 64 + 16 * (shape % 5);
    node.inventory.memory = Bytes::gib(256 + 64 * shape);
    for (std::uint16_t gpu = 0; gpu < kGpus; ++gpu)
      node.inventory.gpus.push_back({GpuIndex(gpu), kTypes[shape % 3], {}});
    main.nodes.push_back(node.name);
    state.node_ids.set(node.name, node.id);
    fill(node);
    put(std::move(node));
  }
  state.partitions.set("main", main);
}

// Adds jobs of one to four GPUs up to about 90 %: most nodes keep at most one GPU free, a few many.
void Cluster::fill(Node& node) {
  const std::uint32_t kept = dice_.upto(99) < 60 ? 0 : 1 + dice_.upto(2);
  std::uint32_t first = 0;
  std::uint32_t cpus = node.inventory.cpus - dice_.upto(12);
  std::int64_t memory = node.inventory.memory.value() / 100 * (85 + dice_.upto(15));
  while (first + kept < kGpus) {
    const std::uint32_t gpus = std::min(1 + dice_.upto(3), kGpus - kept - first);
    const bool last = first + gpus + kept == kGpus;
    JobSpec spec;
    spec.partitions = {"main"};
    spec.time_limit = std::chrono::minutes(30 + dice_.upto(4000));
    Job job = new_job(std::make_shared<const JobSpec>(std::move(spec)));
    NodeShare share;
    share.node = node.id;
    share.cpus = last ? cpus : cpus * gpus / kGpus;
    share.memory = Bytes(last ? memory : memory / kGpus * gpus);
    for (std::uint32_t i = 0; i < gpus; ++i)
      share.gpus.push_back(GpuIndex(static_cast<std::uint16_t>(first + i)));
    first += gpus;
    cpus -= share.cpus;
    memory -= share.memory.value();
    job.state = JobState::running;
    job.attempt = job.attempt.next();
    job.started = now - std::chrono::minutes(dice_.upto(30));
    node.charges.push_back({{job.key, job.attempt},
                            Fence(version_),
                            share.cpus,
                            share.memory,
                            share.gpus,
                            {},
                            UserId(1),
                            false});
    job.allocation = Allocation{Fence(version_), "main", *job.started, {share}, job.time_limit, {}};
    running_.push_back(job.key);
    put(std::move(job));
  }
}

void Cluster::add_classes() {
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>>
      seen;
  double sum = 0;
  while (classes_.size() < size_.classes) {
    const std::uint32_t kind = dice_.upto(99);
    const std::uint32_t gpus = kind < 20 ? 0 : dice_.of<std::uint32_t>({1, 1, 1, 1, 2, 2, 4, 8, 8});
    const std::uint32_t nodes = kind >= 90 ? 1u << (1 + dice_.upto(5)) : 1;
    const std::uint32_t cpus = (gpus == 0 ? 1 + dice_.upto(31) : gpus * (1 + dice_.upto(11)));
    const std::uint32_t memory = 1 + dice_.upto(23);
    const std::uint32_t type = gpus == 0 ? 0 : dice_.upto(2);
    if (!seen.emplace(gpus, nodes, cpus, memory, type).second) continue;
    JobSpec spec;
    spec.name = "job";
    spec.partitions = {"main"};
    spec.min_nodes = spec.max_nodes = spec.tasks = nodes;
    spec.cpus_per_task = cpus;
    spec.memory_per_cpu = Bytes::gib(memory);
    if (gpus > 0) spec.gpus_per_node = {{kTypes[type], gpus}};
    classes_.push_back(std::move(spec));
    sum += 1 / std::pow(static_cast<double>(classes_.size()), 0.8);
    popularity_.push_back(sum);
  }
  for (double& share : popularity_) share /= sum;
}

void Cluster::submit() {
  // The first jobs go through all classes, so that each class exists.
  const std::uint64_t jobs = state.pending.size();
  std::size_t which = jobs;
  if (jobs >= classes_.size()) {
    const double at = static_cast<double>(dice_.upto(1u << 30)) / static_cast<double>(1u << 30);
    which = static_cast<std::size_t>(std::lower_bound(popularity_.begin(), popularity_.end(), at) -
                                     popularity_.begin());
  }
  JobSpec spec = classes_[std::min(which, classes_.size() - 1)];
  spec.uid = UserId(1000 + dice_.upto(499));
  spec.user = "u" + std::to_string(spec.uid.value());
  spec.time_limit = std::chrono::minutes(10 * (1 + dice_.upto(143)));
  put(new_job(std::make_shared<const JobSpec>(std::move(spec))));
}

void Cluster::take(const Plan& plan) {
  for (const PlanGroup& group : plan.groups)
    for (const Start& start : group.starts) {
      Job job = *state.jobs.find(start.key);
      job.state = JobState::running;
      job.attempt = job.attempt.next();
      job.started = now;
      job.version = Lsn(++version_);
      job.allocation =
          Allocation{Fence(version_), start.partition, now, start.nodes, start.time_limit, {}};
      for (const NodeShare& share : start.nodes) {
        Node node = *state.nodes.find(share.node);
        node.charges.push_back({{job.key, job.attempt},
                                Fence(version_),
                                share.cpus,
                                share.memory,
                                share.gpus,
                                share.cpu_ids,
                                job.spec->uid,
                                false});
        put(std::move(node));
      }
      running_.push_back(job.key);
      put(std::move(job));
      submit();
    }
}

void Cluster::end_one() {
  std::swap(running_[dice_.upto(static_cast<std::uint32_t>(running_.size()) - 1)], running_.back());
  const JobKey key = running_.back();
  running_.pop_back();
  const Job& job = *state.jobs.find(key);
  for (const NodeShare& share : job.allocation->nodes) {
    Node node = *state.nodes.find(share.node);
    std::erase_if(node.charges, [&](const Charge& c) { return c.attempt.job == key; });
    put(std::move(node));
  }
  state.jobs.erase(key);
  now += std::chrono::seconds(1);
}

// Jobs examined in this pass, without those put off.
std::size_t examined(const Plan& plan) {
  std::size_t jobs = plan.groups.size();
  plan.pending.for_each([&](const JobKey&, const PendingInfo& info) {
    jobs += info.detail.find("not looked at") == std::string::npos ? 1 : 0;
  });
  return jobs;
}

// Has a symbol, so that callgrind can be restricted to it.
__attribute__((noinline)) Plan measured(Planner& planner, const Cluster& cluster, Budget budget) {
  return planner.plan(cluster.state, cluster.policy, budget, cluster.now);
}

struct Times {
  std::vector<double> seconds;
  void add(double took) { seconds.push_back(took); }
  double mean() const {
    double sum = 0;
    for (const double s : seconds) sum += s;
    return sum / static_cast<double>(std::max<std::size_t>(seconds.size(), 1));
  }
  double share(double part) {
    if (seconds.empty()) return 0;
    std::sort(seconds.begin(), seconds.end());
    return seconds[static_cast<std::size_t>(part * static_cast<double>(seconds.size() - 1))];
  }
};

void measure(Size size, const Asked& asked) {
  Cluster cluster(size, asked.backfill);
  Budget budget;
  budget.units = ~std::uint64_t{0};
  budget.details = false;
  budget.estimates = asked.estimates;

  Times whole;
  std::size_t starts = 0, looked_at = 0;
  for (std::uint32_t i = 0; i < asked.passes; ++i) {
    Planner planner;
    const double begin = cpu_seconds();
    const Plan plan = measured(planner, cluster, budget);
    whole.add(cpu_seconds() - begin);
    starts = plan.groups.size();
    looked_at = examined(plan);
  }
  std::printf("%u nodes, %u pending, %u classes, estimates %u\n", size.nodes, size.pending,
              size.classes, asked.estimates);
  std::printf("  whole pass       median %9.3f ms  worst %9.3f ms  examined %zu, started %zu\n",
              whole.share(0.5) * 1e3, whole.share(1) * 1e3, looked_at, starts);

  // Fill the cluster first, so that only jobs that end afterwards make room.
  Planner planner;
  cluster.take(planner.plan(cluster.state, cluster.policy, budget, cluster.now));
  cluster.take(planner.plan(cluster.state, cluster.policy, budget, cluster.now));
  Times incremental;
  starts = looked_at = 0;
  for (std::uint32_t i = 0; i < asked.ends; ++i) {
    cluster.end_one();
    const double begin = cpu_seconds();
    const Plan plan = measured(planner, cluster, budget);
    incremental.add(cpu_seconds() - begin);
    starts += plan.groups.size();
    looked_at += plan.groups.size() + plan.pending.size();
    cluster.take(plan);
  }
  std::printf("  after a job ended  mean %9.3f ms  p99   %9.3f ms  examined %zu, started %.2f\n",
              incremental.mean() * 1e3, incremental.share(0.99) * 1e3,
              looked_at / std::max(asked.ends, 1u),
              static_cast<double>(starts) / std::max(asked.ends, 1u));
  std::fflush(stdout);
}

std::uint32_t number(const char* text) {
  std::uint32_t value = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || rest != end) {
    std::fprintf(stderr, "bench_plan: \"%s\" is not a number\n", text);
    std::exit(1);
  }
  return value;
}

Asked read(int argc, char** argv) {
  Asked asked;
  std::vector<std::uint32_t> numbers;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    const std::pair<const char*, std::uint32_t*> options[] = {
        {"--passes", &asked.passes}, {"--ends", &asked.ends}, {"--estimates", &asked.estimates}};
    const auto option = std::find_if(std::begin(options), std::end(options),
                                     [&](const auto& named) { return word == named.first; });
    if (word == "--backfill") {
      asked.backfill = std::strcmp(value, "none") == 0           ? BackfillKind::none
                       : std::strcmp(value, "conservative") == 0 ? BackfillKind::conservative
                                                                 : BackfillKind::easy;
      ++i;
    } else if (option != std::end(options)) {
      *option->second = number(value);
      ++i;
    } else {
      numbers.push_back(number(argv[i]));
    }
  }
  if (numbers.empty()) numbers = {1'000, 10'000, 500, 10'000, 100'000, 5'000};
  if (numbers.size() % 3 != 0) {
    std::fprintf(stderr, "bench_plan: sizes are NODES PENDING CLASSES\n");
    std::exit(1);
  }
  for (std::size_t i = 0; i < numbers.size(); i += 3)
    asked.sizes.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
  return asked;
}

}  // namespace
}  // namespace ares::core

int main(int argc, char** argv) {
  const ares::core::Asked asked = ares::core::read(argc, argv);
  for (const ares::core::Size size : asked.sizes) ares::core::measure(size, asked);
}
