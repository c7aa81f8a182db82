#include "exec/kubernetes/agent/lease/agent_identity.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/clock.h"

namespace ares::kubernetes {
namespace {

TEST(AgentIdentities, AreReadAsTheyWereWritten) {
  const auto self = this_agent();
  ASSERT_TRUE(self) << self.error().message;
  EXPECT_EQ(self->pid, ::getpid());
  EXPECT_EQ(parse_identity(encode(*self)), *self);
  const AgentIdentity odd{"a_b_1", 7, 8, 9, "f-0"};
  EXPECT_EQ(parse_identity(encode(odd)), odd);
  for (const char* text : {"", "n1", "n1_1_2_3_", "_1_2_3_b", "n1_0_2_3_b", "n1_-1_2_3_b",
                           "n1_1_x_3_b", "1_2_3_b", "n1_99999999999999999999_2_3_b"})
    EXPECT_FALSE(parse_identity(text)) << text;
}

TEST(AgentIdentities, AreShownByTheMachineAndTheProcess) {
  EXPECT_EQ(describe_holder("n1_12_345_4026531836_9f-0"), "n1 (process 12)");
  EXPECT_EQ(describe_holder("of another program\n"), "\"of another program?\"");
}

TEST(AgentIdentities, OnlyTheEndOfAProcessThatCanBeSeenIsKnown) {
  AgentIdentity self = this_agent().value();
  EXPECT_FALSE(has_ended(self, self));
  AgentIdentity earlier = self;
  earlier.started -= 1;  // its pid is that of another process now
  EXPECT_TRUE(has_ended(earlier, self));
  AgentIdentity elsewhere = earlier;
  elsewhere.boot_id = "another";
  EXPECT_FALSE(has_ended(elsewhere, self));
  elsewhere = earlier;
  elsewhere.pid_space += 1;
  EXPECT_FALSE(has_ended(elsewhere, self)) << "in a container its pid is another one";
}

TEST(AgentIdentities, AKilledProcessHasEndedBeforeAndAfterItIsWaitedFor) {
  AgentIdentity child = this_agent().value();
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (;;) ::pause();
  }
  child.pid = pid;
  child.started = os::process_start_ticks(pid);
  const AgentIdentity self = this_agent().value();
  EXPECT_FALSE(has_ended(child, self));
  ::kill(pid, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(has_ended(child, self)) << "it is a zombie";
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_TRUE(has_ended(child, self));
}

}  // namespace
}  // namespace ares::kubernetes
