// Tests: model/gang
// Gangs in the engine: membership, start of all members or none, lost members, timeouts, and members after the start.
#include "core/job/gang.h"
#include "core/job/request_defaults.h"
#include "core/state/indexes.h"

#include <gmock/gmock.h>

#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using ::testing::HasSubstr;

JobSpec member(std::uint32_t size = 3, std::uint32_t min = 0, std::optional<Seconds> timeout = {},
               UserId uid = kAlice, const std::string& name = "train") {
  JobSpec s = Cluster::spec(uid);
  s.gang = GangRequest{name, size, min, timeout};
  return s;
}

std::string refusal(Cluster& c, JobSpec s) {
  const Reply reply = c.try_submit(std::move(s));
  EXPECT_TRUE(reply.failed);
  return reply.error.message;
}

std::vector<JobKey> gather(Cluster& c, std::uint32_t count, const JobSpec& s) {
  std::vector<JobKey> keys;
  for (std::uint32_t i = 0; i < count; ++i) keys.push_back(c.submit(s));
  return keys;
}

// One group that starts each of these jobs on a different node.
PlanGroup together(Cluster& c, const std::vector<JobKey>& keys) {
  PlanGroup all;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    PlanGroup one = c.group(keys[i], {static_cast<int>(i + 1)});
    all.jobs.insert(all.jobs.end(), one.jobs.begin(), one.jobs.end());
    all.starts.push_back(one.starts.front());
  }
  return all;
}

void expect_all(const Cluster& c, const std::vector<JobKey>& keys, JobState state,
                Reason reason = Reason::none) {
  for (const JobKey& key : keys) {
    EXPECT_EQ(c.job(key).state, state) << "job " << key.job.value();
    EXPECT_EQ(c.job(key).reason, reason) << "job " << key.job.value();
  }
}

TEST(Gang, InvalidTermsAreRefused) {
  Cluster c;
  EXPECT_THAT(refusal(c, member(0)), HasSubstr("needs a size"));
  EXPECT_THAT(refusal(c, member(1001)), HasSubstr("at most 1000"));
  EXPECT_THAT(refusal(c, member(3, 4)), HasSubstr("at least 4 members"));
  EXPECT_THAT(refusal(c, member(3, 0, Seconds{0})), HasSubstr("longer than nothing"));
  EXPECT_THAT(refusal(c, member(3, 0, {}, kAlice, "")), HasSubstr("need --gang"));
  JobSpec array = array_of(4);
  array.gang = member(3).gang;
  EXPECT_THAT(refusal(c, array), HasSubstr("has room for 3 members, and the array has 4 tasks"));
  array.gang = member(4).gang;
  array.array_throttle = 2;
  EXPECT_THAT(refusal(c, array), HasSubstr("leave out %2"));
  JobSpec flexible = member();
  flexible.time_limit = Seconds{600};
  flexible.time_min = Seconds{60};
  EXPECT_THAT(refusal(c, flexible), HasSubstr("--time-min"));
}

TEST(Gang, MembersMustAgreeOnTermsAndSize) {
  Cluster c;
  const JobKey first = c.submit(member(3, 2, Seconds{60}));
  EXPECT_THAT(refusal(c, member(4, 2, Seconds{60})),
              HasSubstr("was begun with other terms (3 members, at least 2, timeout"));
  EXPECT_THAT(refusal(c, member(3, 1, Seconds{60})), HasSubstr("other terms"));
  EXPECT_THAT(refusal(c, member(3, 2, Seconds{61})), HasSubstr("other terms"));
  EXPECT_THAT(refusal(c, member(3, 2)), HasSubstr("no timeout"));
  gather(c, 2, member(3, 2, Seconds{60}));
  EXPECT_THAT(refusal(c, member(3, 2, Seconds{60})), HasSubstr("has all of its 3 members"));
  EXPECT_EQ(gang_of(c.state(), c.job(first)).members.size(), 3u);
  // A gang of the same name but of another user is another gang.
  const JobKey other = c.submit(member(2, 0, {}, kBob));
  EXPECT_EQ(gang_of(c.state(), c.job(other)).members.size(), 1u);
}

