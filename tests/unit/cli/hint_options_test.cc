#include "submission/hint_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "unit/cli/submission_of.h"

namespace ares::submission {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(HintOptions, HintsWithoutWhichAJobRunsAsWellAreWarnings) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--acctg-freq=30"}, "--acctg-freq has no effect: usage is sampled"},
      {{"--contiguous"}, "--contiguous has no effect"},
      {{"--cpu-freq=high"}, "--cpu-freq has no effect: the CPUs run as the machine has set them"},
      {{"--gpu-freq=low"}, "--gpu-freq has no effect"},
      {{"--gres-flags=enforce-binding"}, "--gres-flags has no effect: CPUs near the job's GPUs"},
      {{"--oom-kill-step"}, "--oom-kill-step has no effect"},
      {{"--profile=all"}, "--profile has no effect"},
      {{"--resv-ports=2"}, "--resv-ports has no effect: the job has one port"},
      {{"--spread-job"}, "--spread-job has no effect"},
      {{"-S2"}, "--core-spec has no effect"},
      {{"--get-user-env=10L"}, "--get-user-env has no effect: the job gets the environment"},
      {{"--network=sn_all"}, "--network has no effect"},
      {{"-k"}, "--no-kill has no effect: a job ends when one of its nodes fails"},
      {{"--no-kill=off"}, "--no-kill has no effect"},
      {{"--ntasks-per-core=2"}, "--ntasks-per-core=2 has no effect: a task has hardware threads"},
      {{"--ntasks-per-core=1", "--threads-per-core=2"}, "--ntasks-per-core=1 has no effect beside"},
      {{"--ntasks-per-core=1", "--hint=multithread"}, "--ntasks-per-core=1 has no effect beside"},
      {{"--ntasks-per-socket=2", "--ntasks-per-socket=2"}, "--ntasks-per-socket has no effect"},
      {{"--mincpus=4"}, "--mincpus=4 has no effect: the job is sure of 1 CPU on a node"},
      {{"--mincpus=9", "-c4", "--ntasks-per-node=2"}, "the job is sure of 8 CPUs on a node"},
  };
  for (const auto& [words, warning] : cases) {
    const auto made = submission(words);
    ASSERT_TRUE(made) << words.front() << ": " << made.error().message;
    EXPECT_THAT(made->warnings, ElementsAre(HasSubstr(warning))) << words.front();
  }
  EXPECT_THAT(refusal({"--ntasks-per-socket=many"}), HasSubstr("--ntasks-per-socket"));
}

TEST(HintOptions, HintsThatAresFollowsAnywayAreAccepted) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"-s"},
                                                {"--share"},
                                                {"--propagate"},
                                                {"--propagate=ALL"},
                                                {"--wait-all-nodes=1"},
                                                {"--mincpus=8", "-c4", "--ntasks-per-node=2"},
                                                {"--mincpus=24", "--exclusive"}}) {
    const auto made = submission(words);
    ASSERT_TRUE(made) << words.front() << ": " << made.error().message;
    EXPECT_THAT(made->warnings, IsEmpty()) << words.front();
  }
  EXPECT_NE(refusal({"--oversubscribe", "--exclusive"}), "accepted");
  EXPECT_THAT(refusal({"--wait-all-nodes=2"}), HasSubstr("--wait-all-nodes"));
}

TEST(HintOptions, OneTaskOnACoreUsesOneThreadOfIt) {
  const auto made = submission({"--ntasks-per-core=1"});
  ASSERT_TRUE(made);
  EXPECT_THAT(made->warnings, IsEmpty());
  EXPECT_EQ(made->spec.binding().threads_per_core(), 1u);
  const auto hinted = submission({"--ntasks-per-core=1", "--hint=nomultithread"});
  ASSERT_TRUE(hinted);
  EXPECT_THAT(hinted->warnings, IsEmpty());
  EXPECT_EQ(hinted->spec.binding().threads_per_core(), 0u) << "the hint says it";
}

TEST(HintOptions, OnlyNamedLimitsArePropagated) {
  const auto left = [](const std::string& option) {
    auto made = submission({option});
    api::JobSpec spec;
    for (const int resource : {RLIMIT_CORE, RLIMIT_NOFILE, RLIMIT_STACK})
      spec.add_limits()->set_resource(resource);
    drop_other_limits(made.value(), spec);
    std::vector<int> found;
    for (const auto& limit : spec.limits()) found.push_back(limit.resource());
    return found;
  };
  EXPECT_THAT(left("--propagate"), ElementsAre(RLIMIT_CORE, RLIMIT_NOFILE, RLIMIT_STACK));
  EXPECT_THAT(left("--propagate=NONE"), IsEmpty());
  EXPECT_THAT(left("--propagate=stack,RLIMIT_CORE"), ElementsAre(RLIMIT_CORE, RLIMIT_STACK));
  EXPECT_THAT(refusal({"--propagate=STACK,FILES"}), HasSubstr("\"FILES\" is not a limit"));
}

TEST(HintOptions, HeterogeneousJobsAreRefusedByName) {
  const auto older = submission({}, "#!/bin/sh\n#SBATCH -n1\n#SBATCH packjob\n");
  ASSERT_FALSE(older);
  EXPECT_THAT(older.error().message, HasSubstr("heterogeneous jobs (packjob) are not"));
  const auto made = submission({}, "#!/bin/sh\n#SBATCH -n1\n#SBATCH hetjob\n#SBATCH -n2\n");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("job.sh:3: heterogeneous jobs (hetjob) are not"));
}

}  // namespace
}  // namespace ares::submission
