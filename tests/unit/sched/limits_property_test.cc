// Tests: usage_totals, applicable_limits
// Limits on running jobs along random lives: what a plan starts stays within them, every job that
// waits for a limit would exceed it, and a planner with kept state plans the same as a new one. Use
// is counted here job by job.
#include <gtest/gtest.h>

#include <map>

#include "core/accounts/account_directory.h"
#include "core/accounts/requested.h"
#include "core/sched/pass/plan_text.h"
#include "core/state/indexes.h"
#include "unit/sched/random_cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;

const std::vector<std::string> kAccounts{"root", "a", "b", "a1"};
const std::vector<std::string> kUsers{"u1", "u2"};

// Account root with children a and b, a1 below a, every user in b and a1; QOS normal and short.
class Site {
 public:
  explicit Site(TestCluster& cluster) : cluster_(cluster) {
    cluster.policy.accounting.enforce = Enforce::limits;
    for (const std::string& name : kAccounts) {
      Account account;
      account.name = name;
      account.id = AssociationId(number_++);
      account.parent = name == "root" ? "" : name == "a1" ? "a" : "root";
      account.terms.qos = {"normal", "short"};
      put(std::move(account));
    }
    for (const char* const name : {"normal", "short"}) {
      Qos qos;
      qos.name = name;
      qos.id = QosId(number_++);
      put(std::move(qos));
    }
    for (const std::string& user : kUsers)
      for (const char* const account : {"b", "a1"}) {
        Association member;
        member.key = {account, user, {}};
        member.id = AssociationId(number_++);
        put(std::move(member));
      }
  }

  void put(AccountingRecord record) {
    const RecordKey key = key_of(record);
    cluster_.state.accounting.set(key, std::move(record));
  }

  // Sets another limit on a random record, or removes it.
  void change(Random& dice) {
    using enum LimitKind;
    const LimitKind group[] = {grp_jobs, grp_tres, max_jobs},
                    of_qos[] = {grp_jobs,
                                grp_tres,
                                max_jobs_per_user,
                                max_tres_per_user,
                                max_tres_per_account,
                                max_jobs_per_account},
                    aging[] = {grp_jobs_accrue, max_jobs_accrue},
                    qos_aging[] = {grp_jobs_accrue, max_jobs_accrue_per_user,
                                   max_jobs_accrue_per_account};
    const bool qos = dice.percent(40), ages = dice.percent(30);
    const LimitKind kind = qos    ? (ages ? qos_aging[dice.upto(2)] : of_qos[dice.upto(5)])
                           : ages ? aging[dice.upto(1)]
                                  : group[dice.upto(2)];
    Limits limits;
    if (dice.percent(80)) {
      const bool tres = row_of(kind).unit == LimitUnit::tres;
      const char* const of[] = {"cpu", "node", "gres/gpu"};
      limits.push_back(
          {kind, tres ? of[dice.upto(2)] : "", std::uint64_t{1} + dice.upto(tres ? 8 : 4)});
    }
    if (qos) {
      Qos changed = *find_qos(cluster_.state.accounting, dice.percent(50) ? "normal" : "short");
      changed.limits = limits;
      return put(std::move(changed));
    }
    if (dice.percent(70)) {
      Account changed = *find_account(cluster_.state.accounting, kAccounts[dice.upto(3)]);
      changed.terms.limits = limits;
      return put(std::move(changed));
    }
    Association changed = *find_association(cluster_.state.accounting,
                                            dice.percent(50) ? "b" : "a1", kUsers[dice.upto(1)]);
    changed.terms.limits = limits;
    put(std::move(changed));
  }

 private:
  TestCluster& cluster_;
  std::uint64_t number_ = 1;
};

// Use of all jobs under one limit name.
struct Use {
  std::uint64_t jobs = 0;
  std::uint64_t aging = 0;
  std::map<std::string, std::uint64_t> tres;
};

Use one_aging() {
  Use use;
  use.aging = 1;
  return use;
}

// The use under each limit, by its name ("GrpJobs|account a", "MaxTRESPerUser|cpu|QOS short|u1").
class Ledger {
 public:
  explicit Ledger(const ClusterState& state) : state_(state) {
    state.jobs.for_each([&](const JobKey&, const Job& job) {
      if (job.allocation && holds_resources(job.state)) add(*job.spec, job.allocation->nodes);
      if (job.accrues && is_queued(job)) add(*job.spec, one_aging());
    });
  }

