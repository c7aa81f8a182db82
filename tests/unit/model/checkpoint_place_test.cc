#include "model/job/checkpoint_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares {
namespace {

using testing::HasSubstr;

TEST(CheckpointPlace, PathsAndUrisOfS3AreTaken) {
  for (const char* place : {"/scratch", "/a/b://c", "s3://ml-team/alice", "s3://b.1/a/b c"})
    EXPECT_EQ(wrong_checkpoint_place(place), "") << place;
}

TEST(CheckpointPlace, OthersAreRefusedByWhatIsWrong) {
  EXPECT_THAT(wrong_checkpoint_place("scratch"), HasSubstr("neither a directory nor"));
  EXPECT_THAT(wrong_checkpoint_place("gs://bucket/x"), HasSubstr("s3://BUCKET/PREFIX"));
  EXPECT_THAT(wrong_checkpoint_place("s3://bucket"), HasSubstr("no prefix"));
  EXPECT_THAT(wrong_checkpoint_place("s3://bucket/"), HasSubstr("no prefix"));
  EXPECT_THAT(wrong_checkpoint_place("s3://Bucket/x"), HasSubstr("names a bucket"));
  EXPECT_THAT(wrong_checkpoint_place("s3://ab/x"), HasSubstr("names a bucket"));
  EXPECT_THAT(wrong_checkpoint_place("s3://user@host/x"), HasSubstr("names a bucket"));
  EXPECT_THAT(wrong_checkpoint_place("s3://bucket/a//b"), HasSubstr("empty part"));
  EXPECT_THAT(wrong_checkpoint_place("s3://bucket/../b"), HasSubstr("part . or .."));
  EXPECT_THAT(wrong_checkpoint_place("s3://bucket/" + std::string(1000, 'a')), HasSubstr("900"));
}

TEST(CheckpointPlace, APathIsNoUri) {
  EXPECT_TRUE(is_checkpoint_uri("s3://bucket/x"));
  EXPECT_TRUE(is_checkpoint_uri("gs://bucket/x"));
  EXPECT_FALSE(is_checkpoint_uri("/a/b://c"));
  EXPECT_FALSE(is_checkpoint_uri("relative"));
}

}  // namespace
}  // namespace ares
