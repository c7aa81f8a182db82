// Tests: exec/adapter/backend, exec/adapter/convert, step_channels, task_body
#include <linux/magic.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include <filesystem>

#include "base/clip.h"
#include "unit/exec/real_node.h"

#include <gtest/gtest.h>

namespace ares::exec {
namespace {

class Baremetal : public ::testing::Test {
 protected:
  Prepare job(std::uint64_t id, const std::string& script) {
    return make_prepare(node, id, script, work.path());
  }
  std::string output(const std::string& name = "out") { return file_text(work / name); }
  // Whether a process with this pid exists.
  static bool alive(std::int64_t pid) { return pid > 0 && ::kill(static_cast<pid_t>(pid), 0) == 0; }
  std::int64_t pid_in(const std::string& name) { return std::atoll(output(name).c_str()); }

  TemporaryDirectory work;
  RealNode node{work / "spool"};
};

TEST_F(Baremetal, RunsAScriptAndReportsItsExitCode) {
  const AttemptReport report = node.run(job(1, "echo hello; exit 7\n"));
  EXPECT_EQ(report.phase, AttemptPhase::done) << report.detail;
  EXPECT_EQ(report.exit.code, 7);
  EXPECT_EQ(report.exit.signal, 0);
  EXPECT_EQ(output(), "hello\n");
  EXPECT_GE(*report.ended_at, *report.ran_since);
}

TEST_F(Baremetal, ReportsTheSignalThatEndedTheScript) {
  const AttemptReport report = node.run(job(1, "kill -USR1 $$\n"));
  EXPECT_EQ(report.phase, AttemptPhase::done);
  EXPECT_EQ(report.exit.signal, SIGUSR1);
  EXPECT_EQ(report.exit.code, 0);
}

TEST_F(Baremetal, NothingRunsBeforeGo) {
  const Prepare prepare = job(1, "echo started > mark\n");
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(prepare.launch.attempt, AttemptPhase::ready));
  EXPECT_FALSE(std::filesystem::exists(work / "mark"));
  EXPECT_FALSE(std::filesystem::exists(work / "out")) << "even the output file is the job's effect";
  node.tell(Go{prepare.launch.attempt, Fence(9)});  // of another allocation
  EXPECT_FALSE(node.until([&] { return std::filesystem::exists(work / "mark"); }, Seconds(0)));
  node.tell(Go{prepare.launch.attempt, prepare.launch.fence});
  ASSERT_TRUE(node.until_phase(prepare.launch.attempt, AttemptPhase::done));
  EXPECT_EQ(output("mark"), "started\n");
}

TEST_F(Baremetal, RecordOfTheTaskSaysWhenItsProcessStarted) {
  const Prepare prepare = job(1, "true\n");
  const AttemptKey key = prepare.launch.attempt;
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
  const Result<std::string> text = node.spool().open(key)->read(node::Record::task);
  ASSERT_TRUE(text);
  const Result<node::TaskRecord> task = node::decode_task(*text);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_GT(task->start_ticks, 0u);
  EXPECT_EQ(task->start_ticks, os::process_start_ticks(task->pid));
}

TEST_F(Baremetal, KillBeforeGoIsNeverRan) {
  const Prepare prepare = job(1, "echo started > mark\n");
  const AttemptKey key = prepare.launch.attempt;
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
  const std::int64_t supervisor = node.supervisor_pid(key);
  node.tell(Kill{key, prepare.launch.fence});
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::never_ran));
  node.tell(prepare);
  node.tell(Go{key, prepare.launch.fence});
  EXPECT_EQ(node.report(key).phase, AttemptPhase::never_ran);
  EXPECT_TRUE(node.until([&] { return !alive(supervisor); }));
  EXPECT_FALSE(std::filesystem::exists(work / "mark"));
}

TEST_F(Baremetal, KillOfAnUnknownAttemptRefusesALaterLaunch) {
  const Prepare prepare = job(1, "echo started > mark\n");
  node.tell(Kill{prepare.launch.attempt, prepare.launch.fence});
  EXPECT_EQ(node.report(prepare.launch.attempt).phase, AttemptPhase::never_ran);
  node.restart();
  node.tell(prepare);
  EXPECT_EQ(node.report(prepare.launch.attempt).phase, AttemptPhase::never_ran);
}

