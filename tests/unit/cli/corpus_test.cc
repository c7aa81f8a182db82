// Directives of real scripts, from the recorded data beside the project: each is understood or refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "asub/submission.h"
#include "cli/options/directives.h"
#include "cli/output/text.h"

namespace ares::asub {
namespace {

struct Close {
  void operator()(FILE* pipe) const { pclose(pipe); }
};

std::string unpack(const std::string& path) {
  const std::unique_ptr<FILE, Close> pipe(popen(("gzip -dc '" + path + "'").c_str(), "r"));
  std::string text;
  char buffer[65536];
  for (std::size_t count = 0; pipe && (count = fread(buffer, 1, sizeof buffer, pipe.get())) > 0;)
    text.append(buffer, count);
  return text;
}

// The strings of the "directives" list of one line of the file.
std::vector<std::string> directives_of(const std::string& line) {
  std::vector<std::string> out;
  const std::string mark = "\"directives\": [";
  std::size_t at = line.find(mark);
  if (at == std::string::npos) return out;
  at += mark.size();
  while (at < line.size() && line[at] != ']') {
    if (line[at] != '"') {
      ++at;
      continue;
    }
    std::string text;
    for (++at; at < line.size() && line[at] != '"'; ++at) {
      if (line[at] == '\\') {
        ++at;
        text += line[at] == 't' ? '\t' : line[at] == 'u' ? '?' : line[at];
      } else {
        text += line[at];
      }
    }
    ++at;
    out.push_back(std::move(text));
  }
  return out;
}

TEST(Corpus, EveryRealDirectiveIsUnderstoodOrRefusedByName) {
  const char* data = std::getenv("ARES_DATA");
  const std::string folder = data ? data : std::string(ARES_SOURCE_DIR) + "/../shared/data";
  const std::string path = folder + "/sbatch/directives.jsonl.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "skipped: no ARES_DATA";

  std::size_t scripts = 0, directives = 0, understood = 0, comments = 0, unsupported = 0, wrong = 0;
  for (const std::string& line : cli::split(unpack(path), '\n')) {
    ++scripts;
    for (const std::string& directive : directives_of(line)) {
      ++directives;
      Submission target;
      const cli::OptionTable table = options(target, Time(std::chrono::hours(500'000)));
      const auto given =
          cli::options_from_script(table, "#!/bin/sh\n" + directive + "\n", "job.sh");
      const Status applied = given ? cli::apply_options(*given) : fail(given.error());
      if (applied) {
        (given->empty() ? comments : understood) += 1;
        const std::string_view rest = cli::trim(
            std::string_view(directive).substr(std::min(directive.size(), std::size_t{7})));
        EXPECT_TRUE(!given->empty() || rest.empty() || rest.starts_with('#') ||
                    !directive.starts_with("#SBATCH"))
            << "silently dropped: " << directive;
        continue;
      }
      const std::string& message = applied.error().message;
      (message.ends_with("is not supported yet") ? unsupported : wrong) += 1;
      EXPECT_THAT(message, testing::StartsWith("job.sh:2: ")) << directive;
    }
  }
  RecordProperty("understood", static_cast<int>(understood));
  std::printf(
      "%zu scripts, %zu directives: %zu understood, %zu comments, %zu not supported yet, %zu "
      "refused as wrong\n",
      scripts, directives, understood, comments, unsupported, wrong);
  EXPECT_GT(scripts, 800u);
  EXPECT_GT(understood * 100, directives * 75) << "three quarters of what real scripts ask for";
  EXPECT_LT(wrong * 100, directives * 5);
}

}  // namespace
}  // namespace ares::asub
