// Tests: os/process/spawn_program
#include "submit/process/hook_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ares::submit {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Kind = HookAnswer::Kind;

class HookProcessTest : public testing::Test {
 protected:
  HookProcessTest()
      : folder_(fs::temp_directory_path() / ("ares-hook-" + std::to_string(getpid()))) {
    fs::create_directory(folder_);
    fs::permissions(folder_, fs::perms::owner_all);
  }
  ~HookProcessTest() override { fs::remove_all(folder_); }

  HookCall call(const std::string& body, std::uint32_t time_limit_ms = 20'000) const {
    const std::string file = folder_ / "rules.lua";
    std::ofstream(file) << "function job_submit(job_desc)\n" << body << "\nend\n";
    ::chmod(file.c_str(), 0644);
    HookCall c;
    c.file = file;
    c.time_limit_ms = time_limit_ms;
    c.memory_limit = std::uint64_t{64} << 20;
    c.job = {{"name", std::string("x")}};
    return c;
  }
  static Result<HookProcess> start() {
    return HookProcess::start(ARES_BIN_DIR "/ares-submit-hook");
  }

  fs::path folder_;
};

TEST_F(HookProcessTest, OneProcessAnswersManyCalls) {
  auto process = start();
  ASSERT_TRUE(process) << process.error().message;
  for (int i = 0; i < 20; ++i) {
    const auto answer =
        process->answer(call("job_desc.name = '" + std::to_string(i) + "'; return 0"));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->changes.at("name"), FieldValue(std::to_string(i)));
  }
  HookCall large = call("return #job_desc.environment.X == 1000000 and 0 or 1");
  large.environment["X"] = std::string(1'000'000, 'x');
  const auto answer = process->answer(large);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->kind, Kind::accepted) << answer->problem;
}

TEST_F(HookProcessTest, WhatTheScriptWritesIsNoAnswer) {
  auto process = start();
  ASSERT_TRUE(process);
  const auto answer = process->answer(
      call("io.write('{}\\n'); io.stdout:flush(); os.execute('echo {}'); print('kept'); return 0"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->kind, Kind::accepted);
  EXPECT_EQ(answer->log.front().text, "kept");
}

TEST_F(HookProcessTest, ScriptThatCannotBeInterruptedIsKilled) {
  auto process = start();
  ASSERT_TRUE(process);
  // One function of Lua's library, which looks at no clock.
  const auto answer = process->answer(call(
      "return string.find(string.rep('a', 40), string.rep('a?', 40) .. string.rep('a', 40))", 50));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::resource_exhausted);
  EXPECT_THAT(answer.error().message, HasSubstr("longer than 50 ms"));
}

TEST_F(HookProcessTest, ScriptThatEndsTheProcessIsAnError) {
  auto process = start();
  ASSERT_TRUE(process);
  const auto answer = process->answer(call("os.exit(0)"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
}

TEST_F(HookProcessTest, FilesThatOthersCanChangeAreRefused) {
  auto process = start();
  ASSERT_TRUE(process);
  HookCall c = call("return 0");
  ::chmod(c.file.c_str(), 0666);
  EXPECT_THAT(process->answer(c)->problem, HasSubstr("can change it"));
  ::chmod(c.file.c_str(), 0644);
  fs::permissions(folder_, fs::perms::all);
  EXPECT_THAT(process->answer(c)->problem, HasSubstr("can change it"));
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_EQ(process->answer(c)->kind, Kind::accepted);
  c.file = folder_ / "missing.lua";
  EXPECT_THAT(process->answer(c)->problem, HasSubstr("missing.lua"));
}

TEST_F(HookProcessTest, MissingProgramIsNamed) {
  const auto process = HookProcess::start(folder_ / "none");
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::not_found);
  EXPECT_THAT(process.error().message, HasSubstr("none"));
}

}  // namespace
}  // namespace ares::submit
