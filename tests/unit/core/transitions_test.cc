// The table of job states and events, and its printed form.
#include "core/job/transitions.h"

#include <gtest/gtest.h>

namespace ares::core {
namespace {

TEST(Transitions, RefusalsHaveARemarkAndAcceptancesATarget) {
  for (std::size_t e = 0; e < kJobEvents; ++e) {
    for (int s = -1; s <= static_cast<int>(JobState::deadline); ++s) {
      const auto from = s < 0 ? std::nullopt : std::optional(static_cast<JobState>(s));
      const Transition& t = transition(from, static_cast<JobEvent>(e));
      if (t.verdict == Verdict::accepted) {
        EXPECT_NE(t.to, 0u) << e << " " << s;
      } else {
        EXPECT_FALSE(t.remark.empty()) << e << " " << s;
      }
    }
  }
}

TEST(Transitions, OrdinaryLifeIsAccepted) {
  EXPECT_TRUE(accepts({}, JobEvent::submitted));
  EXPECT_TRUE(accepts(JobState::pending, JobEvent::allocated));
  EXPECT_FALSE(accepts(JobState::completing, JobEvent::allocated))
      << "the attempt before has not ended";
  EXPECT_FALSE(accepts(JobState::running, JobEvent::ended)) << "nodes must release it first";
  EXPECT_TRUE(accepts(JobState::completed, JobEvent::requeued));
  EXPECT_TRUE(may_lead_to(transition(JobState::configuring, JobEvent::started), JobState::running));
  EXPECT_FALSE(
      may_lead_to(transition(JobState::configuring, JobEvent::started), JobState::completed));
}

TEST(Transitions, PrintedTableNamesEveryEventAndState) {
  const std::string page = print_transitions();
  for (std::size_t e = 0; e < kJobEvents; ++e) {
    EXPECT_NE(page.find(".SS " + std::string(to_string(static_cast<JobEvent>(e)))),
              std::string::npos)
        << e;
  }
  for (const char* state : {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "terminal"}) {
    EXPECT_NE(page.find(state), std::string::npos) << state;
  }
}

}  // namespace
}  // namespace ares::core
