// Tests: aattach/options
#include "aattach/options.h"

#include <gtest/gtest.h>

namespace ares::aattach {
namespace {

TEST(Aattach, StepIsNamedByJobAndNumber) {
  const auto plain = parse_target("4711.0");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->job, "4711");
  EXPECT_EQ(plain->step, 0u);
  const auto task = parse_target("12_3.7");
  ASSERT_TRUE(task);
  EXPECT_EQ(task->job, "12_3");
  EXPECT_EQ(task->step, 7u);
  for (const char* wrong : {"", "4711", "4711.", ".0", "4711.batch", "4711.-1"})
    EXPECT_FALSE(parse_target(wrong)) << wrong;
}

TEST(Aattach, FiltersSayWhatIsShownAndPassedOn) {
  Asked asked;
  EXPECT_FALSE(streams_of(asked)->sends_input);
  const cli::OptionTable table = options(asked);
  const std::vector<std::string> words = {"--input-filter=2", "--output-filter=1",
                                          "--error-filter=none"};
  const auto line = cli::parse_options(table, words);
  ASSERT_TRUE(line && cli::apply_options(line->given));
  const auto streams = streams_of(asked);
  EXPECT_TRUE(streams->sends_input && streams->no_errors && !streams->no_output);
  EXPECT_EQ(asked.input_rank, 2u);
  EXPECT_EQ(streams->output_rank, 1u);
  Asked terminal;
  const cli::OptionTable of_terminal = options(terminal);
  const std::vector<std::string> pty = {"--pty"}, both = {"--pty", "--input-filter=0"};
  ASSERT_TRUE(cli::apply_options(cli::parse_options(of_terminal, pty)->given));
  EXPECT_TRUE(streams_of(terminal)->sends_input);
  EXPECT_FALSE(cli::apply_options(cli::parse_options(of_terminal, both)->given));
  const std::vector<std::string> wrong = {"--output-filter=x"};
  EXPECT_FALSE(cli::apply_options(cli::parse_options(table, wrong)->given));
}

}  // namespace
}  // namespace ares::aattach
