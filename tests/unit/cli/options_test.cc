#include "cli/options/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "cli/options/manual.h"

namespace ares::cli {
namespace {

struct Target {
  std::string name;
  std::string memory;
  std::string nice = "unset";
  bool hold = false;
};

OptionTable table_for(Target& target) {
  OptionTable table;
  table.environment_prefix = "ASUB_";
  table.options = {
      {'J', "job-name", "NAME", "The name.", set_text(target.name), {"name"}},
      {0, "mem", "SIZE", "Memory.", set_text(target.memory), {}, {"mem-per-cpu"}},
      {0, "mem-per-cpu", "SIZE", "Memory for a CPU.",
       [&target](const std::string& value) -> Status {
         target.memory = value + "/cpu";
         return {};
       }},
      {0, "nice", "[N]", "Nice.", set_text(target.nice)},
      {'H', "hold", "", "Hold.", set_flag(target.hold)},
  };
  table.unsupported = {{'k', "no-kill", false}, {0, "tres-bind"}};
  return table;
}

Status parse_and_apply(Target& target, const std::vector<std::string>& words,
                       std::vector<std::string>* operands = nullptr) {
  const OptionTable table = table_for(target);
  const auto parsed = parse_options(table, words);
  if (!parsed) return fail(parsed.error());
  if (operands) *operands = parsed->operands;
  return apply_options(parsed->given);
}

std::string refusal(const std::vector<std::string>& words) {
  Target target;
  const Status status = parse_and_apply(target, words);
  return status ? "accepted" : status.error().message;
}

TEST(Options, EverySpellingOfAnArgumentIsAccepted) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--job-name=a b"},
                                             {"--job-name", "a b"},
                                             {"-J", "a b"},
                                             {"-Ja b"},
                                             {"-HJ", "a b"},
                                             {"--name=a b"},
                                             {"-J=a b"}}) {
    Target target;
    ASSERT_TRUE(parse_and_apply(target, words)) << words[0];
    EXPECT_EQ(target.name, "a b") << words[0];
  }
}

TEST(Options, OptionalArgumentMustBeAttached) {
  Target target;
  std::vector<std::string> operands;
  ASSERT_TRUE(parse_and_apply(target, {"--nice", "5", "--hold"}, &operands));
  EXPECT_EQ(target.nice, "");
  EXPECT_TRUE(target.hold);
  EXPECT_THAT(operands, testing::ElementsAre("5"));
  ASSERT_TRUE(parse_and_apply(target, {"--nice=7"}));
  EXPECT_EQ(target.nice, "7");
}

TEST(Options, DoubleDashEndsOptions) {
  Target target;
  std::vector<std::string> operands;
  ASSERT_TRUE(parse_and_apply(target, {"-H", "--", "-J", "x"}, &operands));
  EXPECT_THAT(operands, testing::ElementsAre("-J", "x"));
}

TEST(Options, OptionsAfterTheScriptBelongToTheScript) {
  Target target;
  OptionTable table = table_for(target);
  table.stop_at_operand = true;
  const std::vector<std::string> words = {"-H", "job.sh", "--mem", "-Z"};
  const auto parsed = parse_options(table, words);
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->operands, testing::ElementsAre("job.sh", "--mem", "-Z"));
}

TEST(Options, LongNamesMayBeShortened) {
  Target target;
  ASSERT_TRUE(parse_and_apply(target, {"--job=x", "--mem-per", "5", "--ho"}));
  EXPECT_EQ(target.name, "x");
  EXPECT_EQ(target.memory, "5/cpu");
  EXPECT_TRUE(target.hold);
  ASSERT_TRUE(parse_and_apply(target, {"--mem=1"})) << "a whole name is not ambiguous";
  EXPECT_EQ(target.memory, "1");
  EXPECT_EQ(refusal({"--me=1"}), "option --me is ambiguous: it may be --mem, --mem-per-cpu");
  EXPECT_EQ(refusal({"--tres"}), "--tres-bind is not supported yet");
  EXPECT_EQ(refusal({"--n=1"}), "option --n is ambiguous: it may be --job-name, --nice, --no-kill");
}

