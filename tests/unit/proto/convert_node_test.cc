// Tests: convert_parts, convert_to_node
#include "proto/convert_node.h"

#include <gtest/gtest.h>

#include "base/clip.h"

#include "proto/gen/api.pb.h"
#include "proto/gen/node.pb.h"
#include "unit/proto/convert_random.h"

namespace ares {

// Structured bindings name every member, so that a member added to the model does not compile here
// until it is compared, and then fails the test until it is converted.
static bool operator==(const Register& x, const Register& y) {
  const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = x;
  const auto& [A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P] = y;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) ==
         std::tie(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P);
}
static bool operator==(const Heartbeat& x, const Heartbeat& y) {
  const auto& [a, b, c, d, e, f, g] = x;
  const auto& [A, B, C, D, E, F, G] = y;
  return std::tie(a, b, c, d, e, f, g) == std::tie(A, B, C, D, E, F, G);
}
static bool operator==(const Progress& x, const Progress& y) {
  const auto& [a] = x;
  const auto& [A] = y;
  return a == A;
}
static bool operator==(const LaunchRefused& x, const LaunchRefused& y) {
  const auto& [a, b, c, d] = x;
  const auto& [A, B, C, D] = y;
  return std::tie(a, b, c, d) == std::tie(A, B, C, D);
}
static bool operator==(const FromNode& x, const FromNode& y) {
  const auto& [a, b, c] = x;
  const auto& [A, B, C] = y;
  return std::tie(a, b, c) == std::tie(A, B, C);
}

static bool operator==(const LaunchSpec& x, const LaunchSpec& y) {
  const auto& [a, b, c, spec, e, f, g, layout, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, xx] = x;
  const auto& [A, B, C, SPEC, E, F, G, LAYOUT, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, XX] = y;
  return *spec == *SPEC && *layout == *LAYOUT &&
         std::tie(a, b, c, e, f, g, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, xx) ==
             std::tie(A, B, C, E, F, G, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, XX);
}
static bool operator==(const Prepare& x, const Prepare& y) {
  const auto& [a, b, c] = x;
  const auto& [A, B, C] = y;
  return a == A && *b == *B && *c == *C;
}
static bool operator==(const Go& x, const Go& y) {
  const auto& [a, b] = x;
  const auto& [A, B] = y;
  return std::tie(a, b) == std::tie(A, B);
}
static bool operator==(const Kill& x, const Kill& y) {
  const auto& [a, b, c, d, e] = x;
  const auto& [A, B, C, D, E] = y;
  return std::tie(a, b, c, d, e) == std::tie(A, B, C, D, E);
}
static bool operator==(const Signal& x, const Signal& y) {
  const auto& [a, b, c, d, e] = x;
  const auto& [A, B, C, D, E] = y;
  return std::tie(a, b, c, d, e) == std::tie(A, B, C, D, E);
}
static bool operator==(const SignalStep& x, const SignalStep& y) {
  const auto& [a, b, c, d, e, f] = x;
  const auto& [A, B, C, D, E, F] = y;
  return std::tie(a, b, c, d, e, f) == std::tie(A, B, C, D, E, F);
}
static bool operator==(const SetLimit& x, const SetLimit& y) {
  const auto& [a, b, c, d] = x;
  const auto& [A, B, C, D] = y;
  return std::tie(a, b, c, d) == std::tie(A, B, C, D);
}
static bool operator==(const SetSuspended& x, const SetSuspended& y) {
  const auto& [a, b, c, d, e] = x;
  const auto& [A, B, C, D, E] = y;
  return std::tie(a, b, c, d, e) == std::tie(A, B, C, D, E);
}
static bool operator==(const Forget& x, const Forget& y) {
  const auto& [a, b] = x;
  const auto& [A, B] = y;
  return std::tie(a, b) == std::tie(A, B);
}
static bool operator==(const Welcome& x, const Welcome& y) {
  const auto& [a, b, c] = x;
  const auto& [A, B, C] = y;
  return std::tie(a, b, c) == std::tie(A, B, C);
}
static bool operator==(const HeartbeatAck& x, const HeartbeatAck& y) {
  const auto& [a] = x;
  const auto& [A] = y;
  return a == A;
}
static bool operator==(const Refused& x, const Refused& y) {
  const auto& [a] = x;
  const auto& [A] = y;
  return a == A;
}
static bool operator==(const Reboot& x, const Reboot& y) {
  const auto& [a] = x;
  const auto& [A] = y;
  return a == A;
}
static bool operator==(const CheckpointKnown& x, const CheckpointKnown& y) {
  const auto& [a, b, c] = x;
  const auto& [A, B, C] = y;
  return std::tie(a, b, c) == std::tie(A, B, C);
}
static bool operator==(const ToNode& x, const ToNode& y) {
  const auto& [a, b, c, d] = x;
  const auto& [A, B, C, D] = y;
  return std::tie(a, b, c, d) == std::tie(A, B, C, D);
}