TEST_F(Baremetal, AttemptWhoseSocketCannotBeMadeNeverRuns) {
  // It gets the directory of an ended attempt.
  const Prepare first = job(2, "true\n");
  ASSERT_EQ(node.run(first).phase, AttemptPhase::done);
  ASSERT_TRUE(node.until([&] { return !node.spool().locked(first.launch.attempt); }));
  node.tell(Forget{first.launch.attempt, first.launch.fence});
  ASSERT_TRUE(std::filesystem::create_directory(work / "spool/free/2.1/sock"));
  const Prepare prepare = job(1, "echo started > mark\n");
  const AttemptKey key = prepare.launch.attempt;
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::never_ran));
  EXPECT_EQ(node.report(key).detail,
            "cannot use " + node.spool().directory(key) + "/sock as a socket: Is a directory");
  EXPECT_FALSE(std::filesystem::exists(work / "mark"));
}

// The socket gets its name only once the aresd that started the job is gone; the job runs by then.
TEST_F(Baremetal, LaterSocketFailureIsLoggedAndRetried) {
  const Prepare prepare = job(1, "sleep 100\n");
  const AttemptKey key = prepare.launch.attempt;
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
  node.tell(Go{key, prepare.launch.fence});
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::running));
  const std::string directory = node.spool().directory(key);
  std::filesystem::create_directory(directory + "/sock");
  const std::int64_t supervisor = node.supervisor_pid(key);
  node.restart();
  EXPECT_TRUE(node.until([&] { return !file_text(directory + "/log").empty(); }));
  EXPECT_EQ(file_text(directory + "/log"), "aresstepd: cannot use " + directory +
                                               "/sock as a socket: Is a directory; trying again\n");
  EXPECT_TRUE(alive(supervisor)) << "the job goes on";
  std::filesystem::remove(directory + "/sock");
  node.tell(Kill{key, prepare.launch.fence, true});
  EXPECT_TRUE(node.until_phase(key, AttemptPhase::done));
  EXPECT_EQ(node.report(key).exit.signal, SIGKILL);
}

TEST_F(Baremetal, SigkillFollowsSigtermAfterKillWait) {
  const Prepare prepare =
      job(1, "trap 'echo term >> mark' TERM\necho up > mark\nwhile :; do sleep 0.1; done\n");
  const AttemptKey key = prepare.launch.attempt;
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
  node.tell(Go{key, prepare.launch.fence});
  ASSERT_TRUE(node.until([&] { return output("mark") == "up\n"; }));
  const BootTime before = os::boot_now();
  node.tell(Kill{key, prepare.launch.fence});
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::done));
  EXPECT_GE(os::boot_now() - before, Seconds(1));
  EXPECT_EQ(output("mark"), "up\nterm\n");
  EXPECT_EQ(node.report(key).exit.signal, SIGKILL);
}

TEST_F(Baremetal, ScriptThatExitsOnSigtermKeepsItsExitCode) {
  const Prepare prepare =
      job(1, "trap 'exit 3' TERM\necho up > mark\nwhile :; do sleep 0.1; done\n");
  const AttemptKey key = prepare.launch.attempt;
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
  node.tell(Go{key, prepare.launch.fence});
  ASSERT_TRUE(node.until([&] { return output("mark") == "up\n"; }));
  node.tell(Kill{key, prepare.launch.fence});
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::done));
  EXPECT_EQ(node.report(key).exit.code, 3);
  EXPECT_EQ(node.report(key).exit.signal, 0);
}

TEST_F(Baremetal, TimeLimitEndsAJob) {
  Prepare prepare = job(1, "sleep 100\n");
  prepare.launch.time_limit = Seconds(1);
  const AttemptReport report = node.run(prepare);
  EXPECT_EQ(report.phase, AttemptPhase::done);
  EXPECT_TRUE(report.exit.timed_out);
  EXPECT_EQ(report.exit.signal, SIGTERM);
  EXPECT_LT(*report.ended_at - *report.ran_since, Seconds(5));
}

