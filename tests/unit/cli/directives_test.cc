#include "cli/options/directives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::cli {
namespace {

std::vector<std::string> words_of(const std::string& script) {
  const auto lines = find_directives(script, "job.sh");
  EXPECT_TRUE(lines) << lines.error().message;
  std::vector<std::string> all;
  for (const DirectiveLine& line : lines.value_or(std::vector<DirectiveLine>{}))
    all.insert(all.end(), line.words.begin(), line.words.end());
  return all;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Directives, BothPrefixesAreRead) {
  EXPECT_THAT(words_of("#!/bin/sh\n#ARES -N 2\n#SBATCH\t--time=1\n"),
              ElementsAre("-N", "2", "--time=1"));
}

TEST(Directives, EndAtTheFirstCommand) {
  EXPECT_THAT(words_of("#!/bin/sh\n\n# comment\n   \t\n#ARES -J early\necho hi\n#ARES -J late\n"),
              ElementsAre("-J", "early"));
}

TEST(Directives, CommentedDirectivesAreIgnored) {
  EXPECT_THAT(words_of("#!/bin/sh\n##ARES -J x\n# ARES -J y\n#ARESX -J z\n ##SBATCH -J w\n"),
              IsEmpty());
}

TEST(Directives, SeveralOptionsAndACommentMayShareALine) {
  EXPECT_THAT(words_of("#SBATCH -N 1 -c 4   # four of them\n#SBATCH --mem=4G #x\n#SBATCH -J a#b\n"),
              ElementsAre("-N", "1", "-c", "4", "--mem=4G", "-J", "a"));
  EXPECT_THAT(words_of("#SBATCH --time=10#minutes\n#SBATCH -J 'a#b' -o a\\#b\n"),
              ElementsAre("--time=10", "-J", "a#b", "-o", "a#b"));
}

TEST(Directives, QuotesGroupWordsWithoutExpansion) {
  EXPECT_THAT(words_of("#ARES --comment=\"two words\" -J 'it''s' -C \"[a|b]\" -o $HOME/x\n"),
              ElementsAre("--comment=two words", "-J", "its", "-C", "[a|b]", "-o", "$HOME/x"));
  EXPECT_THAT(words_of("#ARES -J a\\ b -e \"q\\\"q\"\n"), ElementsAre("-J", "a b", "-e", "q\"q"));
}

TEST(Directives, OpenQuoteIsRefusedWithItsLine) {
  const auto lines = find_directives("#!/bin/sh\n#ARES --comment=\"two\n", "job.sh");
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.error().message, "job.sh:2: a quote is not closed");
}

TEST(Directives, WordThatIsNotAnOptionIsRefused) {
  const OptionTable table;
  const auto given = options_from_script(table, "#!/bin/sh\n#ARES hello\n", "job.sh");
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().message, "job.sh:2: \"hello\" is not an option; comments begin with #");
}

TEST(Directives, LastLineNeedsNoNewline) {
  EXPECT_THAT(words_of("#!/bin/sh\n#ARES -H"), ElementsAre("-H"));
}

}  // namespace
}  // namespace ares::cli
