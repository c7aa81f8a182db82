// A dump of a view contains all that a plan depends on: read back it is the same state and gives the same plan.
#include "proto/view_dump.h"

#include <gtest/gtest.h>

#include "core/sched/pass/plan.h"
#include "core/sched/pass/plan_text.h"
#include "property/world.h"

namespace ares::property {
namespace {

ClusterState without_requests(ClusterState state) {
  state.requests = {};
  state.request_ages = {};
  state.request_loads = {};
  return state;
}

TEST(ViewDump, RoundTripGivesTheSameStateAndPlan) {
  std::size_t waiting = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    World world(seed, 2 + static_cast<int>(seed % 4));
    for (int step = 0; step < 900; ++step) {
      world.step();
      if (step % 60 != 59) continue;
      proto::ViewDump dump;
      dump.state = world.state();
      dump.now = world.state().now;
      dump.config = "cluster: x\n";
      const auto again = proto::decode_view(proto::encode_view(dump).value());
      ASSERT_TRUE(again) << again.error().message;
      ASSERT_TRUE(again->state == without_requests(dump.state)) << "seed " << seed;
      ASSERT_EQ(again->config, dump.config);
      const Policy policy;
      const Plan plan = core::plan(dump.state, policy, {}, dump.now);
      ASSERT_EQ(core::plan_text(core::plan(again->state, policy, {}, again->now)),
                core::plan_text(plan))
          << "seed " << seed;
      waiting += plan.pending.size();
    }
  }
  EXPECT_GT(waiting, 100u);
}

TEST(ViewDump, DamagedDumpIsRefused) {
  World world(3, 3);
  for (int step = 0; step < 300; ++step) world.step();
  proto::ViewDump dump;
  dump.state = world.state();
  const std::string bytes = proto::encode_view(dump).value();
  EXPECT_EQ(proto::decode_view("#!/bin/sh\n").error().message,
            "it is no dump of a view; adiag dump-view makes one");
  ASSERT_GT(bytes.size(), 500u);
  // Truncated or changed at any place: an error or another state, never a crash.
  std::size_t refused = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    refused += !proto::decode_view(bytes.substr(0, at));
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    refused += !proto::decode_view(changed);
  }
  EXPECT_GT(refused, bytes.size() / 6);
}

}  // namespace
}  // namespace ares::property