TEST_F(Baremetal, RaisedTimeLimitLetsAJobFinish) {
  Prepare prepare = job(1, "sleep 2; echo end\n");
  const AttemptKey key = prepare.launch.attempt;
  prepare.launch.time_limit = Seconds(1);
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
  node.tell(Go{key, prepare.launch.fence});
  node.tell(SetLimit{key, prepare.launch.fence, Lsn(20), Seconds(60)});
  node.tell(SetLimit{key, prepare.launch.fence, Lsn(19), Seconds(1)});  // late and older
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::done));
  EXPECT_FALSE(node.report(key).exit.timed_out);
  EXPECT_EQ(output(), "end\n");
}

TEST_F(Baremetal, SignalIsDeliveredOnce) {
  const Prepare prepare = job(1,
                              "trap 'echo usr1 >> mark' USR1\ntrap 'exit 0' USR2\necho up > "
                              "mark\nwhile :; do sleep 0.05; done\n");
  const AttemptKey key = prepare.launch.attempt;
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
  node.tell(Go{key, prepare.launch.fence});
  ASSERT_TRUE(node.until([&] { return output("mark") == "up\n"; }));
  for (int i = 0; i < 3; ++i) node.tell(Signal{key, prepare.launch.fence, Lsn(30), SIGUSR1, true});
  ASSERT_TRUE(node.until([&] { return output("mark") == "up\nusr1\n"; }));
  node.tell(Signal{key, prepare.launch.fence, Lsn(31), SIGUSR2, true});
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::done));
  EXPECT_EQ(output("mark"), "up\nusr1\n");
}

TEST_F(Baremetal, ProcessesLeftByTheScriptAreKilled) {
  const AttemptReport report = node.run(job(1,
                                            "setsid sh -c 'echo $$ > mark; trap \"\" TERM; sleep "
                                            "100' &\nwhile [ ! -s mark ]; do sleep 0.02; done\n"
                                            "readlink /proc/self/ns/pid > ns\n"));
  ASSERT_EQ(report.phase, AttemptPhase::done);
  EXPECT_EQ(report.exit.code, 0);
  // Pids of its namespace are not valid here: find the process by its environment.
  EXPECT_EQ(
      std::system(("grep -lsz ARES_ATTEMPT_DIR=" + work.path() + " /proc/[0-9]*/environ >/dev/null")
                      .c_str()) == 0,
      false);
}

TEST_F(Baremetal, KilledSupervisorLeavesNoProcessAndIsReportedLost) {
  const Prepare prepare = job(1,
                              "setsid sh -c 'echo up > mark; sleep 100' &\nwhile [ ! -s mark ]; do "
                              "sleep 0.02; done\nsleep 100\n");
  const AttemptKey key = prepare.launch.attempt;
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
  node.tell(Go{key, prepare.launch.fence});
  ASSERT_TRUE(node.until([&] { return output("mark") == "up\n"; }));
  ASSERT_EQ(::kill(static_cast<pid_t>(node.supervisor_pid(key)), SIGKILL), 0);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::lost));
  const std::string search =
      "grep -lsz ARES_ATTEMPT_DIR=" + work.path() + " /proc/[0-9]*/environ >/dev/null";
  EXPECT_TRUE(node.until([&] { return std::system(search.c_str()) != 0; }, Seconds(5)));
}

TEST_F(Baremetal, JobOutlivesTheDaemonAndIsFoundAgain) {
  const Prepare prepare = job(1, "while [ ! -e finish ]; do sleep 0.02; done\nexit 5\n");
  const AttemptKey key = prepare.launch.attempt;
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
  node.restart();
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
  node.tell(Go{key, prepare.launch.fence});
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::running));
  const std::uint64_t incarnation = node.incarnation();
  node.restart();
  EXPECT_EQ(node.report(key).phase, AttemptPhase::running);
  EXPECT_EQ(node.incarnation(), incarnation) << "the machine was not restarted";
  std::ofstream(work / "finish");
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::done));
  EXPECT_EQ(node.report(key).exit.code, 5);
}

