#include "asim/options.h"

#include <gtest/gtest.h>

namespace ares::sim {
namespace {

std::string refusal(const std::string& word) {
  CommandLine command_line;
  const cli::OptionTable table = table_of(command_line);
  const auto parsed = cli::parse_options(table, std::vector{word});
  if (!parsed) return parsed.error().message;
  const Status applied = cli::apply_options(parsed->given);
  return applied ? "accepted" : applied.error().message;
}

TEST(AsimOptions, RefusedValuesAreReportedWithTheOptionOnce) {
  EXPECT_EQ(
      refusal("--interval=0"),
      "--interval: \"0\" is no length of time above zero; write seconds, HH:MM:SS or DAYS-HH");
  EXPECT_EQ(refusal("--load=x"), "--load: \"x\" is not a factor from 0.01 to 100");
  EXPECT_EQ(refusal("--estimates=x"), "--estimates: \"x\" is neither exact nor logged");
  EXPECT_EQ(refusal("--jobs=0"), "--jobs: \"0\" is not a whole number from 1 up");
  EXPECT_EQ(refusal("--interval=00:01:00"), "accepted");
}

}  // namespace
}  // namespace ares::sim
