#include "acluster/settings.h"

#include <gtest/gtest.h>

namespace ares::acluster {
namespace {

TEST(Settings, AreReadAsWritten) {
  Settings settings;
  settings.nodes = 7;
  settings.memory = "2G";
  settings.gpus = "a100:2,h100:1";
  settings.topology = "/a folder/with spaces.yaml";
  settings.isolate = true;
  settings.kubeconfig = "/home/u/.kube/config";
  settings.gate_image = "registry.example:5000/ares-gate:1";
  settings.image = "debian:12";
  settings.mount = "/home";
  settings.name = "demo-1";
  const auto back = parse_settings(to_text(settings));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, settings);
}

TEST(Settings, MissingKeysOfAnOlderFileGetDefaults) {
  const auto settings = parse_settings("nodes 2\nunknown thing\n");
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->nodes, 2u);
  EXPECT_EQ(settings->cpus, Settings{}.cpus);
}

TEST(Settings, DamagedNumberIsRefused) {
  EXPECT_FALSE(parse_settings("nodes many\n"));
}

TEST(Settings, UnusableValuesAreRefused) {
  const auto refused = [](auto change) {
    Settings settings;
    change(settings);
    return !check(settings).has_value();
  };
  EXPECT_TRUE(check(Settings{}));
  EXPECT_TRUE(refused([](Settings& s) { s.nodes = 0; }));
  EXPECT_TRUE(refused([](Settings& s) { s.cpus = 0; }));
  EXPECT_TRUE(refused([](Settings& s) { s.memory = "0"; }));
  EXPECT_TRUE(refused([](Settings& s) { s.memory = "much"; }));
  EXPECT_TRUE(refused([](Settings& s) { s.exec = "relative.so"; }));
  EXPECT_TRUE(refused([](Settings& s) { s.nodes = 1000; }));
  EXPECT_FALSE(refused([](Settings& s) { s.nodes = 1000, s.exec = "mock"; }));
  EXPECT_TRUE(refused([](Settings& s) { s.isolate = true, s.exec = "mock"; }));
}

TEST(Settings, KubernetesNeedsAGateImageAndHasNoNamespacesOfThisMachine) {
  Settings settings;
  settings.nodes = 0;
  EXPECT_FALSE(check(settings)) << "without nodes";
  settings.kubeconfig = "/home/u/.kube/config";
  EXPECT_FALSE(check(settings)) << "without the gate";
  settings.gate_image = "gate:1";
  EXPECT_TRUE(check(settings));
  settings.mount = "home";
  EXPECT_FALSE(check(settings));
  settings.mount = "/home";
  settings.isolate = true;
  EXPECT_FALSE(check(settings));
  Settings without;
  without.image = "debian:12";
  EXPECT_FALSE(check(without)) << "of an image nothing would be made";
}

}  // namespace
}  // namespace ares::acluster
