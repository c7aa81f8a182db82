#include "aresd/confirm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "exec/baremetal/file_spool.h"
#include "os/clock.h"

namespace ares::aresd {
namespace {

using testing::HasSubstr;

// An attempt 7.1 whose supervisor is dead, past `go`; its reaper is a process that the test ends.
class Confirm : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-confirm-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
    spool = std::move(*exec::FileSpool::open(path));
    dir = std::move(*spool->create({{JobId(7), TaskIndex{}}, AttemptNo(1)}));
    reaper = ::fork();
    if (reaper == 0)
      for (;;) ::pause();
    ASSERT_GT(reaper, 0);
    ASSERT_TRUE(dir->create(node::Record::go, encode(node::GoRecord{Fence(70), {}})));
  }
  void TearDown() override {
    end_reaper();
    std::filesystem::remove_all(path);
  }
  void end_reaper() {
    if (reaper <= 0) return;
    ::kill(reaper, SIGKILL);
    ::waitpid(reaper, nullptr, 0);
    reaper = 0;
  }
  void record_started(std::uint64_t reaper_start_ticks) {
    node::StartedRecord started;
    started.reaper_pid = reaper;
    started.reaper_start_ticks = reaper_start_ticks;
    ASSERT_TRUE(dir->create(node::Record::started, encode(started)));
  }
  bool confirmed() const { return dir->has(node::Record::gone); }

  std::string path;
  std::unique_ptr<exec::FileSpool> spool;
  std::unique_ptr<node::AttemptDir> dir;
  pid_t reaper = 0;
};

TEST_F(Confirm, IsRefusedWhileTheReaperLives) {
  record_started(os::process_start_ticks(reaper));
  const Status early = confirm_ended(path, "7.1");
  ASSERT_FALSE(early);
  EXPECT_THAT(early.error().message, HasSubstr("the reaper of attempt 7.1 (process " +
                                               std::to_string(reaper) + ") lives"));
  EXPECT_FALSE(confirmed());
  end_reaper();
  const Status later = confirm_ended(path, "7.1");
  EXPECT_TRUE(later) << later.error().message;
  EXPECT_TRUE(confirmed());
}

TEST_F(Confirm, AnotherProcessWithThePidOfTheReaperDoesNotCount) {
  record_started(os::process_start_ticks(reaper) - 1);
  const Status status = confirm_ended(path, "7.1");
  EXPECT_TRUE(status) << status.error().message;
  EXPECT_TRUE(confirmed());
}

TEST_F(Confirm, IsRefusedWhileTheSupervisorLives) {
  end_reaper();
  record_started(0);
  ASSERT_TRUE(*dir->lock());
  // A lock of the same process does not count, so another one asks.
  const pid_t asking = ::fork();
  if (asking == 0) ::_exit(confirm_ended(path, "7.1") ? 1 : 0);
  int status = 0;
  ::waitpid(asking, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_FALSE(confirmed());
}

}  // namespace
}  // namespace ares::aresd
