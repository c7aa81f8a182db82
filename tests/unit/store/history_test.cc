// Which changes of nodes and reservations are stored as history, and as which rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/journal/row_images.h"
#include "store/pg/pg_history.h"
#include "store/pg/pg_journal.h"
#include "unit/store/pg_server.h"

namespace ares::store {
namespace {

using testing::PgServer;

Node node(std::uint32_t id) {
  Node made;
  made.id = NodeId(id);
  made.name = "n" + std::to_string(id);
  made.configured.cpus = 4;
  made.contact = Contact::registered;
  return made;
}

Reservation reservation(const std::string& name, std::vector<std::string> nodes) {
  Reservation made;
  made.name = name;
  made.start = Time(Seconds(2'000'000'000));
  made.end = Time(Seconds(2'000'003'600));
  made.nodes = std::move(nodes);
  return made;
}

struct World {
  ClusterState state;

  explicit World(const ClusterState& from) : state(from) {}

  Batch batch(EventBody body, Seconds later = Seconds(1)) {
    state.lsn = state.lsn.next();
    state.now = std::max(state.now, Time(Seconds(1'900'000'000))) + later;
    return make_batch(
        {std::make_shared<const Event>(Event{state.lsn, state.epoch, state.now, std::move(body)})},
        state, {}, {});
  }
};

TEST(History, OnlyChangesOfAvailabilityAreStored) {
  World world{ClusterState{}};
  for (std::uint32_t id = 1; id <= 3; ++id) world.state.nodes.set(NodeId(id), node(id));
  Allocated allocated;
  allocated.key = {JobId(1), {}};
  NodeShare share;
  share.node = NodeId(1);
  allocated.nodes = {share};
  EXPECT_TRUE(world.batch(allocated).node_history.empty());
  EXPECT_EQ(world.batch(NodeLost{NodeId(2)}).node_history.size(), 1u);
  EXPECT_EQ(world.batch(NodeAdminSet{NodeId(2), AdminState::drain, "", {}}).node_history.size(),
            1u);
  EXPECT_FALSE(world.batch(NodeLost{NodeId(2)}).all_history);
  const Batch activated = world.batch(ControllerActivated{});
  EXPECT_TRUE(activated.all_history);
  EXPECT_EQ(activated.node_history.size(), 3u);
  EXPECT_TRUE(activated.nodes.empty()) << "their images are as they were";
}

TEST(History, AvailabilityFollowsAdminStateAndContact) {
  Node one = node(1);
  EXPECT_EQ(availability_of(one), "up");
  one.admin = AdminState::drain;
  EXPECT_EQ(availability_of(one), "drained");
  one.contact = Contact::lost;
  EXPECT_EQ(availability_of(one), "down");
  one = node(1);
  one.admin = AdminState::down;
  EXPECT_EQ(availability_of(one), "down");
  one = node(1);
  one.leaving = true;
  EXPECT_EQ(availability_of(one), "drained");
  one.contact = Contact::never;
  EXPECT_EQ(availability_of(one), "down");
}

class HistoryTable : public ::testing::Test {
 protected:
  HistoryTable() {
    auto opened = journal_.open();
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    if (opened) world_.state = opened->state;
    world_.state.epoch = opened->epoch;
  }
  void commit(EventBody body) {
    auto done = journal_.commit(world_.batch(std::move(body)));
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_EQ(*done, CommitOutcome::committed) << journal_.doubt();
  }
  std::string sql(const std::string& statement) { return server_.sql(options_, statement); }
  std::string nodes() {
    return sql(
        "SELECT string_agg(name || ' ' || state, ', ' ORDER BY began, node_id) FROM node_span");
  }
  std::string reservations() {
    return sql(
        "SELECT string_agg(name || ' ' || node_ids::text || CASE WHEN until IS NULL THEN '' ELSE ' "
        "over' END, ', ' "
        "ORDER BY since, name) FROM reservation_span");
  }
  void put(const Node& one) {
    world_.state.nodes.set(one.id, one);
    world_.state.node_ids.set(one.name, one.id);
  }

  PgServer server_;
  PgOptions options_ = server_.new_database();
  PgJournal journal_{options_};
  World world_{ClusterState{}};
};

TEST_F(HistoryTable, EachChangeHasARow) {
  commit(TresDefined{{kTresCpu, "cpu"}});
  put(node(1));
  put(node(2));
  commit(ConfigApplied{});
  EXPECT_EQ(nodes(), "n1 up, n2 up");
  commit(ConfigApplied{});
  commit(ControllerActivated{});
  EXPECT_EQ(nodes(), "n1 up, n2 up");
  Node lost = node(2);
  lost.contact = Contact::lost;
  put(lost);
  commit(NodeLost{NodeId(2)});
  EXPECT_EQ(nodes(), "n1 up, n2 up, n2 down");
  world_.state.nodes.erase(NodeId(1));
  commit(ConfigApplied{});
  EXPECT_EQ(nodes(), "n1 up, n2 up, n2 down, n1 gone");
  commit(ConfigApplied{});
  EXPECT_EQ(nodes(), "n1 up, n2 up, n2 down, n1 gone");
  Node larger = lost;
  larger.configured.cpus = 8;
  put(larger);
  commit(NodeAdminSet{NodeId(2), AdminState::up, "", {}});
  EXPECT_EQ(nodes(), "n1 up, n2 up, n2 down, n1 gone, n2 down");
}

TEST_F(HistoryTable, EachVersionOfAReservationHasARow) {
  put(node(1));
  put(node(2));
  commit(ConfigApplied{});
  const auto set = [&](Reservation r) {
    world_.state.reservations.set(r.name, r);
    commit(ReservationSet{r});
  };
  set(reservation("a", {"n1"}));
  set(reservation("b", {"n1", "n2"}));
  EXPECT_EQ(reservations(), "a {1}, b {1,2}");
  set(reservation("a", {"n1"}));
  EXPECT_EQ(reservations(), "a {1}, b {1,2}") << "nothing changed";
  set(reservation("a", {"n2"}));
  EXPECT_EQ(reservations(), "a {1} over, b {1,2}, a {2}");
  world_.state.reservations.erase(std::string("b"));
  commit(ReservationRemoved{"b"});
  EXPECT_EQ(reservations(), "a {1} over, b {1,2} over, a {2}");
  commit(ControllerActivated{});
  EXPECT_EQ(reservations(), "a {1} over, b {1,2} over, a {2}");
  world_.state.reservations.erase(std::string("a"));
  commit(ConfigApplied{});
  EXPECT_EQ(reservations(), "a {1} over, b {1,2} over, a {2} over");
}

// The names of thousands of nodes exceed the maximum length of a text.
TEST_F(HistoryTable, ReservationMayHaveAllNodesOfALargeCluster) {
  Reservation all = reservation("all", {});
  for (std::uint32_t id = 1; id <= 8000; ++id) {
    Node one = node(id);
    one.name = "compute-node-" + std::to_string(id);
    put(one);
    all.nodes.push_back(one.name);
  }
  commit(ConfigApplied{});
  world_.state.reservations.set("all", all);
  commit(ReservationSet{all});
  EXPECT_EQ(sql("SELECT cardinality(node_ids) FROM reservation_span"), "8000");
}

}  // namespace
}  // namespace ares::store
