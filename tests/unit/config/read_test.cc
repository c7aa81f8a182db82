// Tests: backfill_type, config/client, config/fields, config/partition_fields, config/print, config/values
// Tests: node_daemon_fields, node_entry, node_life_fields, retention_fields, suggest, types, yaml_tree
#include "config/read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"
#include "config/print.h"

namespace ares::config {
namespace {

std::optional<UserId> test_user(const std::string& name) {
  if (name == "root") return UserId(0);
  if (name == "alice") return UserId(1001);
  return numeric_user(name);
}

const std::string kSmall = R"(cluster: demo
controller: {listen: ["unix:/d/run/aresctld.sock", "tcp:127.0.0.1:7117"], operators: [alice, 1002]}
nodes:
  - {name: "n[1-2]", cpus: 4, memory: 4000M, gpus: "a100:2,h100:1", features: [fast]}
  - {name: n3}
partitions:
  - {name: main, nodes: "n[1-3]", default: true, default_memory_per_cpu: 500M}
  - {name: night, nodes: ALL, max_time: 2-0, state: down}
)";

Config good(const std::string& text) {
  auto config = read_config(text, "ares.yaml", test_user);
  EXPECT_TRUE(config) << config.error().message;
  return config.value_or(Config{});
}

std::string refusal(const std::string& text) {
  auto config = read_config(text, "ares.yaml", test_user);
  return config ? "accepted" : config.error().message;
}

TEST(Config, DeviceFilesAreOneItemForEachGpu) {
  const auto text = [](const std::string& files) {
    return "cluster: demo\nnodes:\n  - {name: n1, gpus: \"a100:2\", gpu_devices: " + files +
           "}\npartitions:\n  - {name: main, nodes: n1}\n";
  };
  const Config config = good(text("[/dev/nvidia0, \"/dev/dri/card1,/dev/dri/renderD129\"]"));
  ASSERT_EQ(config.nodes.size(), 1u);
  EXPECT_EQ(config.nodes[0].gpu_devices,
            (std::vector<std::string>{"/dev/nvidia0", "/dev/dri/card1,/dev/dri/renderD129"}));
  EXPECT_THAT(refusal(text("[/dev/nvidia0]")),
              testing::HasSubstr("1 for 2 GPUs; list one item for each GPU"));
}

TEST(Config, DiscoveryOfGpusIsAWordOrAFile) {
  const auto text = [](const std::string& keys) {
    return "cluster: demo\nnodes:\n  - {name: \"n[1-2]\"" + keys +
           "}\npartitions:\n  - {name: main, nodes: ALL}\n";
  };
  EXPECT_EQ(good(text("")).nodes[0].gpu_discovery, "");
  EXPECT_EQ(good(text(", gpu_discovery: off")).nodes[0].gpu_discovery, "");
  const Config config = good(text(", gpu_discovery: auto, gpus: \"a100:2\""));
  EXPECT_EQ(config.nodes[1].gpu_discovery, "auto");
  EXPECT_THAT(to_yaml(config), testing::HasSubstr("gpu_discovery: \"auto\""));
  EXPECT_EQ(good(text(", gpu_discovery: /etc/g.json")).nodes[0].gpu_discovery, "/etc/g.json");
  EXPECT_THAT(refusal(text(", gpu_discovery: nvlm")),
              testing::HasSubstr("\"nvlm\" is none of off, auto, nvml, amd and pci"));
  EXPECT_THAT(refusal(text(", gpu_discovery: auto, gpus: {topology: /etc/t}")),
              testing::HasSubstr("leave one of them out"));
  EXPECT_THAT(refusal(text("") + "node: {gpu_discovery_timeout: 0}\n"),
              testing::HasSubstr("at least 1 second"));
}

TEST(Config, WhatIsSetAsideForTheSystemIsNotHandedOut) {
  const auto text = [](const std::string& keys) {
    return "cluster: demo\nnodes:\n  - {name: \"n[1-2]\"" + keys +
           "}\npartitions:\n  - {name: main, nodes: ALL}\n";
  };
  const std::string keys = ", cpus: 8, memory: 16G, reserved_cpus: \"0-1,7\", reserved_memory: 2G";
  const Config config = good(text(keys));
  EXPECT_EQ(config.nodes[1].inventory.cpus, 5u);
  EXPECT_EQ(config.nodes[1].inventory.memory, Bytes::gib(14));
  const std::string printed = to_yaml(config);
  EXPECT_THAT(printed, testing::HasSubstr("cpus: 8, memory: 16G"));
  EXPECT_THAT(printed, testing::HasSubstr("reserved_cpus: \"0-1,7\", reserved_memory: 2G"));
  EXPECT_EQ(good(printed).nodes[0].inventory, config.nodes[0].inventory);
  EXPECT_EQ(good(text(", reserved_cpus: 3")).nodes[0].inventory.cpus, 0u)
      << "as many as the machine has, less one";

  EXPECT_THAT(refusal(text(", cpus: 8, reserved_cpus: 8")),
              testing::HasSubstr("reserved_cpus: the node has the CPUs 0 to 7"));
  EXPECT_THAT(refusal(text(", cpus: 2, reserved_cpus: 0-1")),
              testing::HasSubstr("reserved_cpus: leaves no CPU for jobs"));
  EXPECT_THAT(refusal(text(", memory: 2G, reserved_memory: 2G")),
              testing::HasSubstr("reserved_memory: leaves no memory for jobs"));
  EXPECT_THAT(refusal(text(", reserved_cpus: 1-x")), testing::HasSubstr("reserved_cpus"));
}

TEST(Config, ReadsTheTemporaryStorageOfNodes) {
  const auto with = [](const std::string& more) {
    return "cluster: demo\nnodes: [{name: \"n[1-2]\", cpus: 4, memory: 4G" + more +
           "}]\npartitions: [{name: main, nodes: \"n[1-2]\"}]\n";
  };
  const Config config = good(with(", tmp_disk: 800G"));
  for (const ConfiguredNode& node : config.nodes)
    EXPECT_EQ(node.inventory.tmp_disk, Bytes::gib(800));
  EXPECT_EQ(good(to_yaml(config)).nodes[1].inventory, config.nodes[1].inventory);
  EXPECT_EQ(good(with(", tmp_disk: 500")).nodes[0].inventory.tmp_disk, Bytes::mib(500));
  for (const char* none : {"", ", tmp_disk: 0"}) {
    EXPECT_FALSE(good(with(none)).nodes[0].inventory.tmp_disk);
    EXPECT_EQ(to_yaml(good(with(none))).find("tmp_disk"), std::string::npos)
        << "the text of a configuration without it stays as it was, and so does its hash";
  }
  EXPECT_THAT(refusal(with(", tmp_disk: -1")), testing::HasSubstr("tmp_disk"));
}

TEST(Config, ReadsTheCoresThatANodeKeepsForJobsWithGpus) {
  const auto with = [](const std::string& value) {
    return "cluster: demo\nnodes: [{name: n1, cpus: 4, memory: 4G, gpus: \"a100:2\"" +
           (value.empty() ? "" : ", restricted_cores_per_gpu: " + value) +
           "}]\npartitions: [{name: main, nodes: n1}]\n";
  };
  const Config config = good(with("2"));
  EXPECT_EQ(config.nodes[0].inventory.restricted_cores_per_gpu, 2u);
  EXPECT_EQ(good(to_yaml(config)).nodes[0].inventory, config.nodes[0].inventory);
  for (const char* value : {"", "0"})
    EXPECT_EQ(to_yaml(good(with(value))).find("restricted_cores_per_gpu"), std::string::npos)
        << "the text of a configuration without it stays as it was, and so does its hash";
  EXPECT_THAT(refusal(with("-1")), testing::HasSubstr("restricted_cores_per_gpu"));
}

TEST(Config, ReadsNodesAndPartitions) {
  const Config config = good(kSmall);
  EXPECT_EQ(config.policy.cluster_name, "demo");
  ASSERT_EQ(config.nodes.size(), 3u);
  EXPECT_EQ(config.nodes[1].name, "n2");
  EXPECT_EQ(config.nodes[1].inventory.memory, Bytes::mib(4000));
  ASSERT_EQ(config.nodes[1].inventory.gpus.size(), 3u);
  EXPECT_EQ(config.nodes[1].inventory.gpus[2].type, "h100");
  EXPECT_EQ(config.nodes[1].inventory.gpus[2].index, GpuIndex(2));
  EXPECT_EQ(config.nodes[2].inventory.cpus, 0u);
  ASSERT_EQ(config.partitions.size(), 2u);
  EXPECT_EQ(config.partitions[0].default_memory_per_cpu, Bytes::mib(500));
  EXPECT_THAT(config.partitions[1].nodes, testing::ElementsAre("n1", "n2", "n3"));
  EXPECT_EQ(config.partitions[1].max_time, Seconds(2 * 86400));
  EXPECT_FALSE(config.partitions[1].up);
  EXPECT_THAT(config.policy.operators, testing::ElementsAre(UserId(1001), UserId(1002)));
  EXPECT_THAT(config.controller.connect, testing::ElementsAre("unix:/d/run/aresctld.sock"));
}

TEST(Config, ReadsTheCpusThatAPartitionMayHaveOfANode) {
  const auto with = [](const std::string& value) {
    return "cluster: demo\nnodes: [{name: n1, cpus: 4, memory: 4G}]\npartitions: [{name: main, "
           "nodes: "
           "n1" +
           (value.empty() ? "" : ", max_cpus_per_node: " + value) + "}]\n";
  };
  EXPECT_EQ(good(with("")).partitions[0].max_cpus_per_node, std::nullopt);
  EXPECT_EQ(good(with("0")).partitions[0].max_cpus_per_node, 0u) << "no job can start";
  EXPECT_EQ(good(with("3")).partitions[0].max_cpus_per_node, 3u);
  EXPECT_EQ(good(with("unlimited")).partitions[0].max_cpus_per_node, std::nullopt);
  for (const char* value : {"", "0", "3"})
    EXPECT_EQ(good(to_yaml(good(with(value)))).partitions, good(with(value)).partitions) << value;
  EXPECT_EQ(to_yaml(good(with(""))).find("max_cpus_per_node"), std::string::npos)
      << "the text of a configuration without it stays as it was, and so does its hash";
  EXPECT_THAT(refusal(with("-1")), testing::HasSubstr("max_cpus_per_node"));
}

TEST(Config, ReadsBackfillPolicy) {
  EXPECT_EQ(good(kSmall).policy.backfill, Backfill{});
  const Config config =
      good(kSmall + "policy: {backfill: easy:4, backfill_of: {night: conservative}}\n");
  EXPECT_EQ(config.policy.backfill, (Backfill{BackfillKind::easy, 4}));
  EXPECT_EQ(config.policy.backfill_of.at("night"), (Backfill{BackfillKind::conservative, 1}));
  EXPECT_EQ(good(to_yaml(config)).policy, config.policy);
  for (const char* bad : {"{backfill: eazy}", "{backfill: easy:0}", "{backfill: easy:x}",
                          "{backfill: none:2}", "{backfill: [easy]}"})
    EXPECT_THAT(refusal(kSmall + "policy: " + bad + "\n"),
                testing::HasSubstr("ares.yaml:9: backfill"));
  EXPECT_THAT(refusal(kSmall + "policy: {backfill_of: {nigt: none}}\n"),
              testing::HasSubstr("there is no partition \"nigt\"; did you mean \"night\"?"));
}

TEST(Config, ReadsPreemptionPolicy) {
  EXPECT_EQ(good(kSmall).policy.preemption, Preemption{});
  EXPECT_EQ(good(kSmall).partitions[0].preempt_mode, PreemptMode::off);
  const std::string rows =
      kSmall + "  - {name: scavenge, nodes: ALL, tier: 0, preempt_mode: requeue}\n";
  const Config config = good(
      rows +
      "policy: {preemption: {by_qos: true, min_gap: 5, min_age: 600, grace: 120, per_day: 0}}\n");
  EXPECT_EQ(config.partitions[2].preempt_mode, PreemptMode::requeue);
  EXPECT_EQ(config.policy.preemption,
            (Preemption{true, 5, std::chrono::minutes(10), std::chrono::minutes(2), 10, 0}));
  EXPECT_EQ(good(to_yaml(config)).policy, config.policy);
  EXPECT_EQ(good(to_yaml(config)).partitions, config.partitions);
  EXPECT_EQ(good(kSmall + "  - {name: b, nodes: ALL, preempt_mode: suspend}\n")
                .partitions.back()
                .preempt_mode,
            PreemptMode::suspend);
  EXPECT_THAT(refusal(kSmall + "  - {name: b, nodes: ALL, preempt_mode: kill}\n"),
              testing::HasSubstr("off | requeue | cancel | suspend"));
  EXPECT_THAT(refusal(kSmall + "policy: {preemption: {grce: 120}}\n"), testing::HasSubstr("grace"));
}

TEST(Config, PrintedConfigurationReadsTheSame) {
  const Config config = good(kSmall);
  const std::string printed = to_yaml(config);
  const Config again = good(printed);
  EXPECT_EQ(again.policy, config.policy);
  EXPECT_EQ(again.partitions, config.partitions);
  EXPECT_EQ(to_yaml(again), printed);
  EXPECT_EQ(hash(again), hash(config));
}

TEST(Config, PrintedNamesReadTheSame) {
  for (const std::string name : {"null", "Null", "-", "---", ".", "1e3", "true"}) {
    const std::string quoted = '"' + name + '"';
    const Config config =
        good("cluster: " + quoted + "\nnodes: [{name: n1}]\npartitions: [{name: " + quoted +
             ", nodes: n1}]\n");
    const Config again = good(to_yaml(config));
    EXPECT_EQ(again.policy.cluster_name, name);
    EXPECT_EQ(again.partitions.at(0).name, name);
  }
}

TEST(Config, LicensesHaveCounts) {
  const Config config = good(kSmall + "licenses: {matlab: 10, \"ansys.x\": 2}\n");
  EXPECT_EQ(config.policy.licenses.at("matlab"), 10u);
  EXPECT_EQ(config.policy.licenses.at("ansys.x"), 2u);
  EXPECT_EQ(good(to_yaml(config)).policy, config.policy);
  EXPECT_NE(hash(config), hash(good(kSmall)));
  EXPECT_EQ(refusal(kSmall + "licenses: {matlab: many}\n"),
            "ares.yaml:9: licenses: matlab: \"many\" is not a whole number from 0 to 4294967294");
  EXPECT_EQ(refusal(kSmall + "licenses: [matlab]\n"),
            "ares.yaml:9: licenses: expected names with their numbers, such as {matlab: 10}");
}

TEST(Config, PricesAreByTres) {
  const Config config = good(kSmall + "prices: {cpu: 0.02, \"gres/gpu:a100\": 1.5}\n");
  EXPECT_EQ(config.prices, (std::map<std::string, double>{{"cpu", 0.02}, {"gres/gpu:a100", 1.5}}));
  EXPECT_EQ(good(to_yaml(config)).prices, config.prices);
  EXPECT_EQ(refusal(kSmall + "prices: {cpu: free}\n"),
            "ares.yaml:9: prices: cpu: \"free\" is not a price from 0 to 1000000");
  EXPECT_EQ(refusal(kSmall + "prices: 3\n"),
            "ares.yaml:9: prices: expected TRES with their prices, such as {cpu: 0.02}");
}

TEST(Config, HashCoversOnlyWhatNodesMustAgreeOn) {
  const Config config = good(kSmall);
  EXPECT_NE(hash(good(kSmall + "policy: {lease: 301}\n")), hash(config));
  EXPECT_NE(hash(good(kSmall + "policy: {dead_node_timeout: 60}\n")), hash(config));
  EXPECT_EQ(hash(good(kSmall + "log: {level: debug}\n")), hash(config));
}

// A new key that is printed though it is not given would change it, and an upgrade would then undo what
// `actl update partition` has changed.
TEST(Config, HashIsThatOfEarlierReleases) {
  EXPECT_EQ(hash(good(kSmall)), 3799932137554648305u);
}

TEST(Config, DeadNodesAreWaitedForHoursUnlessTheSiteSaysOtherwise) {
  EXPECT_EQ(good(kSmall).policy.dead_node_timeout, std::chrono::hours(4));
  const auto timeout = [](const std::string& text) {
    const Config config = good(kSmall + "policy: {dead_node_timeout: " + text + "}\n");
    EXPECT_EQ(good(to_yaml(config)).policy, config.policy);
    return config.policy.dead_node_timeout;
  };
  EXPECT_EQ(timeout("1-00:00:00"), std::chrono::hours(24));
  EXPECT_EQ(timeout("0"), Seconds(0)) << "never";
  EXPECT_THAT(refusal(kSmall + "policy: {dead_node_timeout: soon}\n"),
              testing::HasSubstr("not a duration"));
}

TEST(Config, NumbersAreSecondsInPolicyAndMinutesInPartitions) {
  const Config config = good(
      "nodes: [{name: n1}]\npartitions: [{name: p, nodes: n1, max_time: 90}]\n"
      "policy: {kill_wait: 5, request_retention: 1-00:00:00}\n");
  EXPECT_EQ(config.policy.kill_wait, Seconds(5));
  EXPECT_EQ(config.policy.request_retention, Seconds(86400));
  EXPECT_EQ(config.partitions[0].max_time, Seconds(5400));
  EXPECT_TRUE(config.partitions[0].is_default) << "a single partition is the default";
}

TEST(Config, SpoolPathMayContainTheNodeName) {
  NodeConfig node;
  node.spool = "/d/%n/x%%y";
  EXPECT_EQ(node.spool_of("n1"), "/d/n1/x%y");
}

struct Case {
  std::string text;
  std::string message;
};

class Refused : public testing::TestWithParam<Case> {};

TEST_P(Refused, ErrorNamesFileLineAndRemedy) {
  EXPECT_EQ(refusal(GetParam().text), GetParam().message);
}

const std::string kNodes = "nodes: [{name: n1}]\n";
const std::string kMain = kNodes + "partitions: [{name: main, nodes: n1}]\n";

INSTANTIATE_TEST_SUITE_P(
    Config, Refused,
    testing::Values(
        Case{"cluster: demo\npartitons: []\n",
             "ares.yaml:2: unknown key \"partitons\"; did you mean \"partitions\"?"},
        Case{kMain + "policy:\n  laese: 3\n",
             "ares.yaml:4: unknown key \"laese\"; did you mean \"lease\"?"},
        Case{kMain + "xyzzy: 1\n", "ares.yaml:3: unknown key \"xyzzy\""},
        Case{kMain + "policy:\n  kill_wait: 5\n  lease: soon\n",
             "ares.yaml:5: lease: \"soon\" is not a duration; write seconds, minutes:seconds, "
             "hours:minutes:seconds or "
             "days-hours[:minutes[:seconds]]"},
        Case{"nodes:\n- {name: \"n[1-2]\"}\n- {name: n2}\n",
             "ares.yaml:3: node \"n2\" is described a second time"},
        Case{kNodes + "partitions:\n - {name: a, nodes: n1}\n - {name: b, nodes: n11}\n",
             "ares.yaml:4: partition \"b\" names the unknown node \"n11\"; did you mean \"n1\"?"},
        Case{kNodes + "partitions:\n - {name: a, nodes: n1}\n - {name: b, nodes: n1}\n",
             "ares.yaml:3: no default partition; write \"default: true\" in one of them"},
        Case{kNodes + "partitions:\n - {name: a, nodes: n1, default: true}\n - {name: b, nodes: "
                      "n1, default: true}\n",
             "ares.yaml:4: partition \"b\" and \"a\" are both the default; keep one \"default: "
             "true\""},
        Case{kNodes, "ares.yaml:1: no partition; describe at least one under \"partitions\""},
        // 9 to the power of 7 values in 271 bytes.
        Case{kMain + "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
                     "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
                     "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"
                     "g: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n",
             "ares.yaml:3: aliases repeat too much here; write the values out"},
        Case{kMain + "cluster: a\ncluster: b\n",
             "ares.yaml:4: key \"cluster\" appears a second time"},
        Case{kMain + "controller:\n  admins: [no-such-user]\n",
             "ares.yaml:3: admins: there is no user \"no-such-user\" on this machine"},
        Case{kMain + "controller:\n  listen: /tmp/x\n",
             "ares.yaml:4: listen: \"/tmp/x\" is not an address; write unix:/absolute/path or "
             "tcp:HOST:PORT"},
        Case{kMain + "log: {level: inof}\n",
             "ares.yaml:3: level: \"inof\" is not one of trace | debug | info | warn | error; did "
             "you mean \"info\"?"},
        Case{kMain + "database: {port: 99999}\n",
             "ares.yaml:3: port: \"99999\" is not a whole number from 1 to 65535"},
        Case{kMain + "retention: {journal: 30-0, audit: 30}\n",
             "ares.yaml:3: audit: less than a day; write 1-0 or more, or 0 to keep everything"},
        Case{kMain + "policy: {heartbeat: 60, lease: 100}\n",
             "ares.yaml:3: lease: must be at least twice the heartbeat, or every lost message "
             "costs a job"},
        Case{"nodes: [{name: n1, gpus: \"a100:x\"}]\n",
             "ares.yaml:1: gpus: \"a100:x\" is not TYPE:COUNT, as in a100:4 (at most 1024 on a "
             "node)"},
        Case{"just text\n", "ares.yaml:1: this is no configuration; expected \"key: value\" lines"},
        Case{"", "ares.yaml:1: this is no configuration; expected \"key: value\" lines"}));

TEST(Config, YamlErrorNamesTheLine) {
  EXPECT_THAT(refusal("a: 1\nb: [1, 2\nc: 3\n"), testing::StartsWith("ares.yaml:"));
}

TEST(Config, YamlErrorsRepeatNoControlCharacters) {
  EXPECT_THAT(refusal("a: \"\\\x1b\"\n"), testing::HasSubstr("unknown escape character: ?"));
}

TEST(Config, KeysAreFitToShow) {
  EXPECT_THAT(refusal("\"a\\u202e\": 1\n"),
              testing::HasSubstr("key \"a?\" has a control character"));
  EXPECT_THAT(refusal("a\xff: 1\n"), testing::HasSubstr("key \"a?\""));
  EXPECT_LT(refusal("prices: {" + std::string(5000, 'k') + ": x}\n").size(), 1000u);
}

TEST(Config, ThousandNodesMayBeListed) {
  EXPECT_EQ(good("nodes: [{name: \"n[1-1000]\"}]\npartitions: [{name: p, nodes: \"n[1-1000]\"}]\n")
                .nodes.size(),
            1000u);
}

std::string lines(std::size_t count, const std::string& begin, const std::string& end) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += "  - {name: " + begin + std::to_string(i) + end;
  return text;
}

