// The command line that accounting keeps of a submission.
#include "submission/submit_line.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>

#include "base/printable.h"

namespace ares::submission {
namespace {

TEST(SubmitLine, WordsAreQuotedWhereAShellNeedsIt) {
  EXPECT_EQ(submit_line("asub", {}), "asub");
  EXPECT_EQ(submit_line("asub", {"-n4", "--gres=gpu:a100:2", "job.sh"}),
            "asub -n4 --gres=gpu:a100:2 job.sh");
  EXPECT_EQ(submit_line("asub", {"--wrap", "echo $HOME", ""}), "asub --wrap 'echo $HOME' ''");
  EXPECT_EQ(submit_line("asub", {"it's"}), R"(asub 'it'\''s')");
  EXPECT_EQ(submit_line("asub", {"-J", "föö"}), "asub -J föö");
}

TEST(SubmitLine, ControlCharactersAreEscaped) {
  EXPECT_EQ(submit_line("asub", {"--wrap=a\nb\tc'd\\"}), R"(asub $'--wrap=a\nb\tc\'d\\')");
  EXPECT_EQ(submit_line("asub", {"\x1b[1mü\x7f"}), R"(asub $'\x1b[1mü\x7f')");
  EXPECT_EQ(submit_line("asub", {"caf\xe9"}), R"(asub $'caf\xe9')");
  EXPECT_EQ(submit_line("asub", {"\u202egnp"}), R"(asub $'\xe2\x80\xaegnp')");
}

// Words that bash reads in the line, each between brackets.
std::string read_by_bash(const std::string& line) {
  const std::string script = "asub() { printf '[%s]' \"$@\"; }; " + line;
  ::setenv("ARES_TEST_LINE", script.c_str(), 1);
  FILE* shell = ::popen(R"(LC_ALL=C.UTF-8 bash -c "$ARES_TEST_LINE")", "r");
  if (!shell) return "no shell";
  std::string out;
  for (int c = std::fgetc(shell); c != EOF; c = std::fgetc(shell)) out += static_cast<char>(c);
  ::pclose(shell);
  return out;
}

TEST(SubmitLine, BashReadsTheSameWords) {
  const std::vector<std::string> words = {"",
                                          "a b",
                                          "$x",
                                          "`x`",
                                          "a\"b",
                                          "it's",
                                          "#",
                                          "~",
                                          "{a,b}",
                                          "*",
                                          "a;b&c|",
                                          "\\",
                                          "!x",
                                          "a\nb",
                                          "\x01"
                                          "1f",
                                          "caf\xe9",
                                          "\u202ex'\\",
                                          "<>()[]?",
                                          "a=b c=d"};
  std::string expected;
  for (const std::string& word : words) expected += "[" + word + "]";
  EXPECT_EQ(read_by_bash(submit_line("asub", words)), expected);
}

TEST(SubmitLine, IsCutAndStaysPrintable) {
  std::vector<std::string> words(1000, "größer\n");
  const std::string line = submit_line("asub", words);
  EXPECT_LE(line.size(), kLongestSubmitLine);
  EXPECT_GT(line.size(), kLongestSubmitLine - 10);
  EXPECT_TRUE(line.ends_with("..."));
  EXPECT_TRUE(is_utf8(line));
  EXPECT_FALSE(has_control(line));
  words.assign(1, std::string(1 << 20, 'x'));
  EXPECT_EQ(submit_line("asub", words).size(), kLongestSubmitLine);
}

}  // namespace
}  // namespace ares::submission
