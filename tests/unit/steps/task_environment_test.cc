#include "steps/task_environment.h"

#include <gtest/gtest.h>

#include <optional>

namespace ares::steps {
namespace {

node::StepSpec spec_of_second_node() {
  auto job = std::make_shared<JobSpec>();
  job->name = "train";
  job->tasks = 8;
  node::StepSpec spec;
  spec.launch.attempt = {{JobId(12), TaskIndex{}}, AttemptNo(1)};
  spec.launch.own_id = JobId(12);
  spec.launch.spec = job;
  spec.launch.node_name = "n2";
  spec.launch.rank = 1;
  spec.launch.layout = std::make_shared<const NodeLayout>(std::vector<std::string>{"n1", "n2"},
                                                          std::vector<std::uint32_t>{4, 4},
                                                          std::vector<std::uint32_t>{4, 4});
  spec.launch.share.cpus = 4;
  spec.node_has_gpus = true;
  return spec;
}

NodeLaunch launch(std::uint32_t node) {
  NodeLaunch launch;
  launch.step = 3;
  launch.node = node;
  launch.layout = {5, {{0, "n1", {0, 1, 2}, {}}, {1, "n2", {3, 4}, {}}}};
  launch.task.environment = {"PATH=/bin", "CUDA_VISIBLE_DEVICES=7", "ARES_NODEID=9"};
  launch.task.cpus_per_task = 2;
  return launch;
}

std::optional<std::string> value(const NodeLaunch& of, std::uint32_t local,
                                 const std::string& name) {
  for (const std::string& item :
       task_environment(of, local, spec_of_second_node(), "/spool/jobs/12.1", Time(Seconds(9))))
    if (item.starts_with(name + "=")) return item.substr(name.size() + 1);
  return std::nullopt;
}

TEST(TaskEnvironment, TellsTheTaskItsPlaceInTheStep) {
  for (const auto& [name, expected] : {std::pair{"PROCID", "4"},
                                       {"LOCALID", "1"},
                                       {"NODEID", "1"},
                                       {"NTASKS", "5"},
                                       {"NNODES", "2"},
                                       {"STEP_ID", "3"},
                                       {"STEP_NODELIST", "n[1-2]"},
                                       {"STEP_TASKS_PER_NODE", "3,2"},
                                       {"GTIDS", "3,4"},
                                       {"LAUNCH_NODE_IPADDR", "n1"},
                                       {"SRUN_COMM_HOST", "n1"},
                                       {"CPUS_PER_TASK", "2"}}) {
    EXPECT_EQ(value(launch(1), 1, std::string("ARES_") + name), expected) << name;
    EXPECT_EQ(value(launch(1), 1, std::string("SLURM_") + name), expected) << name;
  }
  for (const auto& [name, expected] : {std::pair{"RANK", "4"},
                                       {"LOCAL_RANK", "1"},
                                       {"WORLD_SIZE", "5"},
                                       {"LOCAL_WORLD_SIZE", "2"},
                                       {"NODE_RANK", "1"}})
    EXPECT_EQ(value(launch(1), 1, name), expected) << name;
}

TEST(TaskEnvironment, TaskSeesTheGpusOfItsStepOrItsOwn) {
  node::StepSpec spec = spec_of_second_node();
  spec.launch.share.gpus = {GpuIndex(1), GpuIndex(3), GpuIndex(4), GpuIndex(6)};
  NodeLaunch step = launch(1);
  step.task.environment = {"CUDA_VISIBLE_DEVICES=7", "ARESD_NODENAME=n2"};  // of the batch script
  std::optional<std::vector<std::uint32_t>> gpus;
  const auto look = [&](const std::string& name) -> std::string {
    for (const std::string& item :
         task_environment(step, 1, spec, "/spool/jobs/12.1", Time(), gpus))
      if (item.starts_with(name + "=")) return item.substr(name.size() + 1);
    return "unset";
  };
  EXPECT_EQ(look("CUDA_VISIBLE_DEVICES"), "7") << "the script may have set it on purpose";
  EXPECT_EQ(look("SLURM_STEP_GPUS"), "1,3,4,6");
  step.layout.divides_gpus = true;
  step.layout.nodes[1].gpus = {0, 2};
  gpus = {0, 2};
  EXPECT_EQ(look("CUDA_VISIBLE_DEVICES"), "1,4");
  EXPECT_EQ(look("ROCR_VISIBLE_DEVICES"), "1,4");
  EXPECT_EQ(look("ARES_GPUS_ON_NODE"), "2");
  EXPECT_EQ(look("ARES_STEP_GPUS"), "1,4");
  gpus = {2};
  EXPECT_EQ(look("CUDA_VISIBLE_DEVICES"), "4");
  spec.visible_gpus = {"GPU-a", "GPU-b", "GPU-c", "GPU-d"};
  EXPECT_EQ(look("CUDA_VISIBLE_DEVICES"), "GPU-c");
  EXPECT_EQ(look("GPU_DEVICE_ORDINAL"), "unset") << "OpenCL knows no names";
  step.layout.nodes[1].gpus.clear();
  gpus.emplace();
  EXPECT_EQ(look("CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(look("ARES_STEP_GPUS"), "unset");
}

TEST(TaskEnvironment, MasterIsTheFirstNodeByItsAddress) {
  node::StepSpec spec = spec_of_second_node();
  const auto master = [&] {
    for (const std::string& item : task_environment(launch(1), 0, spec, "/d", Time(Seconds(9))))
      if (item.starts_with("MASTER_ADDR=")) return item.substr(12);
    return std::string();
  };
  EXPECT_EQ(master(), "n1") << "where no address is known";
  spec.launch.step_addresses = {"192.0.2.1:4711", "192.0.2.2:4711"};
  EXPECT_EQ(master(), "192.0.2.1");
  spec.launch.step_addresses = {"[2001:db8::1]:4711", ""};
  EXPECT_EQ(master(), "2001:db8::1");
}

TEST(TaskEnvironment, MasterPortIsThatOfTheJobUnlessTheScriptSetsAnother) {
  node::StepSpec spec = spec_of_second_node();
  const auto port = [&](const NodeLaunch& launch) {
    for (const std::string& item : task_environment(launch, 0, spec, "/d", Time(Seconds(9))))
      if (item.starts_with("MASTER_PORT=")) return item.substr(12);
    return std::string();
  };
  EXPECT_EQ(port(launch(1)), "") << "the job has none";
  spec.launch.master_port = 20007;
  EXPECT_EQ(port(launch(1)), "20007");
  NodeLaunch chosen = launch(1);
  chosen.task.environment.push_back("MASTER_PORT=29500");
  EXPECT_EQ(port(chosen), "29500");
}

TEST(TaskEnvironment, OtherNodesHaveTheirOwnGpusAndName) {
  EXPECT_EQ(value(launch(1), 0, "CUDA_VISIBLE_DEVICES"), "") << "the job has no GPU there";
  EXPECT_EQ(value(launch(1), 0, "SLURMD_NODENAME"), "n2");
  EXPECT_EQ(value(launch(1), 0, "PATH"), "/bin");
}

TEST(TaskEnvironment, CheckpointToBeginFromIsTheSameOnAllNodes) {
  NodeLaunch other = launch(1);
  other.task.environment.emplace_back("ARES_CHECKPOINT_RESTORE=/scratch/12/000007.1");
  EXPECT_EQ(value(other, 0, "ARES_CHECKPOINT_RESTORE"), "/scratch/12/000007.1");
  EXPECT_EQ(value(launch(1), 0, "ARES_CHECKPOINT_RESTORE"), std::nullopt);
}

TEST(TaskEnvironment, OnTheNodeThatItComesFromWhatTheScriptChangedStays) {
  NodeLaunch same = launch(1);
  same.task.environment.push_back("ARESD_NODENAME=n2");
  EXPECT_EQ(value(same, 0, "CUDA_VISIBLE_DEVICES"), "7");
}

TEST(TaskPattern, KnowsRankAndStep) {
  const node::StepSpec spec = spec_of_second_node();
  EXPECT_EQ(expand_task_pattern("o.%t", 3, 4, spec), "o.4");
  EXPECT_EQ(expand_task_pattern("%x-%j.%s/%03t.%N", 3, 4, spec), "train-12.3/004.n2");
  EXPECT_EQ(expand_task_pattern("%J", 3, 4, spec), "12.3");
  EXPECT_EQ(expand_task_pattern("100%%t %", 3, 4, spec), "100%t %");
  EXPECT_EQ(expand_task_pattern("a\\%t", 3, 4, spec), "a%t");
}

TEST(TaskEnvironment, ProgramOutsideOfTheJobIsToldOfTheJobNotOfANode) {
  const std::vector<std::string> variables =
      outside_environment(spec_of_second_node(), "/spool/jobs/12.1", Time(Seconds(9)));
  const auto has = [&](const std::string& text) {
    return std::find(variables.begin(), variables.end(), text) != variables.end();
  };
  EXPECT_TRUE(has("ARES_JOB_ID=12"));
  EXPECT_TRUE(has("SLURM_JOB_NODELIST=n[1-2]"));
  EXPECT_TRUE(has("SLURM_NTASKS=8"));
  for (const std::string& variable : variables)
    for (const char* name : {"ARES_ATTEMPT_DIR=", "ARES_NODEID=", "SLURM_PROCID=",
                             "CUDA_VISIBLE_DEVICES=", "ARESD_NODENAME=", "PATH="})
      EXPECT_FALSE(variable.starts_with(name)) << variable;
}

}  // namespace
}  // namespace ares::steps
