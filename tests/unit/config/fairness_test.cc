// Tests: fairness_fields
// The section `fairness` of ares.yaml.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/diff.h"
#include "config/read.h"
#include "config/reference.h"
#include "config/tables.h"

namespace ares::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kBase = R"(nodes: [{name: n1, cpus: 4}]
partitions: [{name: main, nodes: ALL, default: true}, {name: gpu, nodes: ALL}]
)";

const std::string kFull = kBase + R"(fairness:
  policy: fair_tree
  partitions: {gpu: drf}
  half_life: 14-0
  calc_period: 60
  weights: {age: 1000, fairshare: 10000}
  tres_weights: {cpu: 5, "gres/gpu:a100": 100}
  qos: {high: 10}
  flags: [favor_small, no_normal_qos]
  billing: max_tres
  billing_weights: {cpu: 1, mem: 0.25G, "gres/gpu": 8.5}
  drf_usage: delivered
  usage_time: 1700000000
  tree:
    - {account: physics, shares: 40}
    - {account: lasers, parent: physics, shares: parent}
    - {user: ann, account: lasers, shares: 3, priority: 7, usage: {cpu: 3600, "gres/gpu:a100": 60}}
    - {user: eve}
)";

Result<Config> read(const std::string& text) {
  return read_config(text, "ares.yaml", [](const std::string& name) -> std::optional<UserId> {
    return name == "root" ? std::optional(UserId(0)) : numeric_user(name);
  });
}

Config good(const std::string& text) {
  auto config = read(text);
  EXPECT_TRUE(config) << config.error().message;
  return config.value_or(Config{});
}

std::string refusal(const std::string& section) {
  const auto config = read(kBase + section);
  return config ? "accepted" : config.error().message;
}

