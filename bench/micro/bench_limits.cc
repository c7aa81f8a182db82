// Cost of limits: a pass over many jobs that wait for one, one after a job has ended, and a submission under a limit on submitted jobs.
//   bench_limits [WAITING [HOLDERS]]      (default 100000 and 10000)
// Times are CPU time of this thread, best of several rounds. The cluster is synthetic: 1,000 nodes of 64 CPUs, half of them allocated to
// users of 100 accounts, ten jobs a node; one more user has WAITING jobs, each with its own specification, and a full account.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "core/accounts/limits/limit_use.h"
#include "core/sched/pass/plan.h"
#include "core/state/indexes.h"
#include "model/engine/state.h"

namespace ares::core {
namespace {

constexpr Time kStart{std::chrono::hours(400'000)};
constexpr std::uint32_t kNodes = 1000, kAccounts = 100;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <class SearchBudget>
double best_of(int turns, SearchBudget&& work) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < turns; ++i) {
    const double begin = cpu_seconds();
    work();
    best = std::min(best, cpu_seconds() - begin);
  }
  return best;
}

class Site {
 public:
  Site(std::uint32_t waiting, std::uint32_t holders) {
    policy.accounting.enforce = Enforce::limits;
    policy.backfill = {BackfillKind::easy, 1};
    add_records(holders);
    Partition main;
    main.name = "main";
    for (std::uint32_t i = 0; i < kNodes; ++i) {
      Node node;
      node.id = state.next_node_id;
      state.next_node_id = node.id.next();
      node.name = "n" + std::to_string(i);
      node.contact = Contact::registered;
      node.inventory.cpus = 64;
      node.inventory.memory = Bytes::gib(256);
      main.nodes.push_back(node.name);
      state.node_ids.set(node.name, node.id);
      if (i % 2 == 0)
        for (std::uint32_t j = 0; j < 10; ++j) {
          const std::uint32_t holder = (i / 2 * 10 + j) % holders;
          run(node, account_of(holder), "u" + std::to_string(holder));
        }
      else if (i == 1)
        run(node, "full", "ada");
      const NodeId id = node.id;
      state.nodes.set(id, std::move(node));
    }
    put_partition(state, main);
    for (std::uint32_t i = 0; i < holders; ++i) wait(account_of(i), "u" + std::to_string(i));
    for (std::uint32_t i = 0; i < waiting; ++i) wait("full", "ada");
    rebuild_indexes(state);
  }

  ClusterState state;
  Policy policy;
  Time now = kStart;

  static std::string account_of(std::uint32_t holder) {
    return "a" + std::to_string(holder % kAccounts);
  }

  // Ends one running job, on the next busy node.
  void end_one() {
    const NodeId id{1 + 2 * (ended_++ % (kNodes / 2))};
    Node node = *state.nodes.find(id);
    if (node.charges.empty()) return;
    const JobKey key = node.charges.back().attempt.job;
    node.charges.pop_back();
    state.nodes.set(id, std::move(node));
    const Job job = *state.jobs.find(key);
    count_current_usage(state, &job, nullptr);
    state.jobs.erase(key);
    now += std::chrono::seconds(1);
  }

 private:
  template <class Record>
  void put(Record record) {
    AccountingRecord any(std::move(record));
    const RecordKey key = key_of(any);
    state.accounting.set(key, std::move(any));
  }

  void add_account(const std::string& name, const std::string& parent, Limits limits) {
    Account account;
    account.name = name;
    account.parent = parent;
    account.id = AssociationId(next_++);
    account.terms.limits = std::move(limits);
    put(std::move(account));
  }
  void add_user(const std::string& account, const std::string& name) {
    Association member;
    member.key = {account, name, {}};
    member.id = AssociationId(next_++);
    put(std::move(member));
  }

  void add_records(std::uint32_t holders) {
    add_account("root", "", {{LimitKind::grp_submit_jobs, "", 100'000'000}});
    Qos normal;
    normal.name = "normal";
    normal.id = QosId(next_++);
    put(std::move(normal));
    add_account("full", "root", {{LimitKind::grp_tres, "cpu", 4}});
    add_user("full", "ada");
    for (std::uint32_t i = 0; i < kAccounts; ++i)
      add_account("a" + std::to_string(i), "root", {{LimitKind::grp_tres, "cpu", 1'000'000}});
    for (std::uint32_t i = 0; i < holders; ++i) add_user(account_of(i), "u" + std::to_string(i));
  }

