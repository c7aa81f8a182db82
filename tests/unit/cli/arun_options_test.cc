// Tests: arun/refused_options, arun/complete
// The options of arun: which are refused, and with what reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "arun/options.h"
#include "cli/options/options.h"
#include "submission/submission.h"

namespace ares::arun {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string refusal(const std::string& word) {
  Wanted wanted;
  const cli::OptionTable table = options(wanted, Time());
  const std::vector<std::string> words{word, "true"};
  const auto parsed = cli::parse_options(table, words);
  return parsed ? "accepted" : parsed.error().message;
}

TEST(ArunOptions, ThoseOfSrunAreRefusedByNameWithAReason) {
  for (const char* option :
       {"external-launcher", "wait-for-children", "async", "slurmd-debug=3", "treewidth=5",
        "ignore-signals=USR1", "msg-timeout=9", "no-allocate", "threads=8", "het-group=1", "x11",
        "send-libs=yes", "bcast-exclude=/lib", "preserve-env", "gpus-per-socket=1",
        "cores-per-socket=8", "clusters=other"}) {
    const std::string name = std::string(option).substr(0, std::string_view(option).find('='));
    EXPECT_THAT(refusal("--" + std::string(option)),
                StartsWith("--" + name + " is not supported: "))
        << option;
  }
  EXPECT_THAT(refusal("-Z"), HasSubstr("a step runs in a job"));
  EXPECT_EQ(refusal("-X"), "accepted") << "the same as --quit-on-interrupt";
}

TEST(ArunOptions, StepsGetWholeCpus) {
  for (const char* word : {"-c0.5", "-c500m"}) {
    Wanted wanted;
    const cli::OptionTable table = options(wanted, Time());
    const std::vector<std::string> words{word, "true"};
    const auto parsed = cli::parse_options(table, words);
    ASSERT_TRUE(parsed);
    const Status applied = cli::apply_options(parsed->given);
    ASSERT_FALSE(applied) << word;
    EXPECT_THAT(applied.error().message, HasSubstr("--cpus-per-task"));
    EXPECT_THAT(applied.error().message, HasSubstr("the tasks of a step get whole CPUs"));
  }
}

TEST(ArunOptions, NoOptionIsRefusedWithoutAReason) {
  Wanted wanted;
  for (const cli::Unsupported& row : options(wanted, Time()).unsupported)
    EXPECT_FALSE(row.why.empty()) << "arun --" << row.name;
  submission::Submission submission;
  for (const cli::Unsupported& row : submission::options(submission, Time()).unsupported)
    EXPECT_FALSE(row.why.empty()) << "asub --" << row.name;
}

TEST(ArunOptions, TasksAreThoseOfTheJobUnlessTheOptionsSayOtherwise) {
  const std::vector<std::string> job = {"ARES_NTASKS=8", "ARES_NNODES=2", "ARES_CPUS_PER_TASK=3"};
  Wanted plain;
  plain.request.task.cpus_per_task = 0;
  ASSERT_TRUE(complete(plain, job, {"true"}));
  EXPECT_EQ(plain.request.tasks, 8u);
  EXPECT_EQ(plain.request.nodes, 2u);
  EXPECT_EQ(plain.request.task.cpus_per_task, 3u);
  Wanted own;
  own.tasks = 4;
  ASSERT_TRUE(complete(own, job, {"true"}));
  EXPECT_EQ(own.request.tasks, 4u);
  EXPECT_EQ(own.request.nodes, 0u);
  EXPECT_FALSE(complete(own, job, {}));
}

}  // namespace
}  // namespace ares::arun