TEST(Gang, JobsOfOneRequestAreJudgedTogether) {
  Cluster c;
  const auto many = [&](std::vector<JobSpec> specs) {
    SubmitMany submit;
    for (JobSpec& s : specs) submit.specs.push_back(std::make_shared<const JobSpec>(std::move(s)));
    return c.user(kAlice, submit);
  };
  const Reply full = many({member(2), member(2), member(2)});
  EXPECT_TRUE(full.failed);
  EXPECT_THAT(full.error.message, HasSubstr("job 3 of 3: gang train"));
  EXPECT_THAT(many({member(2), member(3)}).error.message, HasSubstr("other terms"));
  const Reply good = many({member(2), member(2, 0, {}, kAlice, "other"), member(2)});
  ASSERT_FALSE(good.failed) << good.error.message;
  EXPECT_EQ(c.job(good.jobs[0]).gang, c.job(good.jobs[2]).gang);
  EXPECT_NE(c.job(good.jobs[0]).gang, c.job(good.jobs[1]).gang);
}

TEST(Gang, AllMembersAreInOnePartition) {
  Cluster c;
  ApplyConfig config;
  config.hash = 8;
  for (const char* name : {"main", "other"}) {
    Partition p = *c.state().partitions.find("main");
    p.name = name;
    p.is_default = p.name == "main";
    config.partitions.push_back(p);
  }
  for (int i = 1; i <= 4; ++i) config.nodes.emplace_back("n" + std::to_string(i), c.machine());
  c.run({config});
  JobSpec both = member();
  both.partitions = {"main", "other"};
  EXPECT_THAT(refusal(c, both), HasSubstr("one and the same partition"));
  const JobKey first = c.submit(member());
  JobSpec elsewhere = member();
  elsewhere.partitions = {"other"};
  EXPECT_THAT(refusal(c, elsewhere), HasSubstr("in partition other"));
  UpdateJob move;
  move.jobs = Cluster::named(first);
  move.fields = {"partitions"};
  move.values = std::make_shared<const JobSpec>(elsewhere);
  EXPECT_THAT(c.user(kAlice, move).error.message, HasSubstr("it waits for its gang"));
  EXPECT_EQ(c.job(first).spec->partitions, std::vector<std::string>{"main"});
}

TEST(Gang, PartialStartIsRefused) {
  Cluster c;
  const auto keys = gather(c, 2, member());
  c.plan({together(c, keys)});
  expect_all(c, keys, JobState::pending);  // one of three members is not submitted yet
  auto all = keys;
  all.push_back(c.submit(member()));
  c.plan({c.group(all[0], {1}), c.group(all[1], {2}), c.group(all[2], {3})});
  expect_all(c, all, JobState::pending);  // each in a separate group
  c.plan({together(c, keys)});
  expect_all(c, all, JobState::pending);
  EXPECT_EQ(c.happened<Allocated>(), 0u);
  c.plan({together(c, all)});
  expect_all(c, all, JobState::configuring);
}

TEST(Gang, NoMemberStartsIfOneDoesNotFit) {
  Cluster c;
  const auto keys = gather(c, 3, member());
  c.start(c.submit(), {3});
  PlanGroup group = together(c, keys);
  group.starts[2].nodes.change(0,
                               [&](NodeShare& share) { share.cpus = 4; });  // one of which is busy
  c.plan({group});
  expect_all(c, keys, JobState::pending);
  c.user(kAlice, HoldJobs{Cluster::named(keys[1])});
  c.plan({together(c, keys)});
  EXPECT_EQ(c.job(keys[0]).state, JobState::pending);
  c.user(kAlice, ReleaseJobs{Cluster::named(keys[1])});
  c.plan({together(c, keys)});
  expect_all(c, keys, JobState::configuring);
}

