// Tests: journal/node_events, node_log
// What is kept of the life of nodes, and how it is read.
#include "store/journal/node_events.h"

#include <gtest/gtest.h>

#include "store/accounting/node_log.h"
#include "store/journal/row_images.h"
#include "store/pg/pg_journal.h"
#include "store/pg/purge.h"
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

ClusterState two_nodes(ClusterState state = {}) {
  for (std::uint32_t id = 1; id <= 2; ++id) {
    state.nodes.set(NodeId(id), node(id));
    state.node_ids.set("n" + std::to_string(id), NodeId(id));
  }
  return state;
}

std::vector<std::shared_ptr<const Event>> events(ClusterState& state,
                                                 std::vector<EventBody> bodies) {
  std::vector<std::shared_ptr<const Event>> all;
  state.now = std::max(state.now, Time(Seconds(1'600'000'000))) + Seconds(1);
  for (EventBody& body : bodies) {
    state.lsn = state.lsn.next();
    all.push_back(
        std::make_shared<const Event>(Event{state.lsn, state.epoch, state.now, std::move(body)}));
  }
  return all;
}

// "n1 DRAIN 7 disk": node, event, user or -, detail.
std::vector<std::string> texts(const std::vector<NodeEvent>& all) {
  std::vector<std::string> out;
  for (const NodeEvent& e : all)
    out.push_back(e.name + " " + std::string(e.what) + " " +
                  (e.by ? std::to_string(e.by->value()) : "-") + " " + e.detail);
  return out;
}

AuditEntry audit(std::uint32_t uid) {
  AuditEntry entry;
  entry.uid = UserId(uid);
  return entry;
}

TEST(NodeEvents, SayWhichNodeOfAReservationWasReplacedByWhich) {
  ClusterState state = two_nodes();
  Reservation r;
  r.name = "r";
  r.nodes = {"n2"};
  const auto all = events(state, {ReservationSet{r, {{NodeId(1), NodeId(2)}}}});
  EXPECT_EQ(texts(node_events_of(all, state)),
            (std::vector<std::string>{"n1 REPLACED - in reservation r by n2",
                                      "n2 SUBSTITUTED - in reservation r for n1"}));
}

TEST(NodeEvents, SayWhatHappenedToWhichNodeAndWhoDidIt) {
  ClusterState state = two_nodes();
  const AttemptKey attempt{{JobId(12), TaskIndex{3}}, AttemptNo{2}};
  NodeReboot requested;
  requested.by = UserId(7);
  requested.reason = "kernel";
  NodeReboot issued = requested;
  issued.issued_at = Time(Seconds(1));
  const auto all = node_events_of(
      events(state,
             {NodeAdminSet{NodeId(1), AdminState::drain, "disk", UserId(7)},
              NodeAdminSet{NodeId(2), AdminState::fail, "ECC", UserId(7)}, NodeLost{NodeId(1), {}},
              LaunchFailed{attempt, NodeId(2), true, "full", LaunchBlame::refused},
              LaunchFailed{attempt, NodeId(2), false, "no such user"},
              NodeGuardSet{NodeId(2), NodeGuard{.on_trial = true}},
              NodeAdminSet{NodeId(2), AdminState::up, {}, {}}, NodeRebootSet{NodeId(1), requested},
              NodeRebootSet{NodeId(1), issued}, NodeRebootSet{NodeId(1), {}},
              NodeReady{attempt, NodeId(1)}, NodeJoined{NodeId(2), "n2", {"main", "gpu"}},
              NodeLeft{NodeId(2), {"main"}}, Audited{audit(8)}}),
      state);
  EXPECT_EQ(texts(all), (std::vector<std::string>{
                            "n1 DRAIN 7 disk", "n2 FAIL 7 ECC", "n1 LOST - does not answer",
                            "n2 LAUNCH_FAILED - attempt 12_3.2: full",
                            "n2 RESUME - is tried again with one job",
                            "n1 REBOOT_REQUESTED 7 kernel", "n1 REBOOT_ISSUED - kernel",
                            "n1 REBOOT_OVER - ", "n2 JOINED - partitions main,gpu", "n2 LEFT 8 "}));
}

class NodeEventsInPostgres : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = journal_.open();
    ASSERT_TRUE(opened) << opened.error().message;
    state_ = two_nodes(opened->state);
    state_.epoch = opened->epoch;
  }
  void commit(std::vector<EventBody> bodies) {
    const auto outcome =
        journal_.commit(make_batch(events(state_, std::move(bodies)), state_, {}, {}));
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_EQ(*outcome, CommitOutcome::committed);
  }
  std::vector<std::string> read(const NodeLogFilter& filter) {
    NodeLog log(options_, 1);
    const auto found = log.query(filter);
    EXPECT_TRUE(found) << found.error().message;
    std::vector<std::string> out;
    if (found)
      for (const auto& e : found->events())
        out.push_back(e.node() + " " + e.what() + " " +
                      (e.has_uid() ? std::to_string(e.uid()) : "-") + " " + e.detail());
    return out;
  }

  PgServer server_;
  PgOptions options_ = server_.new_database();
  PgJournal journal_{options_};
  ClusterState state_;
};

TEST_F(NodeEventsInPostgres, AreReadLatestFirstByNodeAndInPages) {
  commit({NodeAdminSet{NodeId(1), AdminState::drain, "disk", UserId(7)}});
  commit({NodeAdminSet{NodeId(2), AdminState::down, "fan", UserId(7)},
          NodeAdminSet{NodeId(1), AdminState::up, {}, {}}});
  EXPECT_EQ(read({}),
            (std::vector<std::string>{"n1 RESUME - ", "n2 DOWN 7 fan", "n1 DRAIN 7 disk"}));
  NodeLogFilter filter;
  filter.nodes = {"n1"};
  filter.limit = 1;
  EXPECT_EQ(read(filter), (std::vector<std::string>{"n1 RESUME - "}));
  NodeLog log(options_, 1);
  filter.before = log.query(filter)->events(0).id();
  EXPECT_EQ(read(filter), (std::vector<std::string>{"n1 DRAIN 7 disk"}));
}

TEST_F(NodeEventsInPostgres, ANodeThatIsGoneKeepsItsName) {
  commit({NodeJoined{NodeId(2), "n2", {"main"}}});
  state_.nodes.erase(NodeId(2));
  commit({NodeLeft{NodeId(2), {"main"}}, Audited{audit(8)}});
  EXPECT_EQ(read({}).front(), "n2 LEFT 8 ");
}

TEST_F(NodeEventsInPostgres, OldOnesAreRemoved) {
  commit({NodeAdminSet{NodeId(1), AdminState::drain, "disk", UserId(7)}});
  Purge purge(options_);
  const Time at = state_.now;
  commit({NodeAdminSet{NodeId(1), AdminState::up, {}, UserId(7)}});
  const auto removed = purge.node_events(state_.epoch, at + Duration(1));
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(removed->removed, 1u);
  EXPECT_EQ(read({}), (std::vector<std::string>{"n1 RESUME 7 "}));
}

}  // namespace
}  // namespace ares::store
