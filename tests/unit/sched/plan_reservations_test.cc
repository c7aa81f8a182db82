// Tests: node_tenants, reservation_access
// Reservations in plan(): which jobs start on reserved nodes when, planned starts behind
// reservations, and that no job overlaps a reservation of others.
#include "core/sched/index/reservation_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr UserId kInsider{7};

Reservation reservation(const std::string& name, Time start, Time end,
                        std::vector<std::string> nodes) {
  Reservation r;
  r.name = name;
  r.start = start;
  r.end = end;
  r.nodes = std::move(nodes);
  r.users = {kInsider};
  return r;
}

JobSpec timed(minutes limit, std::vector<std::string> reservations = {}) {
  JobSpec spec = TestCluster::spec();
  spec.cpus_per_task = 4;
  if (limit > minutes(0)) spec.time_limit = limit;
  spec.uid = kInsider;
  spec.reservations = std::move(reservations);
  return spec;
}

// Two nodes of four CPUs; n1 is reserved from one hour to two hours from now.
class Reserving : public testing::Test {
 protected:
  Reserving() {
    cluster.add_node("n1");
    cluster.add_node("n2");
    put(reservation("course", kNow + hours(1), kNow + hours(2), {"n1"}));
  }
  void put(Reservation r) {
    const std::string name = r.name;
    cluster.state.reservations.set(name, std::move(r));
  }
  std::vector<std::string> nodes_of(const JobKey& key, Time now = kNow) {
    const Plan plan = cluster.plan(now);
    const Start* start = start_of(plan, key);
    return start ? node_names(cluster.state, *start) : std::vector<std::string>{};
  }
  PendingInfo pending_info(const JobKey& key, Time now = kNow) {
    const Plan plan = cluster.plan(now);
    const PendingInfo* info = pending_of(plan, key);
    return info ? *info : PendingInfo{};
  }

  TestCluster cluster;
};

TEST_F(Reserving, OtherJobsStartOnlyIfTheyEndBeforeItBegins) {
  EXPECT_THAT(nodes_of(cluster.submit(timed(minutes(60)))), ElementsAre("n1"));
  JobSpec longer = timed(minutes(61));
  const JobKey key = cluster.submit(longer);
  EXPECT_THAT(nodes_of(key), ElementsAre("n2"));
  longer.required_nodes = {"n1"};
  const JobKey waits = cluster.submit(longer);
  EXPECT_EQ(pending_info(waits).expected_start, kNow + hours(2)) << "when the reservation is over";
}

TEST_F(Reserving, JobsWithoutTimeLimitDoNotUseItsNodes) {
  EXPECT_THAT(nodes_of(cluster.submit(timed(minutes(0)))), ElementsAre("n2"));
}

TEST_F(Reserving, ReasonReportsThatFreeNodesAreReserved) {
  put(reservation("other", kNow + minutes(30), kNow + hours(5), {"n2"}));
  const PendingInfo said = pending_info(cluster.submit(timed(minutes(90))));
  EXPECT_EQ(said.reason, Reason::reservation);
  EXPECT_THAT(said.detail, HasSubstr("1 node in course, 1 node in other"));
  EXPECT_EQ(said.expected_start, kNow + hours(2));
}

TEST_F(Reserving, ReasonNamesOnlyReservationsThatItWouldMeet) {
  put(reservation("tomorrow", kNow + hours(24), kNow + hours(25), {"n1", "n2"}));
  put(reservation("elsewhere", kNow, kNow + hours(5), {"n2"}));
  JobSpec spec = timed(minutes(90));
  spec.required_nodes = {"n1"};
  const PendingInfo said = pending_info(cluster.submit(spec));
  EXPECT_EQ(said.reason, Reason::reservation);
  EXPECT_EQ(said.detail, "free nodes are reserved before it could end: 1 node in course");
}

