// Tests: heard_position, journal_position, roll_call, engine, decide_node, job/report
// Restored databases: what nodes have heard, and attempts of which they know more than the database.
#include "core/cluster/heard_position.h"
#include "core/cluster/roll_call.h"
#include "core/job/effects/effects.h"
#include "model/engine/history.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

JournalPosition at(const ClusterState& state) {
  return {state.history, state.epoch, "holder", state.lsn, state.next_job_id};
}

Register register_at(int node, JournalPosition position) {
  Register r;
  r.name = "n" + std::to_string(node);
  r.incarnation = 1;
  r.incarnation_tag = r.name + "/1";
  r.inventory = Cluster::machine();
  r.version = "test";
  r.position = std::move(position);
  return r;
}

ClusterState state_of(std::string history, std::vector<std::string> past = {}) {
  ClusterState state;
  state.history = std::move(history);
  state.past_histories = std::move(past);
  state.epoch = Epoch{4};
  state.lsn = Lsn{100};
  return state;
}

TEST(HeardPosition, OfOneHistoryTheLaterLsnOrEpochIsLater) {
  const ClusterState state = state_of("db");
  const auto compare = [&](std::uint64_t epoch, std::uint64_t lsn) {
    return compare_heard(state, {Epoch{4}, Lsn{100}}, {"db", Epoch{epoch}, "", Lsn{lsn}, JobId{1}});
  };
  EXPECT_EQ(compare(4, 100), HeardPosition::covered);
  EXPECT_EQ(compare(3, 40), HeardPosition::covered);
  EXPECT_EQ(compare(4, 101), HeardPosition::later);
  EXPECT_EQ(compare(5, 100), HeardPosition::later);
}

// A controller that goes on with an older copy commits events of its own at the positions that are
// missing.
TEST(HeardPosition, WhatAnEarlierControllerToldMustHaveBeenLoaded) {
  const ClusterState state = state_of("db");
  const Recovered loaded{Epoch{4}, Lsn{90}};
  EXPECT_EQ(compare_heard(state, loaded, {"db", Epoch{3}, "", Lsn{90}, {}}),
            HeardPosition::covered);
  EXPECT_EQ(compare_heard(state, loaded, {"db", Epoch{3}, "", Lsn{91}, {}}), HeardPosition::later);
  EXPECT_EQ(compare_heard(state, loaded, {"db", Epoch{4}, "", Lsn{91}, {}}),
            HeardPosition::covered);
}

TEST(HeardPosition, OfTheFirstReleaseIsTakenForThisHistory) {
  const ClusterState state = state_of("db/2", {"db"});
  const Recovered loaded{Epoch{4}, Lsn{100}};
  EXPECT_EQ(compare_heard(state, loaded, {"", Epoch{4}, "", Lsn{100}, {}}), HeardPosition::covered);
  EXPECT_EQ(compare_heard(state, loaded, {"", Epoch{4}, "", Lsn{101}, {}}), HeardPosition::later);
}

TEST(HeardPosition, AHistoryThatARollbackEndedIsCoveredAndOneThatFollowsIsLater) {
  const JournalPosition first{"db", Epoch{3}, "", Lsn{90}, {}};
  const JournalPosition second{"db/2", Epoch{3}, "", Lsn{90}, {}};
  const Recovered loaded{Epoch{4}, Lsn{100}};
  EXPECT_EQ(compare_heard(state_of("db/2", {"db"}), loaded, first), HeardPosition::covered);
  EXPECT_EQ(compare_heard(state_of("db"), loaded, second), HeardPosition::later)
      << "however few events it has";
}

TEST(HeardPosition, AnotherDatabaseSaysNothingAboutThisOne) {
  EXPECT_EQ(
      compare_heard(state_of("db"), {Epoch{4}, Lsn{100}}, {"other/2", Epoch{9}, "", Lsn{999}, {}}),
      HeardPosition::other_database);
}

TEST(RollCall, AwaitsEveryNodeThatWasEverRegistered) {
  Cluster c(2);
  RollCall call(c.state(), c.now + Seconds{30});
  EXPECT_EQ(call.awaited().size(), 2u);
  call.heard(c.id_of(1));
  EXPECT_FALSE(call.over(c.now));
  EXPECT_TRUE(call.over(c.now + Seconds{30}));
  call.heard(c.id_of(2));
  EXPECT_TRUE(call.over(c.now));
  EXPECT_TRUE(RollCall(ClusterState{}, c.now + Seconds{30}).over(c.now)) << "a new cluster";
}

