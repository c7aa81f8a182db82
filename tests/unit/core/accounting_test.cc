// Tests: accounts, decide_accounting, membership
// Changes of accounting records by command: their effect, refusals, permissions, and the rules that they impose on jobs.
#include <gmock/gmock.h>

#include "core/accounts/account_directory.h"
#include "core/accounts/usage/shares.h"
#include "core/sched/pass/plan.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Verb = AccountingChange::Verb;

Account account(const std::string& name, const std::string& parent = "root") {
  Account a;
  a.name = name;
  a.parent = parent;
  return a;
}
User user(const std::string& name, const std::string& account = {}) {
  User u;
  u.name = name;
  u.default_account = account;
  return u;
}
Association member(const std::string& user, const std::string& account,
                   const std::string& partition = {}) {
  Association a;
  a.key = {account, user, partition};
  return a;
}
Qos qos(const std::string& name, std::uint32_t priority = 0) {
  Qos q;
  q.name = name;
  q.priority = priority;
  return q;
}

Policy enforcing() {
  Policy policy = Cluster::default_policy();
  policy.accounting.enforce = Enforce::associations;
  return policy;
}

class AccountingTest : public testing::Test {
 protected:
  std::string change(std::vector<AccountingChange> changes, UserId by = kOperator) {
    const Reply reply = c.user(by, ChangeAccounting{std::move(changes)});
    return reply.failed ? reply.error.message : "";
  }
  std::string add(std::vector<AccountingRecord> records, UserId by = kOperator) {
    std::vector<AccountingChange> changes;
    for (AccountingRecord& record : records) changes.push_back({Verb::add, std::move(record), {}});
    return change(std::move(changes), by);
  }
  const AccountingRecord& at(const RecordKey& key) { return *c.state().accounting.find(key); }
  // A change of a stored record, based on its current version.
  AccountingChange with(Verb verb, AccountingRecord record) {
    const Lsn seen = changed_at(at(key_of(record)));
    return {verb, std::move(record), seen};
  }
  std::string modify(AccountingRecord record, UserId by = kOperator) {
    return change({with(Verb::modify, std::move(record))}, by);
  }
  std::string remove(AccountingRecord record, UserId by = kOperator) {
    return change({with(Verb::remove, std::move(record))}, by);
  }
  void found_physics() {
    ASSERT_EQ(add({account("science"), account("physics", "science"), user("alice", "physics"),
                   member("alice", "physics"), user("bob", "science"), member("bob", "science"),
                   qos("high", 100)}),
              "");
  }

  Cluster c{4, enforcing()};
};

TEST_F(AccountingTest, FirstChangeCreatesRootAccountAndNormalQos) {
  ASSERT_EQ(add({account("physics")}), "");
  const auto& records = c.state().accounting;
  ASSERT_TRUE(find_account(records, "root"));
  EXPECT_EQ(find_account(records, "root")->id, kRootAssociation);
  ASSERT_TRUE(find_qos(records, "normal"));
  EXPECT_EQ(find_qos(records, "normal")->id, kNormalQosId);
  EXPECT_GT(find_account(records, "physics")->id.value(), 1u);
  EXPECT_EQ(c.state().next_record_id, find_account(records, "physics")->id.value() + 1);
}

TEST_F(AccountingTest, IdsAreNeverReused) {
  ASSERT_EQ(add({account("a")}), "");
  const auto first = find_account(c.state().accounting, "a")->id;
  ASSERT_EQ(remove(account("a")), "");
  ASSERT_EQ(add({account("a")}), "");
  EXPECT_GT(find_account(c.state().accounting, "a")->id, first);
}

TEST_F(AccountingTest, ChangesAreAllOrNothing) {
  EXPECT_THAT(add({account("physics"), member("alice", "physics")}),
              HasSubstr("there is no user alice"));
  EXPECT_TRUE(c.state().accounting.empty());
}

TEST_F(AccountingTest, ReferencesBetweenRecordsAreChecked) {
  found_physics();
  EXPECT_THAT(add({account("x", "nowhere")}), HasSubstr("there is no account nowhere"));
  EXPECT_THAT(add({account("physics")}), HasSubstr("exists already"));
  EXPECT_THAT(remove(account("science")),
              HasSubstr("account physics still refers to account science"));
  EXPECT_THAT(remove(member("alice", "physics")), HasSubstr("default account physics"));
  EXPECT_THAT(remove(user("alice")),
              HasSubstr("user alice in account physics still refers to user alice"));
  Account in_a_circle = std::get<Account>(at({RecordKind::account, "science", {}, {}}));
  in_a_circle.parent = "physics";
  EXPECT_THAT(modify(in_a_circle), HasSubstr("above itself"));
  EXPECT_THAT(remove(account("root")), HasSubstr("cannot be removed"));
  EXPECT_EQ(
      change({with(Verb::remove, account("physics")),
              with(Verb::remove, member("alice", "physics")), with(Verb::remove, user("alice"))}),
      "");
}

