// Tests: checkpoint/s3/store, checkpoint/s3/transfer
#include "checkpoint/s3/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/s3/store.h"
#include "checkpoint/s3/transfer.h"

namespace ares::checkpoint::s3 {
namespace {

using testing::HasSubstr;

Variable variables(std::map<std::string, std::string> values) {
  return [values](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

TEST(Settings, SiteCountsUnlessTheUserNamesAnAllowedEndpoint) {
  const std::string site =
      "endpoint https://s3.site:9000/\nregion here\nallowed_endpoint https://other\n";
  const auto plain = read_settings(site, variables({{"AWS_REGION", "job"}}));
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->endpoint, "https://s3.site:9000");
  EXPECT_EQ(plain->host, "s3.site:9000");
  EXPECT_EQ(plain->region, "here");
  const auto own = read_settings(
      site, variables({{"AWS_ENDPOINT_URL", "https://other/"}, {"AWS_REGION", "job"}}));
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->endpoint, "https://other");
  EXPECT_EQ(own->region, "job");
  EXPECT_THAT(
      read_settings(site, variables({{"AWS_ENDPOINT_URL", "https://foreign"}})).error().message,
      HasSubstr("not one that the site allows"));
  EXPECT_THAT(read_settings("", variables({})).error().message, HasSubstr("no S3 endpoint"));
}

TEST(Settings, HostIsWithoutTheUsualPort) {
  EXPECT_EQ(read_settings("endpoint https://h:443\n", variables({}))->host, "h");
  EXPECT_EQ(read_settings("endpoint http://h:443\n", variables({}))->host, "h:443");
  for (const char* wrong :
       {"endpoint ftp://h\n", "endpoint https://u@h\n", "endpoint https://h/x\n"})
    EXPECT_FALSE(read_settings(wrong, variables({}))) << wrong;
}

TEST(Credentials, ProfileOfAFile) {
  const std::string file =
      "# mine\n[default]\naws_access_key_id = A\naws_secret_access_key = b/c=\n"
      "[other]\r\naws_access_key_id=O\r\naws_secret_access_key=p\r\naws_session_token=t\r\n";
  EXPECT_EQ(parse_credentials(file, "default")->secret, "b/c=");
  EXPECT_EQ(parse_credentials(file, "other")->session_token, "t");
  EXPECT_THAT(parse_credentials(file, "none").error().message, HasSubstr("no profile \"none\""));
  EXPECT_FALSE(parse_credentials("[default]\naws_access_key_id = A\n", "default"));
  const auto bad = parse_credentials("[d]\naws_access_key_id=A\naws_secret_access_key=a b\n", "d");
  EXPECT_EQ(bad.error().message.find("a b"), std::string::npos) << "a secret is not shown";
}

TEST(Uri, OfABucketAndAPrefix) {
  const auto name = parse_uri("s3://bucket/a/b/");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->bucket, "bucket");
  EXPECT_EQ(name->key, "a/b");
  for (const char* wrong :
       {"/a", "s3://bucket", "s3://B/x", "s3://bucket/a/../b", "s3://bucket/\x1b"})
    EXPECT_FALSE(parse_uri(wrong)) << wrong;
}

TEST(Parts, AreNeverMoreThanTenThousand) {
  EXPECT_EQ(part_size_of(1, 8 << 20), 8u << 20);
  const std::uint64_t large = std::uint64_t{5} << 40;
  EXPECT_LE((large + part_size_of(large, 8 << 20) - 1) / part_size_of(large, 8 << 20), 10'000u);
}

}  // namespace
}  // namespace ares::checkpoint::s3
