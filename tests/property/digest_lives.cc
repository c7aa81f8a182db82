// Random lives of small clusters whose plans are digested: each kind of life exercises other
// features of the scheduler.
#include <algorithm>
#include <chrono>
#include <utility>

#include "core/sched/pass/plan.h"
#include "core/topology/parsed_topology.h"
#include "property/plan_digest.h"
#include "property/world.h"
#include "unit/sched/preemption.h"
#include "unit/sched/random_cluster.h"
#include "unit/sched/test_plugins.h"

namespace ares::property {
namespace {

using namespace core::sched;
using std::chrono::hours;
using std::chrono::minutes;

// Jobs are submitted, start, are preempted and end, as planned by a planner that keeps its caches between passes.
class Life {
 public:
  Life(PlanDigests& out, const std::string& kind, std::uint64_t seed)
      : dice(seed * 7919 + digest_of(kind)), name_(kind + "-" + std::to_string(seed)), out_(out) {
    cluster.policy.backfill = {static_cast<BackfillKind>(seed % 3), 1 + dice.upto(2)};
    budget.details = seed % 2 == 0;
  }

  void view() {
    out_.view(name_ + "-" + std::to_string(views_++), cluster.state, cluster.policy, budget, now);
  }

  void pass() {
    const Plan plan = planner_.plan(cluster.state, cluster.policy, budget, now);
    out_.add_to_series(name_ + "-all", plan);
    for (const Accruing& one : plan.accruing) {
      Job job = *cluster.state.jobs.find(one.key);
      job.accrues = one.since;
      cluster.put(std::move(job));
    }
    cluster.take(plan, now);
    cluster.evict(plan, now);
  }

  // Ends some jobs and advances the clock.
  void continue_notifications(unsigned per_cent) {
    std::vector<JobKey> over;
    cluster.state.jobs.for_each([&](const JobKey& key, const Job& job) {
      const bool runs = job.state == JobState::running;
      const bool used_up =
          runs && job.allocation->time_limit && *job.started + *job.allocation->time_limit <= now;
      if (job.state == JobState::completing ? dice.percent(50)
                                            : used_up || (runs && dice.percent(per_cent)))
        over.push_back(key);
    });
    for (const JobKey& key : over) cluster.end(key);
    now += dice.percent(50) ? Duration(Seconds(dice.upto(60))) : Duration(minutes(dice.upto(20)));
  }

  TestCluster cluster;
  core::Budget budget;
  Random dice;
  Time now = kNow;

