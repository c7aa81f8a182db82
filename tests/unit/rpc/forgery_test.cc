// Attacks on the protocol: every message here is built by hand.
#include <grpcpp/client_context.h>

#include <random>

#include "auth/munge.h"
#include "auth/seal.h"
#include "proto/gen/api.grpc.pb.h"
#include "rpc/client/channel.h"
#include "rpc/wire/envelope.h"
#include "unit/rpc/rpc_fixture.h"

namespace ares::rpc {
namespace {

class ForgeryTest : public RpcTest {
 protected:
  ForgeryTest()
      : stub(api::Ares::NewStub(make_channel(parse_address(socket).value(), Purpose::calls))) {}

  void SetUp() override { start(); }

  grpc::Status send(const api::Sealed& message, api::Sealed* reply = nullptr) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + 10s);
    api::Sealed ignored;
    return stub->Call(&context, message, reply ? reply : &ignored);
  }

  std::string credential(const std::string& munge_socket) {
    return auth::munge_encode(key.to_credential_payload(), munge_socket).value();
  }

  api::Sealed first(std::string credential_text) {
    api::Sealed message;
    message.set_credential(std::move(credential_text));
    put_sealed(&message, key, auth::Direction::request, 0, 1, payload);
    return message;
  }

  // Opens a session and returns its id.
  std::uint64_t open() {
    api::Sealed reply;
    const grpc::Status status = send(first(credential(munged.socket())), &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply.session();
  }

  api::Sealed next(std::uint64_t session, std::uint64_t sequence) {
    api::Sealed message;
    put_sealed(&message, key, auth::Direction::request, session, sequence, payload);
    return message;
  }

  void expect_refused(const api::Sealed& message, const std::string& text) {
    const std::size_t before = seen().size();
    const grpc::Status status = send(message);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << status.error_message();
    EXPECT_NE(status.error_message().find(text), std::string::npos) << status.error_message();
    EXPECT_EQ(seen().size(), before) << "the handler must not see it";
  }

  auth::SessionKey key = auth::SessionKey::random();
  const std::string payload = [] {
    api::Request request = ping();
    request.set_request_id("x");
    return request.SerializeAsString();
  }();
  std::unique_ptr<api::Ares::Stub> stub;
};

TEST_F(ForgeryTest, AValidMessageIsAccepted) {
  const std::uint64_t session = open();
  EXPECT_NE(session, 0u);
  api::Sealed reply;
  ASSERT_TRUE(send(next(session, 1), &reply).ok());
  EXPECT_EQ(reply.session(), session);
  EXPECT_EQ(reply.sequence(), 1u);
  EXPECT_TRUE(
      auth::verify_seal(key, auth::Direction::answer, session, 1, reply.payload(), reply.mac()));
  EXPECT_EQ(seen().size(), 2u);
}

TEST_F(ForgeryTest, AForgedCredentialIsRefused) {
  testing::Munged other;
  expect_refused(first(credential(other.socket())), "forged");
  expect_refused(first("MUNGE:AwQFAAA:"), "credential refused");
  expect_refused(first(std::string(1 << 20, 'x')), "credential refused");
}

TEST_F(ForgeryTest, AReplayedCredentialIsRefused) {
  const api::Sealed message = first(credential(munged.socket()));
  ASSERT_TRUE(send(message).ok());
  expect_refused(message, "used before");
}

TEST_F(ForgeryTest, ACredentialOfAnotherProgramIsRefused) {
  api::Sealed message = first(auth::munge_encode("other", munged.socket()).value());
  expect_refused(message, "not made for a session of Ares");
}

TEST_F(ForgeryTest, AStolenCredentialWithoutItsKeyIsRefused) {
  api::Sealed message;
  message.set_credential(credential(munged.socket()));
  put_sealed(&message, auth::SessionKey::random(), auth::Direction::request, 0, 1, payload);
  expect_refused(message, "seal");
}

TEST_F(ForgeryTest, AMessageWithoutCredentialOrSessionIsRefused) {
  expect_refused(next(0, 1), "session unknown");
  expect_refused(api::Sealed(), "session unknown");
}

TEST_F(ForgeryTest, AReplayedMessageIsRefused) {
  const std::uint64_t session = open();
  const api::Sealed message = next(session, 5);
  ASSERT_TRUE(send(message).ok());
  expect_refused(message, "received before");
}

TEST_F(ForgeryTest, AChangedPayloadSequenceSessionOrMacIsRefused) {
  const std::uint64_t one = open();
  key = auth::SessionKey::random();
  const std::uint64_t two = open();
  const api::Sealed good = next(two, 1);

  api::Sealed bad = good;
  bad.mutable_payload()->back() ^= 1;
  expect_refused(bad, "seal");
  bad = good;
  bad.set_sequence(2);
  expect_refused(bad, "seal");
  bad = good;
  bad.mutable_mac()->front() ^= 1;
  expect_refused(bad, "seal");
  bad = good;
  bad.clear_mac();
  expect_refused(bad, "seal");
  bad = good;
  bad.set_session(one);
  expect_refused(bad, "seal");
  bad = good;
  bad.set_session(two + 1);
  expect_refused(bad, "session unknown");
  EXPECT_TRUE(send(good).ok()) << "the true message still counts";
}

TEST_F(ForgeryTest, AnAnswerReplayedAsARequestIsRefused) {
  const std::uint64_t session = open();
  api::Sealed reply;
  ASSERT_TRUE(send(next(session, 1), &reply).ok());
  reply.set_sequence(2);
  expect_refused(reply, "seal");
  expect_refused(reply, "seal");
}

TEST_F(ForgeryTest, AnExpiredSessionIsRefused) {
  server->stop();
  server_options.session_idle = 0s;
  start();
  stub = api::Ares::NewStub(make_channel(parse_address(socket).value(), Purpose::calls));
  const std::uint64_t session = open();
  EXPECT_TRUE(
      eventually([&] { return send(next(session, 1)).error_message() == "session unknown"; }));
}

TEST_F(ForgeryTest, RandomBytesInEveryFieldAreRefused) {
  std::mt19937_64 random(5);
  const auto noise = [&](std::size_t max) {
    std::string bytes(random() % max, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    return bytes;
  };
  const std::uint64_t session = open();
  for (int i = 0; i < 2000; ++i) {
    api::Sealed message;
    if (random() % 8 == 0) message.set_credential(noise(300));
    message.set_session(random() % 2 ? session : random());
    message.set_sequence(random());
    message.set_payload(noise(300));
    message.set_mac(noise(40));
    EXPECT_EQ(send(message).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  }
  EXPECT_TRUE(send(next(session, 1)).ok());
}

// An authenticated user can still send any bytes as a request.
TEST_F(ForgeryTest, RandomRequestsWithAValidSealAreHandled) {
  std::mt19937_64 random(6);
  const std::uint64_t session = open();
  api::Request whole;
  whole.set_request_id("r");
  whole.mutable_submit()->mutable_spec()->set_name("job");
  whole.mutable_submit()->set_script("#!/bin/sh\n");
  const std::string good = whole.SerializeAsString();
  for (std::uint64_t i = 1; i <= 3000; ++i) {
    std::string bytes = good;
    if (i % 3 == 0) bytes.resize(random() % bytes.size());
    for (std::size_t flips = random() % 6; flips > 0 && !bytes.empty(); --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    api::Sealed message, reply;
    put_sealed(&message, key, auth::Direction::request, session, i, bytes);
    ASSERT_TRUE(send(message, &reply).ok());
    api::Response response;
    ASSERT_TRUE(response.ParseFromString(reply.payload()));
    if (!response.has_failure()) continue;
    EXPECT_EQ(response.failure().code(), static_cast<int>(ErrorCode::invalid_argument));
  }
}

}  // namespace
}  // namespace ares::rpc
