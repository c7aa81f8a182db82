// Tests: apply_bookkeeping
// A request takes effect once, however often it is sent; every command is recorded in the audit trail.
#include "core/job/decide/decide.h"
#include "core/state/indexes.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

Submit submission(const std::string& name = "test") {
  JobSpec s = Cluster::spec();
  s.name = name;
  return Submit{std::make_shared<const JobSpec>(std::move(s)), {}};
}

TEST(Request, SameIdAndContentReturnTheSameJob) {
  Cluster c;
  const Reply first = c.user(kAlice, submission(), "x", 1);
  const Reply again = c.user(kAlice, submission(), "x", 1);
  EXPECT_EQ(first.jobs, again.jobs);
  EXPECT_EQ(first.text, again.text);
  EXPECT_EQ(c.happened<Submitted>(), 1u);
}

TEST(Request, OtherContentWithAUsedIdIsRefused) {
  Cluster c;
  const Reply first = c.user(kAlice, submission(), "x", 1);
  const Reply other = c.user(kAlice, submission("other"), "x", 2);
  ASSERT_TRUE(other.failed);
  EXPECT_EQ(other.error.code, ErrorCode::already_exists);
  EXPECT_NE(other.error.message.find("job " + std::to_string(first.jobs[0].job.value())),
            std::string::npos);
  EXPECT_EQ(c.happened<Submitted>(), 1u);
}

TEST(Request, IdsOfTwoUsersAreIndependent) {
  Cluster c;
  c.user(kAlice, submission(), "x", 1);
  JobSpec s = Cluster::spec(kBob);
  const Reply bob = c.user(kBob, Submit{std::make_shared<const JobSpec>(s), {}}, "x", 2);
  EXPECT_FALSE(bob.failed);
  EXPECT_EQ(c.happened<Submitted>(), 2u);
}

TEST(Request, RetriedRequeueActsOnce) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  RequeueJobs requeue{Cluster::named(key), false};
  EXPECT_FALSE(c.user(kAlice, requeue, "again").failed);
  c.progress(1, key, AttemptPhase::done);
  c.start(key, {2});
  EXPECT_FALSE(c.user(kAlice, requeue, "again").failed);
  EXPECT_EQ(c.job(key).state, JobState::running) << "the retry must not stop the second attempt";
  EXPECT_EQ(c.job(key).restarts, 1u);
}

TEST(Request, IsForgottenAfterItsRetention) {
  Cluster c;
  c.user(kAlice, submission(), "x", 1);
  EXPECT_EQ(c.state().requests.size(), 1u);
  c.tick(c.policy->request_retention - Seconds{1});
  EXPECT_EQ(c.state().requests.size(), 1u);
  c.tick(Seconds{1});
  EXPECT_EQ(c.state().requests.size(), 0u);
}

// A client that repeats its request after the controller was away for days, or after its clock was set.
TEST(Request, IsKeptForTheFirstHourOfAController) {
  Cluster c;
  c.user(kAlice, submission(), "x", 1);
  c.now += c.policy->request_retention * 3;
  c.run({Activate{Epoch{2}, "host"}});
  c.tick(Seconds{3599});
  EXPECT_TRUE(c.user(kAlice, submission(), "x", 1).repeated);
  c.tick(Seconds{1});
  EXPECT_EQ(c.state().requests.size(), 0u);
}

TEST(Request, RefusalIsNotRecorded) {
  Cluster c;
  const JobKey key = c.submit();
  RequeueJobs requeue{Cluster::named(key), false};
  EXPECT_TRUE(c.user(kAlice, requeue, "x").failed) << "it is pending";
  c.start(key, {1});
  EXPECT_FALSE(c.user(kAlice, requeue, "x").failed);
}

