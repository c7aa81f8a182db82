// Tests: image_name, job/container, container_feature
#include "model/job/image_name.h"

#include <gtest/gtest.h>

#include <string>

#include "model/job/container.h"

namespace ares {
namespace {

TEST(ImageName, HasTheCharactersOfReferences) {
  for (const char* good : {"a", "debian:12", "registry:5000/a/b_c-d.e:v1",
                           "docker.io/library/x@sha256:0123456789abcdef"})
    EXPECT_TRUE(is_image_name(good)) << good;
  for (const char* bad : {"", "-x", "a b", "a\nb", "a;b", "a$b", "\xc3\xa9", "/a", "a\"b", "a#b"})
    EXPECT_FALSE(is_image_name(bad)) << bad;
  EXPECT_TRUE(is_image_name(std::string(kLongestImageName, 'a')));
  EXPECT_FALSE(is_image_name(std::string(kLongestImageName + 1, 'a')));
}

}  // namespace
}  // namespace ares
