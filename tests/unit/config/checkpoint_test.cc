// Tests: config/checkpoint_fields
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/read.h"

namespace ares::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<CheckpointS3Config> read(const std::string& s3) {
  // What acheckpoint reads: other sections are not looked at.
  return read_checkpoint("cluster: c\nnodes: wrong\ncheckpoint:\n  s3: " + s3 + "\n", "ares.yaml")
      .map([](const CheckpointConfig& config) { return config.s3; });
}

TEST(CheckpointSection, AllKeysAreRead) {
  const auto s3 = read(
      "{endpoint: \"https://s3.site\", allowed_endpoints: [\"https://a\"], region: r, part_size: "
      "8M, ca_file: /etc/ca.pem, retries: 0, timeout: 5}");
  ASSERT_TRUE(s3) << s3.error().message;
  EXPECT_EQ(s3->endpoint, "https://s3.site");
  EXPECT_THAT(s3->allowed_endpoints, ElementsAre("https://a"));
  EXPECT_EQ(s3->region, "r");
  EXPECT_EQ(s3->part_size, Bytes::mib(8));
  EXPECT_EQ(s3->ca_file, "/etc/ca.pem");
  EXPECT_EQ(s3->retries, 0u);
  EXPECT_EQ(s3->timeout, Seconds(5));
}

TEST(CheckpointSection, WrongValuesAreRefusedWithTheirLine) {
  EXPECT_THAT(read("{endpoint: s3.site}").error().message,
              HasSubstr("ares.yaml:4: s3: endpoint: \"s3.site\" does not begin with https://"));
  EXPECT_THAT(read("{part_size: 1M}").error().message, HasSubstr("not from 8M to 64M"));
  EXPECT_THAT(read("{ca_file: ca.pem}").error().message, HasSubstr("not an absolute path"));
  EXPECT_THAT(read("{timeout: 0}").error().message, HasSubstr("not from 1 to 3600"));
  EXPECT_THAT(read("{retries: 101}").error().message, HasSubstr("more than 100"));
  EXPECT_THAT(read("{endpont: x}").error().message, HasSubstr("did you mean \"endpoint\""));
}

TEST(CheckpointSection, WithoutItTheDefaultsCount) {
  const auto config = read_checkpoint("cluster: c\n", "ares.yaml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->s3.part_size, Bytes::mib(16));
}

}  // namespace
}  // namespace ares::config