  Job job_of(const std::string& account, const std::string& user) {
    JobSpec spec;
    spec.name = "job" + std::to_string(state.next_job_id.value());
    spec.partitions = {"main"};
    spec.account = account;
    spec.user = user;
    spec.min_nodes = spec.max_nodes = 1;
    spec.cpus_per_task = 4;
    spec.memory_per_cpu = Bytes::gib(1);
    spec.time_limit = std::chrono::minutes(60 + state.next_job_id.value() % 600);
    Job job;
    job.key = {state.next_job_id, TaskIndex{}};
    job.own_id = job.key.job;
    state.next_job_id = job.own_id.next();
    job.time_limit = spec.time_limit;
    job.spec = std::make_shared<const JobSpec>(std::move(spec));
    job.submitted = job.eligible = now;
    job.version = Lsn(++version_);
    return job;
  }

  void wait(const std::string& account, const std::string& user) {
    Job job = job_of(account, user);
    // Jobs of other users must not start: they wait for a busy node.
    if (account != "full") {
      JobSpec spec = *job.spec;
      spec.cpus_per_task = 64;
      spec.required_nodes = {"n0"};
      job.spec = std::make_shared<const JobSpec>(std::move(spec));
    }
    const JobKey key = job.key;
    state.jobs.set(key, std::move(job));
  }

  void run(Node& node, const std::string& account, const std::string& user) {
    Job job = job_of(account, user);
    job.state = JobState::running;
    job.attempt = job.attempt.next();
    job.started = now;
    NodeShare share;
    share.node = node.id;
    share.cpus = 4;
    share.memory = Bytes::gib(4);
    node.charges.push_back({{job.key, job.attempt},
                            Fence(version_),
                            share.cpus,
                            share.memory,
                            {},
                            {},
                            UserId(1),
                            false});
    job.allocation = Allocation{Fence(version_), "main", now, {share}, job.time_limit, {}};
    const JobKey key = job.key;
    state.jobs.set(key, std::move(job));
  }

  std::uint64_t version_ = 1, next_ = 1;
  std::uint32_t ended_ = 0;
};

void measure(std::uint32_t waiting, std::uint32_t holders) {
  Site site(waiting, holders);
  Budget budget;
  budget.units = ~std::uint64_t{0};
  budget.details = false;
  budget.estimates = 0;
  std::size_t over = 0;
  const double whole = best_of(3, [&] {
    const Plan plan = core::plan(site.state, site.policy, budget, site.now);
    over = 0;
    plan.pending.for_each([&](const JobKey&, const PendingInfo& info) {
      over += info.reason == Reason::limit ? 1 : 0;
    });
  });
  std::printf("%u jobs over a limit of %zu that wait, %u holders\n", waiting,
              std::size_t{waiting} + holders, holders);
  std::printf("  whole pass                      %9.3f ms  (%zu said to be over it)\n", whole * 1e3,
              over);
  Planner planner;
  planner.plan(site.state, site.policy, budget, site.now);
  const double next = best_of(10, [&] {
    site.end_one();
    planner.plan(site.state, site.policy, budget, site.now);
  });
  std::printf("  after a job ended               %9.3f ms\n", next * 1e3);

  const JobSpec spec = *site.state.jobs.find(JobKey{JobId{1}, {}})->spec;
  const auto submit = [&](UsageTotals* kept) {
    LimitUse use(site.state, site.policy, site.now, kept);
    if (use.over_submitted(spec, "main", 1)) std::abort();
  };
  const double anew = best_of(10, [&] { submit(nullptr); });
  UsageTotals kept;
  submit(&kept);
  const double remembered = best_of(10, [&] {
    site.end_one();
    submit(&kept);
  });
  std::printf("  a submission, counted anew      %9.3f ms\n", anew * 1e3);
  std::printf("  a submission, sums remembered   %9.3f ms\n", remembered * 1e3);
}

}  // namespace
}  // namespace ares::core

int main(int argc, char** argv) {
  const auto number = [&](int at, std::uint32_t otherwise) {
    return argc > at ? static_cast<std::uint32_t>(std::strtoul(argv[at], nullptr, 10)) : otherwise;
  };
  ares::core::measure(number(1, 100'000), number(2, 10'000));
}
