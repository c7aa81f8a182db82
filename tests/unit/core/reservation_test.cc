// Tests: decide_reservation
// Reservations by command: refusals, effect, and rejection of plans that ignore a reservation.
#include <gmock/gmock.h>

#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;

class ReservationTest : public testing::Test {
 protected:
  CreateReservation wanted(const std::string& name, std::vector<std::string> nodes,
                           Duration from = hours(1), Duration lasts = hours(1)) {
    CreateReservation create;
    create.values.name = name;
    create.values.start = c.now + from;
    create.values.nodes = std::move(nodes);
    create.values.users = {kAlice};
    create.duration = lasts;
    return create;
  }
  std::string refusal(const CreateReservation& create, UserId by = kOperator) {
    const Reply reply = c.user(by, create);
    return reply.failed ? reply.error.message : "accepted";
  }
  const Reservation* find(const std::string& name) { return c.state().reservations.find(name); }
  static JobSpec in(const std::string& name, UserId uid = kAlice) {
    JobSpec spec = Cluster::spec(uid);
    spec.reservations = {name};
    return spec;
  }

  Cluster c;
};

TEST_F(ReservationTest, AuditNamesTheOneWhoseNameWasMadeUp) {
  ASSERT_EQ(refusal(wanted("", {"n1"})), "accepted");
  ASSERT_TRUE(find("admin_1"));
  std::vector<std::string> subjects;
  for (const auto& e : c.events)
    if (const auto* audited = std::get_if<Audited>(&e->body))
      subjects.push_back(audited->entry.subject);
  EXPECT_THAT(subjects, ElementsAre("reservation admin_1"));
}

TEST_F(ReservationTest, IsCreatedChangedAndDeleted) {
  ASSERT_EQ(refusal(wanted("r", {"n2", "n1", "n2"})), "accepted");
  ASSERT_TRUE(find("r"));
  EXPECT_THAT(find("r")->nodes, ElementsAre("n1", "n2"));
  EXPECT_EQ(find("r")->end - find("r")->start, hours(1));

  UpdateReservation change;
  change.name = "r";
  change.fields = {"users", "duration"};
  change.values.users = {kBob, kAlice};
  change.duration = hours(3);
  EXPECT_FALSE(c.user(kOperator, change).failed);
  EXPECT_THAT(find("r")->users, ElementsAre(kAlice, kBob));
  EXPECT_EQ(find("r")->end - find("r")->start, hours(3));

  EXPECT_TRUE(c.user(kAlice, DeleteReservations{{"r"}}).failed);
  EXPECT_TRUE(c.user(kOperator, DeleteReservations{{"r", "none"}}).failed);
  ASSERT_TRUE(find("r")) << "all or none";
  EXPECT_FALSE(c.user(kOperator, DeleteReservations{{"r"}}).failed);
  EXPECT_FALSE(find("r"));
}

TEST_F(ReservationTest, ANewStartAloneMovesTheEndWithIt) {
  ASSERT_EQ(refusal(wanted("r", {"n1"})), "accepted");
  UpdateReservation change;
  change.name = "r";
  change.fields = {"start"};
  change.values.start = c.now + hours(5);
  EXPECT_FALSE(c.user(kOperator, change).failed);
  EXPECT_EQ(find("r")->start, c.now + hours(5));
  EXPECT_EQ(find("r")->end, c.now + hours(6));
  change.fields = {"start", "end"};
  change.values.end = c.now + hours(9);
  EXPECT_FALSE(c.user(kOperator, change).failed);
  EXPECT_EQ(find("r")->end, c.now + hours(9));
}

TEST_F(ReservationTest, WithoutANameItGetsOneThatNoJobAsksFor) {
  const Reply first = c.user(kOperator, wanted("", {"n1"}));
  EXPECT_EQ(first.text, "reservation admin_1 created");
  c.submit(in("admin_1"));
  auto physics = wanted("", {"n2"});
  physics.values.accounts = {"physics"};
  EXPECT_EQ(c.user(kOperator, physics).text, "reservation physics_1 created");
  ASSERT_FALSE(c.user(kOperator, DeleteReservations{{"admin_1"}}).failed);
  EXPECT_EQ(c.user(kOperator, wanted("", {"n1"})).text, "reservation admin_2 created");
}

TEST_F(ReservationTest, InvalidRequestsAreRefusedWithTheReason) {
  EXPECT_THAT(refusal(wanted("r", {"n1"}), kAlice), HasSubstr("only operators"));
  EXPECT_THAT(refusal(wanted("a b", {"n1"})), HasSubstr("letters, digits"));
  EXPECT_THAT(refusal(wanted("r", {"n9"})), HasSubstr("Invalid node name specified: n9"));
  EXPECT_THAT(refusal(wanted("r", {})), HasSubstr("at least one node"));
  EXPECT_THAT(refusal(wanted("r", {"n1"}, hours(1), hours(0))), HasSubstr("end before it begins"));
  EXPECT_THAT(refusal(wanted("r", {"n1"}, -hours(1))), HasSubstr("in the past"));
  auto unusable = wanted("r", {"n1"});
  unusable.values.users.clear();
  EXPECT_THAT(refusal(unusable), HasSubstr("users or accounts"));
  auto daily = wanted("r", {"n1"}, hours(1), hours(24));
  daily.values.recurrence = Recurrence::daily;
  EXPECT_THAT(refusal(daily), HasSubstr("before it is over"));
  EXPECT_EQ(c.state().reservations.size(), 0u);
}

