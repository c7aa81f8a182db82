// Tests: submission/options, spec_cpus, gpu_values, spec_values
// Options of submissions that ask for memory, CPUs and GPUs.
#include <gmock/gmock.h>

#include "cli/values/gpu_values.h"
#include "unit/cli/submission_of.h"

namespace ares::submission {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Submission, AmountsForEachGpuHaveNoEffectWithoutGpus) {
  auto made = submission({"--cpus-per-gpu=6", "--exclusive"});
  EXPECT_THAT(made->warnings, testing::ElementsAre(HasSubstr("--cpus-per-gpu has no effect")));
  EXPECT_EQ(made->spec.cpus_per_gpu(), 0u);
  made = submission({"--mem-per-gpu=6G"});
  EXPECT_THAT(made->warnings, testing::ElementsAre(HasSubstr("--mem-per-gpu has no effect")));
  EXPECT_FALSE(made->spec.has_memory_per_gpu());
  EXPECT_THAT(submission({"--cpus-per-gpu=6", "--gpus=2"})->warnings, testing::IsEmpty());
}

TEST(Submission, TemporaryStorageIsInBytesAndAPlainNumberIsMebibytes) {
  EXPECT_EQ(spec({"--tmp=100"}).tmp_disk(), 100 << 20);
  EXPECT_EQ(spec({"--tmp=100K"}).tmp_disk(), 100 << 10);
  EXPECT_EQ(spec({"--tmp=10G"}).tmp_disk(), 10LL << 30);
  EXPECT_EQ(spec({"--tmp=2T"}).tmp_disk(), 2LL << 40);
  EXPECT_EQ(spec({"--tmp=0"}).tmp_disk(), 0);
  EXPECT_EQ(spec({}).tmp_disk(), 0);
  EXPECT_FALSE(submission({"--tmp=lots"}));
  EXPECT_FALSE(submission({"--tmp=-1"}));
}

TEST(Submission, MemoryIsInBytesAndZeroIsAllOfTheNode) {
  EXPECT_EQ(spec({"--mem=100"}).memory_per_node(), 100 << 20);
  EXPECT_EQ(spec({"--mem-per-cpu=2G"}).memory_per_cpu(), 2LL << 30);
  const api::JobSpec all = spec({"--mem=0"});
  EXPECT_TRUE(all.has_memory_per_node());
  EXPECT_EQ(all.memory_per_node(), 0);
  EXPECT_FALSE(spec({}).has_memory_per_node());
}

TEST(Submission, GpusInEverySpelling) {
  const auto per_node = [](const api::JobSpec& s) {
    std::string out;
    for (const auto& gpu : s.gpus_per_node())
      out += gpu.type() + ":" + std::to_string(gpu.count()) + " ";
    return out;
  };
  EXPECT_EQ(per_node(spec({"--gres=gpu"})), ":1 ");
  EXPECT_EQ(per_node(spec({"--gres=gpu:2"})), ":2 ");
  EXPECT_EQ(per_node(spec({"--gres=gpu:a100"})), "a100:1 ");
  EXPECT_EQ(per_node(spec({"--gres=gpu:a100:2,gpu:h100:1"})), "a100:2 h100:1 ");
  EXPECT_EQ(per_node(spec({"--gpus-per-node=a100:4"})), "a100:4 ");
  EXPECT_EQ(per_node(spec({"--gres=none"}, "#SBATCH --gres=gpu:2\n")), "");
  EXPECT_EQ(spec({"-G", "3"}).gpus_total(0).count(), 3u);
}