TEST_F(AccountingTest, QosInUseCannotBeRemoved) {
  found_physics();
  Association association = member("alice", "physics");
  association.terms.qos = {"normal", "high"};
  association.terms.default_qos = "high";
  ASSERT_EQ(modify(association), "");
  EXPECT_THAT(std::get<Association>(at(key_of(association))).terms.qos,
              ElementsAre("high", "normal"));
  EXPECT_THAT(remove(qos("high")), HasSubstr("still refers to QOS high"));
  association.terms.default_qos = "low";
  EXPECT_THAT(modify(association), HasSubstr("there is no QOS low"));
  association.terms.default_qos = "high";
  association.terms.qos = {"normal"};
  EXPECT_THAT(modify(association), HasSubstr("not one of those it may use"));
}

TEST_F(AccountingTest, UnknownMisplacedAndDuplicateLimitsAreRefused) {
  found_physics();
  Account physics = std::get<Account>(at({RecordKind::account, "physics", {}, {}}));
  physics.terms.limits = {{LimitKind::max_tres_per_job, "gres/gpu:a100", 4},
                          {LimitKind::max_tres_per_job, "cpu", 8}};
  ASSERT_EQ(modify(physics), "");
  EXPECT_EQ(limit_of(find_account(c.state().accounting, "physics")->terms.limits,
                     LimitKind::max_tres_per_job, "cpu"),
            8u);
  physics.terms.limits = {{LimitKind::max_tres_per_job, "bananas", 4}};
  EXPECT_THAT(modify(physics), HasSubstr("\"bananas\" is nothing that can be limited"));
  physics.terms.limits = {{LimitKind::min_tres_per_job, "cpu", 4}};
  EXPECT_THAT(modify(physics), HasSubstr("is a limit of a QOS"));
  physics.terms.limits = {{LimitKind::max_wall, "", 4}, {LimitKind::max_wall, "", 5}};
  EXPECT_THAT(modify(physics), HasSubstr("given twice"));
}

TEST_F(AccountingTest, ChangeOfAnOutdatedVersionIsRefused) {
  found_physics();
  Account physics = std::get<Account>(at({RecordKind::account, "physics", {}, {}}));
  const AccountingChange mine = with(Verb::modify, physics);
  physics.description = "theirs";
  ASSERT_EQ(modify(physics), "");
  EXPECT_THAT(change({mine}), HasSubstr("changed meanwhile"));
  EXPECT_EQ(find_account(c.state().accounting, "physics")->description, "theirs");
}

TEST_F(AccountingTest, OnlyOperatorsAndCoordinatorsMayChangeRecords) {
  found_physics();
  ASSERT_EQ(add({user("carol", "")}), "");
  EXPECT_THAT(add({account("mine")}, kBob), HasSubstr("user bob may not add account mine"));
  EXPECT_THAT(add({member("carol", "physics")}, kBob), HasSubstr("may not"));
  Account science = std::get<Account>(at({RecordKind::account, "science", {}, {}}));
  science.coordinators = {"bob"};
  ASSERT_EQ(modify(science), "");

  EXPECT_EQ(add({member("carol", "physics")}, kBob), "") << "below the account of the coordinator";
  EXPECT_EQ(add({account("chemistry", "science")}, kBob), "");
  EXPECT_EQ(add({user("dave", "chemistry"), member("dave", "chemistry")}, kBob), "");
  EXPECT_THAT(add({account("mine")}, kBob), HasSubstr("may not"));
  EXPECT_THAT(add({qos("mine")}, kBob), HasSubstr("may not"));
  EXPECT_THAT(add({user("erin")}, kBob), HasSubstr("may not"))
      << "without adding her to an account";
  science.terms.shares = 1000;
  EXPECT_THAT(modify(science, kBob), HasSubstr("may not"))
      << "the account itself is not below itself";
  Association association = member("bob", "science");
  association.terms.qos = {"high"};
  EXPECT_THAT(modify(association, kBob), HasSubstr("may not"))
      << "a QOS that the account does not have";
  EXPECT_EQ(modify(user("carol", "physics"), kOperator), "");
  EXPECT_THAT(modify(user("carol", ""), kBob), HasSubstr("may not"));
  EXPECT_EQ(modify(user("alice", ""), kAlice), "") << "users may change their own defaults";
}

TEST_F(AccountingTest, CoordinatorsRemoveTheUsersThatTheyAdded) {
  found_physics();
  Account science = std::get<Account>(at({RecordKind::account, "science", {}, {}}));
  science.coordinators = {"bob"};
  ASSERT_EQ(modify(science), "");
  ASSERT_EQ(add({user("dave", "physics"), member("dave", "physics")}, kBob), "");
  EXPECT_THAT(change({with(Verb::modify, user("dave", ""))}, kBob), HasSubstr("may not modify"))
      << "the default alone";
  EXPECT_EQ(
      change({with(Verb::remove, member("dave", "physics")), with(Verb::modify, user("dave", ""))},
             kBob),
      "");
  EXPECT_EQ(find_user(c.state().accounting, "dave")->default_account, "");
  EXPECT_EQ(change({{Verb::add, member("dave", "physics"), {}},
                    with(Verb::modify, user("dave", "physics"))},
                   kBob),
            "")
      << "and back";
  EXPECT_EQ(find_user(c.state().accounting, "dave")->default_account, "physics");

  // A default account that the coordinator has nothing to do with.
  ASSERT_EQ(add({account("art"), member("dave", "art")}), "");
  ASSERT_EQ(modify(user("dave", "art")), "");
  EXPECT_THAT(
      change({with(Verb::remove, member("dave", "physics")), with(Verb::modify, user("dave", ""))},
             kBob),
      HasSubstr("may not modify user dave"));
}

