#include "kubernetes_scale/simulated/timeline.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ares::kubernetes_scale {
namespace {

TEST(TimelineTest, APodCountsOnceForAState) {
  Timeline timeline;
  timeline.count("jobs", "a", PodState::created);
  timeline.count("jobs", "a", PodState::bound);
  timeline.count("jobs", "a", PodState::bound);
  timeline.count("jobs", "b", PodState::created);
  timeline.count("others", "c", PodState::created);
  EXPECT_TRUE(timeline.has_news());
  const auto line = nlohmann::json::parse(timeline.line(Time{std::chrono::milliseconds(2500)}));
  EXPECT_FALSE(timeline.has_news());
  EXPECT_EQ(line["at"], 2.5);
  EXPECT_EQ(line["jobs"]["created"], 2);
  EXPECT_EQ(line["jobs"]["bound"], 1);
  EXPECT_EQ(line["jobs"]["gone"], 0);
  EXPECT_EQ(line["others"]["created"], 1);
}

}  // namespace
}  // namespace ares::kubernetes_scale
