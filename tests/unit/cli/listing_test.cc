// How actl prints the replies of the controller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actl/command.h"
#include "actl/describe.h"
#include "base/units.h"
#include "config/reference.h"
#include "unit/cli/answers.h"

namespace ares {
namespace {

using answers::job;
using answers::kNow;
using answers::kSecond;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Listing = answers::InUtc;

TEST_F(Listing, ShowJobNamesTheOutputFile) {
  api::Job one = job(12, "RUNNING", "sim");
  one.mutable_spec()->set_work_dir("/home/alice");
  one.mutable_spec()->set_std_out("%x-%8j.log");
  const std::string text = actl::describe(one, Time(Duration(kNow)), false);
  EXPECT_THAT(text, StartsWith("JobId=12 JobName=sim\n   UserId=alice(0)"));
  EXPECT_THAT(text, HasSubstr("\n   StdOut=/home/alice/sim-00000012.log\n"));
  EXPECT_THAT(actl::describe(one, Time(Duration(kNow)), true), Not(HasSubstr("\n ")));
}

TEST(Control, UnknownAndUnsupportedCommandsAreNamed) {
  const auto refusal = [](const actl::Words& words) {
    actl::Context context;
    const auto done = actl::dispatch(context, words);
    return done ? std::string("done") : done.error().message;
  };
  EXPECT_EQ(refusal({"shwo", "job"}), "unknown command \"shwo\"; did you mean \"show\"?");
  EXPECT_EQ(refusal({"token", "1"}),
            "token is not supported: munge certifies users, and they need no token; see munge(7)");
  EXPECT_THAT(refusal({"takeover"}), StartsWith("takeover is not supported: no controller waits"));
  EXPECT_THAT(refusal({"setdebugflags", "+gres"}), HasSubstr("set log.level in ares.yaml"));
  EXPECT_THAT(refusal({"setdebug", "loud"}), HasSubstr("\"loud\" is no level; use trace, debug"));
  EXPECT_THAT(refusal({"setdebug"}), HasSubstr("name one level"));
  EXPECT_EQ(refusal({"shutd"}), "unknown command \"shutd\"");
  EXPECT_THAT(refusal({"show", "assoc"}),
              StartsWith("show assoc_mgr is not supported: aacctmgr show association"));
  EXPECT_EQ(refusal({"hold", "job=1,x"}).substr(0, 7), "invalid");
  EXPECT_EQ(refusal({"hold", "user=x"}),
            "unknown \"user\"; name the jobs by their ids, or by name=NAME");
  EXPECT_EQ(refusal({"create", "partition=foo", "nodes=n[1-2]", "maxnodes=2", "qos=high",
                     "defmempercpu=500", "preemptmode=requeue"}),
            "partitions are not made and deleted by commands, but by the ares.yaml of the "
            "controller, which all nodes and commands read. Write this line there, below "
            "partitions:\n  - {name: foo, nodes: \"n[1-2]\", max_nodes: 2, "
            "default_memory_per_cpu: 500M, qos: high, preempt_mode: requeue}\nand run actl "
            "reconfigure, which leaves running jobs alone");
  EXPECT_THAT(refusal({"create", "partition", "foo"}), HasSubstr("Nodes=NODES"));
  EXPECT_THAT(refusal({"create", "partition", "partitionname=foo", "nodes=n1"}),
              HasSubstr("\n  - {name: foo, nodes: \"n1\"}\n"));
  EXPECT_THAT(refusal({"delete", "partition", "foo,bar"}),
              HasSubstr("\n  - {name: foo, ...}\n  - {name: bar, ...}\n"));
  EXPECT_THAT(refusal({"update", "StepId=12.0", "Name=x"}), HasSubstr("arun --job-name"));
  EXPECT_THAT(refusal({"update", "StepId=12", "TimeLimit=5"}), HasSubstr("JOB.STEP"));
  EXPECT_THAT(refusal({"update", "StepId=12.batch", "TimeLimit=5"}),
              HasSubstr("no limit of its own"));
  EXPECT_EQ(refusal({"suspend"}), "name the jobs by their ids");
  EXPECT_EQ(refusal({"drain", "n1"}), "say why: reason=TEXT");
  EXPECT_EQ(refusal({"update", "jobid=1"}),
            "nothing to change; name at least one property of a job");
  EXPECT_EQ(refusal({"update", "jobid=1", "mcslabel=x"}),
            "updating mcslabel of a job is not supported: jobs have no labels; OverSubscribe=user "
            "shares nodes with no other user");
  EXPECT_EQ(refusal({"update", "jobid=1", "TimeLimt=5"}),
            "a job has no \"timelimt\" that can be changed; did you mean \"timelimit\"?");
  EXPECT_EQ(refusal({"update", "jobid=1", "Nice=much"}).substr(0, 6), "Nice: ");
  EXPECT_EQ(refusal({"update", "nodename=n1", "state=reboot"}),
            "State: \"reboot\" is not supported; use drain, resume, undrain, down or fail");
  EXPECT_EQ(refusal({"reboot", "nextstate=off", "n1"}), "nextstate is resume or down, not \"off\"");
  EXPECT_EQ(refusal({"reboot", "asap"}), "name the nodes to reboot");
  EXPECT_EQ(refusal({"delete", "node"}), "name the nodes");
  EXPECT_EQ(refusal({"update", "partition=main", "state=open"}),
            "State: \"open\" is none of up, down, drain and inactive");
  EXPECT_EQ(refusal({"update", "what=ever"}),
            "update what? Name it first: jobid=…, reservationname=…, nodename=…, stepid=…, "
            "partitionname=…");
  EXPECT_NE(refusal({"resume", "12_[1-"}), "name the nodes first") << "these are jobs";
  EXPECT_EQ(refusal({"hold"}), "name the jobs by their ids");
}

TEST(Reference, EveryConfigurationKeyIsDescribedWithItsDefault) {
  const std::string page = config::reference_page();
  EXPECT_THAT(page, HasSubstr(".B kill_wait\n(duration) "));
  EXPECT_THAT(page, HasSubstr("Default: 30.\n"));
  EXPECT_THAT(page, HasSubstr(".SH PARTITIONS\n"));
}

TEST(ShowNode, CpusHaveDecimalsWhereTheyAreCountedSo) {
  api::Node node;
  node.set_name("n1");
  node.set_cpus(3);
  node.set_cpus_allocated(2);
  EXPECT_THAT(actl::describe(node, true), HasSubstr("CPUAlloc=2 CPUEfctv=3 CPUTot=3 "));
  node.set_cpu_thousandths(3920);
  node.set_cpu_thousandths_allocated(1470);
  EXPECT_THAT(actl::describe(node, true), HasSubstr("CPUAlloc=1.47 CPUEfctv=3.92 CPUTot=3.92 "));
}

TEST(ShowNode, GpuMemoryIsThatOfEachTypeAndSize) {
  api::Node node;
  node.set_name("n1");
  EXPECT_THAT(actl::describe(node, true), Not(HasSubstr("GpuMemory")));
  for (const auto& [type, gibibytes] :
       {std::pair{"a100", 80}, {"a100", 80}, {"t4", 16}, {"x", 0}}) {
    api::Gpu* gpu = node.add_gpus();
    gpu->set_type(type);
    gpu->set_memory(Bytes::gib(gibibytes).value());
  }
  EXPECT_THAT(actl::describe(node, true), HasSubstr("GpuMemory=a100:80G,t4:16G "));
}

TEST(ShowNode, LoadAndFreeMemoryOfTheMachine) {
  api::Node node;
  node.set_name("n1");
  const std::string unknown = actl::describe(node, true);
  EXPECT_THAT(unknown, HasSubstr("CPUTot=0 CPULoad=N/A "));
  EXPECT_THAT(unknown, HasSubstr("AllocMem=0 FreeMem=N/A "));
  node.set_cpu_load(0);
  node.set_free_memory(Bytes::mib(2048).value() - 1);
  const std::string idle = actl::describe(node, true);
  EXPECT_THAT(idle, HasSubstr("CPULoad=0.00 "));
  EXPECT_THAT(idle, HasSubstr("FreeMem=2047 "));
  node.set_cpu_load(1207);
  EXPECT_THAT(actl::describe(node, true), HasSubstr("CPULoad=12.07 "));
}

}  // namespace
}  // namespace ares
