// Tests: base/file_pattern, node_layout, node/job_files
#include "node/environment.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "node/file_pattern.h"

namespace ares::node {
namespace {

using namespace std::string_literals;

StepSpec example() {
  auto job = std::make_shared<JobSpec>();
  job->name = "a/b job";
  job->uid = UserId(1000);
  job->user = "alice";
  job->tasks = 7;
  job->cpus_per_task = 2;
  job->submit_dir = "/home/alice";
  StepSpec spec;
  spec.launch.attempt = {{JobId(12), TaskIndex{}}, AttemptNo(1)};
  spec.launch.own_id = JobId(12);
  spec.launch.spec = job;
  spec.launch.cluster_name = "demo";
  spec.launch.node_name = "n1.example.org";
  spec.launch.layout = std::make_shared<const NodeLayout>(
      std::vector<std::string>{"n1", "n2", "n3", "n4"}, std::vector<std::uint32_t>{4, 4, 4, 2},
      std::vector<std::uint32_t>{2, 2, 2, 1});
  spec.launch.share.cpus = 4;
  spec.launch.partition = "main";
  spec.launch.time_limit = Seconds(60);
  spec.user = {"alice", GroupId(100), {}, "/home/alice", "/bin/bash"};
  return spec;
}

StepSpec array_task() {
  StepSpec spec = example();
  spec.launch.attempt.job.task = TaskIndex{34};
  spec.launch.own_id = JobId(15);
  spec.launch.array_count = 40;
  spec.launch.array_min = 0;
  spec.launch.array_max = 39;
  spec.launch.array_step = 1;
  return spec;
}

std::optional<std::string> value(const StepSpec& spec, const std::string& name,
                                 const std::string& submitted = {}) {
  for (const std::string& item :
       job_environment(spec, submitted, "/spool/jobs/12.1", Time(Seconds(1000))))
    if (item.starts_with(name + "=")) return item.substr(name.size() + 1);
  return std::nullopt;
}

TEST(JobEnvironment, SaysWhereCheckpointsAreAndByWhichSignalToSave) {
  StepSpec spec = example();
  JobSpec job = *spec.launch.spec;
  job.checkpoint = CheckpointRequest{"/scratch", 2};
  job.warning = WarningSignal{10, Seconds(60), false};
  spec.launch.spec = std::make_shared<const JobSpec>(job);
  EXPECT_EQ(value(spec, "ARES_CHECKPOINT_PATH"), "/scratch/demo/12")
      << "other clusters have jobs of that number, too";
  EXPECT_EQ(value(spec, "ARES_CHECKPOINT_SIGNAL"), "USR1");
  EXPECT_EQ(value(spec, "ARES_CHECKPOINT_RESTORE", "ARES_CHECKPOINT_RESTORE=/of/another/job"s),
            std::nullopt);
  const auto with = job_environment(spec, {}, "/spool/jobs/12.1", Time(), "/scratch/12/000001.1");
  EXPECT_NE(std::find(with.begin(), with.end(), "ARES_CHECKPOINT_RESTORE=/scratch/12/000001.1"),
            with.end());
  EXPECT_EQ(value(spec, "SLURM_CHECKPOINT_PATH"), std::nullopt);
  spec.launch.checkpoints = {{1, AttemptNo(1), {}, Bytes(1), "/scratch/12/000001.1", Time()}};
  EXPECT_EQ(value(spec, "ARES_CHECKPOINT_PATH"), "/scratch/12") << "begun under an earlier release";
  spec.launch.checkpoints[0].uri = "/scratch/demo/12/000001.1";
  EXPECT_EQ(value(spec, "ARES_CHECKPOINT_PATH"), "/scratch/demo/12");
  EXPECT_EQ(value(example(), "ARES_CHECKPOINT_PATH", "ARES_CHECKPOINT_PATH=/of/another/job"s),
            std::nullopt);
}

TEST(JobEnvironment, KeepsWhatTheSubmissionSaysOfItsOptions) {
  const std::string said = "ARES_JOB_DEPENDENCY=afterok:7\0ARES_EXPORT_ENV=NONE\0"s;
  for (const char* prefix : {"ARES_", "SLURM_"}) {
    EXPECT_EQ(value(example(), prefix + "JOB_DEPENDENCY"s, said), "afterok:7");
    EXPECT_EQ(value(example(), prefix + "EXPORT_ENV"s, said), "NONE");
    EXPECT_EQ(value(example(), prefix + "JOB_DEPENDENCY"s), std::nullopt);
    EXPECT_EQ(value(example(), prefix + "EXPORT_ENV"s, "SLURM_EXPORT_ENV=ALL\0"s), std::nullopt);
  }
  StepSpec plain = example();
  plain.slurm_variables = false;
  EXPECT_EQ(value(plain, "SLURM_JOB_DEPENDENCY", said), std::nullopt);
}

TEST(JobEnvironment, HasNothingOfAStepOrProcessThatSubmittedIt) {
  for (const char* name : {"ARES_STEP_ID", "SLURM_STEP_ID", "SLURM_STEPID", "ARES_TASK_PID"})
    EXPECT_EQ(value(example(), name, name + "=4\0"s), std::nullopt) << name;
}

TEST(JobEnvironment, DescribesTheJob) {
  const StepSpec spec = example();
  EXPECT_EQ(value(spec, "ARES_JOB_ID"), "12");
  EXPECT_EQ(value(spec, "ARES_JOB_NODELIST"), "n[1-4]");
  EXPECT_EQ(value(spec, "ARES_NNODES"), "4");
  EXPECT_EQ(value(spec, "ARES_NTASKS"), "7");
  EXPECT_EQ(value(spec, "ARES_TASKS_PER_NODE"), "2(x3),1");
  EXPECT_EQ(value(spec, "ARES_JOB_CPUS_PER_NODE"), "4(x3),2");
  EXPECT_EQ(value(spec, "ARES_JOB_START_TIME"), "1000");
  EXPECT_EQ(value(spec, "ARES_JOB_END_TIME"), "1060");
  EXPECT_EQ(value(spec, "ARES_CLUSTER_NAME"), "demo");
  EXPECT_EQ(value(spec, "ARES_ARRAY_TASK_ID"), std::nullopt);
  EXPECT_EQ(value(spec, "ARES_RESTART_COUNT"), std::nullopt);
  EXPECT_EQ(value(array_task(), "ARES_ARRAY_TASK_ID"), "34");
  EXPECT_EQ(value(array_task(), "ARES_ARRAY_JOB_ID"), "12");
  EXPECT_EQ(value(array_task(), "ARES_JOB_ID"), "15");
}

TEST(JobEnvironment, AFractionOfACpuIsRoundedUpExceptInTheLimit) {
  StepSpec spec = example();
  EXPECT_EQ(value(spec, "ARES_CPU_LIMIT"), std::nullopt);
  JobSpec job = *spec.launch.spec;
  job.cpus_per_task = 2;
  job.cpu_thousandths_per_task = 1250;
  spec.launch.spec = std::make_shared<const JobSpec>(job);
  spec.launch.share.cpus = 3;
  spec.launch.share.cpu_thousandths = 2500;
  EXPECT_EQ(value(spec, "ARES_CPU_LIMIT"), "2.5");
  EXPECT_EQ(value(spec, "SLURM_CPU_LIMIT"), std::nullopt);
  EXPECT_EQ(value(spec, "ARES_CPUS_PER_TASK"), "2");
  EXPECT_EQ(value(spec, "SLURM_CPUS_PER_TASK"), "2");
  EXPECT_EQ(value(spec, "ARES_CPUS_ON_NODE"), "3");
}

TEST(JobEnvironment, SaysThatStepsMayHaveMoreTasksThanCpus) {
  StepSpec spec = example();
  EXPECT_EQ(value(spec, "ARES_OVERCOMMIT", "ARES_OVERCOMMIT=1"s), std::nullopt);
  JobSpec job = *spec.launch.spec;
  job.overcommit = true;
  spec.launch.spec = std::make_shared<const JobSpec>(job);
  EXPECT_EQ(value(spec, "ARES_OVERCOMMIT"), "1");
  EXPECT_EQ(value(spec, "SLURM_OVERCOMMIT"), "1");
}

TEST(JobEnvironment, NamesLicencesAndWhatSlurmSetsOnEachNode) {
  StepSpec spec = example();
  EXPECT_EQ(value(spec, "SLURM_JOB_LICENSES"), std::nullopt);
  JobSpec job = *spec.launch.spec;
  job.licenses = {{"matlab", 2}, {"ansys", 1}};
  spec.launch.spec = std::make_shared<const JobSpec>(job);
  EXPECT_EQ(value(spec, "SLURM_JOB_LICENSES"), "matlab:2,ansys:1");
  job.any_license = true;
  spec.launch.spec = std::make_shared<const JobSpec>(job);
  EXPECT_EQ(value(spec, "ARES_JOB_LICENSES"), "matlab:2|ansys:1");
  const auto read = decode_step_spec(encode(spec));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(value(*read, "ARES_JOB_LICENSES"), "matlab:2|ansys:1") << "aresstepd sets them";
  EXPECT_EQ(value(spec, "SLURM_TOPOLOGY_ADDR"), "n1.example.org");
  EXPECT_EQ(value(spec, "SLURM_TOPOLOGY_ADDR_PATTERN"), "node");
  EXPECT_EQ(value(spec, "TMPDIR"), "/tmp") << "scripts change to it";
}

TEST(JobEnvironment, KeepsSubmittedVariablesExceptThoseOfAnOuterJob) {
  const std::string submitted =
      "HOME=/elsewhere\0TMPDIR=/fast\0TWICE=1\0TWICE=2\0=odd\0noequals\0"
      "ARES_ARRAY_TASK_ID=9\0ARES_JOB_ID=1\0ARES_CONF=/etc/x\0"s;
  const StepSpec spec = example();
  EXPECT_EQ(value(spec, "HOME", submitted), "/elsewhere");
  EXPECT_EQ(value(spec, "TMPDIR", submitted), "/fast");
  EXPECT_EQ(value(spec, "TWICE", submitted), "2");
  EXPECT_EQ(value(spec, "ARES_CONF", submitted), "/etc/x");
  EXPECT_EQ(value(spec, "ARES_ARRAY_TASK_ID", submitted), std::nullopt);
  EXPECT_EQ(value(spec, "ARES_JOB_ID", submitted), "12");
  EXPECT_EQ(value(spec, "SHELL", submitted), "/bin/bash") << "added where nothing was exported";
}

TEST(JobEnvironment, ShowsOnlyAllocatedGpus) {
  StepSpec spec = example();
  EXPECT_EQ(value(spec, "CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES=7"), "7")
      << "the user's own business on a node without GPUs";
  spec.node_has_gpus = true;
  EXPECT_EQ(value(spec, "CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES=7"), "");
  EXPECT_EQ(value(spec, "ARES_GPUS_ON_NODE"), std::nullopt);
  spec.launch.share.gpus = {GpuIndex(1), GpuIndex(3)};
  spec.launch.gpu_types = {"a100", "h100"};
  EXPECT_EQ(value(spec, "CUDA_VISIBLE_DEVICES"), "1,3");
  EXPECT_EQ(value(spec, "ROCR_VISIBLE_DEVICES"), "1,3");
  EXPECT_EQ(value(spec, "ARES_JOB_GPUS"), "1,3");
  EXPECT_EQ(value(spec, "ARES_JOB_GPU_TYPES"), "a100,h100");
  EXPECT_EQ(value(spec, "ARES_GPUS_ON_NODE"), "2");
  EXPECT_EQ(value(spec, "ARES_GPU_FRACTION"), std::nullopt) << "they are its own";
  spec.visible_gpus = {"MIG-a", "MIG-b"};
  EXPECT_EQ(value(spec, "CUDA_VISIBLE_DEVICES"), "MIG-a,MIG-b");
  EXPECT_EQ(value(spec, "ARES_JOB_GPUS"), "1,3");
  EXPECT_EQ(value(spec, "GPU_DEVICE_ORDINAL"), std::nullopt);
  EXPECT_EQ(value(spec, "CUDA_DEVICE_ORDER"), "PCI_BUS_ID");
  spec.visible_gpus = {"0", "1"};
  EXPECT_EQ(value(spec, "CUDA_VISIBLE_DEVICES"), "0,1");
  EXPECT_EQ(value(spec, "GPU_DEVICE_ORDINAL"), "0,1");
  EXPECT_EQ(value(spec, "ARES_JOB_GPUS"), "1,3");
  spec.visible_gpus.clear();
  spec.launch.share.gpus = {GpuIndex(3)};
  spec.launch.share.gpu_part = 250;
  EXPECT_EQ(value(spec, "CUDA_VISIBLE_DEVICES"), "3");
  EXPECT_EQ(value(spec, "ARES_GPU_FRACTION"), "0.25");
}

TEST(FilePattern, ExpandsEveryLetter) {
  const StepSpec job = example(), task = array_task();
  struct {
    const StepSpec& spec;
    const char* pattern;
    const char* name;
  } const rows[] = {
      {job, "ares-%j.out", "ares-12.out"},
      {job, "%5j", "00012"},
      {job, "%99j", "0000000012"},
      {job, "%1j", "12"},
      {task, "%A_%a", "12_34"},
      {task, "%A_%4a", "12_0034"},
      {task, "%b", "4"},
      {task, "%j", "15"},
      {job, "%x.%u", "a_b job.alice"},
      {job, "%3x", "a_b job"},
      {job, "%N-%n-%t-%s-%J", "n1-0-0-batch-12"},
      {job, "%r", "0"},
      {job, "100%%", "100%"},
      {job, "%q %", "%q %"},
      {job, "%5", "%5"},
      {job, "\\%j", "%j"},
      {job, "a\\b%j", "ab%j"},
      {job, "", ""},
  };
  for (const auto& row : rows) EXPECT_EQ(expand_pattern(row.pattern, row.spec), row.name);
  EXPECT_EQ(expand_pattern(default_output(job), job), "ares-12.out");
  EXPECT_EQ(expand_pattern(default_output(task), task), "ares-12_34.out");
}

TEST(JobEnvironment, AllMemoryOfANodeIsWhatTheNodeGives) {
  StepSpec spec = example();
  JobSpec job = *spec.launch.spec;
  job.memory_per_node = Bytes{};
  job.memory_per_cpu.reset();
  spec.launch.spec = std::make_shared<const JobSpec>(job);
  spec.launch.share.memory = Bytes::mib(4000);
  EXPECT_EQ(value(spec, "ARES_MEM_PER_NODE"), "4000");
  EXPECT_EQ(value(spec, "SLURM_MEM_PER_NODE"), "4000");
  EXPECT_FALSE(value(spec, "ARES_MEM_PER_CPU"));
}

TEST(JobEnvironment, CpusAndMemoryOfGpusAreNamedAsTheyWereAskedFor) {
  StepSpec spec = example();
  EXPECT_FALSE(value(spec, "ARES_MEM_PER_GPU"));
  EXPECT_FALSE(value(spec, "ARES_CPUS_PER_GPU"));
  JobSpec job = *spec.launch.spec;
  job.memory_per_gpu = Bytes::mib(300);
  job.cpus_per_gpu = 6;
  spec.launch.spec = std::make_shared<const JobSpec>(job);
  EXPECT_EQ(value(spec, "ARES_MEM_PER_GPU"), "300");
  EXPECT_EQ(value(spec, "SLURM_MEM_PER_GPU"), "300");
  EXPECT_EQ(value(spec, "ARES_CPUS_PER_GPU"), "6");
  EXPECT_EQ(value(spec, "SLURM_CPUS_PER_GPU"), "6");
}

TEST(JobEnvironment, GpusAreNamedAsTheyWereAskedFor) {
  StepSpec spec = example();
  JobSpec job = *spec.launch.spec;
  job.gpus_per_node.clear();
  spec.launch.spec = std::make_shared<const JobSpec>(job);
  for (const char* name : {"ARES_GPUS", "ARES_GPUS_PER_NODE", "ARES_GPUS_PER_TASK"})
    EXPECT_FALSE(value(spec, name)) << name;
  job.gpus_per_node = {{.type = "a100", .count = 4}, {.type = "", .count = 1}};
  spec.launch.spec = std::make_shared<const JobSpec>(job);
  EXPECT_EQ(value(spec, "ARES_GPUS_PER_NODE"), "a100:4,1");
  EXPECT_EQ(value(spec, "SLURM_GPUS_PER_NODE"), "a100:4,1");
  job.gpus_total = {{.type = "", .count = 6}};
  spec.launch.spec = std::make_shared<const JobSpec>(job);
  EXPECT_EQ(value(spec, "SLURM_GPUS"), "6");
}

TEST(JobEnvironment, SitesCanLeaveSlurmsNamesOut) {
  StepSpec spec = example();
  EXPECT_EQ(value(spec, "SLURM_JOB_ID"), "12");
  spec.slurm_variables = false;
  EXPECT_FALSE(value(spec, "SLURM_JOB_ID"));
  EXPECT_EQ(value(spec, "ARES_JOB_ID"), "12");
  EXPECT_FALSE(value(spec, "SLURM_JOB_ID", "SLURM_JOB_ID=7"s)) << "of an enclosing job";
  const auto read = decode_step_spec(encode(spec));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->slurm_variables);
}

TEST(JobEnvironment, MasterPortIsThatOfTheJobAndNotOfAnEnclosingOne) {
  StepSpec spec = example();
  EXPECT_FALSE(value(spec, "MASTER_PORT")) << "it has none";
  EXPECT_FALSE(value(spec, "MASTER_ADDR"));
  spec.launch.master_port = 20007;
  EXPECT_EQ(value(spec, "MASTER_PORT"), "20007");
  EXPECT_EQ(value(spec, "MASTER_ADDR"), "n1") << "where no address is known";
  spec.launch.step_addresses = {"[2001:db8::1]:4711", "", "", ""};
  EXPECT_EQ(value(spec, "MASTER_ADDR"), "2001:db8::1");
  EXPECT_EQ(value(spec, "MASTER_PORT", "MASTER_PORT=29500"s), "29500") << "the user chose it";
  EXPECT_EQ(value(spec, "MASTER_PORT", "ARES_JOB_ID=11\0MASTER_PORT=20001"s), "20007");
  EXPECT_EQ(value(spec, "MASTER_PORT", "ARES_JOB_ID=12\0MASTER_PORT=29500"s), "29500")
      << "a task has what its script set";
}

TEST(Manual, NamesEveryLetter) {
  std::ifstream in(ARES_SOURCE_DIR "/man/man8/aresstepd.8");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  for (const PatternLetter& letter : pattern_letters())
    EXPECT_NE(page.find("\n.B %"s + letter.letter + "\n"), std::string::npos) << letter.letter;
}

}  // namespace
}  // namespace ares::node
