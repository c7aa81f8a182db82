// What a job cannot do to the node: with real processes of another user than ours.
// Tests: task_body, access_list
#include <fcntl.h>
#include <grp.h>
#include <sys/wait.h>

#include "os/access_list.h"
#include "os/cgroup.h"
#include "unit/exec/real_node.h"

#include <gtest/gtest.h>

namespace ares::exec {
namespace {

class Isolation : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to run jobs of another user";
    Result<os::User> found = os::find_user("nobody");
    ASSERT_TRUE(found);
    user = *found;
  }
  Prepare job(std::uint64_t id, const std::string& script) {
    Prepare prepare = make_prepare(node, id, script, work.path());
    edit(prepare).uid = user.uid;
    edit(prepare).gid = user.gid;
    return prepare;
  }
  std::string output(const std::string& name = "out") { return file_text(work / name); }

  // Those of the paths that the user may write to.
  std::vector<std::string> writable(const std::vector<std::string>& paths) const {
    std::vector<std::string> found;
    for (const std::string& path : paths) {
      const pid_t child = ::fork();
      if (child == 0) {
        const gid_t group = user.gid.value();
        const uid_t uid = user.uid.value();
        if (::setgroups(1, &group) != 0 || ::setresgid(group, group, group) != 0 ||
            ::setresuid(uid, uid, uid) != 0)
          ::_exit(2);
        ::_exit(::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0 ? 1 : 0);
      }
      int status = 0;
      ::waitpid(child, &status, 0);
      if (status != 0) found.push_back(path);
    }
    return found;
  }

  os::User user;
  TemporaryDirectory work;
  RealNode node{work / "spool"};
};

// Regression: the script belonged to the user, who could fill the file system of the spool with it.
TEST_F(Isolation, UserCannotChangeTheBatchScript) {
  const AttemptReport report = node.run(job(1,
                                            "s=$ARES_ATTEMPT_DIR/script\n"
                                            "chmod u+w $s && echo changed mode\n"
                                            "(echo more >> $s) && echo appended\n"
                                            "(: > $s) && echo emptied\n"
                                            "mv $s $s.2 && echo moved\n"
                                            "rm -f $s && echo removed\n"
                                            "touch $ARES_ATTEMPT_DIR/mine && echo created\n"
                                            "ln $s $PWD/link && echo linked && (: >> $PWD/link) && "
                                            "echo appended to the link\n"
                                            "cat \"$0\" | head -1\n"));
  ASSERT_EQ(report.phase, AttemptPhase::done);
  EXPECT_EQ(report.exit.code, 0) << report.detail;
  std::string text = output();
  if (const std::size_t linked = text.find("linked\n"); linked != std::string::npos)
    text.erase(linked, 7);  // which fs.protected_hardlinks decides
  EXPECT_EQ(text.substr(text.rfind('\n', text.size() - 2) + 1), "#!/bin/sh\n") << "it can be read";
  for (const char* done : {"changed", "appended", "emptied", "moved", "removed", "created"})
    EXPECT_EQ(text.find(done), std::string::npos) << done;
}

TEST_F(Isolation, NothingInTheSpoolIsWritableForUsers) {
  const Prepare prepare = job(1, "echo up > up; while [ ! -e finish ]; do sleep 0.02; done\n");
  const AttemptKey key = prepare.launch.attempt;
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
  node.tell(Go{key, prepare.launch.fence});
  ASSERT_TRUE(node.until([&] { return output("up") == "up\n"; }));
  node.restart();  // the supervisor makes its socket
  ASSERT_TRUE(node.until([&] { return std::filesystem::exists(work / "spool/jobs/1.1/sock"); }));
  std::vector<std::string> paths{work / "spool"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(work / "spool"))
    // The user's programs connect to it. It holds nothing, and its reader looks at who they are.
    if (entry.path().filename() != "steps")
      paths.push_back(entry.path());
    else
      EXPECT_TRUE(entry.is_socket());
  EXPECT_GT(paths.size(), 10u);
  EXPECT_EQ(writable(paths), std::vector<std::string>{});
  EXPECT_EQ(writable({work.path()}).size(), 1u) << "the test can tell";
  for (const std::string& path : paths) {
    struct stat info {};
    EXPECT_TRUE(::lstat(path.c_str(), &info) == 0 && info.st_uid != user.uid.value())
        << path << ": its owner may change its mode";
  }
  std::ofstream(work / "finish");
  EXPECT_TRUE(node.until_phase(key, AttemptPhase::done));
}

// Also of those in the user's group.
TEST_F(Isolation, ScriptIsReadableForItsUserOnly) {
  Result<os::User> other = os::find_user("daemon");
  ASSERT_TRUE(other);
  std::ofstream(work / "probe");
  if (const Status made = os::let_user_execute(work / "probe", user.uid);
      !made && made.error().code == ErrorCode::failed_precondition)
    GTEST_SKIP() << "this file system has no access control lists";
  const Prepare prepare = job(1, "echo up > up; while [ ! -e finish ]; do sleep 0.02; done\n");
  const AttemptKey key = prepare.launch.attempt;
  node.tell(prepare);
  ASSERT_TRUE(node.until_phase(key, AttemptPhase::ready));
  node.tell(Go{key, prepare.launch.fence});
  ASSERT_TRUE(node.until([&] { return output("up") == "up\n"; }));
  const std::string as = "setpriv --reuid " + std::to_string(other->uid.value()) + " --regid " +
                         std::to_string(user.gid.value()) + " --clear-groups cat " +
                         (work / "spool/jobs/1.1/script") + " >/dev/null 2>&1";
  EXPECT_NE(std::system(as.c_str()), 0);
  std::ofstream(work / "finish");
  EXPECT_TRUE(node.until_phase(key, AttemptPhase::done));
}

