// Directives of real scripts (tests/data/directives): each is understood or refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "cli/options/directives.h"
#include "cli/output/text.h"
#include "submission/hint_options.h"
#include "submission/submission.h"

namespace ares::submission {
namespace {

// A line of tests/data/directives/sbatch.tsv: how often real scripts contain the directive, and the directive.
struct Row {
  std::size_t times = 0;
  std::string directive;
};

std::vector<Row> recorded_directives() {
  std::vector<Row> rows;
  std::ifstream file(ARES_SOURCE_DIR "/tests/data/directives/sbatch.tsv");
  for (std::string line; std::getline(file, line);) {
    const std::size_t tab = line.find('\t');
    rows.push_back({std::stoul(line.substr(0, tab)), line.substr(tab + 1)});
  }
  return rows;
}

TEST(Corpus, EveryRealDirectiveIsSupportedOrRefusedByName) {
  std::size_t directives = 0, understood = 0, comments = 0, warned = 0, unsupported = 0, wrong = 0;
  for (const auto& [times, directive] : recorded_directives()) {
    directives += times;
    Submission target;
    const cli::OptionTable table = options(target, Time(std::chrono::hours(500'000)));
    const auto given = cli::options_from_script(table, "#!/bin/sh\n" + directive + "\n", "job.sh");
    const Status applied = given ? cli::apply_options(*given) : fail(given.error());
    if (applied) {
      complete_tasks_per_core(target);
      (given->empty() ? comments : !target.warnings.empty() ? warned : understood) += times;
      const std::string_view rest =
          cli::trim(std::string_view(directive).substr(std::min(directive.size(), std::size_t{7})));
      EXPECT_TRUE(!given->empty() || rest.empty() || rest.starts_with('#') ||
                  !directive.starts_with("#SBATCH"))
          << "silently dropped: " << directive;
      continue;
    }
    const std::string& message = applied.error().message;
    (message.find("is not supported") != std::string::npos ? unsupported : wrong) += times;
    EXPECT_THAT(message, testing::StartsWith("job.sh:2: ")) << directive;
  }
  RecordProperty("understood", static_cast<int>(understood));
  std::printf(
      "%zu directives: %zu understood, %zu without effect, %zu comments, %zu not supported yet, "
      "%zu wrong\n",
      directives, understood, warned, comments, unsupported, wrong);
  EXPECT_GT(directives, 7000u);
  // Those that are wrong are mostly places that another program fills in, such as ${NODES}.
  EXPECT_GE(understood * 1000, (directives - comments) * 994);
  EXPECT_EQ(unsupported, 0u);
  EXPECT_LE(warned, 4u);
  EXPECT_LE(wrong, 31u);
}

}  // namespace
}  // namespace ares::submission