TEST(Config, FewLinesCannotDescribeAnyNumberOfNodes) {
  EXPECT_THAT(refusal("nodes:\n" + lines(3, "\"a", "n[1-90000]\"}\n")),
              testing::HasSubstr("ares.yaml:4: more than 200000 nodes"));
  EXPECT_THAT(refusal("nodes:\n" + lines(3, "\"a", "n[1-1000]\", gpus: \"a100:1000\"}\n")),
              testing::HasSubstr("ares.yaml:4: more than 2000000 GPUs of all nodes"));
  const std::string feature(1000, 'f');
  EXPECT_THAT(refusal("nodes:\n" + lines(3, "\"a", "n[1-40000]\", features: [" + feature + "]}\n")),
              testing::HasSubstr("bytes of features"));
  EXPECT_THAT(refusal("partitions:\n" + lines(21, "p", ", nodes: \"n[1-100000]\"}\n")),
              testing::HasSubstr("ares.yaml:22: more than 2000000 nodes of all partitions"));
  EXPECT_THAT(refusal("nodes: [{name: \"n[1-100000]\"}]\npartitions:\n" +
                      lines(21, "p", ", nodes: ALL}\n")),
              testing::HasSubstr("ares.yaml:23: more than 2000000 nodes of all partitions"));
}

