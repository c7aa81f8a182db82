// Tests: reopened_file
#include "log/log.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace ares {
namespace {

class LogTest : public ::testing::Test {
 protected:
  LogTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "ares-log-XXXXXX";
    directory = mkdtemp(pattern.data());
  }
  ~LogTest() override { std::filesystem::remove_all(directory); }

  std::string file() const { return directory + "/log"; }
  static std::string content(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::string directory;
};

TEST_F(LogTest, GoesOnInTheNewFileOnceItIsTold) {
  ASSERT_TRUE(start_log({"test", file(), "info", "%v"}));
  spdlog::info("one");
  std::filesystem::rename(file(), file() + ".1");
  spdlog::info("two");
  ASSERT_TRUE(reopen_log());
  spdlog::info("three");
  EXPECT_EQ(content(file() + ".1"), "one\ntwo\n");
  EXPECT_EQ(content(file()), "three\n");
}

TEST_F(LogTest, KeepsTheOldFileWhereTheNewOneCannotBeMade) {
  std::filesystem::create_directory(directory + "/d");
  const std::string path = directory + "/d/log";
  ASSERT_TRUE(start_log({"test", path, "info", "%v"}));
  std::filesystem::rename(directory + "/d", directory + "/e");
  const Status reopened = reopen_log();
  ASSERT_FALSE(reopened);
  EXPECT_NE(reopened.error().message.find(path), std::string::npos);
  spdlog::info("still here");
  EXPECT_EQ(content(directory + "/e/log"), "still here\n");
}

TEST_F(LogTest, WritesWhatTheLevelAllowsAndAppends) {
  std::ofstream(file()) << "before\n";
  ASSERT_TRUE(start_log({"test", file(), "warning", "%l %v"}));
  spdlog::info("no");
  spdlog::warn("yes");
  EXPECT_EQ(content(file()), "before\nwarning yes\n");
}

TEST_F(LogTest, SaysWhyItCannotStart) {
  const Status started = start_log({"test", directory + "/no/such", "info", "%v"});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(started.error().message.find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace ares