TEST_F(Baremetal, EndWhileTheDaemonIsDownIsReportedLater) {
  const Prepare prepare = job(1, "while [ ! -e finish ]; do sleep 0.02; done\nexit 6\n");
  const AttemptKey key = prepare.launch.attempt;
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
  node.tell(Go{key, prepare.launch.fence});
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::running));
  const std::int64_t supervisor = node.supervisor_pid(key);
  node.stop();
  std::ofstream(work / "finish");
  const BootTime deadline = os::boot_now() + Seconds(20);
  while (!std::filesystem::exists(work / "spool/jobs/1.1/exit") && os::boot_now() < deadline)
    ::usleep(5000);
  while (::waitpid(static_cast<pid_t>(supervisor), nullptr, 0) < 0 && errno == EINTR) {
  }
  node.start();
  EXPECT_EQ(node.report(key).phase, AttemptPhase::done);
  EXPECT_EQ(node.report(key).exit.code, 6);
  node.tell(Forget{key, prepare.launch.fence});
  EXPECT_FALSE(node.knows(key));
  EXPECT_FALSE(std::filesystem::exists(work / "spool/jobs/1.1"));
  node.tell(prepare);  // delayed in the network for longer than the attempt existed
  EXPECT_FALSE(node.knows(key));
  EXPECT_TRUE(node.refusals.empty()) << "a refusal would say that it never ran";
}

TEST_F(Baremetal, SecondDaemonOnTheSameSpoolIsRefused) {
  Result<std::unique_ptr<FileSpool>> second = FileSpool::open(work / "spool");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::already_exists);
}

TEST_F(Baremetal, JobGetsItsEnvironmentArgumentsAndDirectory) {
  Prepare prepare = job(4,
                        "pwd; echo \"$1|$2\"; echo \"$COLOUR\"; echo $ARES_JOB_ID $ARES_JOB_NAME "
                        "$ARES_NNODES; umask\n"
                        "echo \"[$CUDA_VISIBLE_DEVICES]\"\n");
  edit(prepare).arguments = {"a b", "c"};
  edit(prepare).umask = 027;
  prepare.launch.share.gpus = {GpuIndex(1), GpuIndex(3)};
  using namespace std::string_literals;
  prepare.environment = std::make_shared<std::string>("COLOUR=green\nblue\0PATH=/usr/bin:/bin\0"s);
  ASSERT_EQ(node.run(prepare).exit.code, 0);
  EXPECT_EQ(output(), work.path() + "\na b|c\ngreen\nblue\n4 test 1\n0027\n[1,3]\n");
}

TEST_F(Baremetal, OutputFilesFollowTheirPatterns) {
  Prepare prepare = job(12, "echo to-out; echo to-err >&2\n");
  edit(prepare).std_out = "%x-%5j.%u.%%";
  edit(prepare).std_err = work / "err-%A_%a-%n";
  ASSERT_EQ(node.run(prepare).exit.code, 0);
  const std::string user = os::find_user(UserId(::geteuid()))->name;
  EXPECT_EQ(output("test-00012." + user + ".%"), "to-out\n");
  EXPECT_EQ(output("err-12_0-0"), "to-err\n");

  Prepare standard = job(13, "echo default; echo both >&2\n");
  edit(standard).std_out.clear();
  ASSERT_EQ(node.run(standard).exit.code, 0);
  EXPECT_EQ(output("ares-13.out"), "default\nboth\n");
}

TEST_F(Baremetal, AppendKeepsAndTruncateDropsOldContent) {
  std::ofstream(work / "out") << "old\n";
  Prepare prepare = job(1, "echo new\n");
  edit(prepare).open_mode = OpenMode::append;
  ASSERT_EQ(node.run(prepare).exit.code, 0);
  EXPECT_EQ(output(), "old\nnew\n");
  ASSERT_EQ(node.run(job(2, "echo only\n")).exit.code, 0);
  EXPECT_EQ(output(), "only\n");
}

TEST_F(Baremetal, UnusableOutputFileFailsTheJobWithAReason) {
  Prepare prepare = job(1, "echo never > mark\n");
  edit(prepare).std_out = "no/such/directory/out";
  const AttemptReport report = node.run(prepare);
  EXPECT_EQ(report.phase, AttemptPhase::done);
  EXPECT_NE(report.exit.code, 0);
  EXPECT_NE(report.detail.find("no/such/directory/out"), std::string::npos) << report.detail;
  EXPECT_FALSE(std::filesystem::exists(work / "mark"));
}

