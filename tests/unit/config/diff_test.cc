#include "config/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/read.h"

namespace ares::config {
namespace {

using testing::ElementsAre;

std::optional<UserId> test_user(const std::string& name) {
  return name == "root" ? std::optional(UserId(0)) : numeric_user(name);
}

Config read(const std::string& text) {
  auto config = read_config(text, "ares.yaml", test_user);
  EXPECT_TRUE(config) << config.error().message;
  return config.value_or(Config{});
}

std::string nodes(const std::string& what) {
  return "nodes:\n" + what;
}
const std::string kNodes = nodes("  - {name: \"n[1-4]\", cpus: 4, memory: 4000M}\n");
const std::string kMain = "partitions:\n  - {name: main, nodes: ALL, max_time: 1-0}\n";

std::string effect(const Change& c) {
  switch (c.effect) {
    case TakesEffect::at_once: return "";
    case TakesEffect::controller_restart: return " @controller";
    case TakesEffect::node_restart: return " @node";
    case TakesEffect::never: return " @never";
  }
  return "";
}

std::vector<std::string> changes(const Config& before, const Config& after,
                                 std::optional<std::vector<Partition>> in_force = {},
                                 const ReportedBy& reported_by = {}) {
  std::vector<std::string> lines;
  for (const Change& c : diff(before, in_force.value_or(before.partitions), after, reported_by))
    lines.push_back(c.subject + "|" + c.field + "|" + c.before + "|" + c.after + effect(c) +
                    (c.undoes_command ? " @undoes" : ""));
  return lines;
}

TEST(ConfigDiff, SameFileHasNoChanges) {
  EXPECT_THAT(changes(read(kNodes + kMain), read(kNodes + kMain)), ElementsAre());
}

TEST(ConfigDiff, EachKeyIsARowWithItsEffect) {
  const Config before = read(kNodes + kMain);
  EXPECT_THAT(changes(before, read(kNodes + kMain +
                                   "policy: {kill_wait: 5, lease: 100}\n"
                                   "retention: {journal: 1-0, audit: 400-0}\n"
                                   "log: {level: debug, file: /var/log/ares}\n"
                                   "database: {port: 5433}\nnode: {exec: mock}\n")),
              ElementsAre("database|port|5432|5433 @controller", "retention|journal|2592000|86400",
                          "retention|audit|0|34560000", "policy|lease|300|100",
                          "policy|kill_wait|30|5", "node|exec|\"baremetal\"|\"mock\" @node",
                          "log|level|info|debug", "log|file|\"\"|\"/var/log/ares\" @controller"));
  EXPECT_THAT(
      changes(before, read("cluster: other\ncontroller: {operators: [1002]}\n" + kNodes + kMain)),
      ElementsAre("cluster|cluster|ares|other @never", "controller|operators|[]|[\"1002\"]"));
}

TEST(ConfigDiff, MailProgramChangesAtOnceAndNeedsAnAbsolutePath) {
  const Config before = read(kNodes + kMain);
  const Config after = read("controller: {mail_program: /opt/mail}\n" + kNodes + kMain);
  EXPECT_THAT(changes(before, after),
              ElementsAre("controller|mail_program|\"/usr/bin/mail\"|\"/opt/mail\""));
  EXPECT_EQ(keep_until_restart(before, after).controller.mail_program, "/opt/mail");
  EXPECT_EQ(read("controller: {mail_program: \"\"}\n" + kNodes + kMain).controller.mail_program,
            "");
  const auto bad =
      read_config("controller: {mail_program: mail}\n" + kNodes + kMain, "ares.yaml", test_user);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message,
            "ares.yaml:1: mail_program: \"mail\" is not the absolute path of a program");
}

TEST(ConfigDiff, CoresForJobsWithGpusChangeAtOnce) {
  const auto with = [](const std::string& more) {
    return read(nodes("  - {name: n1, cpus: 4, gpus: \"a100:2\"" + more + "}\n") +
                "partitions:\n  - {name: main, nodes: n1}\n");
  };
  EXPECT_THAT(changes(with(""), with(", restricted_cores_per_gpu: 1")),
              ElementsAre("node n1|restricted_cores_per_gpu||1"));
}

TEST(ConfigDiff, TemporaryStorageChangesAtOnce) {
  const auto with = [](const std::string& more) {
    return read(nodes("  - {name: n1, cpus: 4" + more + "}\n") +
                "partitions:\n  - {name: main, nodes: n1}\n");
  };
  EXPECT_THAT(changes(with(", tmp_disk: 1G"), with(", tmp_disk: 2G")),
              ElementsAre("node n1|tmp_disk|1G|2G"));
  EXPECT_THAT(changes(with(", tmp_disk: 1G"), with("")), ElementsAre("node n1|tmp_disk|1G|"));
}

TEST(ConfigDiff, EqualChangesOfNodesShareARow) {
  const Config before = read(kNodes + kMain);
  EXPECT_THAT(changes(before, read(nodes("  - {name: \"n[1-2]\", cpus: 2, memory: 4000M}\n"
                                         "  - {name: \"n3\", cpus: 8, memory: 4000M}\n"
                                         "  - {name: \"m[1-2]\", cpus: 1}\n") +
                                   "partitions:\n  - {name: main, nodes: \"n[1-3]\", max_time: "
                                   "1-0}\n")),
              ElementsAre("nodes n[1-2]|cpus|4|2", "node n3|cpus|4|8 @node",
                          "nodes m[1-2]|||{cpus: 1}", "node n4||{cpus: 4, memory: 4000M}|",
                          "partition main|nodes|\"n[1-4]\"|\"n[1-3]\""));
}

// n1 has reported 8 CPUs, n2 as many as an earlier configuration gave it, n3 nothing yet.
TEST(ConfigDiff, WhatANodeHasReportedComesBackAtOnce) {
  const auto with = [](const std::string& what) {
    return read(nodes("  - {name: \"n[1-3]\", " + what + "}\n") + kMain);
  };
  Inventory large, small;
  large.cpus = 8;
  large.memory = Bytes::mib(8000);
  small.cpus = 4;
  small.memory = Bytes::mib(4000);
  const ReportedBy reported = [&](const std::string& name) -> const Inventory* {
    return name == "n1" ? &large : name == "n2" ? &small : nullptr;
  };
  const Config before = with("cpus: 4, memory: 4000M");
  const auto effects = [&](const Config& after) { return changes(before, after, {}, reported); };
  EXPECT_THAT(effects(with("cpus: 8, memory: 4000M")),
              ElementsAre("node n1|cpus|4|8", "nodes n[2-3]|cpus|4|8 @node"));
  EXPECT_THAT(effects(with("cpus: 4, memory: 8000M")),
              ElementsAre("node n1|memory|4000M|8000M", "nodes n[2-3]|memory|4000M|8000M @node"));
  EXPECT_THAT(effects(with("cpus: 9, memory: 4000M")), ElementsAre("nodes n[1-3]|cpus|4|9 @node"));
  EXPECT_THAT(effects(with("cpus: 2, memory: 4000M")), ElementsAre("nodes n[1-3]|cpus|4|2"));
  EXPECT_THAT(effects(with("memory: 4000M")), ElementsAre("nodes n[1-3]|cpus|4| @node"))
      << "as many as the machine has";
}

TEST(ConfigDiff, ChangesByCommandsAreUndone) {
  const Config config = read(kNodes + kMain);
  std::vector<Partition> in_force = config.partitions;
  in_force.front().up = false;
  EXPECT_THAT(changes(config, config, in_force),
              ElementsAre("partition main|state|down|up @undoes"));
}

TEST(ConfigDiff, KeysThatNeedARestartKeepTheirValue) {
  const Config before = read(kNodes + kMain);
  const Config wanted =
      read(kNodes + kMain + "policy: {kill_wait: 5}\ndatabase: {port: 1}\nlog: {file: x}\n");
  const Config now = keep_until_restart(before, wanted);
  EXPECT_EQ(now.policy.kill_wait, Seconds(5));
  EXPECT_EQ(now.database.port, before.database.port);
  EXPECT_EQ(now.policy.config_hash, hash(now));
  EXPECT_THAT(changes(now, wanted),
              ElementsAre("database|port|5432|1 @controller", "log|file|\"\"|\"x\" @controller"))
      << "the next reconfiguration says it again";
}

TEST(Config, UserOfTheControllerIsAnAdministrator) {
  const Config config = read("controller: {user: 1005, admins: [1006]}\n" + kNodes + kMain);
  EXPECT_THAT(config.policy.admins, ElementsAre(UserId(1005), UserId(1006)));
}

TEST(Config, PartitionsHaveFourStates) {
  for (const std::string state : {"up", "down", "drain", "inactive"}) {
    const Config config =
        read(kNodes + "partitions: [{name: p, nodes: ALL, state: " + state + "}]\n");
    EXPECT_EQ(config.partitions[0].up, state == "up" || state == "drain") << state;
    EXPECT_EQ(config.partitions[0].open, state == "up" || state == "down") << state;
    EXPECT_NE(to_yaml(config).find("state: " + state), std::string::npos) << to_yaml(config);
  }
}

}  // namespace
}  // namespace ares::config
