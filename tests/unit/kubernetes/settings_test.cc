// Tests: kubernetes/settings/settings
#include "exec/kubernetes/settings/settings.h"

#include <gmock/gmock.h>

namespace ares::kubernetes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Settings complete() {
  Settings settings;
  settings.cluster = "c";
  settings.space = "jobs";
  settings.gate_image = "g";
  return settings;
}

TEST(PluginSettingsTest, RoundTripAndRefusals) {
  Settings settings = complete();
  settings.mounts = {"/a", "/b"};
  settings.features = {"zone"};
  settings.allow_root = true;
  settings.gpu_domain_label = "nvlink";
  settings.gate_folder = "/opt/gate";
  settings.calls_per_second = 70;
  settings.grants = {{{"alice"}, {"ml"}, {"team"}, {"reader"}}, {{"*"}, {}, {"all", "team"}, {}}};
  const auto read = decode_plugin_settings(encode(settings));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->mounts, ElementsAre("/a", "/b"));
  EXPECT_TRUE(read->allow_root);
  EXPECT_EQ(read->gpu_domain_label, "nvlink");
  EXPECT_EQ(read->gate_folder, "/opt/gate");
  EXPECT_EQ(read->calls_per_second, 70U);
  ASSERT_EQ(read->grants.size(), 2U);
  EXPECT_THAT(read->grants[0].groups, ElementsAre("ml"));
  EXPECT_THAT(read->grants[0].service_accounts, ElementsAre("reader"));
  EXPECT_THAT(job_namespaces(*read), ElementsAre("jobs", "team", "all"));
  const auto refusal = [&](auto change) {
    Settings other = settings;
    change(other);
    const auto got = decode_plugin_settings(encode(other));
    return got ? std::string() : got.error().message;
  };
  EXPECT_THAT(refusal([](Settings& s) { s.gate_image.clear(); }), HasSubstr("gate_image"));
  EXPECT_THAT(refusal([](Settings& s) { s.gate_folder = "opt"; }), HasSubstr("gate_folder"));
  EXPECT_THAT(refusal([](Settings& s) { s.gate_folder = "/"; }), HasSubstr("gate_folder"));
  EXPECT_THAT(refusal([](Settings& s) { s.calls_per_second = 0; }), HasSubstr("calls_per_second"));
  EXPECT_THAT(refusal([](Settings& s) { s.space = "A b"; }), HasSubstr("namespace"));
  EXPECT_THAT(refusal([](Settings& s) { s.cluster = "Big"; }), HasSubstr("cluster"));
  EXPECT_THAT(refusal([](Settings& s) { s.mounts = {"/"}; }), HasSubstr("mounts"));
  EXPECT_THAT(refusal([](Settings& s) { s.grants[0].namespaces = {"A"}; }), HasSubstr("grants"));
}

TEST(PluginSettingsTest, GrantsAreOfUsersAndGroups) {
  Settings settings = complete();
  settings.grants = {{{"alice"}, {"ml"}, {"team"}, {"reader"}}, {{"*"}, {}, {"all"}, {}}};
  EXPECT_TRUE(is_granted(settings, {"alice", {}}, "team", ""));
  EXPECT_TRUE(is_granted(settings, {"bob", {"x", "ml"}}, "team", "reader"));
  EXPECT_FALSE(is_granted(settings, {"bob", {"x"}}, "team", ""));
  EXPECT_FALSE(is_granted(settings, {"", {}}, "team", ""));
  EXPECT_FALSE(is_granted(settings, {"alice", {}}, "team", "admin"));
  EXPECT_TRUE(is_granted(settings, {"carol", {}}, "all", ""));
  EXPECT_FALSE(is_granted(settings, {"carol", {}}, "all", "reader"));
  EXPECT_FALSE(is_granted(settings, {"alice", {}}, "kube-system", ""));
}

}  // namespace
}  // namespace ares::kubernetes