// What runs there may be a job that the copy has as pending, and must not start a second time meanwhile.
TEST(RollCall, ANodeAnswersOnceItHasEndedWhatTheStateDoesNotKnow) {
  Cluster c;
  const JobKey known = c.submit();
  c.start(known, {1});
  AttemptReport forgotten = c.report(known, AttemptPhase::running);
  forgotten.attempt.job.job = JobId{77};
  const auto answers = [&](FromNodeBody body, std::uint64_t incarnation = 1) {
    return answers_roll_call(c.state(), {"n1", incarnation, std::move(body)});
  };
  Register r = register_at(1, {});
  r.attempts = {c.report(known, AttemptPhase::running)};
  EXPECT_TRUE(answers(r));
  r.attempts.push_back(forgotten);
  EXPECT_FALSE(answers(r));
  EXPECT_TRUE(answers(r, 2)) << "it is refused, and can be told nothing";
  EXPECT_FALSE(answers(Heartbeat{1, {forgotten}}));
  EXPECT_FALSE(answers(Progress{forgotten}));
  forgotten.phase = AttemptPhase::lost;
  EXPECT_TRUE(answers(Heartbeat{2, {forgotten}}));
  EXPECT_FALSE(answers(Heartbeat{2, {}}, 2)) << "of an earlier incarnation";
}

TEST(Objection, AfterALaterPositionNothingIsAcknowledgedOrCommittedAnyMore) {
  Cluster c;
  const JobKey before = c.submit();
  JournalPosition later = at(c.state());
  later.lsn = later.lsn.next();
  const Reply refused = c.from_node(1, register_at(1, later));
  EXPECT_EQ(refused.error.code, ErrorCode::stale);
  EXPECT_NE(refused.error.message.find("node n1 has seen"), std::string::npos);
  ASSERT_TRUE(c.engine.objection());
  EXPECT_EQ(c.engine.objection()->heard.lsn, later.lsn);

  const Lsn last = c.state().lsn;
  c.forget_sent();
  const Reply submitted = c.try_submit(Cluster::spec());
  EXPECT_EQ(submitted.error.code, ErrorCode::unavailable);
  EXPECT_NE(submitted.error.message.find("--accept-rollback"), std::string::npos);
  EXPECT_EQ(c.cancel(before).error.code, ErrorCode::unavailable);
  EXPECT_EQ(c.from_node(2, Heartbeat{1, {}}).error.code, ErrorCode::stale);
  EXPECT_TRUE(c.plan({c.group(before, {2})}).failed);
  c.tick(Seconds{86400});
  EXPECT_TRUE(c.from_node(1, register_at(1, {})).failed) << "it does not outlive the objection";
  EXPECT_EQ(c.state().lsn, last);
  EXPECT_TRUE(c.out.empty()) << "no heartbeat is acknowledged";
}

TEST(Objection, WhatWasDecidedAndNotYetCommittedIsWithdrawn) {
  Cluster c;
  Engine& engine = c.engine;
  const auto submit = [&](const char* request, Ticket ticket) {
    UserCommand command;
    command.who = {kAlice, GroupId{1000}, "alice", "login"};
    command.request_id = request;
    command.body = Submit{std::make_shared<const JobSpec>(Cluster::spec()), {}};
    engine.handle(Command{command}, c.now, ticket);
  };
  submit("in flight", 101);
  const EngineBatch batch = engine.take_batch();
  submit("waiting", 102);
  JournalPosition later = at(c.state());
  later.lsn = Lsn{1'000'000};
  NodeCommand command;
  command.message = {"n1", 1, register_at(1, later)};
  engine.handle(Command{command}, c.now, 103);
  EXPECT_FALSE(engine.has_batch());
  const Outgoing committed = engine.committed();
  ASSERT_EQ(committed.replies.size(), 1u);
  EXPECT_EQ(committed.replies[0].error.code, ErrorCode::unavailable);
  const Outgoing rest = engine.take_ready();
  ASSERT_EQ(rest.replies.size(), 2u);
  EXPECT_EQ(rest.replies[0].error.code, ErrorCode::unavailable);
  EXPECT_TRUE(rest.effects.empty());
  EXPECT_EQ(engine.state(), batch.after);
}

