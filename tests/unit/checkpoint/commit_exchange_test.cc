#include "checkpoint/commit_exchange.h"

#include <gtest/gtest.h>

namespace ares::checkpoint {
namespace {

TEST(CheckpointExchange, RequestsRoundTrip) {
  for (const Request& request :
       {Request(BeginRequest{}), Request(CommitRequest{7, digest_of_text("x"), Bytes(1234)})}) {
    const auto read = parse_request(to_line(request));
    ASSERT_TRUE(read) << to_line(request);
    EXPECT_EQ(*read, request);
  }
}

TEST(CheckpointExchange, AnswersRoundTrip) {
  for (const Answer& answer :
       {Answer(Begun{7, 2, "12"}), Answer(Recorded{}), Answer(Recorded{Duration(7)}),
        Answer(Known{6}), Answer(Refusal{"the disk is full"})}) {
    const auto read = parse_answer(to_line(answer));
    ASSERT_TRUE(read) << to_line(answer);
    EXPECT_EQ(*read, answer);
  }
}

TEST(CheckpointExchange, OtherLinesAreNoRequests) {
  const std::string digest(64, 'a');
  for (const std::string& line :
       {std::string(), std::string("begin "), std::string("commit"), "commit 7 " + digest,
        "commit -7 " + digest + " 1", "commit 7 " + digest + " -1", "commit 7 " + digest + "a 1",
        "commit 7 " + digest + " 1 /x", "commit 99999999999999999999 " + digest + " 1"})
    EXPECT_FALSE(parse_request(line)) << line;
  for (const char* line :
       {"", "begun", "begun 1 2", "begun 1 x 12", "known", "known -1", "recorded x", "recorded -1"})
    EXPECT_FALSE(parse_answer(line)) << line;
}

}  // namespace
}  // namespace ares::checkpoint
