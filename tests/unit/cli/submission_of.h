// What asub makes of options and a script, for tests. Any thread.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/directives.h"
#include "submission/script.h"
#include "submission/submission.h"

namespace ares::submission {

inline const Time kNow =
    std::chrono::sys_days(std::chrono::year(2030) / 5 / 17) + std::chrono::hours(10);

inline Result<Submission> submission(const std::vector<std::string>& words,
                                     const std::string& script = "") {
  auto target = std::make_unique<Submission>();
  const cli::OptionTable table = options(*target, kNow);
  auto given = cli::options_from_script(table, script, "job.sh");
  if (!given) return fail(given.error());
  const auto line = cli::parse_options(table, words);
  if (!line) return fail(line.error());
  given->insert(given->end(), line->given.begin(), line->given.end());
  if (Status applied = cli::apply_options(*given); !applied) return fail(applied.error());
  if (Status completed = complete(*target, "/home/alice/job.sh", "/home/alice"); !completed)
    return fail(completed.error());
  return std::move(*target);
}

inline api::JobSpec spec(const std::vector<std::string>& words, const std::string& script = "") {
  const auto made = submission(words, script);
  EXPECT_TRUE(made) << made.error().message;
  return made ? made->spec : api::JobSpec();
}

inline std::string refusal(const std::vector<std::string>& words) {
  const auto made = submission(words);
  return made ? "accepted" : made.error().message;
}

}  // namespace ares::submission