TEST(Request, RepeatedReplyIsMarked) {
  Cluster c;
  EXPECT_FALSE(c.user(kAlice, submission(), "x", 1).repeated);
  EXPECT_TRUE(c.user(kAlice, submission(), "x", 1).repeated);
  EXPECT_FALSE(c.user(kAlice, submission(), "x", 2).repeated) << "it was refused";
}

// Regression: every command that changed nothing was recorded for a day with all keys that it named.
TEST(Request, UnchangedJobsAreNotRecorded) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.hold = true;
  const JobKey key = c.submit(s);
  const Reply first = c.user(kAlice, HoldJobs{Cluster::named(key)}, "x");
  EXPECT_FALSE(first.failed) << first.error.message;
  EXPECT_TRUE(first.jobs.empty()) << "a repeat is answered the same";
  EXPECT_EQ(c.happened<Held>(), 0u) << "it was held already";
  const Request* remembered = c.state().requests.find({kAlice, "x"});
  ASSERT_TRUE(remembered);
  EXPECT_TRUE(remembered->jobs.empty());
  EXPECT_FALSE(c.user(kAlice, HoldJobs{Cluster::named(key)}, "x").failed);
  c.user(kAlice, ReleaseJobs{Cluster::named(key)}, "y");
  EXPECT_EQ(c.state().requests.find({kAlice, "y"})->jobs, std::vector{key});
}

TEST(Request, LoadOfEachUserIsCounted) {
  Cluster c;
  c.user(kAlice, submission(), "x", 1);
  c.user(kAlice, submission(), "y", 2);
  c.user(kAlice, submission(), "y", 2);
  ASSERT_TRUE(c.state().request_loads.find(kAlice));
  const RequestLoad load = *c.state().request_loads.find(kAlice);
  EXPECT_EQ(load.count, 2u);
  EXPECT_EQ(load.bytes, remembered_bytes(*c.state().requests.find({kAlice, "x"})) +
                            remembered_bytes(*c.state().requests.find({kAlice, "y"})));
  EXPECT_FALSE(c.state().request_loads.find(kBob));
  c.tick(c.policy->request_retention);
  EXPECT_FALSE(c.state().request_loads.find(kAlice));
}

Command asked_by(UserId uid, UserBody body, const std::string& id = "one more") {
  UserCommand command;
  command.who = {uid, GroupId{100}, uid == kAlice ? "alice" : "other", "login"};
  command.request_id = id;
  command.body = std::move(body);
  return {std::move(command)};
}

TEST(Request, UserWithTooManyRecordedRequestsIsRefused) {
  Cluster c;
  const JobKey key = c.submit();
  c.user(kAlice, submission(), "known");
  Cancel cancel;
  cancel.jobs = Cluster::named(key);
  const auto of = [](UserId uid) {
    return Submit{std::make_shared<const JobSpec>(Cluster::spec(uid)), {}};
  };
  const auto fails = [&](const ClusterState& state, const Command& command) {
    return decide(state, *c.policy, command, c.now).failed;
  };
  for (const RequestLoad& full :
       {RequestLoad{kMostRemembered.count, 0}, RequestLoad{1, kMostRemembered.bytes}}) {
    ClusterState state = c.state();
    state.request_loads.set(kAlice, full);
    const Decision refused = decide(state, *c.policy, asked_by(kAlice, submission()), c.now);
    ASSERT_TRUE(refused.failed);
    EXPECT_EQ(refused.error.code, ErrorCode::resource_exhausted);
    EXPECT_NE(refused.error.message.find("asub --from"), std::string::npos);
    EXPECT_TRUE(refused.events.empty()) << "a refusal must not be remembered as well";
    EXPECT_FALSE(fails(state, asked_by(kAlice, submission(), "known"))) << "it is a repeat";
    EXPECT_FALSE(fails(state, asked_by(kAlice, cancel))) << "jobs can still be cancelled";
    EXPECT_FALSE(fails(state, asked_by(kBob, of(kBob))));
    state.request_loads.set(kAlice, {full.count + full.count / 10, full.bytes + full.bytes / 10});
    EXPECT_TRUE(fails(state, asked_by(kAlice, cancel)));
    state.request_loads.set(kOperator, full);
    EXPECT_FALSE(fails(state, asked_by(kOperator, of(kOperator))));
  }
}

