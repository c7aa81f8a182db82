// Tests: pod_gate, gate/script, gate/log_pipe
#include "gate/pod_gate.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>
#include <utility>

#include "exec/kubernetes/gate/gate_text.h"
#include "exec/kubernetes/gate/output_log.h"
#include "gate/output.h"
#include "os/file.h"

namespace ares::gate {
namespace {

using kubernetes::GateGo;
using kubernetes::GateResult;
using kubernetes::GateSettings;
using kubernetes::GateSignal;
using testing::HasSubstr;
namespace fs = std::filesystem;

// A folder with what a pod has, and the gate in a process of its own.
class GateTest : public testing::Test {
 protected:
  GateTest() {
    char name[] = "/tmp/ares-gate-XXXXXX";
    folder = ::mkdtemp(name);
    for (const char* part : {"state", "job", "pod"}) fs::create_directory(folder + "/" + part);
    places.state = folder + "/state";
    places.job = folder + "/job";
    places.pod = folder + "/pod";
    places.result = folder + "/result";
    places.boot_id = folder + "/boot_id";
    write("boot_id", "boot-1\n");
    write("pod/go", "");
    write("job/environment", std::string("FOO=bar\0PATH=/usr/bin:/bin\0", 27));
    settings.fence = Fence(70);
    settings.directory = folder;
    settings.output = folder + "/out";
  }
  ~GateTest() override {
    if (process > 0) ::kill(process, SIGKILL), ::waitpid(process, nullptr, 0);
    fs::remove_all(folder);
  }