namespace proto {
namespace {

template <class Wire, class Model>
Wire to_wire(const Model& message) {
  Wire wire, arrived;
  to_api(message, &wire);
  EXPECT_TRUE(arrived.ParseFromString(wire.SerializeAsString()));
  return arrived;
}

TEST(ConvertNode, MessagesFromNodesRoundTrip) {
  testing::RandomWire random(11);
  for (std::size_t i = 0; i < 4000; ++i) {
    const FromNode message = random.from_node(i % std::variant_size_v<FromNodeBody>);
    auto back = from_api(to_wire<api::NodeUp>(message));
    ASSERT_TRUE(back) << back.error().message;
    ASSERT_TRUE(*back == message) << "body " << message.body.index();
  }
}

TEST(ConvertNode, MessagesToNodesRoundTrip) {
  testing::RandomWire random(12);
  for (std::size_t i = 0; i < 9000; ++i) {
    const ToNode message = random.to_node(i % std::variant_size_v<ToNodeBody>);
    auto back = from_api(to_wire<api::NodeDown>(message));
    ASSERT_TRUE(back) << back.error().message;
    ASSERT_TRUE(*back == message) << "body " << message.body.index();
  }
}

struct WrongUp {
  const char* expected;
  void (*spoil)(api::NodeUp&);
};
const WrongUp kWrongUp[] = {
    {"node is missing", [](auto& m) { m.clear_node(); }},
    {"node contains a control character", [](auto& m) { m.set_node("n\n1"); }},
    {"body is missing", [](auto& m) { m.clear_body(); }},
    {"name is missing", [](auto& m) { m.mutable_register_(); }},
    {"inventory is missing", [](auto& m) { m.mutable_register_()->set_name("n1"); }},
    {"memory is negative",
     [](auto& m) {
       m.mutable_register_()->set_name("n1");
       m.mutable_register_()->mutable_inventory()->set_memory(-1);
     }},
    {"gpu index is out of range",
     [](auto& m) {
       m.mutable_register_()->set_name("n1");
       m.mutable_register_()->mutable_inventory()->add_gpus()->set_index(70000);
     }},
    {"gpus are not in ascending order",
     [](auto& m) {
       m.mutable_register_()->set_name("n1");
       m.mutable_register_()->mutable_inventory()->add_gpus()->set_index(1);
       m.mutable_register_()->mutable_inventory()->add_gpus()->set_index(1);
     }},
    {"attempt job id 0 is none", [](auto& m) { m.mutable_heartbeat()->add_attempts(); }},
    {"attempt attempt 0 is none",
     [](auto& m) { m.mutable_progress()->mutable_attempt()->clear_attempt(); }},
    {"fence is missing", [](auto& m) { m.mutable_progress()->clear_fence(); }},
    {"phase is one that this version", [](auto& m) { m.mutable_progress()->set_phase(6); }},
    {"ran_since is negative", [](auto& m) { m.mutable_progress()->set_ran_since(-1); }},
    {"user_cpu is negative",
     [](auto& m) { m.mutable_progress()->mutable_usage()->set_user_cpu(-1); }},
    {"max_rss is negative",
     [](auto& m) { m.mutable_progress()->mutable_usage()->set_max_rss(-1); }},
};

// Regression: the name of an output file could cut a node off for good: its report with that name
// was refused, and the node repeated this report for ever.
TEST(ConvertNode, AnyReasonTextOfANodeIsAccepted) {
  std::string text;
  for (int i = 0; i < 2500; ++i) text += "ä";
  for (const std::string& reason : {text, "x" + text, "xx" + text}) {
    FromNode report{"n1", 1, Progress{}};
    auto& attempt = std::get<Progress>(report.body).report;
    attempt.attempt = {JobKey{JobId{1}, {}}, AttemptNo{1}};
    attempt.fence = Fence{1};
    attempt.detail = reason;
    const auto heard = from_api(to_wire<api::NodeUp>(report));
    ASSERT_TRUE(heard) << heard.error().message;
    const std::string detail = std::get<Progress>(heard->body).report.detail;
    EXPECT_EQ(detail, clip(reason));

    const FromNode refusal{"n1", 1, LaunchRefused{attempt.attempt, Fence{1}, false, reason}};
    const auto refused = from_api(to_wire<api::NodeUp>(refusal));
    ASSERT_TRUE(refused) << refused.error().message;
    EXPECT_EQ(std::get<LaunchRefused>(refused->body).cause, clip(reason));
  }
  FromNode odd{"n1", 1, LaunchRefused{{JobKey{JobId{1}, {}}, AttemptNo{1}}, Fence{1}, false, {}}};
  std::get<LaunchRefused>(odd.body).cause = "\x1b[31mred\x7f\nline";
  const auto heard = from_api(to_wire<api::NodeUp>(odd));
  ASSERT_TRUE(heard) << heard.error().message;
  EXPECT_EQ(std::get<LaunchRefused>(heard->body).cause, "?[31mred?\nline");
}

TEST(ConvertNode, ErrorsInMessagesFromNodesAreNamed) {
  for (const WrongUp& wrong : kWrongUp) {
    api::NodeUp message;
    message.set_node("n1");
    auto* report = message.mutable_progress();
    report->mutable_attempt()->mutable_job()->set_job(1);
    report->mutable_attempt()->set_attempt(1);
    report->set_fence(1);
    ASSERT_TRUE(from_api(message));
    wrong.spoil(message);
    auto converted = from_api(message);
    ASSERT_FALSE(converted) << wrong.expected;
    EXPECT_EQ(converted.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(converted.error().message.find(wrong.expected), std::string::npos)
        << wrong.expected << " is not in: " << converted.error().message;
  }
}

struct WrongDown {
  const char* expected;
  void (*spoil)(api::NodeDown&);
};
const WrongDown kWrongDown[] = {
    {"node is missing", [](auto& m) { m.clear_node(); }},
    {"body is missing", [](auto& m) { m.clear_body(); }},
    {"launch is missing", [](auto& m) { m.mutable_prepare()->clear_launch(); }},
    {"spec is missing", [](auto& m) { m.mutable_prepare()->mutable_launch()->clear_spec(); }},
    {"spec job specification: time_limit is negative",
     [](auto& m) { m.mutable_prepare()->mutable_launch()->mutable_spec()->set_time_limit(-1); }},
    {"rank is not one of node_names",
     [](auto& m) { m.mutable_prepare()->mutable_launch()->set_rank(1000); }},
    {"are not as many as node_names",
     [](auto& m) { m.mutable_prepare()->mutable_launch()->add_cpus_per_node(1); }},
    {"gpu_types are not as many as gpus",
     [](auto& m) { m.mutable_prepare()->mutable_launch()->add_gpus(1); }},
    {"memory is negative", [](auto& m) { m.mutable_prepare()->mutable_launch()->set_memory(-1); }},
    {"step_addresses are not as many as node_names",
     [](auto& m) {
       for (int i = 0; i < 20; ++i)
         m.mutable_prepare()->mutable_launch()->add_step_addresses("192.0.2.1:1");
     }},
    {"kill_wait is negative",
     [](auto& m) { m.mutable_prepare()->mutable_launch()->set_kill_wait(-1); }},
    {"time_limit is negative",
     [](auto& m) { m.mutable_prepare()->mutable_launch()->set_time_limit(-1); }},
    {"attempt job id 0", [](auto& m) { m.mutable_go(); }},
    {"attempt job id 0", [](auto& m) { m.mutable_kill(); }},
    {"attempt job id 0", [](auto& m) { m.mutable_signal(); }},
    {"attempt job id 0", [](auto& m) { m.mutable_set_limit(); }},
    {"attempt job id 0", [](auto& m) { m.mutable_forget(); }},
    {"attempt job id 0", [](auto& m) { m.mutable_set_suspended(); }},
    {"signal is not one from 1 to 64",
     [](auto& m) {
       auto* signal = m.mutable_signal();
       signal->mutable_attempt()->mutable_job()->set_job(1);
       signal->mutable_attempt()->set_attempt(1);
       signal->set_fence(1);
       signal->set_signal(-9);
     }},
    {"lease is negative", [](auto& m) { m.mutable_welcome()->set_lease(-1); }},
    {"heartbeat is missing", [](auto& m) { m.mutable_welcome(); }},
};

TEST(ConvertNode, ErrorsInMessagesToNodesAreNamed) {
  testing::RandomWire random(13);
  for (const WrongDown& wrong : kWrongDown) {
    auto message = to_wire<api::NodeDown>(random.to_node(0));
    ASSERT_TRUE(from_api(message));
    wrong.spoil(message);
    auto converted = from_api(message);
    ASSERT_FALSE(converted) << wrong.expected;
    EXPECT_EQ(converted.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(converted.error().message.find(wrong.expected), std::string::npos)
        << wrong.expected << " is not in: " << converted.error().message;
  }
}

}  // namespace
}  // namespace proto
}  // namespace ares
