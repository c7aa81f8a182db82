// Tests: actl/here/daemons, actl/here/processes, actl/networks, actl/completing, actl/refused, actl/manual
// What actl says of the machine it runs on, of networks and of jobs that are ending.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "actl/command.h"
#include "actl/describe.h"
#include "actl/here/daemons.h"
#include "actl/here/processes.h"
#include "actl/networks.h"
#include "unit/cli/answers.h"

namespace ares::actl {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// A folder that looks like /proc.
class Processes : public testing::Test {
 protected:
  Processes() {
    std::string name = testing::TempDir() + "proc-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    add(70, "ARES_JOB_ID=9\0ARESD_NODENAME=n1\0"s, 70);  // a login of a user: no attempt
    add(71, variables(9, "n1") + "ARES_TASK_PID=5\0ARES_LOCALID=0\0ARES_PROCID=0\0"s, 5);
    add(72,
        variables(9, "n1") + "ARES_STEP_ID=1\0ARES_TASK_PID=8\0ARES_LOCALID=1\0"s +
            "ARES_PROCID=3\0"s,
        8);
    add(73, variables(9, "n1") + "ARES_STEP_ID=1\0ARES_TASK_PID=8\0ARES_PROCID=3\0"s, 11);
    add(74, variables(15, "n2") + "ARES_ARRAY_JOB_ID=12\0ARES_ARRAY_TASK_ID=3\0"s, 74);
    std::filesystem::create_directories(folder_ + "/self");
  }
  ~Processes() override { std::filesystem::remove_all(folder_); }

  std::vector<pid_t> found(const std::string& wanted, const std::string& node = "") const {
    const auto all = processes_of(job_processes(folder_), wanted, node);
    EXPECT_TRUE(all) << all.error().message;
    std::vector<pid_t> pids;
    for (const JobProcess& process : *all) pids.push_back(process.pid);
    return pids;
  }

  std::string folder_;

 private:
  static std::string variables(int job, const std::string& node) {
    return "PATH=/bin\0ARES_ATTEMPT_DIR=/spool/jobs/x\0ARES_JOB_ID="s + std::to_string(job) +
           "\0ARESD_NODENAME="s + node + "\0"s;
  }
  void add(int pid, const std::string& environment, int inner) const {
    const std::string directory = folder_ + "/" + std::to_string(pid);
    std::filesystem::create_directories(directory);
    std::ofstream(directory + "/environ", std::ios::binary) << environment;
    std::ofstream(directory + "/status")
        << "Name:\tx\nPid:\t" << pid << "\nNSpid:\t" << pid << "\t" << inner << "\nState:\tS\n";
  }
};

TEST_F(Processes, AreKnownByTheirVariables) {
  const auto all = job_processes(folder_);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].step, "batch");
  EXPECT_EQ(all[0].rank, "0");
  EXPECT_EQ(all[1].step, "1");
  EXPECT_EQ(all[1].local, "1");
  EXPECT_EQ(all[1].rank, "3");
  EXPECT_EQ(all[2].rank, "-") << "a child of the task has its variables and another number";
  EXPECT_EQ(all[3].array_task, "12_3");
}

TEST_F(Processes, OfAJobAStepOrANodeAreFound) {
  EXPECT_THAT(found(""), ElementsAre(71, 72, 73, 74));
  EXPECT_THAT(found("*"), ElementsAre(71, 72, 73, 74));
  EXPECT_THAT(found("9"), ElementsAre(71, 72, 73));
  EXPECT_THAT(found("9.1"), ElementsAre(72, 73));
  EXPECT_THAT(found("9.batch"), ElementsAre(71));
  EXPECT_THAT(found("15"), ElementsAre(74));
  EXPECT_THAT(found("12_3"), ElementsAre(74));
  EXPECT_THAT(found("12"), ElementsAre(74)) << "of the whole array";
  EXPECT_THAT(found("1"), IsEmpty());
  EXPECT_THAT(found("", "n2"), ElementsAre(74));
  EXPECT_FALSE(processes_of({}, "x", "")) << "no job has that name";
}

config::Config cluster_of(std::vector<std::string> listen) {
  config::Config config;
  config.controller.listen = std::move(listen);
  config.nodes.emplace_back().name = "n1";
  DynamicNodes joins;
  joins.prefix = "cloud-";
  config.policy.dynamic_nodes.push_back(joins);
  return config;
}

TEST(Daemons, AreThoseThatTheConfigurationHasHere) {
  const auto here = [](const std::string& host) { return host == "head" || host == "10.0.0.1"; };
  const auto there = [](const std::string&) { return false; };
  const config::Config apart = cluster_of({"unix:/run/ares.sock", "tcp:head:7100"});
  EXPECT_THAT(daemons_of(apart, "head", here), ElementsAre("aresctld"));
  EXPECT_THAT(daemons_of(apart, "n1", there), ElementsAre("aresd"));
  EXPECT_THAT(daemons_of(apart, "login", there), IsEmpty());
  EXPECT_THAT(daemons_of(apart, "cloud-7", there), ElementsAre("aresd"));
  const config::Config alone = cluster_of({"unix:/run/ares.sock"});
  EXPECT_THAT(daemons_of(alone, "n1", there), ElementsAre("aresctld", "aresd"));
  config::Config open = cluster_of({"tcp:0.0.0.0:7100"});
  open.controller.connect = {"tcp:[2001:db8::1]:7100"};
  EXPECT_THAT(daemons_of(open, "n1", [](const std::string& host) { return host == "2001:db8::1"; }),
              ElementsAre("aresctld", "aresd"));
  EXPECT_THAT(daemons_of(open, "n1", there), ElementsAre("aresd"));
}