  void write(const std::string& name, const std::string& text, unsigned mode = 0644) {
    ASSERT_TRUE(os::publish_file(folder + "/" + name, text, mode));
  }
  std::string read(const std::string& name) {
    return os::read_file(folder + "/" + name).value_or("");
  }
  void start(const std::string& script) {
    write("job/script", script, 0755);
    write("job/settings", kubernetes::encode(settings));
    // A signal that comes before the gate waits for it is not lost.
    sigset_t term, before;
    ::sigemptyset(&term);
    ::sigaddset(&term, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &term, &before);
    process = ::fork();
    if (process == 0) ::_exit(run(places));
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
  }
  void go(std::uint64_t fence = 70, const std::string& boot = "boot-1") {
    write("pod/go",
          kubernetes::encode(GateGo{
              Fence(fence), Time{}, boot, {"10.0.0.1", "10.0.0.2"}, {"MASTER_ADDR=10.0.0.1"}}));
  }
  int wait() {
    int status = 0;
    ::waitpid(process, &status, 0);
    process = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void await_file(const std::string& name) {
    for (int i = 0; i < 2000 && !fs::exists(folder + "/" + name); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_TRUE(fs::exists(folder + "/" + name)) << name;
  }
  // The kubelet reads it only after the end, so it need not appear at once as a whole.
  void await_result() {
    for (int i = 0; i < 2000 && !kubernetes::decode_result(read("result")); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  GateResult result() {
    const auto got = kubernetes::decode_result(read("result"));
    EXPECT_TRUE(got) << read("result");
    return got.value_or(GateResult{});
  }

  std::string folder;
  Places places;
  GateSettings settings;
  pid_t process = -1;
};

TEST_F(GateTest, RunsTheScriptWithItsEnvironmentAfterTheGo) {
  settings.arguments = {"a b"};
  settings.tasks = {2, 1};
  start(
      "#!/bin/sh\necho \"$FOO $MASTER_ADDR $1 $PWD\"; cat \"$ARES_HOSTFILE\"; echo oops >&2; exit "
      "3\n");
  go();
  EXPECT_EQ(wait(), 3);
  EXPECT_EQ(read("out"),
            "bar 10.0.0.1 a b " + folder + "\n10.0.0.1 slots=2\n10.0.0.2 slots=1\noops\n");
  EXPECT_EQ(result().end, GateResult::End::exited);
  EXPECT_EQ(result().code, 3);
  EXPECT_GT(result().max_rss, Bytes{});
}

TEST_F(GateTest, AContainerThatIsStartedAgainRunsNothing) {
  go();
  start("#!/bin/sh\necho ran >> " + folder + "/runs\n");
  EXPECT_EQ(wait(), 0);
  start("#!/bin/sh\necho ran >> " + folder + "/runs\n");
  EXPECT_EQ(wait(), kRanBefore);
  EXPECT_EQ(read("runs"), "ran\n");
  EXPECT_EQ(result().end, GateResult::End::ran_before);
}

TEST_F(GateTest, AGoOfAnotherAttemptIsNone) {
  go(71);
  start("#!/bin/sh\necho ran > " + folder + "/runs\n");
  ::kill(process, SIGTERM);  // it looks for the go before it looks for signals
  EXPECT_EQ(wait(), kNeverRan);
  EXPECT_EQ(result().end, GateResult::End::never_ran);
  EXPECT_EQ(read("runs"), "");
}

TEST_F(GateTest, AGoForAnotherBootRunsNothing) {
  start("#!/bin/sh\necho ran > " + folder + "/runs\n");
  go(70, "boot-2");
  EXPECT_EQ(wait(), kRanBefore);
  EXPECT_EQ(read("runs"), "");
  EXPECT_THAT(result().why, HasSubstr("another boot"));
}

TEST_F(GateTest, TermBeforeTheGoEndsIt) {
  start("#!/bin/sh\necho ran > " + folder + "/runs\n");
  ::kill(process, SIGTERM);
  EXPECT_EQ(wait(), kNeverRan);
  EXPECT_EQ(result().end, GateResult::End::never_ran);
}

// What it reports is final: the go may be there when the container is started again.
TEST_F(GateTest, WhatNeverRanDoesNotRunWhenTheContainerIsStartedAgain) {
  start("#!/bin/sh\necho ran > " + folder + "/runs\n");
  ::kill(process, SIGTERM);
  EXPECT_EQ(wait(), kNeverRan);
  EXPECT_TRUE(result().is_sealed);
  go();
  start("#!/bin/sh\necho ran > " + folder + "/runs\n");
  EXPECT_EQ(wait(), kRanBefore);
  EXPECT_EQ(read("runs"), "");
}

// Regression: it was the job's failure, with exit code 127.
TEST_F(GateTest, ANodeWithoutSpaceForTheMarkRunsNothingAndIsNotTheScriptsFault) {
  fs::remove_all(places.state);
  go();
  start("#!/bin/sh\necho ran > " + folder + "/runs\n");
  EXPECT_EQ(wait(), kNeverRan);
  EXPECT_EQ(result().end, GateResult::End::never_ran);
  EXPECT_FALSE(result().is_sealed);
}

TEST_F(GateTest, CommandsThatDoNotWorkInPodsSaySo) {
  ASSERT_EQ(prepare(places.state, {}, places), 0);
  ASSERT_EQ(prepare(places.state, {}, places), 0) << "again, as after a restart";
  EXPECT_TRUE(fs::is_symlink(places.state + "/bin/arun"));
  EXPECT_EQ(fs::weakly_canonical(places.state + "/bin/srun"),
            fs::weakly_canonical(places.state + "/" + kubernetes::kGateProgram));
  EXPECT_TRUE(is_not_in_pods("srun"));
  EXPECT_FALSE(is_not_in_pods(kubernetes::kGateProgram));
  testing::internal::CaptureStderr();
  EXPECT_EQ(explain("arun"), kNotInPod);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(HasSubstr("arun: "), HasSubstr("--container-per-rank")));
}

TEST_F(GateTest, TheImagesOwnCommandsAreFoundBeforeThose) {
  start("#!/bin/sh\necho $PATH\n");
  go();
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(read("out"), "/usr/bin:/bin:/ares/gate/bin\n");
}

TEST_F(GateTest, TermGoesToTheScript) {
  start("#!/bin/sh\ntrap 'echo told; exit 4' TERM\n: > " + folder +
        "/up\nwhile :; do sleep 0.02; done\n");
  go();
  await_file("up");
  ::kill(process, SIGTERM);
  EXPECT_EQ(wait(), 4);
  EXPECT_THAT(read("out"), HasSubstr("told\n"));  // the shell may say that its sleep was ended
}

TEST_F(GateTest, SignalsArePassedOnOnce) {
  start("#!/bin/sh\ntrap 'echo usr1' USR1\ntrap 'exit 5' USR2\n: > " + folder +
        "/up\nwhile :; do sleep 0.02; done\n");
  go();
  await_file("up");
  write("pod/signal", kubernetes::encode(GateSignal{7, SIGUSR1, true}));
  for (int i = 0; i < 500 && read("out").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  write("pod/signal", kubernetes::encode(GateSignal{7, SIGUSR1, true}));  // the same again
  write("pod/warning", kubernetes::encode(GateSignal{1, SIGUSR2, true}));
  EXPECT_EQ(wait(), 5);
  EXPECT_EQ(read("out"), "usr1\n");
}

TEST_F(GateTest, AStoppedScriptGetsItsSigterm) {
  start("#!/bin/sh\ntrap 'exit 6' TERM\n: > " + folder + "/up\nkill -STOP $$\nexit 1\n");
  go();
  await_file("up");
  write("pod/warning", kubernetes::encode(GateSignal{2, SIGTERM, false}));
  EXPECT_EQ(wait(), 6);
}

TEST_F(GateTest, WhatTheScriptLeavesEndsWithIt) {
  start("#!/bin/sh\nsleep 1000 &\necho $! > " + folder + "/child\nkill -9 $$\n");
  go();
  EXPECT_EQ(wait(), 137);
  EXPECT_EQ(result().end, GateResult::End::signalled);
  EXPECT_EQ(result().signal, SIGKILL);
  EXPECT_NE(::kill(static_cast<pid_t>(std::stol(read("child"))), 0), 0);
}

TEST_F(GateTest, NoInterpreterIsSaid) {
  start("#!/nonexistent/python3\n");
  go();
  EXPECT_EQ(wait(), kNotStarted);
  EXPECT_EQ(result().end, GateResult::End::not_started);
  EXPECT_THAT(result().why, HasSubstr("no interpreter"));
}

TEST_F(GateTest, OutputThatCannotBeOpenedIsSaid) {
  settings.output = folder + "/absent/out";
  start("#!/bin/sh\n");
  go();
  EXPECT_EQ(wait(), kNotStarted);
  EXPECT_THAT(result().why, HasSubstr("standard output"));
}

// The log of a container, as a pipe that is read.
class GateOutputTest : public GateTest {
 protected:
  GateOutputTest() {
    EXPECT_EQ(::pipe2(log, O_CLOEXEC), 0);
    places.log = log[1];
    settings.output.clear();
    settings.sends_output = true;
    write("pod/output", kubernetes::encode(kubernetes::OutputState{}));
  }
  ~GateOutputTest() override {
    for (const int end : log)
      if (end >= 0) ::close(end);
  }
  // Until the gate has its end closed, or so much was printed.
  std::string read_output(std::size_t most = SIZE_MAX) {
    if (log[1] >= 0) ::close(std::exchange(log[1], -1));
    std::string output;
    char bytes[65536];
    while (output.size() < most) {
      const ssize_t count = ::read(log[0], bytes, sizeof bytes);
      if (count <= 0) break;
      reader.take({bytes, static_cast<std::size_t>(count)}, output);
    }
    return output;
  }

  int log[2] = {-1, -1};
  kubernetes::OutputReader reader;
};

TEST_F(GateOutputTest, WhatIsPrintedGoesIntoTheLogBetweenMarks) {
  start("#!/bin/sh\necho out\necho err >&2\nprintf 'no newline'\nexit 6\n");
  go();
  EXPECT_EQ(read_output(), "out\nerr\nno newline");
  EXPECT_TRUE(reader.has_ended());
  EXPECT_EQ(wait(), 6);
  EXPECT_EQ(result().code, 6);
}

TEST_F(GateOutputTest, OnlyWhatHasNoFileGoesThere) {
  settings.error = folder + "/err";
  start("#!/bin/sh\necho out\necho err >&2\n");
  go();
  EXPECT_EQ(read_output(), "out\n");
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(read("err"), "err\n");
}

TEST_F(GateOutputTest, AScriptThatPrintsMuchWaitsUntilItIsStored) {
  start("#!/bin/sh\nhead -c 12000000 /dev/zero\n: > " + folder + "/printed\n");
  go();
  std::string output = read_output(Output::kWindow);
  EXPECT_FALSE(fs::exists(folder + "/printed"));
  // Each answer lets it print so much more.
  while (output.size() < 12'000'000) {
    write("pod/output", kubernetes::encode(kubernetes::OutputState{output.size(), 0}));
    output += read_output(1);
  }
  // It is not over before the rest is known to be stored, but the result is there.
  await_result();
  EXPECT_EQ(result().end, GateResult::End::exited);
  EXPECT_EQ(::waitpid(process, nullptr, WNOHANG), 0);
  write("pod/output", kubernetes::encode(kubernetes::OutputState{output.size(), 0}));
  output += read_output();
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(output.size(), 12'000'000U);
  EXPECT_TRUE(reader.has_ended());
}

TEST_F(GateTest, OutputIsAppendedOnRequest) {
  write("out", "before\n");
  settings.appends = true;
  start("#!/bin/sh\necho after\n");
  go();
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(read("out"), "before\nafter\n");
}

TEST_F(GateTest, OtherRanksHoldTheAllocation) {
  settings.runs_script = false;
  start("#!/bin/sh\necho ran > " + folder + "/runs\n");
  go();
  await_file("state/started");
  ::kill(process, SIGTERM);
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(read("runs"), "");
}

TEST_F(GateTest, AnImageMayKeepItsVariables) {
  ::setenv("IMAGE_PATH", "image", 1);
  ::setenv("KEPT", "image", 1);
  write("job/environment", std::string("IMAGE_PATH=job\0KEPT=job\0NEW=job\0", 32));
  settings.is_image_first = true;
  settings.kept_variables = {"KEPT"};
  start("#!/bin/sh\necho $IMAGE_PATH $KEPT $NEW\n");
  go();
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(read("out"), "image job job\n");
  ::unsetenv("IMAGE_PATH");
  ::unsetenv("KEPT");
}

TEST_F(GateTest, AWorkingDirectoryThatWasAskedForMustExist) {
  settings.directory = folder + "/absent";
  settings.needs_directory = true;
  start("#!/bin/sh\n");
  go();
  EXPECT_EQ(wait(), kNotStarted);
  EXPECT_THAT(result().why, HasSubstr("working directory"));
}

TEST_F(GateTest, ItInstallsItself) {
  ASSERT_EQ(prepare(places.state, {places.job}, places), 0);
  EXPECT_EQ(::access((places.state + "/ares-gate").c_str(), X_OK), 0);
  EXPECT_EQ(fs::file_size(places.state + "/ares-gate"), fs::file_size("/proc/self/exe"));
}

TEST_F(GateTest, WhatCannotBeMountedIsSaidBeforeIt) {
  for (const std::string& path : {folder + "/absent", folder + "/boot_id"}) {
    EXPECT_EQ(prepare(places.state, {path}, places), kubernetes::kGateRefused);
    EXPECT_THAT(read("result"), HasSubstr("cannot mount " + path));
  }
  EXPECT_FALSE(fs::exists(places.state + "/ares-gate"));
}

}  // namespace
}  // namespace ares::gate
