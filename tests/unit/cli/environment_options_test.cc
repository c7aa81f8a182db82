#include "submission/environment_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "submission/submission.h"

namespace ares::submission {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class EnvironmentOptionsTest : public testing::Test {
 protected:
  Submission target;
  cli::OptionTable table = options(target, Time());

  // Applies the variables and returns the warnings.
  std::vector<std::string> read(const std::vector<std::string>& variables) {
    const auto found = options_from_variables(table, variables);
    EXPECT_TRUE(found) << found.error().message;
    if (!found) return {};
    target.spec.Clear();
    const Status applied = cli::apply_options(found->given);
    EXPECT_TRUE(applied) << applied.error().message;
    return found->warnings;
  }
};

TEST_F(EnvironmentOptionsTest, BothPrefixesAreTakenAndOursTakesEffect) {
  EXPECT_THAT(read({"ASUB_PARTITION=main", "SBATCH_PARTITION=second", "SBATCH_ACCOUNT=chem"}),
              IsEmpty());
  EXPECT_THAT(target.spec.partitions(), ElementsAre("main"));
  EXPECT_EQ(target.spec.account(), "chem");
}

TEST_F(EnvironmentOptionsTest, NamesThatSlurmDoesNotTakeFromTheOption) {
  EXPECT_THAT(read({"ASUB_TIMELIMIT=3", "SBATCH_MEM_PER_NODE=5", "ASUB_ARRAY_INX=1-2"}), IsEmpty());
  EXPECT_EQ(target.spec.time_limit(), 180);
  EXPECT_EQ(target.spec.memory_per_node(), 5 << 20);
  EXPECT_EQ(target.spec.array(), "1-2");
  EXPECT_THAT(read({"SBATCH_CPU_FREQ_REQ=high"}), IsEmpty());
}

TEST_F(EnvironmentOptionsTest, TimeForSwitchesBelongsToTheirNumber) {
  EXPECT_THAT(read({"SBATCH_WAIT4SWITCH=10", "SBATCH_REQ_SWITCH=2"}), IsEmpty());
  EXPECT_EQ(target.spec.switches(), 2u);
  EXPECT_EQ(target.spec.switches_wait(), 600);
  read({"SBATCH_WAIT4SWITCH=10", "SBATCH_REQ_SWITCH=2@20"});
  EXPECT_EQ(target.spec.switches_wait(), 1200);
  EXPECT_THAT(read({"SBATCH_WAIT4SWITCH=10"}),
              ElementsAre("the environment variable SBATCH_WAIT4SWITCH is not the name of an "
                          "option, and has no effect"))
      << "without a number";
}

TEST_F(EnvironmentOptionsTest, FlagsAreSetByAnyValueButNo) {
  read({"SBATCH_NO_REQUEUE=1"});
  EXPECT_TRUE(target.spec.has_requeue());
  read({"SBATCH_NO_REQUEUE=no"});
  EXPECT_FALSE(target.spec.has_requeue());
}

TEST_F(EnvironmentOptionsTest, UnknownOnesAreNamed) {
  EXPECT_THAT(read({"ASUB_BOGUS=1", "SBATCH_DEBUG=1", "ASUBX=1", "SBATCH_JOB_NAME=x"}),
              ElementsAre("the environment variable ASUB_BOGUS is not the name of an option, and "
                          "has no effect"));
  EXPECT_EQ(target.spec.name(), "x");
}

TEST_F(EnvironmentOptionsTest, TheDefaultOutputMayBeginWithAnotherWord) {
  EXPECT_EQ(options_from_variables(table, {"ASUB_OUTPUT_PREFIX=slurm"})->output_prefix, "slurm");
  EXPECT_THAT(read({"ASUB_OUTPUT_PREFIX=slurm"}), IsEmpty());
  EXPECT_EQ(target.spec.std_out(), "") << "it is not an option: a directive precedes it";
  EXPECT_EQ(default_output("slurm", false), "slurm-%j.out");
  EXPECT_EQ(default_output("slurm", true), "slurm-%A_%a.out");
  EXPECT_FALSE(options_from_variables(table, {"ASUB_OUTPUT_PREFIX=%j"}));
}

TEST_F(EnvironmentOptionsTest, ControlCharactersAreRefused) {
  const auto found = options_from_variables(table, {"ASUB_COMMENT=a\nb"});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "ASUB_COMMENT: the value holds a control character");
}

}  // namespace
}  // namespace ares::submission