std::vector<NetworkSpec> two_networks() {
  NetworkSpec tree{"fabric", NetworkKind::tree, {}};
  tree.domains = {{"s1", {"n1", "n2"}, {}}, {"s2", {"n3"}, {}}, {"top", {}, {"s1", "s2"}}};
  NetworkSpec racks{"racks", NetworkKind::block, {{"b1", {"n1", "n3"}, {}}}};
  return {tree, racks};
}

TEST(Networks, AreShownWithAllNodesBelowEachSwitch) {
  const auto networks = two_networks();
  EXPECT_EQ(describe_networks(networks, "").value_or("none"),
            "SwitchName=s1 Level=0 Nodes=n[1-2] Topology=fabric\n"
            "SwitchName=s2 Level=0 Nodes=n3 Topology=fabric\n"
            "SwitchName=top Level=1 Nodes=n[1-3] Switches=s[1-2] Topology=fabric\n"
            "BlockName=b1 Nodes=n[1,3] Topology=racks\n");
  EXPECT_EQ(describe_networks(networks, "n2").value_or("none"),
            "SwitchName=s1 Level=0 Nodes=n[1-2] Topology=fabric\n"
            "SwitchName=top Level=1 Nodes=n[1-3] Switches=s[1-2] Topology=fabric\n");
  EXPECT_EQ(describe_networks(networks, "b1").value_or("none"),
            "BlockName=b1 Nodes=n[1,3] Topology=racks\n");
  const auto unknown = describe_networks(networks, "n9");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "no switch or block has \"n9\"");
}

TEST(Networks, ByFeaturesAreShownAsTheNodesAre) {
  const std::vector<NetworkSpec> networks{
      {"cloud", NetworkKind::tree, {}, {"zone", "rack"}},
      {"racks", NetworkKind::block, {{"b1", {"n1", "n3"}, {}}}}};
  api::Nodes nodes;
  for (const auto& [name, rack] : {std::pair{"k1", "r1"}, {"k2", "r2"}, {"k3", "r1"}}) {
    api::Node* node = nodes.add_nodes();
    node->set_name(name);
    node->add_features("zone=a");
    node->add_features("rack=" + std::string(rack));
  }
  nodes.add_nodes()->set_name("k4");
  const auto made = networks_of_nodes(networks, nodes);
  EXPECT_EQ(describe_networks(made, "").value_or("none"),
            "SwitchName=a/r1 Level=0 Nodes=k[1,3] Topology=cloud\n"
            "SwitchName=a/r2 Level=0 Nodes=k2 Topology=cloud\n"
            "SwitchName=a Level=1 Nodes=k[1,3,2] Switches=a/r[1-2] Topology=cloud\n"
            "BlockName=b1 Nodes=n[1,3] Topology=racks\n");
  EXPECT_EQ(describe_networks(made, "a/r2").value_or("none"),
            "SwitchName=a/r2 Level=0 Nodes=k2 Topology=cloud\n");
  EXPECT_FALSE(describe_networks(made, "k4"));
}

TEST(Networks, AreJson) {
  const std::string json = networks_json(two_networks(), "s2").value_or("");
  EXPECT_THAT(json, HasSubstr(R"({"name": "s2", "level": 0, "nodes": "n3", "switches": ""})"));
  EXPECT_THAT(json, Not(HasSubstr("racks")));
}

using Completing = answers::InUtc;

TEST_F(Completing, NamesTheNodesOnWhichSomethingIsLeft) {
  api::Job job = answers::job(12, "COMPLETING", "sim");
  for (const auto& [node, phase] :
       {std::pair{"n1", "released"}, {"n2", "running"}, {"n3", "running"}}) {
    api::NodeShare* share = job.add_shares();
    share->set_node(node);
    share->set_phase(phase);
  }
  EXPECT_EQ(describe_completing(job), "JobId=12 JobName=sim Nodes(COMPLETING)=n[2-3]\n");
  job.set_silent_nodes("n3");
  job.set_silent_since(answers::kNow);
  EXPECT_THAT(describe_completing(job), HasSubstr(" Nodes(SILENT)=n3 SilentSince=2030-"));
}

TEST(Commands, ThoseOfScontrolAreBuiltOrRefusedWithAReason) {
  std::set<std::string> known;
  for (const Command& command : commands()) known.insert(command.words.front());
  for (const RefusedCommand& command : refused_commands()) {
    EXPECT_GT(command.why.size(), 20u) << command.words.front();
    known.insert(command.words.front());
  }
  for (const char* verb : {"abort",     "cancel_reboot", "cluster",     "completing",
                           "create",    "delete",        "errnumstr",   "fsdampeningfactor",
                           "getent",    "hold",          "listjobs",    "listpids",
                           "liststeps", "notify",        "pidinfo",     "ping",
                           "power",     "reboot",        "reconfigure", "release",
                           "requeue",   "requeuehold",   "resume",      "schedloglevel",
                           "setdebug",  "setdebugflags", "show",        "shutdown",
                           "suspend",   "takeover",      "token",       "top",
                           "uhold",     "update",        "version",     "wait_job",
                           "write"})
    EXPECT_TRUE(known.contains(verb)) << verb;
  std::string page;
  for (const auto& [title, texts] : manual().sections)
    if (title == "Commands that are not supported")
      for (const std::string& text : texts) page += text + "\n";
  EXPECT_THAT(page, HasSubstr("takeover: no controller waits beside another one"));
}

}  // namespace
}  // namespace ares::actl
