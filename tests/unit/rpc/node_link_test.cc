// Tests: backoff, link_stream, message_batch, node_stream, send_queue
#include "rpc/client/node_link.h"

#include <grpcpp/client_context.h>

#include <random>
#include <set>

#include "auth/munge.h"
#include "proto/gen/api.grpc.pb.h"
#include "rpc/client/channel.h"
#include "rpc/wire/envelope.h"
#include "rpc/wire/message_batch.h"
#include "unit/rpc/rpc_fixture.h"

namespace ares::rpc {
namespace {

// The controller's side: records every event in order.
class Nodes : public AttachHandler {
 public:
  void attached(std::shared_ptr<NodeSession> session) override {
    const std::lock_guard lock(mutex);
    log.push_back("attached");
    current = session;
  }
  void received(std::shared_ptr<NodeSession> session, api::NodeUp message) override {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(session, current);
    log.push_back("from " + message.node() + " " + std::to_string(message.incarnation()));
  }
  void detached(std::shared_ptr<NodeSession> session) override {
    const std::lock_guard lock(mutex);
    log.push_back("detached");
    if (current == session) current = nullptr;
  }

  std::vector<std::string> entries() {
    const std::lock_guard lock(mutex);
    return log;
  }
  std::size_t count(const std::string& entry) {
    const std::lock_guard lock(mutex);
    return static_cast<std::size_t>(std::count(log.begin(), log.end(), entry));
  }
  std::shared_ptr<NodeSession> session() {
    const std::lock_guard lock(mutex);
    return current;
  }

 private:
  std::mutex mutex;
  std::vector<std::string> log;
  std::shared_ptr<NodeSession> current;
};

class NodeLinkTest : public RpcTest {
 protected:
  NodeLinkTest() {
    link_options.addresses = {socket};
    link_options.munge_socket = munged.socket();
    link_options.server_uid = UserId(getuid());
    link_options.first_delay = 5ms;
    link_options.max_delay = 50ms;
  }

  std::unique_ptr<NodeLink> connect() {
    return NodeLink::open(
               link_options,
               [this](api::NodeDown message) {
                 const std::lock_guard lock(mutex);
                 heard.push_back(message.node() + " " + std::to_string(message.epoch()));
               },
               [this](bool connected, const std::string& why) {
                 const std::lock_guard lock(mutex);
                 states.push_back({connected, why});
               })
        .value();
  }

  struct StateChange {
    bool connected;
    std::string why;
  };
  std::vector<StateChange> changes() {
    const std::lock_guard lock(mutex);
    return states;
  }
  bool is_connected() {
    const auto all = changes();
    return !all.empty() && all.back().connected;
  }
  std::vector<std::string> messages() {
    const std::lock_guard lock(mutex);
    return heard;
  }

  static api::NodeUp up(std::uint64_t number) {
    api::NodeUp message;
    message.set_node("n1");
    message.set_incarnation(number);
    message.mutable_heartbeat();
    return message;
  }
  static api::NodeDown down(std::uint64_t number) {
    api::NodeDown message;
    message.set_node("n1");
    message.set_epoch(number);
    message.mutable_heartbeat_ack();
    return message;
  }

  // The handler must outlive the server, which the base class owns.
  void TearDown() override {
    if (server) server->stop();
  }

  Nodes nodes;
  NodeLinkOptions link_options;

 private:
  std::mutex mutex;
  std::vector<std::string> heard;
  std::vector<StateChange> states;
};

TEST_F(NodeLinkTest, MessagesKeepTheirOrderInBothDirections) {
  start(&nodes);
  const auto link = connect();
  ASSERT_TRUE(eventually([&] { return is_connected() && nodes.session(); }));
  EXPECT_EQ(nodes.session()->principal().uid, UserId(getuid()));
  EXPECT_FALSE(nodes.session()->peer().empty());
  constexpr std::uint64_t kMessages = 5000;
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    link->send(up(i));
    nodes.session()->send(down(i));
  }
  ASSERT_TRUE(eventually([&] { return messages().size() == kMessages; }));
  ASSERT_TRUE(eventually([&] { return nodes.entries().size() == kMessages + 1; }));
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    EXPECT_EQ(messages()[i], "n1 " + std::to_string(i));
    if (i % 500 != 0) continue;
    EXPECT_EQ(nodes.entries()[i + 1], "from n1 " + std::to_string(i));
  }
}