  void add(const JobSpec& spec, const NodeShares& nodes) {
    Use use{1, 0, {{"node", nodes.size()}}};
    for (const NodeShare& share : nodes) {
      use.tres["cpu"] += share.cpus;
      use.tres["gres/gpu"] += share.gpus.size() * (share.gpu_part > 0 ? share.gpu_part : 1000);
    }
    add(spec, use);
  }

  void add(const JobSpec& spec, const Use& use) {
    for (const std::string& whose : parties(spec)) {
      Use& sum = uses_[whose];
      sum.jobs += use.jobs;
      sum.aging += use.aging;
      for (const auto& [tres, amount] : use.tres) sum.tres[tres] += amount;
    }
  }

  // Whether some QOS has a limit on each user's jobs, which overrides MaxJobs. What MaxJobs then
  // limits depends on each job's QOS.
  bool counted_by_qos(LimitKind kind = LimitKind::max_jobs_per_user) const {
    const auto has = [&](const char* qos) {
      return limit_of(find_qos(state_.accounting, qos)->limits, kind).has_value();
    };
    return has("normal") || has("short");
  }

  // Every exceeded limit, and by how much.
  std::map<std::string, std::uint64_t> exceeded() const {
    std::map<std::string, std::uint64_t> out;
    const auto look = [&](const Limit& limit, const std::string& whose) {
      const auto found = uses_.find(whose);
      if (found == uses_.end()) return;
      const std::uint64_t scale = limit.tres == "gres/gpu" ? 1000 : 1;
      const auto amount = found->second.tres.find(limit.tres);
      const bool ages = row_of(limit.kind).name.find("Accrue") != std::string_view::npos;
      const std::uint64_t used = ages                                 ? found->second.aging
                                 : limit.tres.empty()                 ? found->second.jobs
                                 : amount == found->second.tres.end() ? 0
                                                                      : amount->second;
      if (used > limit.value * scale)
        out[std::string(row_of(limit.kind).name) + "|" + limit.tres + "|" + whose] = used;
    };
    for (const std::string& user : kUsers)
      for (const char* const account : {"b", "a1"})
        for (const char* const qos : {"normal", "short"}) each_limit(account, user, qos, look);
    return out;
  }

 private:
  static std::vector<std::string> parties(const JobSpec& spec) {
    std::vector<std::string> out{"user " + spec.user + " in " + spec.account,
                                 "account root",
                                 "QOS " + spec.qos,
                                 "QOS " + spec.qos + " user " + spec.user,
                                 "QOS " + spec.qos + " account " + spec.account,
                                 "account " + std::string(spec.account == "a1" ? "a" : "b")};
    if (spec.account == "a1") out.emplace_back("account a1");
    return out;
  }

  template <class Look>
  void each_limit(const std::string& account, const std::string& user, const std::string& qos,
                  const Look& look) const {
    using enum LimitKind;
    const Accounting& records = state_.accounting;
    const std::string member = "user " + user + " in " + account;
    for (const Limit& limit : find_qos(records, qos)->limits) {
      const bool each_user = limit.kind == max_jobs_per_user || limit.kind == max_tres_per_user ||
                             limit.kind == max_jobs_accrue_per_user;
      const bool each_account = limit.kind == max_jobs_per_account ||
                                limit.kind == max_tres_per_account ||
                                limit.kind == max_jobs_accrue_per_account;
      look(limit, "QOS " + qos +
                      (each_user      ? " user " + user
                       : each_account ? " account " + account
                                      : ""));
    }
    std::map<LimitKind, bool> own{{max_jobs, counted_by_qos()},  // the nearest limit applies
                                  {max_jobs_accrue, counted_by_qos(max_jobs_accrue_per_user)}};
    const auto terms = [&](const Terms& of, const std::string& whose) {
      std::map<LimitKind, bool> here = own;
      for (const Limit& limit : of.limits) {
        const auto max = here.find(limit.kind);
        if (max != here.end() && own.at(limit.kind)) continue;
        if (max != here.end()) max->second = true;
        look(limit, max != here.end() ? member : whose);
      }
      own = here;
    };
    terms(find_association(records, account, user)->terms, member);
    for (std::string at = account; !at.empty(); at = find_account(records, at)->parent)
      terms(find_account(records, at)->terms, "account " + at);
  }

  const ClusterState& state_;
  std::map<std::string, Use> uses_;
};

