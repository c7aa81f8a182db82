// Tests: discovery_child, driver_process
#include "aresd/gpus/discovery_child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

namespace ares::aresd {
namespace {

using testing::HasSubstr;

// What a shell prints instead of aresd.
Result<gres::FoundMachine> answer(const std::string& script, Seconds timeout = Seconds(60)) {
  return discover_in_child("nvml", timeout, {"/bin/sh", "-c", script});
}

std::string refusal(const std::string& script) {
  const auto found = answer(script);
  return found ? "accepted" : found.error().message;
}

TEST(DiscoveryChild, ItsAnswerIsWhatWasFound) {
  const auto found = answer("echo '{\"format\": 1, \"source\": \"nvml\"}'; echo warning >&2");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->source, "nvml");
}

TEST(DiscoveryChild, ItsFailureIsTheReason) {
  EXPECT_EQ(refusal("echo more >&2; echo 'aresd: cannot load the library' >&2; exit 1"),
            "cannot load the library");
  EXPECT_EQ(refusal("exit 3"), "exit status 3");
  EXPECT_THAT(refusal("kill -SEGV $$"), HasSubstr("ended by a signal: Segmentation fault"));
  EXPECT_THAT(refusal("echo nonsense"), HasSubstr("the answer of discovery is invalid"));
  EXPECT_THAT(refusal("head -c 3000000 /dev/zero"), HasSubstr("at most 1048576 are read"));
  const auto none = discover_in_child("nvml", Seconds(60), {"/no/such/program"});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("/no/such/program"));
}

// Also if it closed its output, and for processes that it started.
TEST(DiscoveryChild, IsKilledWhenItTakesTooLong) {
  for (const char* script : {"sleep 1000", "exec >&- 2>&-; sleep 1000"}) {
    const std::string pids = testing::TempDir() + "/discovery-child-pid";
    const auto found = answer("echo $$ > " + pids + "; " + script, Seconds(1));
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::unavailable);
    EXPECT_THAT(found.error().message, HasSubstr("no answer within 1 s; does the driver hang?"));
    pid_t pid = 0;
    std::ifstream(pids) >> pid;
    ASSERT_GT(pid, 1);
    EXPECT_NE(::kill(pid, 0), 0) << "it runs on";
  }
}

}  // namespace
}  // namespace ares::aresd
