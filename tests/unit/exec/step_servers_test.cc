// Launches through the fork server of aresstepd, with real processes.
// Tests: step_servers, step_channels, spawn
#include "exec/baremetal/step_servers.h"

#include <gtest/gtest.h>

#include "os/sweep.h"
#include "unit/exec/processes.h"
#include "unit/exec/real_node.h"

namespace ares::exec {
namespace {

class ForkServer : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!os::can_make_namespace(os::namespace_kind())) GTEST_SKIP() << "needs a pid namespace";
    ASSERT_TRUE(node.until([] { return ready().size() >= 2; })) << "supervisors that wait";
  }
  Prepare job(std::uint64_t id, const std::string& script) {
    return make_prepare(node, id, script, work.path());
  }
  std::string output(const std::string& name = "out") { return file_text(work / name); }

  // Supervisors of the server whose first process exists.
  static std::vector<pid_t> ready() {
    std::vector<pid_t> found;
    if (const pid_t server = fork_server(); server > 0)
      for (const pid_t pid : children_of(server))
        if (!children_of(pid).empty()) found.push_back(pid);
    return found;
  }
  // Starts a job that runs until the file `finish` exists.
  AttemptKey start_long_job(std::uint64_t id) {
    const Prepare prepare =
        job(id, "echo up >> up; while [ ! -e finish ]; do sleep 0.02; done; exit 5\n");
    node.tell(prepare);
    EXPECT_TRUE(node.until_phase(prepare.launch.attempt, AttemptPhase::ready));
    node.tell(Go{prepare.launch.attempt, prepare.launch.fence});
    EXPECT_TRUE(node.until([&] { return output("up") == "up\n"; }));
    return prepare.launch.attempt;
  }
  void finish(const AttemptKey& key) {
    std::ofstream(work / "finish");
    ASSERT_TRUE(node.until_phase(key, AttemptPhase::done));
    EXPECT_EQ(node.report(key).exit.code, 5);
    EXPECT_EQ(output("up"), "up\n") << "it ran once";
  }
  void expect_gone(const std::vector<pid_t>& supervisors) {
    for (const pid_t pid : supervisors) {
      EXPECT_TRUE(node.until([&] { return !alive(pid); })) << pid;
      EXPECT_TRUE(node.until([&] { return ready_groups_of(pid).empty(); }))
          << ready_groups_of(pid).front();
    }
  }

  TemporaryDirectory work;
  RealNode node{work / "spool"};
};

TEST_F(ForkServer, GivesAttemptsToSupervisorsThatWait) {
  const std::vector<pid_t> before = ready();
  const Prepare prepare = job(1, "true\n");
  const AttemptKey key = prepare.launch.attempt;
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
  const auto supervisor = static_cast<pid_t>(node.supervisor_pid(key));
  EXPECT_EQ(parent_of(supervisor), fork_server());
  EXPECT_NE(std::find(before.begin(), before.end(), supervisor), before.end());
  node.tell(Go{key, prepare.launch.fence});
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::done));
  EXPECT_TRUE(node.until([] { return ready().size() >= 2; })) << "others take its place";
  expect_gone({supervisor});
}

TEST_F(ForkServer, MoreJobsAtOnceThanSupervisorsWait) {
  constexpr std::uint64_t kJobs = 40;
  std::vector<Prepare> jobs;
  for (std::uint64_t id = 1; id <= kJobs; ++id) {
    jobs.push_back(job(id, "echo x >> marks\n"));
    edit(jobs.back()).std_out = "/dev/null";
    node.tell(jobs.back());
  }
  for (const Prepare& each : jobs)
    ASSERT_TRUE(node.until_phase(each.launch.attempt, AttemptPhase::ready));
  for (const Prepare& each : jobs) node.tell(Go{each.launch.attempt, each.launch.fence});
  for (const Prepare& each : jobs)
    ASSERT_TRUE(node.until_phase(each.launch.attempt, AttemptPhase::done));
  EXPECT_EQ(output("marks").size(), 2 * kJobs);
}

TEST_F(ForkServer, TaskHasNoDescriptorsOfTheServer) {
  ASSERT_EQ(node.run(job(1, "ls /proc/self/fd\n")).exit.code, 0);
  EXPECT_EQ(output(), "0\n1\n2\n3\n") << "3 is that of ls";
}

TEST_F(ForkServer, SupervisorThatRunsAJobHoldsNothingOfAresd) {
  const AttemptKey key = start_long_job(1);
  const auto supervisor = static_cast<pid_t>(node.supervisor_pid(key));
  std::vector<pid_t> processes = children_of(supervisor);
  processes.push_back(supervisor);
  const std::string ours = std::filesystem::read_symlink("/proc/self/fd/2").string();
  for (const pid_t pid : processes)
    EXPECT_NE(std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/fd/2").string(),
              ours);
  finish(key);
}

