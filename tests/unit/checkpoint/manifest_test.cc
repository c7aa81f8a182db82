#include "checkpoint/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::checkpoint {
namespace {

using testing::HasSubstr;

Manifest example() {
  Manifest manifest;
  manifest.job = "12";
  manifest.attempt = 3;
  manifest.sequence = 7;
  manifest.created = Time(Duration(1'700'000'000'000'000));
  manifest.files = {{"a", {digest_of_text("x"), Bytes(1)}},
                    {"b/c", {digest_of_text("yy"), Bytes(2)}}};
  manifest.fields = {{"loss", "0.1 \"q\""}, {"step", "4"}};
  return manifest;
}

TEST(Manifest, RoundTrips) {
  const auto read = from_json(to_json(example()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(example()));
  EXPECT_EQ(read->size(), Bytes(3));
  EXPECT_EQ(read->created, example().created);
}

TEST(Manifest, FilesOutsideTheDirectoryAreRefused) {
  for (const char* path :
       {"/etc/passwd", "../x", "a/../../x", "", "a//b", "a/", ".", kManifestName}) {
    Manifest manifest = example();
    manifest.files[0].path = path;
    EXPECT_FALSE(from_json(to_json(manifest))) << path;
  }
}

TEST(Manifest, AnythingElseIsRefused) {
  const std::string whole = to_json(example());
  for (const std::string& text : {std::string(), std::string("{}"), std::string("[]"),
                                  whole.substr(0, whole.size() / 2), std::string(100'000, '[')})
    EXPECT_EQ(from_json(text).error().code, ErrorCode::invalid_argument) << text.substr(0, 40);
  std::string later = whole;
  later.replace(later.find("\"format\": 1"), 11, "\"format\": 2");
  EXPECT_THAT(from_json(later).error().message, HasSubstr("format"));
}

TEST(Manifest, DirectoriesAreNamedBySequenceAndAttempt) {
  EXPECT_EQ(directory_name(7, 2), "000007.2");
  EXPECT_EQ(directory_name(12'345'678, 1), "12345678.1");
  const auto parsed = parse_directory_name("12345678.11");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->sequence, 12'345'678u);
  EXPECT_EQ(parsed->attempt, 11u);
  for (const char* other : {"7.2", "000007", "000007.", "000007.2x", "new-1", "000007.02"})
    EXPECT_FALSE(parse_directory_name(other)) << other;
}

}  // namespace
}  // namespace ares::checkpoint
