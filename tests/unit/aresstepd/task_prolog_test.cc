#include "aresstepd/task_prolog.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ares::stepd {
namespace {

using Words = std::vector<std::string>;

TEST(TaskProlog, LinesChangeTheEnvironment) {
  Words variables{"A=1", "AB=2", "C=3"};
  std::string printed;
  for (const char* line : {"export A=x y=z", "  unset C\r", "print  hello ", "export =1",
                           "export B", "unset", "nonsense here", "", "export D="})
    obey_line(line, variables, printed);
  EXPECT_EQ(variables, (Words{"AB=2", "A=x y=z", "D="}));
  EXPECT_EQ(printed, " hello\n");
}

TEST(TaskProlog, ProgramSeesTheEnvironmentAndItsFailureIsTold) {
  std::string pattern = (std::filesystem::temp_directory_path() / "ares-prolog-XXXXXX").string();
  const std::string folder = ::mkdtemp(pattern.data());
  const std::string program = folder + "/prolog";
  std::ofstream(program)
      << "#!/bin/sh\n[ \"$CODE\" = 0 ] || exit $CODE\necho \"export SEEN=$GIVEN\"\n";
  ::chmod(program.c_str(), 0755);
  Words variables{"PATH=/usr/bin:/bin", "GIVEN=word", "CODE=0"};
  ASSERT_TRUE(run_task_prolog(program, variables));
  EXPECT_EQ(variables.back(), "SEEN=word");
  variables = {"CODE=5"};
  EXPECT_EQ(run_task_prolog(program, variables).error().message, "the task prolog exited with 5");
  EXPECT_EQ(run_task_prolog(folder + "/none", variables).error().message,
            "the task prolog exited with 127");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ares::stepd