TEST_F(ForkServer, KilledOneIsReplacedAndJobsGoOn) {
  const AttemptKey key = start_long_job(1);
  ASSERT_TRUE(node.until([] { return ready().size() >= 3; }));
  std::vector<pid_t> idle = ready();
  std::erase(idle, static_cast<pid_t>(node.supervisor_pid(key)));
  const pid_t killed = fork_server();
  ASSERT_EQ(::kill(killed, SIGKILL), 0);
  ASSERT_TRUE(node.until([&] { return fork_server() > 0 && fork_server() != killed; }));
  expect_gone(idle);
  EXPECT_EQ(node.run(job(2, "exit 4\n")).exit.code, 4);
  finish(key);
}

// As after the removal of a node daemon's package, or the kernel's want of memory.
TEST_F(ForkServer, JobsRunWithoutOne) {
  const pid_t killed = fork_server();
  ASSERT_EQ(::kill(killed, SIGKILL), 0);
  const Prepare prepare = job(1, "exit 4\n");
  EXPECT_EQ(node.run(prepare).exit.code, 4);
}

TEST_F(ForkServer, StoppedOneDelaysALaunchOnly) {
  const pid_t stopped = fork_server();
  ASSERT_EQ(::kill(stopped, SIGSTOP), 0);
  const Prepare prepare = job(1, "echo x >> marks; exit 4\n");
  const AttemptKey key = prepare.launch.attempt;
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready, Seconds(60)));
  node.tell(Go{key, prepare.launch.fence});
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::done));
  EXPECT_EQ(node.report(key).exit.code, 4);
  EXPECT_EQ(output("marks"), "x\n");
  EXPECT_FALSE(alive(stopped));
}

TEST_F(ForkServer, StoppedSupervisorThatWaitsDelaysALaunchOnly) {
  for (const pid_t pid : ready()) ASSERT_EQ(::kill(pid, SIGSTOP), 0);
  const Prepare prepare = job(1, "echo x >> marks; exit 4\n");
  const AttemptKey key = prepare.launch.attempt;
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready, Seconds(60)));
  node.tell(Go{key, prepare.launch.fence});
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::done));
  EXPECT_EQ(output("marks"), "x\n");
  for (const pid_t pid : ready()) ::kill(pid, SIGCONT);
}

TEST_F(ForkServer, KilledSupervisorsThatWaitLeaveNothing) {
  const std::vector<pid_t> killed = ready();
  for (const pid_t pid : killed) ASSERT_EQ(::kill(pid, SIGKILL), 0);
  EXPECT_EQ(node.run(job(1, "exit 4\n")).exit.code, 4);
  expect_gone(killed);
  EXPECT_TRUE(node.until([] { return ready().size() >= 2; }));
}

TEST_F(ForkServer, JobsRunAfterTheFirstProcessesMadeAheadWereKilled) {
  for (const pid_t supervisor : ready())
    for (const pid_t init : children_of(supervisor)) {
      ASSERT_EQ(::kill(init, SIGKILL), 0);
      // An attempt that begins before that never runs, and is begun again by the controller.
      ASSERT_TRUE(node.until([&] { return os::process_gone(init, 0); }));
    }
  for (std::uint64_t id = 1; id <= 2; ++id) {
    const AttemptReport report = node.run(job(id, "exit 4\n"));
    EXPECT_EQ(report.phase, AttemptPhase::done) << id;
    EXPECT_EQ(report.exit.code, 4) << id;
  }
}

// The end of the attempt while each of its processes dies at the gate, and while it runs.
TEST_F(ForkServer, KilledFirstProcessEndsTheAttempt) {
  const Prepare gated = job(1, "echo x >> marks\n");
  node.tell(gated);
  ASSERT_TRUE(node.until_phase(gated.launch.attempt, AttemptPhase::ready));
  for (const pid_t init :
       children_of(static_cast<pid_t>(node.supervisor_pid(gated.launch.attempt))))
    ::kill(init, SIGKILL);
  EXPECT_TRUE(node.until_phase(gated.launch.attempt, AttemptPhase::never_ran));
  EXPECT_FALSE(std::filesystem::exists(work / "marks"));

  const AttemptKey key = start_long_job(2);
  const auto supervisor = static_cast<pid_t>(node.supervisor_pid(key));
  for (const pid_t init : children_of(supervisor)) ::kill(init, SIGKILL);
  EXPECT_TRUE(node.until_phase(key, AttemptPhase::done));
  EXPECT_EQ(node.report(key).exit.signal, SIGKILL);
  expect_gone({supervisor});
}

// The supervisor learns of both at once.
TEST_F(ForkServer, GoAfterTheDeathOfTheFirstProcessStartsNothing) {
  for (std::uint64_t id = 1; id <= 5; ++id) {
    const Prepare gated = job(id, "echo x >> marks\n");
    const AttemptKey key = gated.launch.attempt;
    node.tell(gated);
    ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
    const auto supervisor = static_cast<pid_t>(node.supervisor_pid(key));
    ASSERT_EQ(::kill(supervisor, SIGSTOP), 0);
    for (const pid_t init : children_of(supervisor)) {
      ::kill(init, SIGKILL);
      EXPECT_TRUE(node.until([&] { return os::process_gone(init, 0); }));
    }
    node.tell(Go{key, gated.launch.fence});
    ASSERT_EQ(::kill(supervisor, SIGCONT), 0);
    EXPECT_TRUE(node.until([&] { return node::has_ended(node.report(key).phase); }));
    EXPECT_EQ(node.report(key).phase, AttemptPhase::never_ran);
  }
  EXPECT_FALSE(std::filesystem::exists(work / "marks"));
}

