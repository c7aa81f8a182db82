#include "aresstepd/supervisor.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "os/clock.h"
#include "os/file.h"
#include "os/sweep.h"

namespace ares::stepd {
namespace {

AttemptKey attempt(std::uint64_t job) {
  return {{JobId(job), TaskIndex{}}, AttemptNo{1}};
}

class SupervisorTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-stepd-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(path); }

  // A directory of this name with the specification of this attempt.
  std::string directory(const std::string& name, const AttemptKey& key) {
    std::filesystem::create_directories(path + "/" + name);
    node::StepSpec spec;
    spec.launch.attempt = key;
    spec.launch.spec = std::make_shared<const JobSpec>();
    const Status written = os::replace_file(path + "/" + name + "/spec", encode(spec));
    EXPECT_TRUE(written) << written.error().message;
    return path + "/" + name;
  }

  // An attempt that aresd has accepted; its script would create a file `ran`.
  std::string accepted(const std::string& name, const AttemptKey& key) {
    const std::string attempt_directory = directory(name, key);
    const node::IntentRecord intent{key, Fence{}, 1, "boot", 0, false, Time(Seconds(1))};
    EXPECT_TRUE(os::replace_file(attempt_directory + "/intent", encode(intent)));
    EXPECT_TRUE(os::replace_file(attempt_directory + "/script",
                                 "#!/bin/sh\necho ran > " + path + "/ran\n"));
    return attempt_directory;
  }

  std::string path;
};

TEST_F(SupervisorTest, TakesTheAttemptThatItsDirectoryIsNamedAfter) {
  const auto made = Supervisor::make(directory("7.1", attempt(7)), -1);
  EXPECT_TRUE(made) << made.error().message;
}

// Regression: directories are reused. A supervisor that opened its directory and read on much later
// found the specification and the intent of the next attempt.
TEST_F(SupervisorTest, DirectoryReusedForAnotherAttemptIsLeftAlone) {
  const auto made = Supervisor::make(directory("7.1", attempt(8)), -1);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::stale);
  EXPECT_NE(made.error().message.find("7.1"), std::string::npos) << made.error().message;
}

// An aresd that is started again reaches a job only through this socket.
TEST_F(SupervisorTest, AttemptWhoseSocketCannotBeMadeNeverRuns) {
  const std::string attempt_directory = accepted("7.1", attempt(7));
  const std::string socket = attempt_directory + "/sock";
  std::filesystem::create_directory(socket);
  const std::string errors = path + "/errors";
  const int status = std::system(
      ("timeout -s KILL 20 " ARES_BIN_DIR "/aresstepd " + attempt_directory + " 2>" + errors)
          .c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;

  const std::string reason = "cannot use " + socket + " as a socket: Is a directory";
  EXPECT_EQ(*os::read_file(errors), "aresstepd: " + reason + "\n");
  const auto tombstone = os::read_file(attempt_directory + "/cancelled");
  ASSERT_TRUE(tombstone) << tombstone.error().message;
  EXPECT_EQ(node::decode_cancelled(*tombstone)->why, reason);
  EXPECT_FALSE(std::filesystem::exists(attempt_directory + "/task")) << "nothing was forked";
  EXPECT_FALSE(std::filesystem::exists(attempt_directory + "/go"));
  EXPECT_FALSE(std::filesystem::exists(path + "/ran"));
}

// Regression: the job ran without one, and nothing said so.
TEST_F(SupervisorTest, NamespaceThatCannotBeMadeIsRecordedAndLogged) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give up one capability";
  const std::string attempt_directory = accepted("7.1", attempt(7));
  const std::string errors = path + "/errors";
  ASSERT_EQ(
      std::system(
          ("setpriv --bounding-set=-sys_admin --inh-caps=-all timeout -s KILL 20 " ARES_BIN_DIR
           "/aresstepd " +
           attempt_directory + " 2>" + errors + " &")
              .c_str()),
      0);
  Result<std::string> record = fail(ErrorCode::not_found, "");
  const BootTime deadline = os::boot_now() + Seconds(20);
  while (!(record = os::read_file(attempt_directory + "/task")) && os::boot_now() < deadline)
    ::usleep(1000);
  ASSERT_TRUE(record) << *os::read_file(errors);
  const auto started = node::decode_started(*os::read_file(attempt_directory + "/started"));
  ::kill(static_cast<pid_t>(started->pid), SIGKILL);
  os::remove_groups(started->cgroups);

  const auto task = node::decode_task(*record);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_FALSE(task->own_pid_namespace);
  const std::string why = "cannot make a pid namespace: Operation not permitted";
  EXPECT_EQ(task->no_namespace_because, why);
  EXPECT_EQ(*os::read_file(errors),
            "aresstepd: the job runs without a pid namespace: " + why + "\n");
}

}  // namespace
}  // namespace ares::stepd