TEST(FairnessConfig, AllKeysAreRead) {
  const Fairness fairness = fairness_of(good(kFull));
  EXPECT_EQ(fairness.policy_of("main"), QueuePolicy::fair_tree);
  EXPECT_EQ(fairness.policy_of("gpu"), QueuePolicy::drf);
  EXPECT_EQ(fairness.half_life, Seconds(14 * 86400));
  EXPECT_EQ(fairness.weights.fairshare, 10'000u);
  EXPECT_EQ(fairness.weights.age, 1000u);
  EXPECT_EQ(fairness.tres_weights.at("gres/gpu:a100"), 100u);
  EXPECT_TRUE(fairness.flags.favor_small && fairness.flags.no_normal_qos);
  EXPECT_FALSE(fairness.flags.accrue_always);
  EXPECT_EQ(fairness.billing, BillingMode::max_tres);
  EXPECT_EQ(fairness.billing_weights.at("mem"), (1u << kTresWeightBits) / 4096)
      << "a quarter for 1024 MiB";
  EXPECT_EQ(fairness.billing_weights.at("gres/gpu"), 17u << (kTresWeightBits - 1));
  EXPECT_EQ(fairness.drf_usage, DrfUsage::delivered);
  ASSERT_EQ(fairness.tree.size(), 4u);
  EXPECT_EQ(fairness.tree[1].shares, std::nullopt);
  EXPECT_EQ(fairness.tree[2].usage.at("cpu"), 3600u);
  EXPECT_EQ(fairness.tree[2].priority, 7u);
  EXPECT_EQ(fairness.tree[3].account, "");
  EXPECT_EQ(fairness.tree[3].shares, 1u);
}

TEST(FairnessConfig, PrintedSectionReadsTheSame) {
  const Config config = good(kFull);
  const Config again = good(to_yaml(config));
  EXPECT_EQ(again.policy, config.policy);
  EXPECT_EQ(fairness_of(again), fairness_of(config));
  EXPECT_EQ(hash(again), hash(config));
  EXPECT_NE(hash(config), hash(good(kBase))) << "a reconfiguration notices it";
}

TEST(FairnessConfig, SectionIsOptional) {
  EXPECT_FALSE(good(kBase).policy.fairness.value);
  EXPECT_FALSE(good(kBase + "fairness: {policy: priority}\n").policy.fairness.value);
  EXPECT_THAT(to_yaml(good(kBase)), testing::Not(HasSubstr("fairness")));
}

TEST(FairnessConfig, ErrorsNameTheLine) {
  EXPECT_EQ(refusal("fairness:\n  polcy: drf\n"),
            "ares.yaml:4: unknown key \"polcy\"; did you mean \"policy\"?");
  EXPECT_EQ(refusal("fairness: {policy: fairtree}\n"),
            "ares.yaml:3: policy: \"fairtree\" is not one of priority | fifo | multifactor | "
            "fair_tree | drf; did you mean \"fair_tree\"?");
  EXPECT_EQ(refusal("fairness:\n  weights:\n    age: 1\n    fairshar: 2\n"),
            "ares.yaml:6: weights: unknown key \"fairshar\"; did you mean \"fairshare\"?");
  EXPECT_EQ(refusal("fairness: {partitions: {mian: drf}}\n"),
            "ares.yaml:3: partitions: there is no partition \"mian\"; did you mean \"main\"?");
  EXPECT_THAT(refusal("fairness: {flags: [incr_only]}\n"), HasSubstr("\"incr_only\" is no flag"));
  EXPECT_THAT(refusal("fairness: {calc_period: 0}\n"), HasSubstr("at least a second"));
  EXPECT_THAT(refusal("fairness: {tres_weights: {gpu: 1}}\n"),
              HasSubstr("ares.yaml:3: tres_weights: \"gpu\" is no resource here"));
  EXPECT_THAT(refusal("fairness: {billing_weights: {mem: 1Q}}\n"),
              HasSubstr("\"1Q\" is not a weight"));
  EXPECT_THAT(refusal("fairness: {dampening: 0}\n"), HasSubstr("from 1 to"));
}

TEST(FairnessConfig, ErrorsInTheTreeNameTheLineOfTheItem) {
  const std::string begin = "fairness:\n  tree:\n    - {account: a}\n";
  EXPECT_EQ(refusal(begin + "    - {account: b, share: 1}\n"),
            "ares.yaml:6: tree: unknown key \"share\"; did you mean \"shares\"?");
  EXPECT_EQ(refusal(begin + "    - {account: b}\n    - {user: u, account: c}\n"),
            "ares.yaml:7: tree: there is no account \"c\"");
  EXPECT_EQ(refusal(begin + "    - {account: a}\n"),
            "ares.yaml:6: tree: account \"a\" is described a second time");
  EXPECT_THAT(refusal(begin + "    - {user: u, account: a, shares: -1}\n"),
              HasSubstr("ares.yaml:6: tree: shares: \"-1\" is not a whole number"));
  EXPECT_THAT(refusal(begin + "    - {user: u, account: a, usage: {cpus: 1}}\n"),
              HasSubstr("\"cpus\" is no resource here"));
}

TEST(FairnessConfig, DiffNamesUsersAndAccounts) {
  const Config before = good(kFull);
  std::string text = kFull;
  text.replace(text.find("shares: 3"), 9, "shares: 4");
  text.replace(text.find("policy: fair_tree"), 17, "policy: fifo");
  text.replace(text.find("    - {user: eve}"), 17, "    - {user: bob}");
  std::vector<std::string> lines;
  for (const Change& c : diff(before, before.partitions, good(text)))
    lines.push_back(c.subject + "|" + c.field + "|" + c.before + "|" + c.after);
  EXPECT_THAT(lines,
              ElementsAre("fairness|policy|fair_tree|fifo", "user ann of account lasers|shares|3|4",
                          "user bob|||{user: \"bob\", shares: 1}",
                          "user eve||{user: \"eve\", shares: 1}|"));
}

TEST(FairnessConfig, ManualHasEveryKey) {
  const std::string page = reference_page();
  EXPECT_THAT(page, HasSubstr(".SH FAIRNESS"));
  for (const auto& row : fairness_fields()) EXPECT_THAT(page, HasSubstr(".B " + row.name + "\n"));
  for (const auto& row : account_fields()) EXPECT_THAT(page, HasSubstr(".B " + row.name + "\n"));
}

}  // namespace
}  // namespace ares::config