TEST_F(NodeLinkTest, ReconnectsAfterEveryRestartOfTheServer) {
  start(&nodes);
  const auto link = connect();
  for (std::size_t round = 1; round <= 3; ++round) {
    ASSERT_TRUE(eventually([&] { return is_connected() && nodes.session(); })) << round;
    link->send(up(round));
    ASSERT_TRUE(eventually([&] { return nodes.count("from n1 " + std::to_string(round)) == 1; }));
    nodes.session()->send(down(round));
    ASSERT_TRUE(eventually([&] { return messages().size() == round; }));
    server->stop();
    EXPECT_EQ(nodes.count("detached"), round) << "stop() ends every session before it returns";
    ASSERT_TRUE(eventually([&] { return !is_connected(); }));
    start(&nodes);
  }
  ASSERT_TRUE(eventually([&] { return is_connected(); }));
}

TEST_F(NodeLinkTest, ReportsEachReasonForAFailedConnectionOnce) {
  const auto link = connect();
  ASSERT_TRUE(eventually([&] { return !changes().empty(); }));
  start(&nodes);
  ASSERT_TRUE(eventually([&] { return is_connected(); }));
  // A server that has bound its socket but does not listen yet is another reason.
  std::set<std::string> reasons;
  for (const auto& change : changes()) {
    if (change.connected) continue;
    EXPECT_TRUE(reasons.insert(change.why).second) << change.why;
  }
  EXPECT_TRUE(changes().back().connected);
  EXPECT_NE(changes()[0].why.find("No such file or directory"), std::string::npos)
      << changes()[0].why;
}

TEST_F(NodeLinkTest, TheNodeLearnsWhyItsSessionWasClosed) {
  start(&nodes);
  const auto link = connect();
  ASSERT_TRUE(eventually([&] { return is_connected() && nodes.session(); }));
  const auto session = nodes.session();
  for (std::uint64_t i = 0; i < 100; ++i) session->send(down(i));
  session->close("two of one name");
  session->send(down(1000));  // ignored
  ASSERT_TRUE(eventually([&] { return nodes.count("attached") == 2 && is_connected(); }));
  EXPECT_EQ(messages().size(), 100u) << "what was sent before the close still arrives";
  EXPECT_FALSE(changes()[1].connected);
  EXPECT_NE(changes()[1].why.find("two of one name"), std::string::npos) << changes()[1].why;
}

TEST_F(NodeLinkTest, MakesNoCallbackAfterItsDestruction) {
  start(&nodes);
  {
    const auto link = connect();
    ASSERT_TRUE(eventually([&] { return is_connected(); }));
  }
  EXPECT_TRUE(is_connected()) << "no callback once it is gone";
  EXPECT_TRUE(eventually([&] { return nodes.count("detached") == 1; }));
  EXPECT_EQ(nodes.entries(), (std::vector<std::string>{"attached", "detached"}));
}

TEST_F(NodeLinkTest, ConnectsOnceMungedAnswers) {
  start(&nodes);
  munged.stop();
  const auto link = connect();
  ASSERT_TRUE(eventually([&] { return !changes().empty(); }));
  EXPECT_NE(changes()[0].why.find("munged does not answer"), std::string::npos);
  munged.start();
  EXPECT_TRUE(eventually([&] { return is_connected(); }));
}

TEST_F(NodeLinkTest, ConnectsToTheControllerThatAnswers) {
  link_options.addresses = {"unix:" + directory.path() + "/absent", socket};
  start(&nodes);
  const auto link = connect();
  EXPECT_TRUE(eventually([&] { return is_connected(); }));
}

TEST_F(NodeLinkTest, AServerWithoutANodeHandlerRefusesNodes) {
  start(nullptr);
  const auto link = connect();
  ASSERT_TRUE(eventually([&] { return !changes().empty(); }));
  EXPECT_NE(changes()[0].why.find("takes no nodes"), std::string::npos) << changes()[0].why;
}