 private:
  const std::string name_;
  PlanDigests& out_;
  core::Planner planner_;
  int views_ = 0;
};

template <class T>
void keep_record(TestCluster& cluster, T record) {
  const RecordKey key = key_of(AccountingRecord(record));
  cluster.state.accounting.set(key, AccountingRecord(std::move(record)));
}

// Refuses, scores and permits placements by the ids of jobs and the names of nodes.
std::shared_ptr<const TestPlugins> some_plugin(std::uint64_t seed) {
  TestPlugin plugin;
  plugin.facts.name = "some";
  plugin.facts.looks_at = looks_of({PluginLook::job_id, PluginLook::node_free});
  const auto mixed = [seed](const PluginJob& job, const PluginNode& node) {
    return digest_of(node.node->name, seed + job.job->key.job.value()) >> 7;
  };
  plugin.allows = [mixed](const PluginJob& job, const PluginNode& node) {
    return mixed(job, node) % 100 >= 40;
  };
  plugin.scores = [mixed](const PluginJob& job, const PluginNode& node) {
    return static_cast<std::int64_t>(mixed(job, node) % 3 + node.free_cpus);
  };
  plugin.permits = [mixed](std::span<const PluginPlacement> all) {
    return mixed(all[0].job, all[0].nodes[0]) % 7 != 0;
  };
  return std::make_shared<const TestPlugins>(std::vector{plugin});
}

// All that a job may request, on nodes that fail: gangs, arrays, alternatives, parts of GPUs,
// switches, segments, constraints.
void any_jobs(PlanDigests& out, std::uint64_t seed) {
  Life life(out, "any", seed);
  add_nodes(life.cluster, life.dice);
  if (seed % 4 == 1) life.cluster.policy.plugins = {some_plugin(seed)};
  if (seed % 4 == 3) life.budget.units = 50 + life.dice.upto(300);
  for (int step = 0; step < 12; ++step) {
    for (std::uint32_t i = 1 + life.dice.upto(4); i > 0; --i)
      submit_random(life.cluster, life.dice);
    if (life.dice.percent(30)) {
      JobSpec spec = random_spec(life.dice);
      spec.time_limit = minutes(60 + life.dice.upto(60));
      spec.time_min = minutes(1 + life.dice.upto(50));
      if (life.dice.percent(50)) spec.deadline = life.now + minutes(30 + life.dice.upto(100));
      life.cluster.submit(std::move(spec));
    }
    if (life.dice.percent(20)) disturb(life.cluster, life.dice);
    if (step % 3 == 2) life.view();
    life.pass();
    life.continue_notifications(20);
  }
}

// Jobs of a higher tier or QOS end or suspend jobs of a lower one.
void preemption(PlanDigests& out, std::uint64_t seed) {
  Life life(out, "preempt", seed);
  TestCluster& cluster = life.cluster;
  Random& dice = life.dice;
  for (std::uint32_t i = 0, nodes = 2 + dice.upto(3); i < nodes; ++i) {
    cluster.add_node("n" + std::to_string(i), 2 + dice.upto(6));
    if (dice.percent(30)) cluster.add_gpus("n" + std::to_string(i), "a100", 2);
  }
  add_tiers(cluster, seed % 2 == 0   ? PreemptMode::suspend
                     : seed % 4 == 1 ? PreemptMode::cancel
                                     : PreemptMode::requeue);
  cluster.policy.preemption.per_hour = 4 + dice.upto(8);
  cluster.policy.preemption.per_day = 10 + dice.upto(30);
  for (const char* const name : {"normal", "scavenger", "urgent"}) {
    Qos qos;
    qos.name = name;
    qos.id = QosId(1 + name[0] % 3);
    if (qos.name == "urgent") qos.preempts = {"scavenger"};
    if (qos.name == "scavenger" && seed % 4 == 1) qos.preempt_mode = PreemptMode::requeue;
    keep_record(cluster, qos);
  }
  const auto submit = [&](const char* partition, Seconds limit) {
    JobSpec spec = TestCluster::spec(1 + dice.upto(4), 1 + dice.upto(1));
    spec.partitions = {partition};
    if (dice.percent(10)) spec.partitions = {"main", "high"};
    spec.uid = UserId(1 + dice.upto(1));
    if (dice.percent(8)) spec.exclusive_user = true;
    if (dice.percent(10)) spec.gpus_per_node = {{"", 1}};
    spec.qos = dice.percent(30) ? "scavenger" : dice.percent(20) ? "urgent" : "normal";
    spec.time_limit = limit;
    cluster.submit(std::move(spec));
  };
  for (int i = 0; i < 12; ++i) submit("main", minutes(60 + dice.upto(600)));
  life.pass();
  for (int step = 0; step < 24; ++step) {
    life.now += minutes(2);
    for (std::uint32_t i = dice.upto(1); i > 0; --i) submit("high", minutes(2 + dice.upto(20)));
    if (dice.percent(30)) submit("main", minutes(60 + dice.upto(600)));
    if (step % 5 == 0) life.view();
    life.pass();
    if (step % 10 == 0) life.view();  // claims of jobs that wait for their victims
    life.continue_notifications(5);
  }
}

// Limits of accounts, users and QOS, on running jobs and on jobs that accrue age.
void limits(PlanDigests& out, std::uint64_t seed) {
  Life life(out, "limits", seed);
  TestCluster& cluster = life.cluster;
  Random& dice = life.dice;
  add_nodes(cluster, dice);
  cluster.policy.accounting.enforce = Enforce::limits;
  using enum LimitKind;
  const LimitKind of_accounts[] = {grp_jobs, grp_tres, max_jobs, grp_jobs_accrue, max_jobs_accrue};
  const LimitKind of_qos[] = {grp_jobs,
                              grp_tres,
                              max_jobs_per_user,
                              max_tres_per_user,
                              max_tres_per_account,
                              max_jobs_per_account,
                              grp_jobs_accrue,
                              max_jobs_accrue_per_user};
  const auto some_limit = [&](LimitKind kind) -> Limits {
    const bool tres = row_of(kind).unit == LimitUnit::tres;
    const char* const names[] = {"cpu", "node", "gres/gpu"};
    return {{kind, tres ? names[dice.upto(2)] : "", std::uint64_t{1} + dice.upto(tres ? 8 : 4)}};
  };
  const auto put_records = [&] {
    std::uint64_t number = 1;
    for (const std::string name : {"root", "a", "b", "a1"}) {
      Account account;
      account.name = name;
      account.id = AssociationId(number++);
      account.parent = name == "root" ? "" : name == "a1" ? "a" : "root";
      account.terms.qos = {"normal", "short"};
      if (dice.percent(50)) account.terms.limits = some_limit(of_accounts[dice.upto(4)]);
      keep_record(cluster, account);
    }
    for (const char* const name : {"normal", "short"}) {
      Qos qos;
      qos.name = name;
      qos.id = QosId(number++);
      if (dice.percent(50)) qos.limits = some_limit(of_qos[dice.upto(7)]);
      keep_record(cluster, qos);
    }
    for (const char* const user : {"u1", "u2"})
      for (const char* const account : {"b", "a1"}) {
        Association member;
        member.key = {account, user, {}};
        member.id = AssociationId(number++);
        if (dice.percent(30)) member.terms.limits = some_limit(of_accounts[dice.upto(4)]);
        keep_record(cluster, member);
      }
  };
  put_records();
  for (int step = 0; step < 12; ++step) {
    for (std::uint32_t i = 1 + dice.upto(4); i > 0; --i) {
      JobSpec spec = random_spec(dice);
      spec.user = dice.percent(50) ? "u1" : "u2";
      spec.account = dice.percent(50) ? "b" : "a1";
      spec.qos = dice.percent(50) ? "normal" : "short";
      cluster.submit(std::move(spec));
    }
    if (dice.percent(20)) put_records();
    if (step % 3 == 1) life.view();
    life.pass();
    life.continue_notifications(25);
  }
}

std::shared_ptr<const Fairness> some_rules(Random& dice, std::uint64_t seed) {
  Fairness made;
  made.policy = static_cast<QueuePolicy>(seed % 5);
  if (dice.percent(50)) made.partitions["side"] = static_cast<QueuePolicy>(dice.upto(4));
  made.calc_period = Seconds(60);
  made.half_life = Seconds(3600);
  made.max_age = Seconds(7200);
  made.weights = {dice.upto(1000), dice.upto(1000), dice.upto(1000),
                  dice.upto(1000), dice.upto(1000), dice.upto(1000)};
  if (dice.percent(50)) made.tres_weights = {{"cpu", dice.upto(1000)}, {"gres/gpu", 500}};
  made.qos = {{"high", 10}};
  made.flags.no_fair_tree = dice.percent(30);
  made.flags.favor_small = dice.percent(30);
  made.billing = static_cast<BillingMode>(dice.upto(2));
  made.billing_weights["gres/gpu"] = 4 << kTresWeightBits;
  made.drf_usage = dice.percent(50) ? DrfUsage::running : DrfUsage::delivered;
  made.tree = {{"x", "", "", 1 + dice.upto(2), 0, {}}, {"y", "", "", 1 + dice.upto(2), 0, {}}};
  for (const char* const in : {"x", "y"})
    for (const char* const user : {"a", "b", "c"})
      made.tree.push_back({in,
                           "",
                           user,
                           dice.upto(3),
                           dice.upto(9),
                           {{"cpu", std::uint64_t{1000} * dice.upto(100)}}});
  return std::make_shared<const Fairness>(std::move(made));
}

// Every queue policy, with shares and usage.
void shares(PlanDigests& out, std::uint64_t seed) {
  Life life(out, "shares", seed);
  TestCluster& cluster = life.cluster;
  Random& dice = life.dice;
  for (std::uint32_t i = 1; i <= 2 + dice.upto(2); ++i) {
    const std::string name = "n" + std::to_string(i);
    cluster.add_node(name, 2 + dice.upto(6));
    if (dice.percent(50)) cluster.add_gpus(name, dice.percent(50) ? "a100" : "h100", 2);
  }
  Partition side = cluster.partition();
  side.name = "side";
  side.is_default = false;
  side.tier = static_cast<std::int32_t>(dice.upto(1));
  side.priority = dice.upto(5);
  cluster.put(side);
  cluster.policy.fairness.value = some_rules(dice, seed);
  for (int step = 0; step < 12; ++step) {
    for (std::uint32_t i = 1 + dice.upto(4); i > 0; --i) {
      JobSpec spec = TestCluster::spec(1 + dice.upto(3), 1);
      const std::uint32_t who = dice.upto(2);
      spec.user = std::string(1, static_cast<char>('a' + who));
      spec.uid = UserId(1000 + who);
      spec.account = dice.percent(50) ? "x" : "y";
      if (dice.percent(20)) spec.qos = "high";
      if (dice.percent(20)) spec.gpus_per_node = {{"", 1}};
      if (dice.percent(30)) spec.partitions = {"side"};
      if (dice.percent(20)) spec.partitions = {"main", "side"};
      spec.time_limit = minutes(1 + dice.upto(60));
      if (dice.percent(15)) spec.array.emplace().insert(0, dice.upto(6));
      spec.nice = static_cast<std::int32_t>(dice.upto(2));
      Job job = cluster.job(std::move(spec));
      job.submitted = job.eligible = life.now - minutes(dice.upto(100));
      if (dice.percent(10)) {
        job.priority_set = true;
        job.priority = dice.upto(3) * 300;
      }
      cluster.put(std::move(job));
    }
    if (step % 3 == 2) life.view();
    life.pass();
    life.continue_notifications(25);
  }
}

// Reservations for users, for maintenance, flexible and recurring ones; and licences.
void reserved(PlanDigests& out, std::uint64_t seed) {
  Life life(out, "reserved", seed);
  TestCluster& cluster = life.cluster;
  Random& dice = life.dice;
  add_nodes(cluster, dice);
  cluster.policy.licenses = {{"solver", 2 + dice.upto(2)}, {"viewer", 1 + dice.upto(3)}};
  const std::vector<std::string> nodes = cluster.partition().nodes;
  for (int i = 0; i < 3; ++i) {
    Reservation one;
    one.name = "r" + std::to_string(i);
    one.start = kNow + minutes(dice.upto(150));
    one.end = one.start + minutes(20 + dice.upto(120));
    for (const std::string& node : nodes)
      if (dice.percent(40)) one.nodes.push_back(node);
    if (one.nodes.empty()) one.nodes = {nodes.front()};
    std::sort(one.nodes.begin(), one.nodes.end());
    one.maintenance = dice.percent(15);
    if (!one.maintenance) one.users = {UserId(1 + dice.upto(2))};
    one.flexible = dice.percent(30);
    one.overlap = true;
    one.ignore_jobs = dice.percent(50);
    if (dice.percent(20)) one.recurrence = Recurrence::daily;
    cluster.state.reservations.set(one.name, one);
  }
  for (int step = 0; step < 14; ++step) {
    for (std::uint32_t i = 1 + dice.upto(3); i > 0; --i) {
      JobSpec spec = random_spec(dice);
      if (dice.percent(40)) spec.reservations = {"r" + std::to_string(dice.upto(2))};
      if (dice.percent(10)) spec.reservations = {"r0", "r1"};
      if (dice.percent(30)) {
        spec.licenses = {{"solver", 1 + dice.upto(1)}};
        if (dice.percent(40)) spec.licenses.push_back({"viewer", 1});
        spec.any_license = spec.licenses.size() > 1 && dice.percent(50);
      }
      cluster.submit(std::move(spec));
    }
    if (step % 4 == 2) life.view();
    life.pass();
    life.continue_notifications(20);
  }
}

// Four GPUs in two pairs, eight behind a switch, four on two PCIe switches.
const char* const kMachines[] = {
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\tX\tNV4\tSYS\tSYS\t0-7\t0\n"
    "GPU1\tNV4\tX\tSYS\tSYS\t0-7\t0\n"
    "GPU2\tSYS\tSYS\tX\tNV4\t8-15\t1\n"
    "GPU3\tSYS\tSYS\tNV4\tX\t8-15\t1\n",
    "\tGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tGPU6\tGPU7\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\tX\tNV12\tNV12\tNV12\tNV12\tNV12\tNV12\tNV12\t0-7\t0\n"
    "GPU1\tNV12\tX\tNV12\tNV12\tNV12\tNV12\tNV12\tNV12\t0-7\t0\n"
    "GPU2\tNV12\tNV12\tX\tNV12\tNV12\tNV12\tNV12\tNV12\t0-7\t0\n"
    "GPU3\tNV12\tNV12\tNV12\tX\tNV12\tNV12\tNV12\tNV12\t0-7\t0\n"
    "GPU4\tNV12\tNV12\tNV12\tNV12\tX\tNV12\tNV12\tNV12\t8-15\t1\n"
    "GPU5\tNV12\tNV12\tNV12\tNV12\tNV12\tX\tNV12\tNV12\t8-15\t1\n"
    "GPU6\tNV12\tNV12\tNV12\tNV12\tNV12\tNV12\tX\tNV12\t8-15\t1\n"
    "GPU7\tNV12\tNV12\tNV12\tNV12\tNV12\tNV12\tNV12\tX\t8-15\t1\n",
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\tX\tPIX\tPHB\tPHB\t0-15\t0\n"
    "GPU1\tPIX\tX\tPHB\tPHB\t0-15\t0\n"
    "GPU2\tPHB\tPHB\tX\tPIX\t0-15\t0\n"
    "GPU3\tPHB\tPHB\tPIX\tX\t0-15\t0\n"};

// Nodes whose GPUs have links, for jobs with requirements on links, for parts of one GPU, and for
// one of several types.
void gpus(PlanDigests& out, std::uint64_t seed) {
  Life life(out, "gpus", seed);
  TestCluster& cluster = life.cluster;
  Random& dice = life.dice;
  for (std::uint32_t i = 1; i <= 2 + dice.upto(3); ++i) {
    const std::string name = "n" + std::to_string(i);
    cluster.add_node(name, 16, Bytes::gib(64));
    Node node = cluster.node(name);
    auto read =
        core::topology::read_topology(kMachines[dice.upto(2)], dice.percent(60) ? "a100" : "h100");
    node.inventory.gpus = std::move(read.value().gpus);
    node.inventory.gpu_topology = std::move(read.value().topology);
    cluster.put(std::move(node));
  }
  Partition main = cluster.partition();
  main.placement = {static_cast<PlacementStrategy>(dice.upto(2)),
                    static_cast<PlacementStrategy>(dice.upto(2))};
  cluster.put(std::move(main));
  for (int step = 0; step < 12; ++step) {
    for (std::uint32_t i = 2 + dice.upto(4); i > 0; --i) {
      JobSpec spec = TestCluster::spec(1 + dice.upto(1), 1);
      if (dice.percent(20)) spec.max_nodes = spec.min_nodes = spec.tasks = 2;
      spec.uid = UserId(1 + dice.upto(2));
      spec.time_limit = minutes(5 + dice.upto(90));
      if (dice.percent(25)) {
        spec.gpus_per_node = {{"", 0, 50 + 50 * dice.upto(18)}};
      } else if (dice.percent(15)) {
        add_alternatives(spec, dice);
      } else {
        spec.gpus_per_node = {{dice.percent(30) ? "a100" : "", 1 + dice.upto(3)}};
        if (dice.percent(50)) spec.gpu_constraint.shape = static_cast<GpuShape>(dice.upto(4));
        if (dice.percent(15)) spec.gpu_constraint.min_nvlinks = 1 + dice.upto(12);
        if (dice.percent(20)) spec.cpus_per_gpu = 1 + dice.upto(3);
      }
      cluster.submit(std::move(spec));
    }
    if (step % 3 == 2) life.view();
    life.pass();
    life.continue_notifications(25);
  }
}

// States that the engine reaches with random commands, nodes that fail and controllers that restart.
void worlds(PlanDigests& out, std::uint64_t seed) {
  World world(seed, 2 + static_cast<int>(seed % 4), seed % 2 == 1);
  Policy policy;
  policy.backfill = {static_cast<BackfillKind>(seed % 3), 1};
  if (seed % 2 == 1) policy.accounting.enforce = Enforce::limits;
  for (int step = 1; step <= 900; ++step) {
    world.step();
    if (step % 300 == 0)
      out.view("world-" + std::to_string(seed) + "-" + std::to_string(step / 300 - 1),
               world.state(), policy, {}, world.state().now);
  }
}

}  // namespace

void add_random_lives(PlanDigests& out) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) any_jobs(out, seed);
  for (std::uint64_t seed = 1; seed <= 14; ++seed) preemption(out, seed);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) limits(out, seed);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) shares(out, seed);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) reserved(out, seed);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) gpus(out, seed);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) worlds(out, seed);
}

}  // namespace ares::property