TEST(Submission, AlternativesOfGpus) {
  const auto text = [](const api::JobSpec& s) {
    return cli::format_gpu_list(s, s.alternatives_per(), "") + " first " +
           std::to_string(s.gpus_per_node_size() + s.gpus_total_size() + s.gpus_per_task_size());
  };
  EXPECT_EQ(text(spec({"--gres=gpu:h100:4|gpu:a100:8"})), "h100:4|a100:8 first 1");
  EXPECT_EQ(text(spec({"--gres=gpu:h100 | gpu:a100:2,gpu:t4:1@1.50"})),
            "h100:1|a100:2,t4:1@1.5 first 1");
  EXPECT_EQ(text(spec({"--gpus=h100:4@0.5|8"})), "h100:4@0.5|8 first 1");
  EXPECT_EQ(text(spec({"--gpus-per-node=2|a100:4@3"})), "2|a100:4@3 first 1");
  EXPECT_EQ(text(spec({"--gpus-per-task=h100:1|a100:2"})), "h100:1|a100:2 first 1");
  EXPECT_EQ(text(spec({"--gres=gpu:3"}, "#SBATCH --gres=gpu:a|gpu:b\n")), "3 first 1");
  EXPECT_EQ(text(spec({"--gres=none"}, "#SBATCH --gres=gpu:a|gpu:b\n")), " first 0");
  const api::JobSpec both = spec({"--gres=gpu:a|gpu:b", "-G3"});
  EXPECT_EQ(both.gpu_alternatives_size(), 2) << "for the controller to refuse, not to forget";
  EXPECT_EQ(both.gpus_total_size(), 1);
}

TEST(Submission, InvalidAlternativesAreRefused) {
  for (const char* option :
       {"--gres=gpu:4@1.5", "--gres=gpu:4|", "--gres=|gpu:4", "--gres=gpu:a:1||gpu:b:1",
        "--gres=gpu:a:0|gpu:b:1", "--gres=gpu:a@|gpu:b", "--gres=gpu:a@x|gpu:b",
        "--gres=gpu:a@0|gpu:b", "--gres=gpu:a@1.0001|gpu:b", "--gres=gpu:a@1001|gpu:b",
        "--gres=gpu:a@1@2|gpu:b", "--gres=gpu:a|none", "--gpus=a:1|b", "--gres=gpu:a|fpga:1"})
    EXPECT_NE(refusal({option}), "accepted") << option;
}

TEST(Submission, CpusOfATaskMayBeAFraction) {
  struct {
    const char* word;
    std::uint32_t cpus, thousandths;
  } const rows[] = {{"-c3", 3, 0},
                    {"-c0.5", 1, 500},
                    {"-c.25", 1, 250},
                    {"-c1.5", 2, 1500},
                    {"-c0.001", 1, 1},
                    {"-c500m", 1, 500},
                    {"-c2.0", 2, 0},
                    {"-c2000m", 2, 0},
                    {"-c3.125", 4, 3125},
                    {"-c0.49", 1, 490},
                    {"-c1000000.0", 1'000'000, 0}};
  for (const auto& row : rows) {
    const api::JobSpec job = spec({row.word});
    EXPECT_EQ(job.cpus_per_task(), row.cpus) << row.word;
    EXPECT_EQ(job.cpu_thousandths_per_task(), row.thousandths) << row.word;
  }
  EXPECT_EQ(spec({"-c2"}, "#ARES -c0.5\n").cpu_thousandths_per_task(), 0u) << "the last counts";
  EXPECT_EQ(spec({"--tres-per-task=cpu=0.5"}).cpu_thousandths_per_task(), 500u);
  for (const char* word : {"-c0.0", "-c0m", "-c0.0005", "-c1.", "-c.", "-c-0.5", "-c1.5m", "-c1e3",
                           "-c1,5", "-cm", "-c1000000.001", "-c99999999999.5", "-c0.5 "})
    EXPECT_THAT(refusal({word}), HasSubstr("--cpus-per-task")) << word;
  EXPECT_THAT(refusal({"-c0.0005"}), HasSubstr("with three decimals at most"));
  EXPECT_THAT(refusal({"-c1e3"}), HasSubstr("write 2, 0.5 or 500m"));
  EXPECT_THAT(refusal({"-c0"}), HasSubstr("from 1 to 1000000000"));
}