TEST_F(Reserving, ItsJobsWaitUntilItBeginsAndUseOnlyItsNodes) {
  const JobKey key = cluster.submit(timed(minutes(45), {"course"}));
  const PendingInfo said = pending_info(key);
  EXPECT_EQ(said.reason, Reason::reservation);
  EXPECT_EQ(said.expected_start, kNow + hours(1));
  EXPECT_EQ(cluster.plan().wake, kNow + hours(1)) << "nothing else wakes the planner then";
  EXPECT_THAT(nodes_of(key, kNow + hours(1)), ElementsAre("n1"));
  EXPECT_THAT(nodes_of(key, kNow + hours(1) + minutes(15)), ElementsAre("n1"));
  // A job may request the full length of the reservation: if it starts late, it loses that time.
  const Plan late = cluster.plan(kNow + hours(1) + minutes(16));
  ASSERT_TRUE(start_of(late, key));
  EXPECT_EQ(start_of(late, key)->time_limit, minutes(44));
  EXPECT_THAT(nodes_of(key, kNow + hours(1) + minutes(17)), ElementsAre());
  EXPECT_THAT(pending_info(key, kNow + hours(1) + minutes(17)).detail, HasSubstr("is over before"));
}

TEST_F(Reserving, JobWithoutTimeLimitGetsTheRemainingTime) {
  const JobKey key = cluster.submit(timed(minutes(0), {"course"}));
  const Plan plan = cluster.plan(kNow + hours(1) + minutes(20));
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_EQ(start_of(plan, key)->time_limit, minutes(40));
}

TEST_F(Reserving, JobAsLongAsTheReservationMayStartSlightlyLate) {
  const JobKey key = cluster.submit(timed(minutes(60), {"course"}));
  EXPECT_THAT(nodes_of(key, kNow + hours(1) + std::chrono::milliseconds(200)), ElementsAre("n1"));
  const JobKey longer = cluster.submit(timed(minutes(61), {"course"}));
  EXPECT_THAT(pending_info(longer).detail, HasSubstr("is shorter than"));
  EXPECT_EQ(pending_info(longer).expected_start, std::nullopt);
}

TEST_F(Reserving, JobThatMayNotUseOneOfSeveralUsesNone) {
  Reservation others = reservation("others", kNow - hours(1), kNow + hours(1), {"n2"});
  others.users = {UserId(8)};
  put(others);
  const JobKey key = cluster.submit(timed(minutes(30), {"course", "others"}));
  EXPECT_THAT(pending_info(key, kNow + hours(1)).detail,
              HasSubstr("others is not for the job's user"));
  EXPECT_THAT(nodes_of(key, kNow + hours(1)), ElementsAre());
}

// A job that fits at no time keeps no other job from getting a planned start, nor the other jobs of
// a partition without backfill.
TEST_F(Reserving, ImpossibleJobDelaysNoOtherJob) {
  Reservation nightly = reservation("nightly", kNow + hours(8), kNow + hours(9), {"n1", "n2"});
  nightly.recurrence = Recurrence::daily;
  put(nightly);
  for (const BackfillKind kind : {BackfillKind::easy, BackfillKind::none}) {
    TestCluster here = cluster;
    here.policy.backfill = {kind, 1};
    const JobKey never = here.submit(timed(hours(24)));
    const JobKey both = here.submit([] {
      JobSpec spec = timed(hours(2));
      spec.tasks = spec.min_nodes = spec.max_nodes = 2;
      return spec;
    }());
    const Plan plan = here.plan();
    EXPECT_EQ(pending_of(plan, never)->expected_start, std::nullopt);
    ASSERT_TRUE(pending_of(plan, both));
    EXPECT_EQ(pending_of(plan, both)->expected_start, kNow + hours(2));
  }
}

// Jobs inside and outside a reservation form separate queues, also without backfill.
TEST_F(Reserving, JobOutsideDelaysNoJobInsideAReservation) {
  cluster.policy.backfill = {BackfillKind::none, 1};
  put(reservation("course", kNow - hours(1), kNow + hours(2), {"n1"}));
  JobSpec both = timed(hours(1));
  both.tasks = both.min_nodes = both.max_nodes = 2;
  cluster.submit(both);
  EXPECT_THAT(nodes_of(cluster.submit(timed(minutes(30), {"course"}))), ElementsAre("n1"));
}