TEST_F(Baremetal, TooLongOutputFileNameFailsOnlyItsJob) {
  std::uint64_t id = 0;
  for (const std::size_t letters : {5u, 70u, 2000u}) {  // 2000: more than a pipe holds
    Prepare prepare = job(++id, "echo never > mark\n");
    JobSpec& spec = edit(prepare);
    spec.name = spec.std_out = "";
    for (int i = 0; i < 500; ++i) spec.name += "ä";
    for (std::size_t i = 0; i < letters; ++i) spec.std_out += "%x";
    const AttemptReport report = node.run(prepare);
    EXPECT_EQ(report.phase, AttemptPhase::done) << letters;
    EXPECT_EQ(report.exit.code, 1);
    EXPECT_LE(report.detail.size(), kLongestCause);
    EXPECT_TRUE(report.detail.starts_with("cannot open output file ää")) << report.detail;
    EXPECT_TRUE(report.detail.ends_with("ä...: File name too long")) << report.detail;
  }
  EXPECT_FALSE(std::filesystem::exists(work / "mark"));
}

TEST_F(Baremetal, MissingInterpreterIsNamed) {
  Prepare prepare = job(1, "");
  prepare.script = std::make_shared<std::string>("#!/no/such/interpreter\n");
  const AttemptReport report = node.run(prepare);
  EXPECT_EQ(report.exit.code, 127);
  EXPECT_NE(report.detail.find("interpreter"), std::string::npos) << report.detail;
}

TEST_F(Baremetal, MissingDirectoryFallsBackToTmpWithAWarning) {
  Prepare prepare = job(1, "pwd\n");
  edit(prepare).work_dir = "/no/such/directory";
  edit(prepare).std_out = work / "out";
  ASSERT_EQ(node.run(prepare).exit.code, 0);
  EXPECT_NE(output().find("/no/such/directory"), std::string::npos);
  EXPECT_EQ(output().substr(output().size() - 5), "/tmp\n");
}

TEST_F(Baremetal, CountsCpuTimeAndMemoryOfAllProcesses) {
  const AttemptReport report =
      node.run(job(1,
                   "(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done) & wait\nhead -c 50000000 "
                   "/dev/zero | tail > /dev/null\n"));
  ASSERT_EQ(report.phase, AttemptPhase::done);
  EXPECT_GT(report.usage.user_cpu + report.usage.system_cpu, std::chrono::milliseconds(50));
  EXPECT_GT(report.usage.max_rss, Bytes::mib(40));
}

TEST_F(Baremetal, CountsWhatAllProcessesWriteToStorage) {
  struct statfs files {};
  ASSERT_EQ(::statfs(".", &files), 0);
  const AttemptReport report = node.run(job(
      1, "file=$(mktemp " + std::filesystem::current_path().string() +
             "/written.XXXXXX)\n(dd if=/dev/zero of=$file bs=1M count=3 conv=fsync) & wait\n"
             "dd if=/dev/zero of=$file bs=1M count=2 oflag=append conv=notrunc,fsync\nrm $file\n"));
  ASSERT_EQ(report.phase, AttemptPhase::done);
  ASSERT_EQ(report.exit.code, 0);
  EXPECT_LT(report.usage.disk_written, Bytes::mib(7)) << "what its supervisor writes is not its";
  if (files.f_type == TMPFS_MAGIC) GTEST_SKIP() << "the working directory is on no storage";
  EXPECT_GE(report.usage.disk_written, Bytes::mib(5));
}

TEST_F(Baremetal, CountsWhatAKilledJobWroteToStorage) {
  struct statfs files {};
  ASSERT_EQ(::statfs(".", &files), 0);
  if (files.f_type == TMPFS_MAGIC) GTEST_SKIP() << "the working directory is on no storage";
  auto probe = os::Cgroup::plan("ares.probe." + std::to_string(::getpid()), os::Limits{});
  if (!probe || !probe->create()) GTEST_SKIP() << "needs a control group to write to";
  const std::string here = std::filesystem::current_path().string();
  const std::string file = here + "/written." + std::to_string(::getpid());
  const std::string done = file + ".done";
  // When all are killed, no process has waited for the shell that waited for dd.
  Prepare prepare = job(1, "dd if=/dev/zero of=" + file + " bs=1M count=4 conv=fsync\ntouch " +
                               done + "\nsleep 100\n");
  const AttemptKey key = prepare.launch.attempt;
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
  node.tell(Go{key, prepare.launch.fence});
  ASSERT_TRUE(node.until([&] { return std::filesystem::exists(done); }));
  node.tell(Kill{key, prepare.launch.fence, true});
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::done));
  std::filesystem::remove(file);
  std::filesystem::remove(done);
  EXPECT_GE(node.report(key).usage.disk_written, Bytes::mib(4));
}