TEST_F(NodeLinkTest, ANodeThatDoesNotReadIsDisconnected) {
  server_options.node_queue_bytes = 1 << 20;
  start(&nodes);
  std::atomic<bool> blocked = true;
  auto link = NodeLink::open(
                  link_options, [&](const api::NodeDown&) { eventually([&] { return !blocked; }); },
                  [](bool, const std::string&) {})
                  .value();
  ASSERT_TRUE(eventually([&] { return nodes.session() != nullptr; }));
  const auto session = nodes.session();
  api::NodeDown large = down(1);
  large.mutable_refused()->set_why(std::string(100'000, 'x'));
  // gRPC's own buffers fill first, then ours.
  EXPECT_TRUE(eventually([&] {
    session->send(large);
    return nodes.count("detached") == 1;
  }));
  blocked = false;
}

// --- messages built by hand: what an attacker or a defective node can send ---

class AttachForgeryTest : public NodeLinkTest {
 protected:
  AttachForgeryTest()
      : stub(api::Ares::NewStub(make_channel(parse_address(socket).value(), Purpose::calls))) {}
  void SetUp() override { start(&nodes); }

  api::Sealed hello() {
    api::Sealed message;
    message.set_credential(
        auth::munge_encode(key.to_credential_payload(), munged.socket()).value());
    put_sealed(&message, key, auth::Direction::node_up, 0, 1, "");
    return message;
  }
  api::Sealed say(std::uint64_t sequence, const std::string& payload) {
    api::Sealed message;
    put_sealed(&message, key, auth::Direction::node_up, 0, sequence, payload);
    return message;
  }

  // Sends the messages in order and returns the stream's final status.
  grpc::Status talk(const std::vector<api::Sealed>& messages) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + 10s);
    auto stream = stub->Attach(&context);
    for (const api::Sealed& message : messages)
      if (!stream->Write(message)) break;
    stream->WritesDone();
    api::Sealed reply;
    while (stream->Read(&reply)) {
    }
    return stream->Finish();
  }

  auth::SessionKey key = auth::SessionKey::random();
  std::unique_ptr<api::Ares::Stub> stub;
};

TEST_F(AttachForgeryTest, AValidSessionEndsWithOk) {
  const auto status =
      talk({hello(), say(2, up(1).SerializeAsString()), say(3, up(2).SerializeAsString())});
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(eventually([&] { return nodes.count("detached") == 1; }));
  EXPECT_EQ(nodes.entries(),
            (std::vector<std::string>{"attached", "from n1 1", "from n1 2", "detached"}));
}

TEST_F(AttachForgeryTest, TheMessagesOfABatchArriveInOrder) {
  api::NodeUp batch;
  for (std::uint64_t i = 1; i <= 3; ++i) batch.add_batch(up(i).SerializeAsString());
  const auto status =
      talk({hello(), say(2, batch.SerializeAsString()), say(3, up(4).SerializeAsString())});
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(eventually([&] { return nodes.count("detached") == 1; }));
  EXPECT_EQ(nodes.entries(), (std::vector<std::string>{"attached", "from n1 1", "from n1 2",
                                                       "from n1 3", "from n1 4", "detached"}));
}

TEST_F(AttachForgeryTest, RefusesABatchWithinABatch) {
  api::NodeUp inner, outer;
  inner.add_batch(up(2).SerializeAsString());
  outer.add_batch(up(1).SerializeAsString());
  outer.add_batch(inner.SerializeAsString());
  EXPECT_EQ(talk({hello(), say(2, outer.SerializeAsString())}).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(nodes.count("from n1 2"), 0u);
}

// A node of a release before batches says nothing of them in its first message.
TEST_F(AttachForgeryTest, ANodeThatReadsNoBatchesGetsNone) {
  for (const bool reads : {false, true}) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + 10s);
    const auto stream = stub->Attach(&context);
    api::Sealed first = hello();
    if (reads)
      put_sealed(&first, key, auth::Direction::node_up, 0, 1, first_payload<api::NodeUp>());
    ASSERT_TRUE(stream->Write(first));
    ASSERT_TRUE(eventually([&] { return nodes.session() != nullptr; }));
    constexpr std::uint64_t kMessages = 2000;
    for (std::uint64_t i = 0; i < kMessages; ++i) nodes.session()->send(down(i));
    std::uint64_t received = 0, payloads = 0, batches = 0;
    for (api::Sealed reply; received < kMessages && stream->Read(&reply); ++payloads) {
      api::NodeDown message;
      ASSERT_TRUE(message.ParseFromString(reply.payload()));
      if (payloads == 0) {
        EXPECT_TRUE(message.reads_batches());
        continue;
      }
      batches += message.batch_size() > 0;
      ASSERT_TRUE(for_each_message<api::NodeDown>(reply.payload(), [&](api::NodeDown one) {
        EXPECT_EQ(one.epoch(), received);
        ++received;
      }));
    }
    EXPECT_EQ(received, kMessages);
    EXPECT_EQ(batches > 0, reads);
    EXPECT_EQ(payloads <= kMessages, reads);
    stream->WritesDone();
    EXPECT_TRUE(stream->Finish().ok());
    ASSERT_TRUE(eventually([&] { return nodes.session() == nullptr; }));
  }
}