TEST(Gang, LostMemberEndsTheOthers) {
  Cluster c;
  const auto keys = gather(c, 3, member());
  c.cancel(keys[1]);
  EXPECT_EQ(c.job(keys[1]).reason, Reason::none);
  expect_all(c, {keys[0], keys[2]}, JobState::cancelled, Reason::gang_member_lost);
  ASSERT_TRUE(c.row(keys[0], 0));
  EXPECT_EQ(c.row(keys[0], 0)->reason, Reason::gang_member_lost);
  EXPECT_EQ(c.state().gangs.size(), 0u);
  // The name is free again, for another gang with other terms.
  const JobKey next = c.submit(member(2));
  EXPECT_EQ(c.job(next).gang, next.job);
  // A member that never started cannot be requeued alone.
  const Reply again = c.user(kAlice, RequeueJobs{Cluster::named(keys[0])});
  EXPECT_TRUE(again.failed);
  EXPECT_THAT(again.error.message, HasSubstr("submit the gang again"));
}

TEST(Gang, ContinuesWithEnoughMembers) {
  Cluster c;
  const auto keys = gather(c, 4, member(4, 2));
  c.cancel(keys[0]);
  const Gang gang = gang_of(c.state(), c.job(keys[1]));
  EXPECT_EQ(gang.needed(), 3u);
  EXPECT_TRUE(gang.complete());
  EXPECT_EQ(gang_progress_text(gang), "3 of 3 members of gang train are here (1 lost)");
  EXPECT_THAT(refusal(c, member(4, 2)), HasSubstr("those it has lost among them"));
  // The member that has the count of lost members is lost too.
  c.cancel(keys[1]);
  EXPECT_EQ(gang_of(c.state(), c.job(keys[2])).needed(), 2u);
  c.plan({together(c, {keys[2], keys[3]})});
  expect_all(c, {keys[2], keys[3]}, JobState::configuring);
}

TEST(Gang, SimultaneousLossesAreAllCounted) {
  Cluster c;
  const auto keys = gather(c, 5, member(5, 3));
  Cancel two;
  two.jobs.keys = {keys[0], keys[3]};
  c.user(kAlice, two);
  EXPECT_EQ(gang_of(c.state(), c.job(keys[1])).lost, 2u);
  c.cancel(keys[2]);
  expect_all(c, {keys[1], keys[4]}, JobState::cancelled, Reason::gang_member_lost);

  const auto again = gather(c, 4, member(5, 3));
  Cancel three;
  three.jobs.keys = {again[0], again[1], again[2]};
  c.user(kAlice, three);
  EXPECT_EQ(c.job(again[3]).reason, Reason::gang_member_lost);
}

TEST(Gang, MemberWithAFailedDependencyIsLost) {
  for (const bool kill : {false, true}) {
    Cluster c;
    const JobKey before = c.submit();
    JobSpec dependent = member();
    dependent.dependencies = {{DependencyKind::after_ok, before, {}}};
    dependent.kill_on_invalid_dependency = kill;
    const JobKey waits = c.submit(dependent);
    const auto others = gather(c, 2, member());
    c.cancel(before);
    expect_all(c, {waits}, JobState::cancelled, Reason::cancelled_dependency);
    expect_all(c, others, JobState::cancelled, Reason::gang_member_lost);
  }
}

TEST(Gang, MemberThatMissesItsDeadlineIsLost) {
  Cluster c;
  JobSpec due = member(3, 2, Seconds{7200});
  due.deadline = c.now + Seconds{600};
  const JobKey late = c.submit(due);
  const auto others = gather(c, 2, member(3, 2, Seconds{7200}));
  c.tick(Seconds{600});
  expect_all(c, {late}, JobState::deadline, Reason::deadline);
  expect_all(c, others, JobState::pending);
  EXPECT_TRUE(gang_of(c.state(), c.job(others[0])).complete());
}

TEST(Gang, TimeoutCountsFromTheFirstEligibleMember) {
  Cluster c;
  JobSpec later = member(3, 1, Seconds{60});
  later.begin = c.now + Seconds{100};
  const JobKey first = c.submit(later);
  JobSpec held = member(3, 1, Seconds{60});
  held.hold = true;
  const JobKey second = c.submit(held);
  c.tick(Seconds{159});
  expect_all(c, {first}, JobState::pending);
  c.tick(Seconds{1});
  expect_all(c, {first, second}, JobState::cancelled, Reason::gang_timeout);
  EXPECT_EQ(c.happened<Ended>(), 2u);

  // The timeout also applies to a complete gang, but not once it has started.
  const auto full = gather(c, 2, member(2, 0, Seconds{60}));
  c.tick(Seconds{60});
  expect_all(c, full, JobState::cancelled, Reason::gang_timeout);
  const auto started = gather(c, 2, member(2, 0, Seconds{60}));
  c.plan({together(c, started)});
  c.tick(Seconds{61});
  expect_all(c, started, JobState::configuring);
}

