// The reboot program gets no shell, no arguments and no environment of aresd.
#include "aresd/reboot.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>

namespace ares::aresd {
namespace {

class RebootProgram : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string program(const std::string& body) {
    const std::string path = directory_ + "/reboot; touch " + "wrong";
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    ::chmod(path.c_str(), 0755);
    return path;
  }

  const std::string directory_ = ::testing::TempDir() + "ares-reboot-" + std::to_string(::getpid());
};

TEST_F(RebootProgram, RunsWithTheNodesNameAndNothingElse) {
  ::setenv("ARES_SECRET", "x", 1);
  const std::string out = directory_ + "/out";
  const std::string path = program("echo \"$# $ARES_NODE_NAME [$ARES_SECRET] $(pwd)\" > " + out +
                                   ".new && mv " + out + ".new " + out);
  ASSERT_TRUE(start_reboot(path, "n1", [](const std::string&) {}));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!std::filesystem::exists(out) && std::chrono::steady_clock::now() < deadline)
    ::usleep(5000);
  std::stringstream text;
  text << std::ifstream(out).rdbuf();
  EXPECT_EQ(text.str(), "0 n1 [] /\n");
}

TEST_F(RebootProgram, AFailureIsTold) {
  std::promise<std::string> why;
  ASSERT_TRUE(start_reboot(program("exit 3"), "n1",
                           [&why](const std::string& text) { why.set_value(text); }));
  auto told = why.get_future();
  ASSERT_EQ(told.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_TRUE(told.get().ends_with(" exited with 3"));
}

TEST_F(RebootProgram, AMissingProgramIsAnError) {
  const Status started = start_reboot(directory_ + "/none", "n1", [](const std::string&) {});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace ares::aresd
