// Jobs are outside of the control groups of the daemon that starts them.
// Tests: job_slice
#include <sys/wait.h>

#include "unit/exec/real_node.h"
#include "unit/os/own_groups.h"

#include <gtest/gtest.h>

namespace ares::exec {
namespace {

// Files by which a job and the test tell each other something.
bool appears(const std::string& path, Seconds patience = Seconds(30)) {
  const BootTime deadline = os::boot_now() + patience;
  while (!std::filesystem::exists(path) && os::boot_now() < deadline) ::usleep(5000);
  return std::filesystem::exists(path);
}

std::string groups_of(std::int64_t pid) {
  return file_text("/proc/" + std::to_string(pid) + "/cgroup");
}

// As systemd stops a service with its default KillMode: a restart of the daemon killed every job.
TEST(DaemonGroups, JobsGoOnWhenEverythingInThemIsKilled) {
  const os::OwnGroups groups;
  if (!groups) GTEST_SKIP() << "needs groups of its own in every hierarchy";
  TemporaryDirectory work;
  constexpr int kJobs = 3;
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    if (!groups.enter()) ::_exit(1);
    RealNode node(work / "spool");
    for (int job = 1; job <= kJobs; ++job) {
      const std::string own = work / std::to_string(job);
      const Prepare prepare = make_prepare(node, static_cast<std::uint64_t>(job),
                                           "setsid sh -c 'while :; do sleep 0.05; done' &\n"
                                           "echo $$ > " +
                                               own +
                                               ".up\n"
                                               "while [ ! -e finish ]; do sleep 0.02; done\n"
                                               "exit " +
                                               std::to_string(10 + job) + "\n",
                                           work.path());
      node.tell(prepare);
      node.until_phase(prepare.launch.attempt, AttemptPhase::ready);
      node.tell(Go{prepare.launch.attempt, prepare.launch.fence});
      node.until([&] { return std::filesystem::exists(own + ".up"); });
    }
    std::ofstream(work / "all up").close();
    node.until([] { return false; }, Seconds(100));
    ::_exit(0);
  }
  ASSERT_TRUE(appears(work / "all up"));
  std::vector<std::int64_t> supervisors;
  for (int job = 1; job <= kJobs; ++job) {
    const std::string directory = work / "spool/jobs" + "/" + std::to_string(job) + ".1";
    const auto started = node::decode_started(file_text(directory + "/started"));
    const auto task = node::decode_task(file_text(directory + "/task"));
    ASSERT_TRUE(started && task);
    supervisors.push_back(started->pid);
    for (const std::int64_t pid : {started->pid, task->pid})
      EXPECT_EQ(groups_of(pid).find("/daemon"), std::string::npos) << groups_of(pid);
  }
  groups.kill_daemon();
  int status = 0;
  ASSERT_EQ(::waitpid(daemon, &status, 0), daemon);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  for (const std::int64_t pid : supervisors)
    EXPECT_EQ(::kill(static_cast<pid_t>(pid), 0), 0) << "a supervisor was killed, too";
  {
    RealNode node(work / "spool");
    std::ofstream(work / "finish").close();
    for (int job = 1; job <= kJobs; ++job) {
      const AttemptKey key{{JobId(static_cast<std::uint64_t>(job)), TaskIndex{}}, AttemptNo(1)};
      EXPECT_TRUE(node.until_phase(key, AttemptPhase::done));
      EXPECT_EQ(node.report(key).exit.code, 10 + job) << node.report(key).detail;
    }
  }
  const BootTime deadline = os::boot_now() + Seconds(10);
  const auto attempts = [&] {
    std::vector<std::string> left;
    for (const std::string& group : groups.others())
      if (const std::string name = group.substr(group.rfind('/') + 1);
          name.starts_with("ares.") && std::isdigit(static_cast<unsigned char>(name[5])))
        left.push_back(group);
    return left;
  };
  while (!attempts().empty() && os::boot_now() < deadline) ::usleep(5000);
  EXPECT_EQ(attempts(), std::vector<std::string>{});
}

}  // namespace
}  // namespace ares::exec