TEST(Gang, DeadlineAndTimeoutAtOnceEndEachMemberOnce) {
  Cluster c;
  JobSpec due = member(2, 0, Seconds{600});
  due.deadline = c.now + Seconds{600};
  const JobKey late = c.submit(due), other = c.submit(member(2, 0, Seconds{600}));
  c.tick(Seconds{600});
  EXPECT_EQ(c.job(late).state, JobState::deadline);
  EXPECT_EQ(c.job(other).state, JobState::cancelled);
  EXPECT_EQ(c.happened<Ended>(), 2u);
}

TEST(Gang, StartedMembersAreOrdinaryJobs) {
  Cluster c;
  const auto keys = gather(c, 3, member(3, 0, Seconds{60}));
  c.plan({together(c, keys)});
  for (int n = 1; n <= 2; ++n) {
    c.progress(n, keys[static_cast<std::size_t>(n - 1)], AttemptPhase::ready);
    c.progress(n, keys[static_cast<std::size_t>(n - 1)], AttemptPhase::running);
  }
  // The third node fails to launch: that member is requeued and starts alone.
  const AttemptReport report = c.report(keys[2], AttemptPhase::ready);
  c.from_node(3, LaunchRefused{report.attempt, report.fence, true, "disk full"});
  AttemptReport gone = report;
  gone.phase = AttemptPhase::done;
  c.from_node(3, Progress{gone});
  EXPECT_EQ(c.job(keys[2]).state, JobState::pending);
  expect_all(c, {keys[0], keys[1]}, JobState::running);
  EXPECT_THAT(refusal(c, member(3, 0, Seconds{60})), HasSubstr("has started"));
  c.tick(Seconds{120});
  EXPECT_EQ(c.job(keys[2]).state, JobState::pending) << "the timeout is not for it any more";
  c.allocate(keys[2], {4});
  // The end of one member does not affect the others.
  c.progress(1, keys[0], AttemptPhase::done, 1);
  EXPECT_EQ(c.job(keys[0]).state, JobState::failed);
  EXPECT_EQ(c.job(keys[1]).state, JobState::running);
  c.cancel(keys[2]);
  EXPECT_EQ(c.job(keys[1]).state, JobState::running);
}

TEST(Gang, RequeuedMemberDoesNotJoinALaterGangOfTheName) {
  Cluster c;
  const auto first = gather(c, 2, member(2));
  c.plan({together(c, first)});
  for (int n = 1; n <= 2; ++n) {
    const JobKey key = first[static_cast<std::size_t>(n - 1)];
    c.progress(n, key, AttemptPhase::ready);
    c.progress(n, key, AttemptPhase::running);
    c.progress(n, key, AttemptPhase::done);
  }
  expect_all(c, first, JobState::completed);
  const JobKey next = c.submit(member(2));
  c.user(kAlice, RequeueJobs{Cluster::named(first[0])});
  EXPECT_EQ(c.job(first[0]).state, JobState::pending);
  EXPECT_EQ(gang_of(c.state(), c.job(next)).members.size(), 1u);
  c.allocate(first[0], {1});  // its gang has started before
  const JobKey last = c.submit(member(2));
  EXPECT_EQ(c.job(last).gang, next.job);
  c.plan({together(c, {next, last})});
  expect_all(c, {next, last}, JobState::configuring);
}

// --- arrays ---

JobSpec array_member(std::uint32_t tasks, std::uint32_t size = 0, std::uint32_t min = 0) {
  JobSpec s = array_of(tasks);
  s.gang = GangRequest{"train", size, min, std::nullopt};
  fill_in_defaults(s);
  return s;
}

JobKey task(const JobKey& array, std::uint32_t index) {
  return {array.job, TaskIndex{index}};
}

