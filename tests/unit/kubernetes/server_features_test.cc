#include "exec/kubernetes/api/server_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::kubernetes {
namespace {

using testing::HasSubstr;

std::string groups(const std::string& name, const std::vector<std::string>& versions) {
  std::string list;
  for (const std::string& version : versions)
    list += (list.empty() ? "" : ",") + ("{\"version\":\"" + version + "\"}");
  return "{\"groups\":[{\"name\":\"" + name + "\",\"versions\":[" + list +
         "],\"preferredVersion\":{\"version\":\"" + versions.back() + "\"}}]}";
}

TEST(Discovery, VersionsAreReadAsCloudsWriteThem) {
  ServerFeatures features;
  ASSERT_TRUE(add_version(R"({"major":"1","minor":"27+","gitVersion":"v1.27.3-cloud"})", features));
  EXPECT_EQ(features.minor, 27u);
  EXPECT_EQ(features.version, "v1.27.3-cloud");
  EXPECT_TRUE(features.has_scheduling_gates());
  EXPECT_TRUE(features.has_strict_fields());
  ASSERT_TRUE(add_version(R"({"major":"1","minor":"20"})", features));
  EXPECT_FALSE(features.has_scheduling_gates());
  EXPECT_FALSE(features.has_strict_fields());
}

TEST(Discovery, PreferredOfTheKnownVersionsIsUsed) {
  ServerFeatures features;
  ASSERT_TRUE(add_core_versions(R"({"versions":["v1"]})", features));
  ASSERT_TRUE(add_groups(groups("policy", {"v1beta1"}), features));
  ASSERT_TRUE(add_groups(groups("events.k8s.io", {"v1beta1", "v1"}), features));
  ASSERT_TRUE(add_groups(groups("other.example.com", {"v7"}), features));
  EXPECT_EQ(features.policy_version(), "v1beta1");
  EXPECT_EQ(features.version_of("events.k8s.io"), "v1");
  EXPECT_EQ(features.version_of(""), "v1");
  EXPECT_EQ(features.version_of("other.example.com"), "");
  EXPECT_TRUE(features.has("other.example.com", "v7"));
}

TEST(Discovery, MissingResourcesAreNamed) {
  ServerFeatures features;
  features.version = "v1.9.0";
  for (const CallRow& row : call_table()) {
    if (row.resource == "leases" || row.subresource == "binding") continue;
    const std::string name = std::string(row.resource) +
                             (row.subresource.empty() ? "" : "/" + std::string(row.subresource));
    ASSERT_TRUE(add_resources(R"({"resources":[{"name":")" + name + "\"}]}", row.group, features));
  }
  EXPECT_EQ(features.check_calls().error().message,
            "Kubernetes v1.9.0 does not have what Ares needs: pods/binding "
            "leases.coordination.k8s.io; versions from 1.20 on have it");
}

TEST(Discovery, OtherAnswersAreRefused) {
  ServerFeatures features;
  for (const char* body : {"", "<html>", "[]", "{}"}) {
    EXPECT_FALSE(add_version(body, features)) << body;
    EXPECT_FALSE(add_core_versions(body, features)) << body;
    EXPECT_FALSE(add_groups(body, features)) << body;
    EXPECT_FALSE(add_resources(body, "policy", features)) << body;
  }
  EXPECT_THAT(add_version(R"({"major":"1","minor":"x"})", features).error().message,
              HasSubstr("is not that of a Kubernetes API server: its minor version is \"x\""));
}

}  // namespace
}  // namespace ares::kubernetes
