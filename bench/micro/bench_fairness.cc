// Cost of queue policies: one update of all ages and usage, with 100,000 associations and 10,000 pending jobs, and its parts. The
// associations are lines of the configuration, or (…_of_records) accounting records with stored usage.
//   bench_fairness --benchmark_repetitions=9 --benchmark_report_aggregates_only=true
#include <benchmark/benchmark.h>

#include <random>

#include "core/fairness/classic.h"
#include "core/fairness/decay.h"
#include "core/fairness/fair_tree.h"
#include "core/sched/queue/order.h"
#include "core/sched/queue/service_order.h"
#include "core/state/indexes.h"

namespace ares::core::sched {
namespace {

constexpr Time kStart{std::chrono::hours(400'000)};
constexpr std::uint32_t kAccounts = 300;

// Accounts in two levels with users spread over them; usage and shares all differ.
std::vector<AccountRow> site_tree(std::uint32_t associations) {
  std::mt19937_64 dice(1);
  std::vector<AccountRow> rows;
  for (std::uint32_t i = 0; i < kAccounts; ++i)
    rows.push_back({"a" + std::to_string(i),
                    i < 20 ? "" : "a" + std::to_string(i % 20),
                    "",
                    static_cast<std::uint32_t>(1 + dice() % 100),
                    0,
                    {}});
  for (std::uint32_t i = 0; i < associations; ++i)
    rows.push_back({"a" + std::to_string(i % kAccounts),
                    "",
                    "u" + std::to_string(i / 2),
                    static_cast<std::uint32_t>(1 + dice() % 100),
                    i % 10,
                    {{"cpu", dice() % 100'000'000}}});
  return rows;
}

ClusterState site_state(std::uint32_t jobs, std::uint32_t running, std::uint32_t users) {
  std::mt19937_64 dice(2);
  ClusterState state;
  Partition main;
  main.name = "main";
  for (std::uint32_t i = 1; i <= 1000; ++i) {
    Node node;
    node.id = NodeId(i);
    node.name = "n" + std::to_string(i);
    node.inventory.cpus = 64;
    node.inventory.memory = Bytes::gib(512);
    for (std::uint16_t gpu = 0; gpu < 8; ++gpu)
      node.inventory.gpus.push_back({GpuIndex(gpu), i % 2 ? "a100" : "h100", {}});
    node.contact = Contact::registered;
    main.nodes.push_back(node.name);
    state.nodes.set(node.id, node);
  }
  state.partitions.set("main", main);
  for (std::uint32_t i = 1; i <= jobs + running; ++i) {
    Job job;
    job.key = {JobId(i), TaskIndex{}};
    JobSpec spec;
    const auto user = static_cast<std::uint32_t>(dice() % users);
    spec.user = "u" + std::to_string(user);
    spec.uid = UserId(user);
    spec.account = "a" + std::to_string((user * 2) % kAccounts);
    spec.tasks = 1 + static_cast<std::uint32_t>(dice() % 32);
    spec.partitions = {"main"};
    job.spec = std::make_shared<const JobSpec>(spec);
    job.submitted = job.eligible = kStart - std::chrono::minutes(dice() % 10'000);
    if (i > jobs) {
      job.state = JobState::running;
      const NodeId at(1 + i % 1000);
      job.allocation = Allocation{Fence(i), "main", job.eligible, {}, std::nullopt};
      job.allocation->charged_to.billing = 8 * 1000;  // as settled when an attempt starts
      job.allocation->charged_to.factor = 1000;
      NodeShare share;
      share.node = at;
      share.cpus = 8;
      share.memory = Bytes::gib(16);
      share.gpus = {GpuIndex(0)};
      job.allocation->nodes.push_back(share);
    }
    state.jobs.set(job.key, job);
  }
  rebuild_indexes(state);
  return state;
}

Policy policy_of(QueuePolicy which, std::uint32_t associations) {
  Fairness rules;
  rules.policy = which;
  rules.weights = {1000, 1000, 10'000, 1000, 1000, 1000};
  rules.tres_weights = {{"cpu", 100}, {"gres/gpu", 100}};
  rules.usage_time =
      std::chrono::duration_cast<Seconds>(kStart.time_since_epoch()) - Seconds(86400);
  if (associations > 0) rules.tree = site_tree(associations);
  Policy policy;
  policy.fairness.value = std::make_shared<const Fairness>(std::move(rules));
  return policy;
}

// The same tree as stored by a site: records with ids and charged usage, some of it recent.
void keep_records(ClusterState& state, std::uint32_t associations) {
  const auto keep = [&](AccountingRecord record) {
    const RecordKey key = key_of(record);
    state.accounting.set(key, std::move(record));
  };
  Account root;
  root.name = kRootAccount;
  root.id = kRootAssociation;
  keep(root);
  Qos normal;
  normal.name = kNormalQos;
  normal.id = kNormalQosId;
  keep(normal);
  AssociationId id(kFirstRecordId);
  for (const AccountRow& row : site_tree(associations)) {
    if (row.user.empty()) {
      Account account;
      account.name = row.account;
      account.id = id;
      account.parent = row.parent.empty() ? std::string(kRootAccount) : row.parent;
      account.terms.shares = row.shares;
      keep(account);
    } else {
      Association one;
      one.key = {row.account, row.user, {}};
      one.id = id;
      one.terms.shares = row.shares;
      one.terms.priority = row.priority;
      keep(one);
      AssociationUsage used{id, kStart - std::chrono::minutes(id.value() % 10'000), kStart, {}, {}};
      for (const char* tres : {"billing", "cpu", "mem", "node"})
        used.rows.push_back({tres, {0, row.usage.at("cpu") << 32}, {0, std::uint64_t{3600} << 32}});
      state.usage.set(id, used);
    }
    id = AssociationId(id.value() + 1);
  }
}

// range: associations, pending jobs, running jobs.
void look_again(benchmark::State& run, QueuePolicy which, bool records) {
  const auto n = [&](int i) { return static_cast<std::uint32_t>(run.range(i)); };
  ClusterState state = site_state(n(1), n(2), n(0) / 2);
  if (records) keep_records(state, n(0));
  const Policy policy = policy_of(which, records ? 0 : n(0));
  ClusterIndex index(state);
  Time now = kStart;
  Ranking ranking(state, policy, index, now);
  Queue queue;
  queue.fill(state, ranking);
  for ([[maybe_unused]] auto _ : run) {
    now += std::chrono::seconds(300);
    if (!ranking.update(state, state, index, now)) run.SkipWithError("nothing changed");
    queue.rank_again(ranking);
    benchmark::DoNotOptimize(queue.entries().data());
  }
}
BENCHMARK_CAPTURE(look_again, multifactor, QueuePolicy::multifactor, false)
    ->Args({100'000, 10'000, 10'000})
    ->Args({100'000, 10'000, 0})
    ->Args({1'000, 10'000, 1'000})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(look_again, multifactor_of_records, QueuePolicy::multifactor, true)
    ->Args({100'000, 10'000, 10'000})
    ->Args({100'000, 10'000, 0})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(look_again, fair_tree, QueuePolicy::fair_tree, false)
    ->Args({100'000, 10'000, 10'000})
    ->Args({100'000, 10'000, 0})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(look_again, fair_tree_of_records, QueuePolicy::fair_tree, true)
    ->Args({100'000, 10'000, 10'000})
    ->Args({100'000, 10'000, 0})
    ->Unit(benchmark::kMillisecond);

// Cost of the first pass after a record has changed: the tree and all derived data are built again.
void read_records(benchmark::State& run) {
  ClusterState state = site_state(10'000, 0, 50'000);
  keep_records(state, 100'000);
  const Policy policy = policy_of(QueuePolicy::multifactor, 0);
  ClusterIndex index(state);
  for ([[maybe_unused]] auto _ : run) {
    const Ranking ranking(state, policy, index, kStart + std::chrono::seconds(300));
    Queue queue;
    queue.fill(state, ranking);
    benchmark::DoNotOptimize(queue.entries().data());
  }
}
BENCHMARK(read_records)->Unit(benchmark::kMillisecond);

// Cost of a pass when only one job has ended since the last, and when nothing has changed.
void between_looks(benchmark::State& run) {
  const ClusterState state = site_state(10'000, 10'000, 50'000);
  const Policy policy = policy_of(QueuePolicy::multifactor, 100'000);
  ClusterIndex index(state);
  Ranking ranking(state, policy, index, kStart);
  ClusterState after = state;
  Job job = *state.jobs.find({JobId(15'000), TaskIndex{}});
  job.state = JobState::completed;
  job.ended = kStart + std::chrono::seconds(7);
  after.jobs.set(job.key, job);
  for ([[maybe_unused]] auto _ : run)
    if (ranking.update(state, after, index, kStart + std::chrono::seconds(8)))
      run.SkipWithError("an end between two looks changes nothing");
}
BENCHMARK(between_looks)->Unit(benchmark::kMicrosecond);

void fair_tree_alone(benchmark::State& run) {
  const auto rows = site_tree(static_cast<std::uint32_t>(run.range(0)));
  const fairness::AccountTree tree(rows);
  std::vector<std::uint64_t> usage(tree.nodes().size());
  for (std::size_t i = 1; i < usage.size(); ++i)
    if (tree.nodes()[i].user) usage[i] = rows[tree.nodes()[i].row].usage.at("cpu");
  tree.sum_up(usage);
  for ([[maybe_unused]] auto _ : run) benchmark::DoNotOptimize(fairness::fair_tree(tree, usage));
}
BENCHMARK(fair_tree_alone)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void read_tree(benchmark::State& run) {
  const auto rows = site_tree(100'000);
  for ([[maybe_unused]] auto _ : run) {
    const fairness::AccountTree tree(rows);
    benchmark::DoNotOptimize(tree.users());
  }
}
BENCHMARK(read_tree)->Unit(benchmark::kMillisecond);

void decay_one(benchmark::State& run) {
  Duration elapsed{1};
  for ([[maybe_unused]] auto _ : run) {
    elapsed += std::chrono::microseconds(1'234'567);
    benchmark::DoNotOptimize(fairness::decayed(fairness::amount_of(12'345'678),
                                               fairness::decay_factor(elapsed, Seconds(604'800))));
  }
}
BENCHMARK(decay_one);

// Users take turns; every entry is drawn once and none is started.
void draw_service_order(benchmark::State& run) {
  const ClusterState state = site_state(static_cast<std::uint32_t>(run.range(0)), 10'000, 2'000);
  const Policy policy = policy_of(QueuePolicy::drf, 0);
  ClusterIndex index(state);
  const Ranking ranking(state, policy, index, kStart);
  Queue queue;
  queue.fill(state, ranking);
  for ([[maybe_unused]] auto _ : run) {
    ServiceOrder turns(queue.entries(), ranking, index);
    while (Queued* next = turns.next()) benchmark::DoNotOptimize(next);
  }
}
BENCHMARK(draw_service_order)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ares::core::sched

BENCHMARK_MAIN();