TEST(Submission, PartsOfGpus) {
  EXPECT_EQ(spec({"--gres=gpu:0.5"}).gpus_per_node(0).part(), 500u);
  EXPECT_EQ(spec({"--gres=gpu:0.5"}).gpus_per_node(0).count(), 0u);
  EXPECT_EQ(spec({"--gres=mps:50"}).SerializeAsString(),
            spec({"--gres=gpu:0.5"}).SerializeAsString());
  EXPECT_EQ(spec({"--gres=mps:a100:25"}).SerializeAsString(),
            spec({"--gres=gpu:a100:0.25"}).SerializeAsString());
  EXPECT_EQ(spec({"--gres=mps:100"}).SerializeAsString(),
            spec({"--gres=gpu:1"}).SerializeAsString());
  const api::JobSpec typed = spec({"--gres=gpu:a100:0.25"});
  EXPECT_EQ(typed.gpus_per_node(0).type(), "a100");
  EXPECT_EQ(typed.gpus_per_node(0).part(), 250u);
  EXPECT_EQ(spec({"--gpus=0.125"}).gpus_total(0).part(), 125u);
  EXPECT_EQ(spec({"--gpus-per-task=a100:0.001"}).gpus_per_task(0).part(), 1u);
  const api::JobSpec either = spec({"--gres=gpu:h100:0.5|gpu:a100:1"});
  ASSERT_EQ(either.gpu_alternatives_size(), 2);
  EXPECT_EQ(either.gpu_alternatives(0).gpus(0).part(), 500u);
  EXPECT_EQ(either.gpu_alternatives(1).gpus(0).count(), 1u);
}

TEST(Submission, RefusesNumbersThatAreNotFractionsOfAGpu) {
  for (const auto& [option, words] :
       {std::pair("--gres=gpu:1.5", "ask for the next whole number"),
        std::pair("--gpus=a100:1.5", "a part of one GPU, below 1"),
        std::pair("--gres=gpu:0.0", "above 0"), std::pair("--gres=gpu:-0.5", "above 0"),
        std::pair("--gres=gpu:a100:-1", "above 0"), std::pair("--gres=gpu:0.0005", "thousandths"),
        std::pair("--gres=gpu:.5", "such as 0.5"), std::pair("--gres=gpu:0.", "such as 0.5"),
        std::pair("--gres=gpu:+0.5", "such as 0.5"), std::pair("--gres=gpu:0.5.1", "such as 0.5"),
        std::pair("--gres=gpu:h100:1|gpu:a100:2.25", "below 1")})
    EXPECT_THAT(refusal({option}), HasSubstr(words)) << option;
  EXPECT_EQ(spec({"--gres=gpu:1g.10gb:2"}).gpus_per_node(0).type(), "1g.10gb") << "of a MIG device";
  EXPECT_EQ(spec({"--gres=gpu:1g.10gb"}).gpus_per_node(0).count(), 1u);
}

TEST(Submission, ResourcesPerGpu) {
  const api::JobSpec s = spec({"-G2", "--cpus-per-gpu=3", "--mem-per-gpu=2G"});
  EXPECT_EQ(s.cpus_per_gpu(), 3u);
  EXPECT_EQ(s.memory_per_gpu(), 2LL << 30);
  const api::JobSpec task = spec({"-N2", "--gpus-per-task=a100:2"});
  EXPECT_EQ(task.gpus_per_task(0).type(), "a100");
  EXPECT_EQ(task.tasks(), 0u) << "the controller knows";
}

TEST(Submission, LinksOfGpus) {
  const api::JobSpec s = spec({"--gres=gpu:4", "--gpu-topology=switch"}, "#ARES --min-nvlink=2\n");
  EXPECT_EQ(s.gpu_topology(), "switch");
  EXPECT_EQ(s.min_nvlink(), 2u);
  EXPECT_EQ(spec({"--gpu-topology=any"}, "#ARES --gpu-topology=pix\n").gpu_topology(), "");
  EXPECT_THAT(
      refusal({"--gpu-topology=ring"}),
      HasSubstr("\"ring\" is no topology of GPUs; there are any, nvlink, switch, pix, node"));
  EXPECT_THAT(refusal({"--min-nvlink=65"}), HasSubstr("not a number of NVLinks from 0 to 64"));
}

}  // namespace
}  // namespace ares::submission
