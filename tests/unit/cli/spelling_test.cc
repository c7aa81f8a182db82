#include "actl/spelling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::actl {
namespace {

using testing::ElementsAre;

cli::Words spelled(cli::Words words) {
  return spelled_out(std::move(words),
                     {"show", "reconfigure", "requeue", "requeuehold", "release", "top", "token"},
                     {"job", "jobs", "node", "nodes", "partition", "partitions", "reservation",
                      "reservations", "hostnames", "hostlist", "licenses"});
}

TEST(Spelling, ShortWordsMeanTheOnlyCommandThatTheyBegin) {
  EXPECT_THAT(spelled({"show", "part"}), ElementsAre("show", "partition"));
  EXPECT_THAT(spelled({"SHOW", "res", "a"}), ElementsAre("show", "reservation", "a"));
  EXPECT_THAT(spelled({"show", "n", "n1"}), ElementsAre("show", "node", "n1"));
  EXPECT_THAT(spelled({"show", "nodes"}), ElementsAre("show", "nodes"));
  EXPECT_THAT(spelled({"show", "lic"}), ElementsAre("show", "licenses"));
  EXPECT_THAT(spelled({"reconfig"}), ElementsAre("reconfigure"));
  EXPECT_THAT(spelled({"req", "12"}), ElementsAre("requeue", "12"));
  EXPECT_THAT(spelled({"tok"}), ElementsAre("token"));
}

TEST(Spelling, ShortWordsThatMayMeanSeveralAreKept) {
  EXPECT_THAT(spelled({"show", "host"}), ElementsAre("show", "host"));
  EXPECT_THAT(spelled({"re", "12"}), ElementsAre("re", "12"));
  EXPECT_THAT(spelled({"shutd"}), ElementsAre("shutd")) << "it is none of them";
  EXPECT_THAT(spelled({"shutdown"}), ElementsAre("shutdown"));
}

TEST(Spelling, ShowTakesTheNameBehindAnEqualsSign) {
  EXPECT_THAT(spelled({"show", "job=12"}), ElementsAre("show", "job", "12"));
  EXPECT_THAT(spelled({"show", "Node=n1"}), ElementsAre("show", "node", "n1"));
  EXPECT_THAT(spelled({"show", "partition=main"}), ElementsAre("show", "partition", "main"));
  EXPECT_THAT(spelled({"show", "job="}), ElementsAre("show", "job"));
}

TEST(Spelling, CreateAndDeleteTakeAShortReservation) {
  EXPECT_TRUE(is_reservation_word("res") && is_reservation_word("Reservation"));
  EXPECT_FALSE(is_reservation_word("re") || is_reservation_word("reservations") ||
               is_reservation_word("partition"));
}

}  // namespace
}  // namespace ares::actl
