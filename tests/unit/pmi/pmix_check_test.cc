#include "pmi/pmix_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::pmi {
namespace {

using ::testing::HasSubstr;

std::string why(const PmixEvent& event) {
  const Status status =
      check(event, {.size = 4, .ranks_by_node = {{0, 1}, {2}, {3}}, .this_node = 1});
  return status ? "" : status.error().message;
}

TEST(PmixCheck, WhatArespmixdSendsPasses) {
  EXPECT_EQ(why(PmixReady{{{{"PMIX_RANK", "2"}, {"PMIX_GDS_MODULE", "a\nb"}}}}), "");
  EXPECT_EQ(why(PmixFailed{"cannot load"}), "");
  EXPECT_EQ(why(PmixFence{1, "all 0", {0, 1, 2}, std::string("\0\xff", 2)}), "");
  EXPECT_EQ(why(PmixFence{1, "0-2 7", {0, 1}, ""}), "");
  EXPECT_EQ(why(PmixModexRequest{1, 3}), "");
  EXPECT_EQ(why(PmixModexData{1, std::nullopt}), "");
  EXPECT_EQ(why(PmixAbort{2, 7, "stop"}), "");
}

TEST(PmixCheck, RanksAndNodesOfAnotherStepAreRefused) {
  EXPECT_THAT(why(PmixReady{{{}, {}}}), HasSubstr("environments of 2 ranks"));
  EXPECT_THAT(why(PmixFence{1, "all 0", {}, ""}), HasSubstr("wrong nodes"));
  EXPECT_THAT(why(PmixFence{1, "all 0", {0, 1, 3}, ""}), HasSubstr("wrong nodes"));
  EXPECT_THAT(why(PmixFence{1, "all 0", {1, 0}, ""}), HasSubstr("wrong nodes"));
  EXPECT_THAT(why(PmixFence{1, "all 0", {1, 1}, ""}), HasSubstr("wrong nodes"));
  EXPECT_THAT(why(PmixFence{1, "all 0", {0, 2}, ""}), HasSubstr("wrong nodes"))
      << "without this one";
  EXPECT_THAT(why(PmixModexRequest{1, 4}), HasSubstr("rank 4 of 4"));
  EXPECT_THAT(why(PmixAbort{4, 1, "stop"}), HasSubstr("rank 4 of 4"));
}

TEST(PmixCheck, OtherVariablesAndTextsForATerminalAreRefused) {
  EXPECT_THAT(why(PmixReady{{{{"LD_PRELOAD", "x"}}}}), HasSubstr("\"LD_PRELOAD\""));
  EXPECT_THAT(why(PmixReady{{{{"PMIX_A=B", "x"}}}}), HasSubstr("variable"));
  EXPECT_THAT(why(PmixReady{{{{"PMIX_A", std::string("x\0", 2)}}}}), HasSubstr("variable"));
  EXPECT_THAT(why(PmixAbort{0, 1, "\x1b[2J"}), HasSubstr("cannot be shown"));
  EXPECT_THAT(why(PmixFailed{""}), HasSubstr("cannot be shown"));
  EXPECT_THAT(why(PmixFailed{std::string(2000, 'x')}), HasSubstr("cannot be shown"));
  EXPECT_THAT(why(PmixFence{1, "all\n0", {0, 1, 2}, ""}), HasSubstr("cannot be shown"));
}

}  // namespace
}  // namespace ares::pmi