TEST_F(ReservationTest, TwoDoNotShareANodeUnlessAllowed) {
  ASSERT_EQ(refusal(wanted("first", {"n1", "n2"})), "accepted");
  EXPECT_THAT(refusal(wanted("second", {"n2", "n3"}, minutes(90))),
              HasSubstr("node n2 is in reservation first"));
  EXPECT_EQ(refusal(wanted("behind", {"n2"}, hours(2))), "accepted");
  auto over = wanted("over", {"n2"}, minutes(90));
  over.values.overlap = true;
  EXPECT_EQ(refusal(over), "accepted");
  auto repair = wanted("repair", {"n1"}, minutes(90));
  repair.values.maintenance = true;
  repair.values.users.clear();
  EXPECT_EQ(refusal(repair), "accepted");
  // A daily one that collides two days later.
  auto daily = wanted("daily", {"n1"}, hours(2) - hours(0), minutes(10));
  daily.values.recurrence = Recurrence::daily;
  EXPECT_EQ(refusal(daily), "accepted");
  EXPECT_THAT(refusal(wanted("later", {"n1"}, hours(50), hours(1))),
              HasSubstr("node n1 is in reservation daily"));
}

TEST_F(ReservationTest, NodesWithRunningJobsAreRefused) {
  const JobKey job = c.submit();
  c.start(job, {1});  // time limit: one hour
  EXPECT_THAT(refusal(wanted("r", {"n1"}, minutes(30))), HasSubstr("may still run then"));
  EXPECT_EQ(refusal(wanted("late", {"n1"}, minutes(61))), "accepted");
  auto anyway = wanted("anyway", {"n1"}, minutes(30), minutes(10));
  anyway.values.ignore_jobs = true;
  EXPECT_EQ(refusal(anyway), "accepted");
  auto three = wanted("three", {}, minutes(30), minutes(10));
  three.node_count = 3;
  EXPECT_EQ(refusal(three), "accepted");
  EXPECT_THAT(find("three")->nodes, ElementsAre("n2", "n3", "n4"));
  auto four = wanted("four", {}, minutes(35), minutes(10));
  four.node_count = 1;
  EXPECT_THAT(refusal(four), HasSubstr("0 of 4"));
}

TEST_F(ReservationTest, NodesWithoutMaintenanceAreChosenFirst) {
  auto repair = wanted("repair", {"n1"}, minutes(2));
  repair.values.maintenance = true;
  repair.values.users.clear();
  ASSERT_EQ(refusal(repair), "accepted");
  auto one = wanted("one", {}, minutes(0));
  one.node_count = 1;
  ASSERT_EQ(refusal(one), "accepted");
  EXPECT_THAT(find("one")->nodes, ElementsAre("n2"));
  auto rest = wanted("rest", {}, minutes(0));
  rest.node_count = 3;
  ASSERT_EQ(refusal(rest), "accepted")
      << "its nodes may be under maintenance if there are no others";
  EXPECT_THAT(find("rest")->nodes, ElementsAre("n1", "n3", "n4"));
}

TEST_F(ReservationTest, OnlyItsUsersMaySubmitToIt) {
  ASSERT_EQ(refusal(wanted("r", {"n1"})), "accepted");
  EXPECT_THAT(c.try_submit(in("r", kBob)).error.message, HasSubstr("not for user bob"));
  EXPECT_THAT(c.try_submit(in("none")).error.message, HasSubstr("does not exist"));
  JobSpec too_long = in("r");
  too_long.time_limit = hours(2);
  EXPECT_THAT(c.try_submit(too_long).error.message, HasSubstr("the job asks for 02:00:00"));
  c.submit(in("r"));
  auto account = wanted("lab", {"n2"});
  account.values.accounts = {"physics"};
  ASSERT_EQ(refusal(account), "accepted");
  JobSpec of_account = in("lab", kBob);
  of_account.account = "physics";
  c.submit(of_account);
}

TEST_F(ReservationTest, OutdatedPlanIsRefused) {
  const JobKey job = c.submit();
  auto group = c.group(job, {1});
  ASSERT_EQ(refusal(wanted("r", {"n1"}, minutes(59))), "accepted");
  c.plan({group});
  EXPECT_EQ(c.job(job).state, JobState::pending);
  c.plan({c.group(job, {2})});
  EXPECT_EQ(c.job(job).state, JobState::configuring);
}

TEST_F(ReservationTest, ItsJobsStartOnlyInItsTimeAndNodes) {
  ASSERT_EQ(refusal(wanted("r", {"n1"}, hours(1), hours(2))), "accepted");
  const JobKey job = c.submit(in("r"));
  c.plan({c.group(job, {1})});
  EXPECT_EQ(c.job(job).state, JobState::pending) << "before it begins";
  c.now += hours(1);
  c.plan({c.group(job, {2})});
  EXPECT_EQ(c.job(job).state, JobState::pending) << "on another node";
  c.plan({c.group(job, {1})});
  EXPECT_EQ(c.job(job).state, JobState::configuring);
}