TEST(Config, MissingFileErrorNamesTheOption) {
  const auto config = load("/nonexistent/ares.yaml");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, ErrorCode::not_found);
  EXPECT_THAT(config.error().message, testing::HasSubstr("--config or ARES_CONF"));
}

TEST(ClientConfig, ReadsOnlyTheKeysOfClients) {
  const auto client = read_client(
      "cluster: demo\npolicy: {bad: value}\nnodes:\n- {whatever: 1}\ncontroller:\n  listen: "
      "tcp:10.0.0.1:7117\n  user: 77\n"
      "  admins: [unknown-user]\nauth: {munge_socket: /d/munge.sock}\n",
      "ares.yaml");
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_EQ(client->cluster, "demo");
  EXPECT_THAT(client->connect, testing::ElementsAre("tcp:10.0.0.1:7117"));
  EXPECT_EQ(client->munge_socket, "/d/munge.sock");
  EXPECT_EQ(client->controller_uid, UserId(77));
}

TEST(ClientConfig, ErrorsNameTheRightLine) {
  const auto client =
      read_client("cluster: demo\nnodes:\n- {a: 1}\ncontroller:\n  conect: x\n", "ares.yaml");
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().message,
            "ares.yaml:5: unknown key \"conect\"; did you mean \"connect\"?");
}

