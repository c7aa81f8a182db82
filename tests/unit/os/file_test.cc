// Tests: fd
#include "os/file.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "os/clock.h"

namespace ares::os {
namespace {

class Files : public ::testing::Test {
 protected:
  Files() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-os-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~Files() override { std::filesystem::remove_all(path); }
  std::string path;
};

TEST_F(Files, RecordIsCreatedOnceAndCompletely) {
  const RecordDir dir = std::move(*RecordDir::open(path));
  ASSERT_TRUE(dir.create("go", "one", false));
  EXPECT_EQ(dir.create("go", "two", false).error().code, ErrorCode::already_exists);
  EXPECT_EQ(*dir.read("go"), "one");
  ASSERT_TRUE(dir.create("exit", std::string(100'000, 'x'), true));
  EXPECT_EQ(dir.read("exit")->size(), 100'000u);
  EXPECT_EQ(dir.read("none").error().code, ErrorCode::not_found);
  EXPECT_EQ(list_directory(path)->size(), 2u) << "nothing half-made stays";
}

TEST_F(Files, OnlyOneOfManyProcessesCreatesTheRecord) {
  constexpr int kProcesses = 8;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      Result<RecordDir> dir = RecordDir::open(path);
      ::_exit(dir && dir->create("started", std::to_string(i), false) ? 0 : 1);
    }
    children.push_back(pid);
  }
  int winners = 0;
  for (pid_t pid : children) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    winners += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  EXPECT_EQ(winners, 1);
}

TEST_F(Files, ReservedSpaceBecomesTheRecord) {
  const RecordDir dir = std::move(*RecordDir::open(path));
  ASSERT_TRUE(dir.reserve("exit"));
  EXPECT_FALSE(dir.has("exit"));
  ASSERT_TRUE(dir.create("exit", "short", true));
  EXPECT_EQ(*dir.read("exit"), "short");
  EXPECT_EQ(list_directory(path)->size(), 1u);
}

TEST_F(Files, LockIsVisibleToOthersAndEndsWithItsHolder) {
  const RecordDir other = std::move(*RecordDir::open(path));
  EXPECT_FALSE(other.locked("lock"));
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    Result<RecordDir> dir = RecordDir::open(path);
    const Result<bool> taken = dir->lock("lock");
    (void)!::write(ready[1], taken && *taken ? "y" : "n", 1);
    ::pause();
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_TRUE(other.locked("lock"));
  RecordDir second = std::move(*RecordDir::open(path));
  EXPECT_FALSE(*second.lock("lock"));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_FALSE(other.locked("lock"));
  EXPECT_TRUE(*second.lock("lock"));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(Files, RemovesATreeWithoutFollowingLinks) {
  std::filesystem::create_directories(path + "/tree/a/b");
  std::ofstream(path + "/tree/a/b/file") << "x";
  std::ofstream(path + "/outside") << "keep";
  std::filesystem::create_symlink(path, path + "/tree/a/link");
  EXPECT_TRUE(remove_tree(path + "/tree"));
  EXPECT_FALSE(std::filesystem::exists(path + "/tree"));
  EXPECT_EQ(*read_file(path + "/outside"), "keep");
  EXPECT_TRUE(remove_tree(path + "/tree"));
}

TEST_F(Files, ReplacesAFileAtomically) {
  ASSERT_TRUE(replace_file(path + "/identity", "one"));
  ASSERT_TRUE(replace_file(path + "/identity", "2"));
  EXPECT_EQ(*read_file(path + "/identity"), "2");
  EXPECT_FALSE(replace_file(path + "/none/identity", "x"));
}

TEST(Clock, StartTicksIdentifyAProcess) {
  EXPECT_GT(process_start_ticks(::getpid()), 0u);
  EXPECT_EQ(process_start_ticks(::getpid()), process_start_ticks(::getpid()));
  EXPECT_EQ(process_start_ticks(0x7ffffff0), 0u);
  EXPECT_EQ(boot_id()->size(), 36u);
  EXPECT_NE(*fresh_uuid(), *fresh_uuid());
}

}  // namespace
}  // namespace ares::os