TEST(Options, ErrorsNameTheOption) {
  EXPECT_EQ(refusal({"--tres-bind=x"}), "--tres-bind is not supported yet");
  EXPECT_EQ(refusal({"-k"}), "-k (--no-kill) is not supported yet");
  EXPECT_EQ(refusal({"--jbo-name=x"}), "unknown option --jbo-name; did you mean \"--job-name\"?");
  EXPECT_EQ(refusal({"-z"}), "unknown option -z; --help lists the options");
  EXPECT_EQ(refusal({"--hold=yes"}), "--hold takes no value");
  EXPECT_EQ(refusal({"--job-name"}), "--job-name needs a value (NAME)");
  EXPECT_EQ(refusal({"--job-name=a\nb"}), "--job-name: the value holds a control character");
  EXPECT_EQ(refusal({"--job-name=caf\xe9"}), "--job-name: the value \"caf?\" is not valid UTF-8");
  EXPECT_EQ(refusal({"--mem=1", "--mem-per-cpu=1"}),
            "--mem and --mem-per-cpu are mutually exclusive; give one of them");
}

class Precedence : public testing::Test {
 protected:
  Status apply(const std::vector<std::string>& script,
               const std::map<std::string, std::string>& environment,
               const std::vector<std::string>& line) {
    const OptionTable table = table_for(target_);
    auto all = parse_options(table, script, Source::directive, "job.sh:2: ");
    const auto variables = options_from_environment(table, [&](const char* name) -> const char* {
      const auto found = environment.find(name);
      return found == environment.end() ? nullptr : found->second.c_str();
    });
    const auto own = parse_options(table, line);
    if (!all || !variables || !own)
      return fail(ErrorCode::internal, "a case of this test does not parse");
    // In the opposite order of precedence.
    std::vector<GivenOption> given = own->given;
    given.insert(given.end(), variables->begin(), variables->end());
    given.insert(given.end(), all->given.begin(), all->given.end());
    return apply_options(given);
  }
  Target target_;
};

TEST_F(Precedence, CommandLinePrecedesEnvironmentAndScript) {
  ASSERT_TRUE(apply({"-Ja"}, {{"ASUB_JOB_NAME", "b"}}, {"-Jc"}));
  EXPECT_EQ(target_.name, "c");
  ASSERT_TRUE(apply({"-Ja"}, {{"ASUB_JOB_NAME", "b"}}, {}));
  EXPECT_EQ(target_.name, "b");
  ASSERT_TRUE(apply({"-Ja"}, {}, {}));
  EXPECT_EQ(target_.name, "a");
}

TEST_F(Precedence, ConflictIsResolvedByPrecedence) {
  ASSERT_TRUE(apply({"--mem=4G"}, {}, {"--mem-per-cpu=1G"}));
  EXPECT_EQ(target_.memory, "1G/cpu");
  ASSERT_TRUE(apply({"--mem-per-cpu=4G"}, {{"ASUB_MEM", "2G"}}, {}));
  EXPECT_EQ(target_.memory, "2G");
}

TEST_F(Precedence, EnvironmentMayDisableFlags) {
  ASSERT_TRUE(apply({}, {{"ASUB_HOLD", "0"}}, {}));
  EXPECT_FALSE(target_.hold);
  ASSERT_TRUE(apply({}, {{"ASUB_HOLD", "1"}}, {}));
  EXPECT_TRUE(target_.hold);
}

TEST(Manual, HelpManualAndCompletionNameEveryOption) {
  Target target;
  const OptionTable table = table_for(target);
  const Manual manual{.name = "asub",
                      .summary = "submit",
                      .synopsis = {"SCRIPT"},
                      .description = {".starts with a dot"},
                      .examples = {{"echo \"a b\"", "Says \"a b\"."}}};
  const std::string help = help_text(manual, table);
  const std::string man = man_page(manual, table);
  const std::string words = completion_words(table);
  for (const Option& option : table.options) {
    EXPECT_THAT(help, testing::HasSubstr("--" + option.name));
    EXPECT_THAT(man, testing::HasSubstr(man_escape("--" + option.name)));
    EXPECT_THAT(words, testing::HasSubstr("--" + option.name));
  }
  EXPECT_THAT(man, testing::HasSubstr("ASUB_JOB_NAME"));
  EXPECT_THAT(man, testing::HasSubstr("\n.B echo \\(dqa b\\(dq\nSays \"a b\"."));
  EXPECT_THAT(man, testing::HasSubstr("\n\\&.starts"));
  EXPECT_THAT(man, testing::HasSubstr("\\-\\-tres\\-bind")) << "what is refused is said";
}

}  // namespace
}  // namespace ares::cli
