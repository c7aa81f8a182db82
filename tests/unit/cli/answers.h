// Replies of the controller as made by the tests of commands, and the time zone to print them in.
// For tests only.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>

#include "proto/gen/api.pb.h"

namespace ares::answers {

inline constexpr std::int64_t kSecond = 1'000'000;  // unit of the times in messages
inline constexpr std::int64_t kNow = 1'900'000'000 * kSecond;

// Times are printed in the time zone of the process.
class InUtc : public testing::Test {
 protected:
  InUtc() {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

inline api::Job job(std::uint64_t id, const std::string& state, const std::string& name = "wrap") {
  api::Job out;
  out.mutable_key()->set_job(id);
  out.set_own_id(id);
  out.set_name(name);
  out.set_user("alice");
  out.set_partition("main");
  out.set_state(state);
  out.set_node_count(1);
  out.set_cpus(1);
  out.set_reason("None");
  return out;
}

}  // namespace ares::answers
