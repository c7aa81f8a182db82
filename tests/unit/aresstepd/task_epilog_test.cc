#include "aresstepd/task_epilog.h"

#include "aresstepd/script_child.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ares::stepd {
namespace {

class TaskEpilog : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-epilog-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  node::SiteProgram program(const std::string& text, Seconds timeout = Seconds(60)) const {
    const std::string path = folder + "/epilog";
    std::ofstream(path) << "#!/bin/sh\n" << text;
    ::chmod(path.c_str(), 0755);
    return {path, timeout};
  }
  std::string written() const {
    std::stringstream text;
    text << std::ifstream(folder + "/written").rdbuf();
    return text.str();
  }
  // How a process ends that continues as a child, which ends by `script`, and then runs the epilog.
  template <class Script>
  int end_with(const node::SiteProgram& epilog, Script script) const {
    const pid_t task = ::fork();
    if (task == 0) {
      const std::vector<std::string> variables{"FOLDER=" + folder, "PATH=/usr/bin:/bin"};
      if (!continue_as_child([&] { (void)run_task_epilog(epilog, variables); })) ::_exit(99);
      script();
      ::_exit(98);
    }
    int status = 0;
    ::waitpid(task, &status, 0);
    return status;
  }

  std::string folder;
};

TEST_F(TaskEpilog, RunsAfterTheScriptWhoseEndIsKept) {
  const auto epilog = program("echo after $ARES_SCRIPT_CONTEXT >> $FOLDER/written\nexit 5\n");
  int status = end_with(epilog, [&] {
    std::ofstream(folder + "/written") << "script\n";
    ::_exit(7);
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  EXPECT_EQ(written(), "script\nafter epilog_task\n");
  status = end_with(epilog, [] { ::raise(SIGTERM); });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}

TEST_F(TaskEpilog, ItsFailureIsToldAndItHasATimeout) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  EXPECT_EQ(run_task_epilog(program("exit 3\n"), {}), "exited with 3");
  EXPECT_EQ(run_task_epilog(program("kill -9 $$\n"), {}), "was ended by signal 9");
  EXPECT_EQ(run_task_epilog(program("exec sleep 1000\n", Seconds(1)), {"PATH=/usr/bin:/bin"}),
            "did not end within 1 s");
  EXPECT_EQ(run_task_epilog({folder + "/none", Seconds(60)}, {}), "exited with 127");
  EXPECT_EQ(run_task_epilog(program("exit 0\n"), {}), "");
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace ares::stepd