TEST(ClientConfig, FlowStyleIsSupported) {
  const auto client =
      read_client("{cluster: demo, nodes: [], controller: {connect: \"unix:/x\"}}\n", "ares.yaml");
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_THAT(client->connect, testing::ElementsAre("unix:/x"));
}

TEST(ClientConfig, AliasToAnotherSectionIsResolved) {
  const auto client =
      read_client("node: {spool: &s \"unix:/y\"}\ncontroller: {connect: *s}\n", "ares.yaml");
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_THAT(client->connect, testing::ElementsAre("unix:/y"));
}

TEST(Config, BoundsOfTheExpeditedReturn) {
  const Config config = good(kSmall);
  EXPECT_EQ(config.policy.expedite, (Expedite{3, Seconds(3600), Seconds(600)}));
  const Config written = good(kSmall + "policy: {expedite: {most: 3, keep: 10:00}}\n");
  EXPECT_EQ(written.policy.config_hash, config.policy.config_hash);
  const Config other = good(kSmall + "policy: {expedite: {most: 0, long_run: 60}}\n");
  EXPECT_EQ(other.policy.expedite, (Expedite{0, Seconds(60), Seconds(600)}));
  EXPECT_NE(other.policy.config_hash, config.policy.config_hash);
}

TEST(Config, TheLaunchGuardHasDefaultsThatTheHashLeavesOut) {
  const Config config = good(kSmall);
  EXPECT_EQ(config.policy.launch_guard, (LaunchGuard{3, Seconds(600), Seconds(600)}));
  const Config written = good(kSmall + "policy: {launch_guard: {failures: 3, window: 10:00}}\n");
  EXPECT_EQ(written.policy.config_hash, config.policy.config_hash);
  const Config other = good(kSmall + "policy: {launch_guard: {failures: 0}}\n");
  EXPECT_EQ(other.policy.launch_guard.failures, 0u);
  EXPECT_NE(other.policy.config_hash, config.policy.config_hash);
  EXPECT_THAT(refusal(kSmall + "policy: {launch_guard: {failures: 1001}}\n"),
              testing::HasSubstr("launch_guard: failures: at most 1000"));
  EXPECT_THAT(refusal(kSmall + "policy: {launch_guard: {window: 0}}\n"),
              testing::HasSubstr("window and retry_after must be at least a second"));
  EXPECT_THAT(refusal(kSmall + "policy: {return_to_service: 3}\n"),
              testing::HasSubstr("return_to_service: must be 0, 1 or 2"));
}