TEST_F(Baremetal, JobAboveItsMemoryIsOutOfMemory) {
  std::optional<os::Cgroup> probe =
      os::Cgroup::plan("ares.probe." + std::to_string(::getpid()), {.memory = Bytes::mib(64)});
  if (!probe || !probe->create() || !probe->limits().limits_memory())
    GTEST_SKIP() << "needs a memory controller to write to";
  Prepare prepare = job(1, "head -c 300000000 /dev/zero | tail > /dev/null\necho survived\n");
  prepare.launch.share.memory = Bytes::mib(64);
  const AttemptReport report = node.run(prepare);
  EXPECT_EQ(report.phase, AttemptPhase::done);
  EXPECT_TRUE(report.exit.out_of_memory);
  EXPECT_LT(report.usage.max_rss, Bytes::mib(80));

  Prepare modest = job(2, "echo fine\n");
  modest.launch.share.memory = Bytes::mib(64);
  EXPECT_FALSE(node.run(modest).exit.out_of_memory);
}

TEST_F(Baremetal, UnknownUserIsAFaultOfTheJob) {
  Prepare prepare = job(1, "true\n");
  edit(prepare).uid = UserId(3999999999);
  node.tell(prepare);
  ASSERT_EQ(node.refusals.size(), 1u);
  EXPECT_FALSE(node.refusals[0].node_fault);
  EXPECT_NE(node.refusals[0].cause.find("3999999999"), std::string::npos);
}

TEST_F(Baremetal, ExpiredLeaseFreezesAndRenewalThaws) {
  if (!os::can_make_namespace(os::namespace_kind())) GTEST_SKIP() << "needs a pid namespace";
  Prepare prepare = job(1, "while :; do echo tick >> mark; sleep 0.02; done\n");
  const AttemptKey key = prepare.launch.attempt;
  prepare.launch.leased = true;
  node.lease = Seconds(1);
  node.restart();
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
  node.connect();
  node.tell(Go{key, prepare.launch.fence});
  ASSERT_TRUE(node.until([&] { return !output("mark").empty(); }));
  std::string before = "x";
  // Frozen: the output does not change between two reads.
  ASSERT_TRUE(node.until([&] {
    const std::string first = output("mark");
    node.until([] { return false; }, Seconds(0));
    ::usleep(300'000);
    before = first;
    return output("mark") == first;
  }));
  EXPECT_EQ(node.report(key).phase, AttemptPhase::running);
  node.lease = Seconds(300);
  node.connect();
  EXPECT_TRUE(node.until([&] { return output("mark").size() > before.size(); }));
  node.tell(Kill{key, prepare.launch.fence, true});
  EXPECT_TRUE(node.until_phase(key, AttemptPhase::done));
}

TEST_F(Baremetal, RunsWithUserAndGroupsOfTheSubmitter) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to change the user";
  Result<os::User> nobody = os::find_user("nobody");
  ASSERT_TRUE(nobody);
  Prepare prepare = job(1,
                        "id -u; id -g; id -G; cat $0 >/dev/null && echo readable; ls "
                        "$ARES_ATTEMPT_DIR 2>&1 | head -1\n"
                        "touch mine\n");
  edit(prepare).uid = nobody->uid;
  edit(prepare).gid = nobody->gid;
  const AttemptReport report = node.run(prepare);
  ASSERT_EQ(report.exit.code, 0) << report.detail;
  const std::string id = std::to_string(nobody->uid.value()),
                    gid = std::to_string(nobody->gid.value());
  EXPECT_EQ(output().substr(0, output().find("readable") + 9),
            id + "\n" + gid + "\n" + gid + "\nreadable\n");
  EXPECT_NE(output().find("Permission denied"), std::string::npos) << "records are the daemon's";
  struct stat info {};
  ASSERT_EQ(::stat((work / "mine").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, nobody->uid.value());
}

}  // namespace
}  // namespace ares::exec