// Its disk was full when it heard of the epoch, and it restarted since.
TEST(Objection, AFenceWithAnOlderEpochIsNoLaterPosition) {
  Cluster before;
  ClusterState loaded = before.state();
  loaded.epoch = Epoch{2};
  Engine engine(loaded, before.policy);
  engine.handle(Command{Activate{Epoch{2}, "host"}}, before.now, 1);
  Register r = register_at(1, {loaded.history, Epoch{1}, "before", loaded.lsn, JobId{1}});
  r.highest_epoch = Epoch{1};
  r.highest_lsn = engine.state().lsn;
  ASSERT_GT(r.highest_lsn, loaded.lsn);
  NodeCommand command;
  command.message = {"n1", 1, r};
  engine.handle(Command{command}, before.now, 2);
  EXPECT_FALSE(engine.objection());
}

TEST(Objection, ANodeOfAnotherDatabaseIsRefusedAloneIfItHasComeFurther) {
  Cluster c;
  JournalPosition other{"other", Epoch{9}, "", Lsn{9'000'000}, JobId{1}};
  EXPECT_EQ(c.from_node(1, register_at(1, other)).error.code, ErrorCode::stale);
  EXPECT_FALSE(c.engine.objection());
  other.epoch = Epoch{1};
  other.lsn = Lsn{1};
  EXPECT_FALSE(c.from_node(1, register_at(1, other)).failed);
}

// Release 0.1.0 kept no history. Regression: a machine moved here from another cluster stopped this one.
TEST(Objection, ASpoolThatNamesNoDatabaseCountsIfThisDatabaseKnowsIt) {
  Cluster c;
  Register r = register_at(1, {});
  r.highest_epoch = Epoch{1};
  r.highest_lsn = Lsn{9'000'000};
  r.incarnation = 2;
  r.incarnation_tag = "foreign/1";
  EXPECT_EQ(c.from_node(1, r).error.code, ErrorCode::stale);
  EXPECT_FALSE(c.engine.objection());
  r.incarnation_tag = "n1/2";  // it was booted since
  EXPECT_EQ(c.from_node(1, r).error.code, ErrorCode::stale);
  EXPECT_TRUE(c.engine.objection());
}

TEST(History, IsNamedForTheDatabaseAndThePositionAtWhichItBegan) {
  const std::string name = name_history("db", Lsn{1'000'029}, "random");
  EXPECT_EQ(begin_of(name), Lsn{1'000'029});
  EXPECT_EQ(database_of(name), "db");
  EXPECT_EQ(begin_of("db"), Lsn{}) << "the first one";
}

// The engine goes on as a controller does that accepted a rollback.
TEST(AfterRollback, ANodeIsToldAgainWhatLaterCommitsMayHaveToldIt) {
  Cluster before;
  const JobKey key = before.submit();
  before.start(key, {1});
  ClusterState restored = before.state();
  restored.lsn = Lsn{5'000};
  restored.history = name_history("db", restored.lsn, "random");
  Engine engine(restored, before.policy);
  engine.handle(Command{Activate{Epoch{2}, "host"}}, before.now, 1);
  NodeCommand beat;
  beat.message = {"n1", 1, Heartbeat{1, {before.report(key, AttemptPhase::running)}}};
  engine.handle(Command{beat}, before.now, 2);
  engine.take_batch();
  const Outgoing out = engine.committed();
  const auto told = [&](auto kind) {
    return std::count_if(out.effects.begin(), out.effects.end(), [](const Effect& e) {
      const auto* m = std::get_if<decltype(kind)>(&e.body);
      return m && m->lsn == Lsn{5'000};
    });
  };
  EXPECT_EQ(told(SetSuspended{}), 1) << "it may be suspended by a command that is lost";
  EXPECT_EQ(told(SetLimit{}), 1);
}

// What a node answers to Go if the attempt has ended there and its end was acknowledged, by commits
// that the database lacks.
TEST(AfterRollback, AnAttemptThatItsNodeHasForgottenEndsAsLost) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.requeue = false;
  const JobKey once = c.submit(s), again = c.submit();
  c.start(once, {1});
  c.start(again, {1});
  c.forget_sent();
  c.register_node(1, {});
  ASSERT_EQ(c.sent<Go>(1), 2u) << "the node is asked";
  c.progress(1, once, AttemptPhase::lost);
  c.progress(1, again, AttemptPhase::lost);
  EXPECT_EQ(c.job(once).state, JobState::node_fail);
  EXPECT_EQ(c.job(again).state, JobState::pending) << "requeued";
  EXPECT_TRUE(c.node(1).charges.empty());
}

// Regression: a node that was restarted while it prepared an attempt reports `lost` as well, without a
// rollback; it was taken for ready, and the job began on the other nodes.
TEST(AfterRollback, ANodeThatWasRestartedWhileItPreparedAnAttemptHasNotRunIt) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.requeue = false;
  s.min_nodes = s.max_nodes = s.tasks = 2;
  s.tasks_per_node = 1;
  const JobKey key = c.submit(s);
  c.allocate(key, {1, 2});
  c.progress(2, key, AttemptPhase::ready);
  c.forget_sent();
  c.incarnation[1] = 2;
  c.register_node(1, {c.report(key, AttemptPhase::lost)});
  EXPECT_EQ(c.sent<Go>(2), 0u);
  c.progress(2, key, AttemptPhase::never_ran);
  EXPECT_EQ(c.job(key).state, JobState::pending) << "it never ran, so it may start elsewhere";
}