TEST(Gang, AnArrayWithoutASizeIsAGangOfItsOwn) {
  Cluster c;
  const JobKey array = c.submit(array_member(3));
  EXPECT_EQ(c.job(array).spec->gang->size, 3u);
  EXPECT_TRUE(gang_of(c.state(), c.job(array)).complete());
  c.plan({together(c, {task(array, 0), task(array, 1)})});
  EXPECT_EQ(c.happened<Allocated>(), 0u) << "task 2 does not start with them";
  c.plan({together(c, {task(array, 0), task(array, 1), task(array, 2)})});
  expect_all(c, {task(array, 0), task(array, 1), task(array, 2)}, JobState::configuring);
  EXPECT_FALSE(waits_with_gang(c.job(array)));
  // A task that fails to launch waits alone.
  c.progress(1, task(array, 0), AttemptPhase::ready);
  c.progress(1, task(array, 0), AttemptPhase::running);
  const AttemptReport report = c.report(task(array, 2), AttemptPhase::ready);
  c.from_node(3, LaunchRefused{report.attempt, report.fence, true, "disk full"});
  AttemptReport gone = report;
  gone.phase = AttemptPhase::done;
  c.from_node(3, Progress{gone});
  EXPECT_EQ(c.job(task(array, 2)).state, JobState::pending);
  c.tick(Seconds{120});
  c.allocate(task(array, 2), {4});
  expect_all(c, {task(array, 2)}, JobState::configuring);
}

TEST(Gang, TasksCountAsMembersBesideJobs) {
  Cluster c;
  const JobKey array = c.submit(array_member(2, 3));
  EXPECT_EQ(gang_progress_text(gang_of(c.state(), c.job(array))),
            "2 of 3 members of gang train are here");
  const JobKey job = c.submit(member(3));
  EXPECT_THAT(refusal(c, member(3)), HasSubstr("has all of its 3 members"));
  c.plan({together(c, {task(array, 0), task(array, 1)})});
  EXPECT_EQ(c.happened<Allocated>(), 0u);
  c.plan({together(c, {task(array, 1), job, task(array, 0)})});
  expect_all(c, {task(array, 0), task(array, 1), job}, JobState::configuring);
}

TEST(Gang, CancelledTasksAreLostMembers) {
  Cluster c;
  const JobKey array = c.submit(array_member(4, 5, 3));
  const JobKey job = c.submit(member(5, 3));
  c.cancel(task(array, 1));
  EXPECT_EQ(gang_progress_text(gang_of(c.state(), c.job(job))),
            "4 of 4 members of gang train are here (1 lost)");
  // The whole array: its three other tasks are lost at once.
  c.cancel(array);
  expect_all(c, {job}, JobState::cancelled, Reason::gang_member_lost);
  EXPECT_EQ(c.state().gangs.size(), 0u);

  const JobKey other = c.submit(array_member(3, 4));
  const JobKey last = c.submit(member(4));
  c.cancel(last);
  expect_all(c, {other}, JobState::cancelled, Reason::gang_member_lost);
  EXPECT_EQ(c.state().gangs.size(), 0u);
}

TEST(Gang, TheNumberOfItsRunningTasksIsNotLimited) {
  Cluster c;
  const JobKey array = c.submit(array_member(3));
  UpdateJob limit;
  limit.jobs = Cluster::named(array);
  limit.array_throttle = 1;
  EXPECT_THAT(c.user(kAlice, limit).error.message, HasSubstr("start together with their gang"));
  EXPECT_EQ(c.job(array).array->throttle, 0u);
}

TEST(Gang, IndexesAreRebuiltFromRecords) {
  Cluster c;
  const auto keys = gather(c, 3, member(3, 2, Seconds{60}));
  c.cancel(keys[0]);
  ClusterState again = c.state();
  rebuild_indexes(again);
  EXPECT_TRUE(again == c.state());
  Engine restarted(again, c.policy);
  restarted.handle({Activate{Epoch{2}, "other"}}, c.now, 0);
  EXPECT_EQ(gang_of(restarted.state(), *restarted.state().jobs.find(keys[1])).needed(), 2u);
  restarted.handle({Tick{}}, c.now + Seconds{60}, 0);
  EXPECT_EQ(restarted.state().jobs.find(keys[1])->reason, Reason::gang_timeout);
}

}  // namespace
}  // namespace ares::core