TEST(MessageBatch, IsBoundedAndALoneMessageIsSentAsItIs) {
  SendQueue queue(10'000, 10'000'000);
  const auto push = [&](const std::string& name, std::size_t more) {
    api::NodeDown message;
    message.set_node(name);
    message.mutable_refused()->set_why(std::string(more, 'x'));
    queue.push(message.SerializeAsString());
  };
  const auto pop = [&] {
    std::vector<std::string> names;
    EXPECT_TRUE(for_each_message<api::NodeDown>(
        pop_batch<api::NodeDown>(queue),
        [&](const api::NodeDown& message) { names.push_back(message.node()); }));
    return names;
  };
  for (int i = 0; i < kBatchMessages + 1; ++i) push(std::to_string(i), 0);
  push("large", kBatchBytes + 1);
  push("small", 0);
  EXPECT_EQ(pop().size(), static_cast<std::size_t>(kBatchMessages));
  EXPECT_EQ(pop(), std::vector<std::string>{std::to_string(kBatchMessages)});
  EXPECT_EQ(pop(), std::vector<std::string>{"large"});
  push("last", 0);
  EXPECT_EQ(pop(), (std::vector<std::string>{"small", "last"}));
  EXPECT_TRUE(queue.empty());
  api::NodeDown lone;
  lone.set_node("n1");
  queue.push(lone.SerializeAsString());
  EXPECT_EQ(pop_batch<api::NodeDown>(queue), lone.SerializeAsString());
}

TEST_F(AttachForgeryTest, RefusesAStreamWithoutACredential) {
  EXPECT_EQ(talk({say(1, "")}).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(nodes.entries().empty());
}

TEST_F(AttachForgeryTest, RefusesACredentialMadeForCalls) {
  api::Sealed message = hello();
  put_sealed(&message, key, auth::Direction::request, 0, 1, "");
  EXPECT_EQ(talk({message}).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(nodes.entries().empty());
}

TEST_F(AttachForgeryTest, RefusesReplayedMissingAndChangedMessages) {
  const std::string payload = up(7).SerializeAsString();
  api::Sealed changed = say(2, payload);
  changed.mutable_payload()->back() ^= 1;
  const std::vector<std::vector<api::Sealed>> cases = {
      {hello(), say(1, payload)},
      {hello(), say(3, payload)},
      {hello(), changed},
      {hello(), say(2, payload), say(2, payload)},
  };
  for (const auto& messages : cases)
    EXPECT_EQ(talk(messages).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(nodes.count("from n1 7"), 1u) << "the one before the replay";
  EXPECT_EQ(nodes.count("attached"), 4u);
  EXPECT_TRUE(eventually([&] { return nodes.count("detached") == 4; }));
}

TEST_F(AttachForgeryTest, RandomMessagesWithAValidSealAreHandled) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) {
    std::string bytes(1 + random() % 200, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    const auto code = talk({hello(), say(2, bytes)}).error_code();
    EXPECT_TRUE(code == grpc::StatusCode::INVALID_ARGUMENT || code == grpc::StatusCode::OK) << code;
  }
}

}  // namespace
}  // namespace ares::rpc