TEST_F(ReservationTest, IsRemovedAfterItsEnd) {
  ASSERT_EQ(refusal(wanted("r", {"n1"})), "accepted");
  c.tick(hours(2) - minutes(1));
  EXPECT_TRUE(find("r"));
  c.tick(minutes(1));
  EXPECT_FALSE(find("r"));
}

TEST_F(ReservationTest, DrainedNodeIsReplacedIfTheFlagSaysSo) {
  auto kept = wanted("kept", {"n1"}, hours(5));
  ASSERT_EQ(refusal(kept), "accepted");
  auto replaced = wanted("replaced", {"n1", "n2"});
  replaced.values.replace_down = true;
  ASSERT_EQ(refusal(replaced), "accepted");
  c.tick(Seconds{1});
  EXPECT_THAT(find("replaced")->nodes, ElementsAre("n1", "n2"));
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::drain, "disk"});
  c.tick(Seconds{1});
  EXPECT_THAT(find("replaced")->nodes, ElementsAre("n2", "n3"));
  EXPECT_THAT(find("kept")->nodes, ElementsAre("n1"));
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::up, ""});
  c.tick(Seconds{1});
  EXPECT_THAT(find("replaced")->nodes, ElementsAre("n2", "n3")) << "it does not come back";
}

TEST_F(ReservationTest, ReplacementWaitsForANodeThatNothingElseNeedsThen) {
  auto here = wanted("here", {"n1"}, minutes(30));
  here.values.replace_down = here.values.overlap = here.values.ignore_jobs = true;
  ASSERT_EQ(refusal(here), "accepted");
  ASSERT_EQ(refusal(wanted("other", {"n2"}, minutes(50))), "accepted");
  auto repair = wanted("repair", {"n3"}, minutes(50));
  repair.values.maintenance = true;
  repair.values.users.clear();
  ASSERT_EQ(refusal(repair), "accepted");
  c.start(c.submit(), {4});  // time limit: one hour
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::down, "burnt"});
  c.tick(Seconds{1});
  EXPECT_THAT(find("here")->nodes, ElementsAre("n1"));
  ASSERT_FALSE(c.user(kOperator, DeleteReservations{{"other"}}).failed);
  c.tick(Seconds{1});
  EXPECT_THAT(find("here")->nodes, ElementsAre("n2"));
}

TEST_F(ReservationTest, IdleNodeIsTheBestReplacementAndEachIsTakenOnce) {
  c.start(c.submit(), {2});  // it ends before both reservations begin
  for (const char* name : {"a", "b"}) {
    auto one = wanted(name, {"n1"}, hours(2));
    one.values.replace_down = one.values.overlap = true;
    ASSERT_EQ(refusal(one), "accepted");
  }
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::fail, "fans"});
  c.tick(Seconds{1});
  EXPECT_THAT(find("a")->nodes, ElementsAre("n3"));
  EXPECT_THAT(find("b")->nodes, ElementsAre("n4"));
}

TEST_F(ReservationTest, NodesThatWereChosenAreReplacedUnlessAskedOtherwise) {
  auto chosen = wanted("chosen", {});
  chosen.node_count = 1;
  ASSERT_EQ(refusal(chosen), "accepted");
  EXPECT_TRUE(find("chosen")->replace_down);
  auto fixed = wanted("fixed", {});
  fixed.node_count = 1;
  fixed.keeps_nodes = true;
  ASSERT_EQ(refusal(fixed), "accepted");
  EXPECT_FALSE(find("fixed")->replace_down);
  auto repair = wanted("repair", {});
  repair.node_count = 1;
  repair.values.maintenance = true;
  repair.values.users.clear();
  ASSERT_EQ(refusal(repair), "accepted");
  EXPECT_FALSE(find("repair")->replace_down);
  UpdateReservation change;
  change.name = "repair";
  change.fields = {"replace_down"};
  change.values.replace_down = true;
  EXPECT_THAT(c.user(kOperator, change).error.message, HasSubstr("leave out REPLACE_DOWN"));
}

TEST_F(ReservationTest, RecurringOneMovesToItsNextOccurrence) {
  auto daily = wanted("r", {"n1"});
  daily.values.recurrence = Recurrence::daily;
  ASSERT_EQ(refusal(daily), "accepted");
  const Reservation first = *find("r");
  const Window next{first.start + hours(25), first.end + hours(25)};  // the change from summer time
  c.run({NextOccurrence{"r", next}});
  EXPECT_EQ(*find("r"), first) << "it is not over yet";
  c.tick(hours(2));
  EXPECT_EQ(*find("r"), first) << "the engine does not read the wall clock";
  c.run({NextOccurrence{"r", next}});
  EXPECT_EQ(find("r")->start, next.start);
  EXPECT_EQ(find("r")->end, next.end);
}

}  // namespace
}  // namespace ares::core