// Whether the control groups of this machine set such limits for us.
bool enforced(os::Limits limits, bool (os::LimitGroups::*one)() const) {
  auto probe = os::Cgroup::plan("ares.probe." + std::to_string(::getpid()), std::move(limits));
  return probe && probe->create() && (probe->limits().*one)();
}

// Regression: the job was only bound to its CPUs, which it could undo.
TEST_F(Isolation, JobIsKeptOnItsCpus) {
  if (!enforced({.cpus = {0}}, &os::LimitGroups::keeps_cpus))
    GTEST_SKIP() << "needs a cpuset controller to write to";
  Prepare prepare = job(1,
                        "taskset -pc 0-63 $$ >/dev/null 2>&1; nproc; sh -c 'taskset -pc 0-63 "
                        "$$ >/dev/null; nproc'\n");
  prepare.launch.share.cpu_ids = {0};
  const AttemptReport report = node.run(prepare);
  EXPECT_EQ(report.exit.code, 0) << report.detail;
  EXPECT_EQ(output(), "1\n1\n");
}

// Regression: nothing but RLIMIT_NPROC limited a fork bomb.
TEST_F(Isolation, ForkBombEndsAtTheLimitOfTheJob) {
  if (!enforced({.processes = 10}, &os::LimitGroups::limits_processes))
    GTEST_SKIP() << "needs a pids controller to write to";
  node.max_processes_per_cpu = 40;
  node.restart();
  const AttemptReport report = node.run(job(1,
                                            "exec python3 -c 'import os, time\n"
                                            "n = 0\n"
                                            "while n < 200:\n"
                                            "  try:\n"
                                            "    if os.fork() == 0: time.sleep(100)\n"
                                            "  except OSError: break\n"
                                            "  n += 1\n"
                                            "print(n, flush=True)'\n"));
  EXPECT_EQ(report.phase, AttemptPhase::done);
  EXPECT_EQ(report.exit.code, 0) << report.detail;
  EXPECT_GT(std::atoi(output().c_str()), 30);
  EXPECT_LT(std::atoi(output().c_str()), 40);
}

// Regression: the largest process alone counted.
TEST_F(Isolation, MemoryOfAllProcessesCountsTogether) {
  if (!enforced({.memory = Bytes::mib(400)}, &os::LimitGroups::limits_memory))
    GTEST_SKIP() << "needs a memory controller to write to";
  Prepare prepare = job(1,
                        "all=$(mktemp -d)\n"
                        "for i in 1 2 3; do\n"
                        "  python3 -c 'import os, sys, time; x = b\"x\" * 40000000\n"
                        "open(sys.argv[1] + \"/\" + sys.argv[2], \"w\").close()\n"
                        "while len(os.listdir(sys.argv[1])) < 3: time.sleep(0.01)' $all $i &\n"
                        "done\nwait\nrm -r $all\n");
  prepare.launch.share.memory = Bytes::mib(400);
  const AttemptReport report = node.run(prepare);
  ASSERT_EQ(report.exit.code, 0) << report.detail;
  EXPECT_GT(report.usage.max_rss, Bytes::mib(110));
  EXPECT_LT(report.usage.max_rss, Bytes::mib(400));
}

// Regression: the kernel adds the time of a child to its parent's when the parent waits for it.
TEST_F(Isolation, CpuTimeOfChildrenThatAreNotWaitedForCounts) {
  if (!enforced({.processes = 10}, &os::LimitGroups::limits_processes))
    GTEST_SKIP() << "needs control groups to write to";
  const AttemptReport report = node.run(job(1,
                                            "exec python3 -c 'import os, signal, time\n"
                                            "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
                                            "if os.fork() == 0:\n"
                                            "  while time.process_time() < 0.6: pass\n"
                                            "  os._exit(0)\n"
                                            "try: os.wait()\n"
                                            "except OSError: pass'\n"));
  ASSERT_EQ(report.exit.code, 0) << report.detail;
  EXPECT_GT(report.usage.user_cpu + report.usage.system_cpu, std::chrono::milliseconds(500));
}

// Regression: only CUDA_VISIBLE_DEVICES kept a job from the GPUs of others.
TEST_F(Isolation, JobCannotOpenTheGpusOfOthers) {
  if (!enforced({.denied_devices = {"c 1:7"}}, &os::LimitGroups::denies_devices))
    GTEST_SKIP() << "needs a devices controller to write to";
  node.gpu_devices = {{GpuIndex(0), {"c 1:7"}}, {GpuIndex(1), {"c 1:5"}}};
  node.restart();
  const std::string script =
      "for f in full zero null; do (exec </dev/$f) 2>/dev/null && echo $f; done; true\n";
  Prepare one = job(1, script);
  one.launch.share.gpus = {GpuIndex(1)};
  ASSERT_EQ(node.run(one).exit.code, 0);
  EXPECT_EQ(output(), "zero\nnull\n");
  ASSERT_EQ(node.run(job(2, script)).exit.code, 0);
  EXPECT_EQ(output(), "null\n") << "a job without GPUs";
}

// Regression: a job that asked for no memory had no limit.
TEST_F(Isolation, JobWithoutReservedMemoryHasThatOfTheNode) {
  if (!enforced({.memory = Bytes::mib(64)}, &os::LimitGroups::limits_memory))
    GTEST_SKIP() << "needs a memory controller to write to";
  node.inventory.memory = Bytes::mib(64);
  node.restart();
  const AttemptReport report =
      node.run(job(1, "head -c 300000000 /dev/zero | tail > /dev/null\necho survived\n"));
  EXPECT_EQ(report.phase, AttemptPhase::done);
  EXPECT_TRUE(report.exit.out_of_memory);
}

}  // namespace
}  // namespace ares::exec