TEST_F(ForkServer, KilledSupervisorLeavesNoProcessAndNoGroup) {
  const AttemptKey key = start_long_job(1);
  const auto supervisor = static_cast<pid_t>(node.supervisor_pid(key));
  const std::vector<pid_t> inits = children_of(supervisor);
  ASSERT_EQ(::kill(supervisor, SIGKILL), 0);
  EXPECT_TRUE(node.until_phase(key, AttemptPhase::lost));
  expect_gone({supervisor});
  for (const pid_t init : inits) EXPECT_FALSE(alive(init));
}

TEST_F(ForkServer, EndsWithAresdAndJobsGoOn) {
  const AttemptKey key = start_long_job(1);
  ASSERT_TRUE(node.until([] { return ready().size() >= 3; }));
  std::vector<pid_t> idle = ready();
  std::erase(idle, static_cast<pid_t>(node.supervisor_pid(key)));
  const pid_t before = fork_server();
  node.restart();
  EXPECT_FALSE(alive(before));
  expect_gone(idle);
  finish(key);
}

// What a server leaves whose processes were all killed at once.
TEST_F(ForkServer, RemovesGroupsThatAnEarlierOneLeft) {
  const std::vector<pid_t> idle = ready();
  const pid_t server = fork_server();
  if (ready_groups_of(idle.front()).empty()) GTEST_SKIP() << "needs control groups";
  ::kill(server, SIGSTOP);
  for (const pid_t pid : idle) ::kill(pid, SIGKILL);
  ::kill(server, SIGKILL);
  expect_gone(idle);
}

TEST_F(ForkServer, ReplacedProgramIsUsedForLaterJobs) {
  node.stepd = work / "aresstepd";
  std::filesystem::copy_file(ARES_BIN_DIR "/aresstepd", node.stepd);
  node.restart();
  ASSERT_TRUE(node.until([] { return ready().size() >= 2; }));
  const pid_t before = fork_server();
  const AttemptKey key = start_long_job(1);
  const auto supervisor = static_cast<pid_t>(node.supervisor_pid(key));
  EXPECT_EQ(parent_of(supervisor), before);

  std::filesystem::copy_file(ARES_BIN_DIR "/aresstepd", node.stepd + ".new");
  std::filesystem::rename(node.stepd + ".new", node.stepd);
  const Prepare prepare = job(2, "while [ ! -e finish ]; do sleep 0.02; done; exit 4\n");
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(prepare.launch.attempt, AttemptPhase::ready));
  const auto later = static_cast<pid_t>(node.supervisor_pid(prepare.launch.attempt));
  EXPECT_NE(parent_of(later), before);
  EXPECT_EQ(std::filesystem::read_symlink("/proc/" + std::to_string(later) + "/exe").string(),
            node.stepd);
  EXPECT_TRUE(node.until([&] { return !alive(before); }));
  EXPECT_TRUE(alive(supervisor)) << "the job goes on under the old program";
  node.tell(Go{prepare.launch.attempt, prepare.launch.fence});
  finish(key);
  ASSERT_TRUE(node.until_phase(prepare.launch.attempt, AttemptPhase::done));
  EXPECT_EQ(node.report(prepare.launch.attempt).exit.code, 4);
}

// As one of an earlier release: it ends with a message about its usage.
TEST_F(ForkServer, ProgramThatCannotServeIsStartedForEachAttempt) {
  node.stepd = work / "aresstepd";
  std::ofstream(node.stepd) << "#!/bin/sh\n[ \"$1\" = --serve ] && exit 2\nexec " ARES_BIN_DIR
                               "/aresstepd \"$@\"\n";
  std::filesystem::permissions(node.stepd, std::filesystem::perms::owner_all);
  node.restart();
  for (std::uint64_t id = 1; id <= 5; ++id)
    EXPECT_EQ(node.run(job(id, "exit 4\n")).exit.code, 4) << id;
}

// Its processes there, on the nodes of a job after the first, are those of its steps.
TEST_F(ForkServer, NodeWithoutTheScriptUsesWhatWasMadeAheadAndRunsNothing) {
  Prepare prepare = job(1, "echo x >> marks\n");
  prepare.launch.rank = 1;
  const AttemptKey key = prepare.launch.attempt;
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
  const auto supervisor = static_cast<pid_t>(node.supervisor_pid(key));
  EXPECT_EQ(children_of(supervisor).size(), 1u) << "the first process of its namespace";
  node.tell(Go{key, prepare.launch.fence});
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::running));
  node.tell(Kill{key, prepare.launch.fence});
  EXPECT_TRUE(node.until_phase(key, AttemptPhase::done));
  EXPECT_EQ(node.report(key).exit, ExitStatus{});
  EXPECT_FALSE(std::filesystem::exists(work / "marks"));
}

}  // namespace
}  // namespace ares::exec