TEST_F(Reserving, FlexibleReservationAllowsOtherNodes) {
  Reservation flexible = reservation("course", kNow + hours(1), kNow + hours(2), {"n1"});
  flexible.flexible = true;
  put(flexible);
  EXPECT_THAT(nodes_of(cluster.submit(timed(hours(9), {"course"}))), ElementsAre("n1"));
  JobSpec elsewhere = timed(hours(9), {"course"});
  elsewhere.required_nodes = {"n2"};
  EXPECT_THAT(nodes_of(cluster.submit(elsewhere)), ElementsAre("n2"));
}

TEST_F(Reserving, AnyOfSeveralIsSufficient) {
  put(reservation("now", kNow - hours(1), kNow + hours(1), {"n2"}));
  EXPECT_THAT(nodes_of(cluster.submit(timed(minutes(30), {"course", "now"}))), ElementsAre("n2"));
}

TEST_F(Reserving, DailyReservationRecurs) {
  Reservation daily = reservation("course", kNow - hours(3), kNow - hours(2), {"n1"});
  daily.recurrence = Recurrence::daily;
  put(daily);
  JobSpec spec = timed(hours(21));
  spec.required_nodes = {"n1"};
  EXPECT_THAT(nodes_of(cluster.submit(spec)), ElementsAre("n1")) << "done when it comes again";
  cluster = {};
  cluster.add_node("n1");
  put(daily);
  spec.time_limit = hours(21) + minutes(1);
  EXPECT_EQ(pending_info(cluster.submit(spec)).expected_start, kNow + hours(22));
  spec.time_limit = hours(24);
  EXPECT_EQ(pending_info(cluster.submit(spec)).expected_start, std::nullopt)
      << "never a day in a row";
}

TEST_F(Reserving, JobsOfADeletedReservationWait) {
  const JobKey key = cluster.submit(timed(minutes(10), {"course"}));
  const JobKey anybody = cluster.submit(timed(hours(4)));
  cluster.state.reservations.erase(std::string("course"));
  EXPECT_EQ(pending_info(key).reason, Reason::reservation_deleted);
  EXPECT_THAT(nodes_of(anybody), ElementsAre("n1"));
}

TEST_F(Reserving, JobsOfOtherUsersDoNotStartInIt) {
  JobSpec spec = timed(minutes(10), {"course"});
  spec.uid = UserId(8);
  const JobKey key = cluster.submit(spec);
  EXPECT_THAT(nodes_of(key, kNow + hours(1)), ElementsAre());
  EXPECT_THAT(pending_info(key, kNow + hours(1)).detail, HasSubstr("not for the job's user"));
}

// Jobs that start, and planned starts, must not overlap reservations of others, in any
// combination. A planner with kept state must plan the same as a planner without any, also when
// reservations arrive, when their nodes or times change, and when reservations are removed between
// two plans.
class RandomLife {
 public:
  explicit RandomLife(std::uint64_t seed) : random_(seed) {
    for (std::uint32_t i = 1; i <= 2 + upto(4); ++i)
      cluster_.add_node("n" + std::to_string(i), 1 + upto(7));
    if (upto(1) == 0) budget_ = {.estimates = 0, .details = false};
    cluster_.policy.backfill = {static_cast<BackfillKind>(upto(2)), 1 + upto(3)};
  }

  void step() {
    if (upto(2) == 0) change_reservation();
    for (std::uint32_t i = upto(4); i > 0; --i) submit();
    const Plan plan = planner_.plan(cluster_.state, cluster_.policy, budget_, now_);
    const Plan anew = cluster_.plan(now_, budget_);
    ASSERT_EQ(starts_of(plan), starts_of(anew));
    ASSERT_EQ(over_commitment(cluster_.state, plan), "");
    for (const PlanGroup& group : plan.groups)
      for (const Start& start : group.starts) check(start);
    cluster_.take(plan, now_);
    now_ += minutes(1 + upto(40));
    std::vector<JobKey> over;
    cluster_.state.jobs.for_each([&](const JobKey& key, const Job& job) {
      if (job.state != JobState::running) return;
      const auto& limit = job.allocation->time_limit;
      if (upto(9) == 0 || (limit && *job.started + *limit <= now_)) over.push_back(key);
    });
    for (const JobKey& key : over) cluster_.end(key);
  }