TEST(Config, DynamicNodesNeedNamesThatAreFreeAndPartitionsThatExist) {
  const auto with = [](const std::string& rules) {
    return kSmall + "policy: {dynamic_nodes: [" + rules + "]}\n";
  };
  const Config config = good(with("{names: \"d[1-3]\", partitions: [main], most: 2}"));
  ASSERT_EQ(config.policy.dynamic_nodes.size(), 1u);
  EXPECT_EQ(config.policy.dynamic_nodes[0].names, (std::vector<std::string>{"d1", "d2", "d3"}));
  EXPECT_EQ(good(to_yaml(config)).policy.dynamic_nodes, config.policy.dynamic_nodes);
  EXPECT_THAT(refusal(with("{names: \"n[3-4]\", partitions: [main]}")),
              testing::HasSubstr("node \"n3\" is in nodes as well"));
  EXPECT_THAT(refusal(with("{names: d1, partitions: [other]}")),
              testing::HasSubstr("there is no partition \"other\""));
  EXPECT_THAT(
      refusal(with("{names: d1, partitions: [main]}, {names: \"d[1-2]\", partitions: [main]}")),
      testing::HasSubstr("node \"d1\" is in two rules"));
  const Config prefix = good(with("{prefix: k-, features: [gpu], partitions: [main]}"));
  EXPECT_EQ(prefix.policy.dynamic_nodes[0].prefix, "k-");
  EXPECT_EQ(good(to_yaml(prefix)).policy.dynamic_nodes, prefix.policy.dynamic_nodes);
  EXPECT_THAT(refusal(with("{prefix: n, partitions: [main]}")),
              testing::HasSubstr("begins with the prefix \"n\""));
  EXPECT_THAT(refusal(with("{names: d1, prefix: k-, partitions: [main]}")),
              testing::HasSubstr("either names or a prefix"));
  EXPECT_THAT(refusal(with("{names: d1}")), testing::HasSubstr("\"partitions\" is missing"));
}