TEST(Request, ExpireFasterThanTheyCanArrive) {
  Cluster c;
  ClusterState state = c.state();
  for (int i = 0; i < 6000; ++i) {
    Request request;
    request.key = {kAlice, std::to_string(i)};
    request.expires = c.now - Seconds{1};
    put_request(state, std::move(request));
  }
  // The tick comes twice a second.
  const Time later = c.now + Seconds{3600};
  EXPECT_EQ(decide(state, *c.policy, {Tick{}}, later).events.size(), 5000u);
}

TEST(Request, WithoutAnIdIsRefused) {
  Cluster c;
  UserCommand command;
  command.who = {kAlice, GroupId{100}, "alice", "login"};
  command.body = submission();
  EXPECT_EQ(c.run({command}).error.code, ErrorCode::invalid_argument);
}

TEST(Audit, RecordsWhoWhatWhereAndTheOutcome) {
  Cluster c;
  const JobKey key = c.submit();
  c.cancel(key, kBob);
  c.cancel(key, kAlice);
  std::vector<AuditEntry> entries;
  for (const auto& e : c.events) {
    if (const auto* audited = std::get_if<Audited>(&e->body)) entries.push_back(audited->entry);
  }
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].action, "submit");
  EXPECT_EQ(entries[0].subject, "job 1");
  EXPECT_EQ(entries[1].user, "bob");
  EXPECT_EQ(entries[1].action, "cancel");
  EXPECT_NE(entries[1].outcome.find("may not cancel job 1 of alice"), std::string::npos);
  EXPECT_EQ(entries[2].outcome, "ok");
  EXPECT_EQ(entries[2].host, "login");
}

TEST(Permission, JobsOfOthersNeedAnOperator) {
  Cluster c;
  const JobKey key = c.submit();
  const Reply bob = c.cancel(key, kBob);
  EXPECT_EQ(bob.error.code, ErrorCode::permission_denied);
  EXPECT_NE(bob.error.message.find("only its owner, operators and administrators may"),
            std::string::npos);
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_FALSE(c.cancel(key, kOperator).failed);
  EXPECT_EQ(c.job(key).state, JobState::cancelled);
}

TEST(Permission, FiltersSelectOwnJobs) {
  Cluster c;
  const JobKey mine = c.submit(), theirs = c.submit(Cluster::spec(kBob));
  Cancel all;
  all.jobs.everything = true;
  EXPECT_FALSE(c.user(kAlice, all).failed);
  EXPECT_EQ(c.job(mine).state, JobState::cancelled);
  EXPECT_EQ(c.job(theirs).state, JobState::pending);
  all.jobs.user = kBob;
  EXPECT_EQ(c.user(kAlice, all).error.code, ErrorCode::permission_denied);
  EXPECT_FALSE(c.user(kRoot, all).failed);
  EXPECT_EQ(c.job(theirs).state, JobState::cancelled);
}

TEST(Permission, OnlyOperatorsChangeNodes) {
  Cluster c;
  EXPECT_EQ(c.user(kAlice, UpdateNode{{"n1"}, AdminState::drain, "mine"}).error.code,
            ErrorCode::permission_denied);
  EXPECT_EQ(c.node(1).admin, AdminState::up);
  EXPECT_FALSE(c.user(kOperator, UpdateNode{{"n1"}, AdminState::drain, "fan"}).failed);
  EXPECT_EQ(c.node(1).admin, AdminState::drain);
  EXPECT_EQ(c.node(1).reason, "fan");
  EXPECT_EQ(c.node(1).reason_by, kOperator);
}

}  // namespace
}  // namespace ares::core