 private:
  std::uint32_t upto(std::uint32_t most) {
    return static_cast<std::uint32_t>(random_() % (most + 1));
  }

  void change_reservation() {
    const std::string name = "r" + std::to_string(upto(2));
    if (upto(3) == 0) {
      cluster_.state.reservations.erase(name);
      return;
    }
    Reservation r = reservation(name, now_ + minutes(upto(200)) - minutes(60), {}, {});
    r.end = r.start + minutes(1 + upto(180));
    r.recurrence = static_cast<Recurrence>(upto(2));
    r.maintenance = upto(3) == 0;
    r.flexible = upto(3) == 0;
    cluster_.state.nodes.for_each([&](NodeId, const Node& node) {
      if (upto(1) == 0) r.nodes.push_back(node.name);
    });
    cluster_.state.reservations.set(name, r);
  }

  void submit() {
    JobSpec spec = TestCluster::spec(1 + upto(3), 1 + upto(1));
    spec.uid = upto(3) == 0 ? UserId(8) : kInsider;
    if (upto(5) > 0) spec.time_limit = minutes(1 + upto(120));
    if (upto(2) == 0) spec.reservations = {"r" + std::to_string(upto(2))};
    if (upto(9) == 0) spec.reservations.push_back("r" + std::to_string(upto(2)));
    cluster_.submit(spec);
  }

  void check(const Start& start) {
    const JobSpec& spec = *cluster_.state.jobs.find(start.key)->spec;
    const auto& asked = spec.reservations;
    const Time end = start.time_limit ? now_ + *start.time_limit : Time::max();
    for (const NodeShare& share : start.nodes) {
      const std::string& node = cluster_.state.nodes.find(share.node)->name;
      bool inside = asked.empty();
      cluster_.state.reservations.for_each([&](const std::string& name, const Reservation& r) {
        const bool mine = std::find(asked.begin(), asked.end(), name) != asked.end();
        if (mine) {
          EXPECT_TRUE(may_use(r, spec.uid, ""));
          inside = inside || r.flexible;
        }
        if (!has_node(r, node)) return;
        // Checks minute by minute and occurrence by occurrence; shares no code with the tested
        // functions.
        Window w{r.start, r.end};
        for (int i = 0; i < 400; ++i) {
          if (mine && w.start <= now_ && end <= w.end) inside = true;
          if (!mine && w.end > now_) {
            EXPECT_TRUE(end <= w.start) << name;
          }
          const Duration period = period_of(r.recurrence);
          if (period == Duration{0} || w.start > now_ + hours(24 * 20)) break;
          w = {w.start + period, w.end + period};
        }
      });
      EXPECT_TRUE(inside) << "job " << start.key.job.value() << " is outside of its reservation";
    }
  }

  static std::string starts_of(const Plan& plan) {
    std::string text;
    for (const PlanGroup& group : plan.groups)
      for (const Start& start : group.starts) {
        text += std::to_string(start.key.job.value()) + " on";
        for (const NodeShare& share : start.nodes) text += " " + std::to_string(share.node.value());
        text += "\n";
      }
    plan.pending.for_each([&](const JobKey& key, const PendingInfo& info) {
      text += std::to_string(key.job.value()) + " " + std::string(to_string(info.reason)) + " " +
              std::to_string(info.expected_start.value_or(Time{}).time_since_epoch().count()) +
              "\n";
    });
    return text;
  }

  std::mt19937_64 random_;
  TestCluster cluster_;
  Planner planner_;
  Budget budget_;
  Time now_ = kNow;
};

TEST(ReservedProperty, NoForeignJobOverlapsOneAlongRandomLives) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomLife life(seed);
    for (int step = 0; step < 25; ++step) {
      life.step();
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace ares::core::sched