TEST(Objection, TheNextStartHasToBeAboveWhatEveryNodeHasHeard) {
  Cluster c;
  JournalPosition one = at(c.state()), two = one;
  one.lsn = Lsn{one.lsn.value() + 5};
  two.lsn = Lsn{two.lsn.value() + 50};
  two.next_job_id = JobId{77};
  c.from_node(1, register_at(1, one));
  c.from_node(2, register_at(2, two));
  ASSERT_TRUE(c.engine.objection());
  EXPECT_EQ(c.engine.objection()->heard.lsn, two.lsn);
  EXPECT_EQ(c.engine.objection()->heard.next_job_id, two.next_job_id);
}

TEST(AfterRollback, AnAttemptThatTheDatabaseSawPreparedAndThatRunsIsTakenForStarted) {
  Cluster c;
  const JobKey key = c.submit();
  c.allocate(key, {1});
  c.register_node(1, {c.report(key, AttemptPhase::running)});
  EXPECT_EQ(c.job(key).state, JobState::running);
  EXPECT_EQ(c.job(key).attempt, AttemptNo{1});
  c.progress(1, key, AttemptPhase::done, 3);
  EXPECT_EQ(c.job(key).state, JobState::failed);
  EXPECT_EQ(c.job(key).exit.code, 3);
}

TEST(AfterRollback, AnAttemptThatTheDatabaseSawPreparedAndThatHasEndedDoesNotRunAgain) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.requeue = false;
  const JobKey ended = c.submit(s), forgotten = c.submit(s);
  c.allocate(ended, {1});
  c.allocate(forgotten, {2});
  AttemptReport result = c.report(ended, AttemptPhase::done, 3);
  result.ran_since = c.now;
  for (int i = 0; i < 2; ++i) c.from_node(1, Heartbeat{1, {result}});
  EXPECT_EQ(c.job(ended).state, JobState::failed);
  EXPECT_EQ(c.job(ended).exit.code, 3);

  ClusterState restored = c.state();
  restored.lsn = Lsn{5'000};
  restored.history = name_history("db", restored.lsn, "random");
  Engine engine(restored, c.policy);
  engine.handle(Command{Activate{Epoch{2}, "host"}}, c.now, 1);
  NodeCommand said;
  said.message = {"n2", 1, Progress{c.report(forgotten, AttemptPhase::lost)}};
  for (Ticket ticket : {2u, 3u}) engine.handle(Command{said}, c.now, ticket);
  EXPECT_EQ(engine.state().jobs.find(forgotten)->state, JobState::node_fail);
}

TEST(AfterRollback, AResultIsNotForgottenWhileTheOtherNodesAreAwaited) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.min_nodes = s.max_nodes = 2;
  const JobKey key = c.submit(s);
  c.allocate(key, {1, 2});
  c.forget_sent();
  AttemptReport result = c.report(key, AttemptPhase::done, 3);
  result.ran_since = c.now;
  for (int i = 0; i < 2; ++i) c.from_node(1, Progress{result});
  EXPECT_EQ(c.sent<Forget>(1), 0u);
  c.progress(2, key, AttemptPhase::running);
  c.from_node(1, Heartbeat{1, {result}});
  c.progress(2, key, AttemptPhase::done);
  EXPECT_EQ(c.job(key).state, JobState::failed);
  EXPECT_EQ(c.job(key).exit.code, 3);
}

}  // namespace
}  // namespace ares::core