void submit_as(TestCluster& cluster, Random& dice) {
  JobSpec spec = random_spec(dice);
  spec.user = kUsers[dice.upto(1)];
  spec.account = dice.percent(50) ? "b" : "a1";
  spec.qos = dice.percent(50) ? "normal" : "short";
  if (dice.percent(15)) {  // a pair that starts together
    spec.array.reset();
    spec.partitions = {"main"};
    spec.gang =
        GangRequest{"g" + std::to_string(cluster.state.next_job_id.value()), 2, 0, std::nullopt};
    cluster.submit(spec);
  }
  cluster.submit(std::move(spec));
}

void let_age(TestCluster& cluster, const Plan& plan) {
  for (const Accruing& one : plan.accruing) {
    Job job = *cluster.state.jobs.find(one.key);
    job.accrues = one.since;
    job.version = Lsn(job.version.value() + 1'000'000);
    cluster.put(std::move(job));
  }
}

TEST(LimitsProperty, HoldAlongRandomLivesAndIncrementalPlansMatch) {
  int started = 0, refused = 0, exceeded = 0, kept = 0, aged = 0;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    add_nodes(cluster, dice);
    Site site(cluster);
    cluster.policy.backfill = {static_cast<BackfillKind>(seed % 3), 1 + dice.upto(3)};
    Planner planner;
    Time now = kNow;
    Budget budget;
    budget.details = seed % 2 == 0;
    for (int step = 0; step < 20; ++step) {
      for (std::uint32_t i = dice.upto(4); i > 0; --i) submit_as(cluster, dice);
      if (dice.percent(50)) site.change(dice);
      if (dice.percent(10)) disturb(cluster, dice);
      const Plan plan = planner.plan(cluster.state, cluster.policy, budget, now);
      ASSERT_EQ(plan_text(plan), plan_text(cluster.plan(now, budget)))
          << "seed " << seed << " step " << step;
      ClusterState again = cluster.state;
      rebuild_indexes(again);
      ASSERT_EQ(again.current_usage, cluster.state.current_usage)
          << "seed " << seed << " step " << step;

      const auto before = Ledger(cluster.state).exceeded();
      Ledger ledger(cluster.state);
      for (const PlanGroup& group : plan.groups)
        for (const Start& start : group.starts) {
          const Job* job = cluster.state.jobs.find(record_of(group, start));
          ledger.add(*job->spec, start.nodes);
          ++started;
        }
      for (const Accruing& one : plan.accruing) {
        const Job& job = *cluster.state.jobs.find(one.key);
        ASSERT_FALSE(job.accrues || one.since < job.eligible || one.since > now);
        ledger.add(*job.spec, one_aging());
        ++aged;
      }
      // If a limit was lowered below the current use, no further job may start under it.
      ASSERT_EQ(ledger.exceeded(), before) << "seed " << seed << " step " << step;
      exceeded += before.empty() ? 0 : 1;
      plan.pending.for_each([&](const JobKey& key, const PendingInfo& info) {
        if (info.reason != Reason::limit) return;
        const Job& job = *cluster.state.jobs.find(key);
        // It exceeds the limit together with the other member.
        if (waits_with_gang(job)) return;
        if (info.detail.starts_with("MaxJobs of") && ledger.counted_by_qos()) return;
        if (info.detail.find(" is kept for ") != std::string::npos) {
          ++kept;
          // Within the limit, but not first in the queue.
          return;
        }
        ++refused;
        // Adding the request of the job to running and starting jobs exceeds a limit that was not
        // exceeded before. Of a job whose allocation is larger than its request only the planner
        // knows how much it would be allocated; then the test can check only that the limit applies
        // to the job.
        Use asked{1, 0, {}};
        const Partition main = cluster.partition();
        const bool would_get = info.detail.find("would get") != std::string::npos;
        for (const char* const tres : {"cpu", "node", "gres/gpu"})
          asked.tres[tres] = would_get ? 1'000'000 : requested(*job.spec, &main, tres);
        Ledger with = ledger;
        with.add(*job.spec, asked);
        ASSERT_NE(with.exceeded(), before) << "seed " << seed << " step " << step << ": job "
                                           << key.job.value() << " waits for " << info.detail;
      });
      if (dice.percent(80)) {
        let_age(cluster, plan);
        cluster.take(plan, now);
      }
      for (const JobKey& key : running(cluster))
        if (dice.percent(30)) cluster.end(key);
      now += minutes(dice.upto(20));
    }
  }
  EXPECT_GT(started, 3000);
  EXPECT_GT(refused, 3000);
  EXPECT_GT(exceeded, 100);
  EXPECT_GT(kept, 100);
  EXPECT_GT(aged, 300);
}

}  // namespace
}  // namespace ares::core::sched
