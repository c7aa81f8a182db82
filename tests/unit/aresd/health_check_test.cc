#include "aresd/health_check.h"

#include <gtest/gtest.h>

#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <vector>

#include "os/sweep.h"

namespace ares::aresd {
namespace {

class HealthCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-health-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(path); }

  HealthCheckSetup program(const std::string& text, Seconds timeout = Seconds(60)) {
    const std::string file = path + "/check";
    std::ofstream(file) << "#!/bin/sh\n" << text << "\n";
    ::chmod(file.c_str(), 0755);
    return {file, Seconds(1), timeout};
  }
  std::string result(const HealthCheckSetup& setup) {
    return HealthCheck::run_once(setup, cancel.get());
  }

  std::string path;
  os::Fd cancel{::eventfd(0, EFD_CLOEXEC)};
};

TEST_F(HealthCheckTest, SuccessIsHealthy) {
  EXPECT_EQ(result(program("echo all is well")), "");
}

TEST_F(HealthCheckTest, FailureTellsTheLastLine) {
  EXPECT_EQ(result(program("echo looking; echo 'GPU 3: ECC errors' >&2; echo; exit 4")),
            "health check exited with 4: GPU 3: ECC errors");
  EXPECT_EQ(result(program("kill -9 $$")), "health check was ended by signal 9");
  EXPECT_EQ(result({"/nowhere/check", Seconds(1), Seconds(1)}),
            "health check: cannot execute /nowhere/check: No such file or directory");
}

TEST_F(HealthCheckTest, MuchOutputIsReadAndControlsAreNotShown) {
  const std::string told =
      result(program("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; "
                     "printf 'red \\033[31m\\n'; exit 1"));
  EXPECT_EQ(told, "health check exited with 1: red ?[31m");
}

TEST_F(HealthCheckTest, ProgramThatHangsIsKilledWithWhatItStarted) {
  const std::string told =
      result(program("sleep 1000 & echo $! > " + path + "/pid; echo waiting; wait", Seconds(1)));
  EXPECT_EQ(told, "health check did not end within 1 s: waiting");
  pid_t left = 0;
  std::ifstream(path + "/pid") >> left;
  ASSERT_GT(left, 0);
  for (int i = 0; i < 500 && !os::process_gone(left, 0); ++i) ::usleep(10'000);
  EXPECT_TRUE(os::process_gone(left, 0) || ::kill(left, 0) != 0);
}

TEST_F(HealthCheckTest, IsRepeatedAndEndsAtOnce) {
  std::mutex mutex;
  std::condition_variable told;
  std::vector<std::string> results;
  {
    HealthCheck check(program("test ! -e " + path + "/bad || { echo bad; exit 1; }"),
                      [&](std::string unhealthy) {
                        const std::lock_guard lock(mutex);
                        results.push_back(std::move(unhealthy));
                        told.notify_all();
                      });
    std::unique_lock lock(mutex);
    ASSERT_TRUE(told.wait_for(lock, Seconds(60), [&] { return !results.empty(); }));
    EXPECT_EQ(results.back(), "");
    std::ofstream(path + "/bad") << "";
    ASSERT_TRUE(told.wait_for(lock, Seconds(60), [&] { return !results.back().empty(); }));
    EXPECT_EQ(results.back(), "health check exited with 1: bad");
  }
  HealthCheck hanging(program("sleep 1000"), [](const std::string&) {});
}

}  // namespace
}  // namespace ares::aresd
