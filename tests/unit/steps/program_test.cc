#include "steps/program.h"

#include <gtest/gtest.h>

namespace ares::steps {
namespace {

IntervalSet ranks(std::string_view text) {
  return *parse_interval_set(text);
}

std::string line(const TaskSettings& settings, std::uint32_t rank) {
  const auto words = arguments_of(settings, rank);
  if (!words) return words.error().message;
  std::string text;
  for (const std::string& word : *words) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(Program, WithoutProgramsAllTasksRunTheSame) {
  TaskSettings settings;
  settings.arguments = {"a", "%t"};
  EXPECT_EQ(line(settings, 3), "a %t");
}

TEST(Program, RankChoosesTheProgramAndIsPutIntoItsArguments) {
  TaskSettings settings;
  settings.programs = {{ranks("0"), {"master%t", "%t"}},
                       {ranks("2-4,8"), {"worker", "--rank=%t/%o", "100%"}},
                       {{}, {"rest", "%o", "%t"}}};
  EXPECT_EQ(line(settings, 0), "master%t 0") << "the name of a program is as written";
  EXPECT_EQ(line(settings, 2), "worker --rank=2/0 100%");
  EXPECT_EQ(line(settings, 8), "worker --rank=8/3 100%");
  EXPECT_EQ(line(settings, 1), "rest 0 1");
  EXPECT_EQ(line(settings, 5), "rest 1 5");
  EXPECT_EQ(line(settings, 9), "rest 4 9");
}

TEST(Program, TaskWithoutOneIsNamed) {
  TaskSettings settings;
  settings.programs = {{ranks("0-1"), {"a"}}};
  EXPECT_NE(line(settings, 2).find("task 2"), std::string::npos);
}

TEST(Program, SurvivesTheWire) {
  StepRequest request;
  request.task.arguments = {"file"};
  request.task.directory = "/";
  request.task.programs = {{ranks("0,2"), {"a", "", "b\nc"}}, {{}, {"d"}}};
  const auto read = decode_request(encode(request));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, request);
  for (const char* wrong :
       {"program_words 3\n", "program_ranks 0\nprogram_words 0\n",
        "program_ranks x\nprogram_words 1\nprogram_word a\n", "program_word stray\n"})
    EXPECT_FALSE(decode_request("argument a\ndirectory /\n" + std::string(wrong))) << wrong;
}

}  // namespace
}  // namespace ares::steps