TEST_F(AccountingTest, JobsRunOnAccountsOfTheirUsers) {
  JobSpec job = Cluster::spec(kAlice);
  EXPECT_THAT(c.try_submit(job).error.message, HasSubstr("user alice is in no account"));
  found_physics();
  const JobKey filled = c.submit(job);
  EXPECT_EQ(c.state().jobs.find(filled)->spec->account, "physics") << "her default";
  EXPECT_EQ(c.state().jobs.find(filled)->spec->qos, "normal");
  job.account = "science";
  EXPECT_THAT(c.try_submit(job).error.message,
              testing::AllOf(HasSubstr("not in account science"),
                             HasSubstr("the user's accounts are physics")));
  job.account = "nowhere";
  EXPECT_THAT(c.try_submit(job).error.message, HasSubstr("there is no account nowhere"));
  job.account = "physics";
  job.qos = "high";
  EXPECT_THAT(c.try_submit(job).error.message, HasSubstr("may not use QOS high"));
  job.qos = "none";
  EXPECT_THAT(c.try_submit(job).error.message, HasSubstr("there is no QOS none"));
  Account science = std::get<Account>(at({RecordKind::account, "science", {}, {}}));
  science.terms.qos = {"high", "normal"};
  ASSERT_EQ(modify(science), "");
  job.qos = "high";
  EXPECT_FALSE(c.try_submit(job).failed) << "from the account above";
}

TEST_F(AccountingTest, AssociationMayBeLimitedToOnePartition) {
  ASSERT_EQ(add({account("physics"), user("alice", "physics"), member("alice", "physics", "gpu")}),
            "");
  JobSpec job = Cluster::spec(kAlice);
  EXPECT_THAT(c.try_submit(job).error.message, HasSubstr("the user may use other partitions only"));
  ASSERT_EQ(add({member("alice", "physics", "main")}), "");
  EXPECT_FALSE(c.try_submit(job).failed);
}

TEST_F(AccountingTest, JobsOfARemovedAssociationDoNotStart) {
  found_physics();
  const JobKey runs = c.submit(Cluster::spec(kAlice));
  const JobKey waits = c.submit(Cluster::spec(kAlice));
  c.allocate(runs, {1});
  ASSERT_EQ(change({with(Verb::remove, member("alice", "physics")),
                    with(Verb::modify, user("alice", ""))}),
            "");
  EXPECT_NE(c.state().jobs.find(runs)->state, JobState::pending) << "what runs goes on";
  c.plan({c.group(waits, {2})});
  EXPECT_EQ(c.job(waits).state, JobState::pending) << "a plan from before is not taken";
  const Plan next = plan(c.state(), enforcing(), Budget{}, c.now);
  ASSERT_TRUE(next.pending.find(waits));
  EXPECT_EQ(next.pending.find(waits)->reason, Reason::invalid_account);
  EXPECT_TRUE(next.groups.empty());
}

TEST_F(AccountingTest, WithoutEnforcementAnyAccountAndQosIsAccepted) {
  Cluster open;
  EXPECT_FALSE(open.try_submit(Cluster::spec(kAlice)).failed);
  JobSpec job = Cluster::spec(kAlice);
  job.account = "anything";
  job.qos = "whatever";
  EXPECT_FALSE(open.try_submit(job).failed);
}

TEST(Shares, FollowFromAccountingRecords) {
  Accounting records;
  const auto put = [&](AccountingRecord record) {
    const RecordKey key = key_of(record);
    records.set(key, std::move(record));
  };
  Account root;
  root.name = "root";
  put(root);
  Account physics = account("physics");
  physics.terms.shares = 30;
  put(physics);
  Association alice = member("alice", "physics");
  alice.terms.shares = std::nullopt;
  put(alice);
  put(member("alice", "physics", "gpu"));
  put(member("bob", "root"));
  put(qos("high", 7));
  const auto configured = std::make_shared<const Fairness>();
  const auto rules = with_records(configured, records);
  ASSERT_EQ(rules->tree.size(), 3u) << "one line a user and account";
  EXPECT_FALSE(problem_of(rules->tree)) << problem_of(rules->tree)->text;
  EXPECT_EQ(rules->tree[0].account, "physics");
  EXPECT_EQ(rules->tree[0].shares, 30u);
  EXPECT_EQ(rules->tree[1].user, "alice");
  EXPECT_EQ(rules->tree[1].shares, std::nullopt);
  EXPECT_EQ(rules->tree[2].account, "") << "of the root itself";
  EXPECT_EQ(rules->qos.at("high"), 7u);
  EXPECT_EQ(with_records(configured, {}), configured);
}

}  // namespace
}  // namespace ares::core