TEST(Config, ProgramsOfTheSiteHavePathsAndTimes) {
  const auto with = [](const std::string& keys) { return kSmall + "node: {" + keys + "}\n"; };
  const Config config = good(with(
      "prolog: /etc/p, prolog_timeout: 90, epilog: /etc/e, health_check: /etc/h, task_prolog: /t, "
      "private_tmp: /scratch/jobs"));
  EXPECT_EQ(config.node.prolog, "/etc/p");
  EXPECT_EQ(config.node.prolog_timeout, Seconds(90));
  EXPECT_EQ(config.node.epilog_timeout, Seconds(120));
  EXPECT_EQ(good(to_yaml(config)).node.private_tmp, "/scratch/jobs");
  EXPECT_THAT(refusal(with("prolog: p")), testing::HasSubstr("prolog"));
  EXPECT_THAT(refusal(with("epilog_timeout: 0")), testing::HasSubstr("must be at least 1 second"));
  EXPECT_THAT(refusal(with("prolog: /p, prolog_timeout: 300")),
              testing::HasSubstr("prolog_timeout: must be shorter than prepare_timeout"));
  EXPECT_THAT(refusal(with("private_tmp: scratch")),
              testing::HasSubstr("is not the absolute path"));
  EXPECT_THAT(refusal(with("private_tmp: /tmp/jobs")),
              testing::HasSubstr("would be hidden by the /tmp of the jobs"));
}

}  // namespace
}  // namespace ares::config
