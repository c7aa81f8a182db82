#include "os/job_slice.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "unit/os/own_groups.h"

namespace ares::os {
namespace {

// Exit status of a process that enters the groups of a daemon and then executes the function.
int as_daemon(const OwnGroups& groups, const std::function<int()>& act) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(groups.enter() ? act() : 99);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(JobSlice, IsBesideTheDaemonInEveryHierarchy) {
  const OwnGroups groups;
  if (!groups) GTEST_SKIP() << "needs groups of its own in every hierarchy";
  const int status = as_daemon(groups, [] {
    const JobSlice slice = JobSlice::make(*Hierarchies::of_this_process(), ::getpid());
    for (const JobSlice::Place& place : slice.places())
      if (!place.stays.empty() || place.enter.empty()) return 1;
    if (const Status entered = slice.enter(::getpid()); !entered) {
      std::fprintf(stderr, "%s\n", entered.error().message.c_str());
      return 2;
    }
    const Hierarchies inside = *Hierarchies::of_this_process();
    for (const Hierarchy& hierarchy : inside.all())
      if (hierarchy.own.find("/daemon") != std::string::npos) return 3;
    // The daemon sees where supervisors make groups.
    if (inside.unified() != slice.hierarchies().unified()) return 4;
    for (const char* controller :
         {"memory", "cpuset", "pids", "devices", "freezer", "name=systemd"})
      if (inside.v1(controller) != slice.hierarchies().v1(controller)) return 5;
    const JobSlice again = JobSlice::make(inside, ::getpid());
    for (const JobSlice::Place& place : again.places())
      if (!place.stays.empty() || !place.enter.empty()) return 6;  // nothing is left to be done
    return 0;
  });
  EXPECT_EQ(status, 0);
}

TEST(JobSlice, EmptyOneIsRemoved) {
  const OwnGroups groups;
  if (!groups) GTEST_SKIP() << "needs groups of its own in every hierarchy";
  ASSERT_EQ(as_daemon(groups,
                      [] {
                        const JobSlice slice =
                            JobSlice::make(*Hierarchies::of_this_process(), ::getpid());
                        slice.remove();
                        // Another daemon may do so before a supervisor enters.
                        if (!slice.enter(::getpid())) return 1;
                        slice.remove();  // not while a process is in it
                        return 0;
                      }),
            0);
  EXPECT_FALSE(groups.others().empty());
  // The process that was in it may count for a moment longer.
  for (int i = 0; i < 100 && !groups.others().empty(); ++i) {
    const auto remove = [] {
      JobSlice::make(*Hierarchies::of_this_process(), ::getpid()).remove();
      return 0;
    };
    ASSERT_EQ(as_daemon(groups, remove), 0);
  }
  EXPECT_EQ(groups.others(), std::vector<std::string>{});
}

// Such as a shell's: what was started in it is to end with it.
TEST(JobSlice, GroupWithOtherProgramsIsNotLeft) {
  const OwnGroups groups;
  if (!groups) GTEST_SKIP() << "needs groups of its own in every hierarchy";
  const int status = as_daemon(groups, [] {
    int ready[2];
    if (::pipe2(ready, O_CLOEXEC) != 0) return 1;
    const pid_t other = ::fork();
    if (other == 0) {
      ::execlp("sleep", "sleep", "100", nullptr);
      ::_exit(1);
    }
    ::close(ready[1]);
    char none = 0;
    (void)!::read(ready[0], &none, 1);  // closed by exec
    const JobSlice slice = JobSlice::make(*Hierarchies::of_this_process(), ::getpid());
    ::kill(other, SIGKILL);
    for (const JobSlice::Place& place : slice.places())
      if (place.stays.find("(sleep)") == std::string::npos || !place.enter.empty()) return 2;
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(groups.others(), std::vector<std::string>{});
}

// Plain files stand in for the kernel's.
class PlainGroups : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-slice-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(path); }

  void group(const std::string& name, const std::string& processes = "") const {
    std::filesystem::create_directories(path + name);
    std::ofstream(path + name + "/cgroup.procs") << processes;
  }
  Hierarchies hierarchies(const std::string& own) const {
    return {"1 0 0:1 / " + path + "/pids rw - cgroup cgroup rw,pids\n" + "2 0 0:2 / " + path +
                "/unified rw - cgroup2 cgroup2 rw\n",
            "1:pids:" + own + "\n0::" + own + "\n"};
  }

  std::string path;
};

TEST_F(PlainGroups, UnitOfSystemdIsTheSliceIfItExists) {
  const std::string self = std::to_string(::getpid()) + "\n";
  for (const char* name : {"/pids", "/unified"}) {
    const std::string hierarchy = name;
    group(hierarchy + "/ares.slice/aresd.service", self);
    group(hierarchy + "/ares.slice/ares-jobs.service");
  }
  group("/unified/ares.slice/ares-jobs.service/ares.supervisors");
  const std::string unit = "/ares.slice/ares-jobs.service";
  std::ofstream(path + "/unified" + unit + "/cgroup.controllers") << "memory pids\n";
  std::ofstream(path + "/unified" + unit + "/cgroup.subtree_control") << "memory\n";
  const JobSlice slice = JobSlice::make(hierarchies("/ares.slice/aresd.service"), ::getpid());
  ASSERT_EQ(slice.places().size(), 2u);
  EXPECT_EQ(slice.places()[0].groups, path + "/pids" + unit);
  EXPECT_EQ(slice.places()[0].enter, path + "/pids" + unit);
  EXPECT_EQ(slice.places()[1].groups, path + "/unified" + unit);
  EXPECT_EQ(slice.places()[1].enter, path + "/unified" + unit + "/ares.supervisors");
  EXPECT_EQ(read_file(path + "/unified" + unit + "/cgroup.subtree_control")->substr(0, 5), "+pids");
  EXPECT_EQ(slice.hierarchies().v1("pids"), path + "/pids" + unit);
  EXPECT_EQ(slice.hierarchies().unified(), path + "/unified" + unit);
  EXPECT_EQ(hierarchies(unit + "/ares.supervisors").unified(), path + "/unified" + unit);
}

TEST_F(PlainGroups, RootIsNotLeft) {
  group("/pids", "1\n2\n");
  group("/unified", "1\n2\n");
  const JobSlice slice = JobSlice::make(hierarchies("/"), ::getpid());
  for (const JobSlice::Place& place : slice.places()) {
    EXPECT_EQ(place.groups, place.hierarchy.root);
    EXPECT_EQ(place.enter, "");
    EXPECT_EQ(place.stays, "");
  }
}

TEST_F(PlainGroups, DaemonWithinAJobStaysInIt) {
  const std::string own = "/ares.jobs/ares.7.1.99/daemon";
  group("/pids" + own);
  group("/unified" + own);
  const JobSlice slice = JobSlice::make(hierarchies(own), ::getpid());
  for (const JobSlice::Place& place : slice.places()) {
    EXPECT_EQ(place.groups, place.hierarchy.own);
    EXPECT_EQ(place.enter, "");
    EXPECT_NE(place.stays, "");
  }
}

TEST_F(PlainGroups, ThoseOfSupervisorsThatHaveGoneAreRemoved) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  const std::string gone = std::to_string(child), here = std::to_string(::getpid());
  const std::vector<std::string> left{"ares.7.1." + gone, "ares.12_3.1." + gone,
                                      "ares.probe." + gone};
  const std::vector<std::string> kept{"ares.8.1." + here, "other." + gone, "ares.jobs"};
  for (const auto& names : {left, kept})
    for (const std::string& name : names)
      std::filesystem::create_directories(path + "/pids/" + name);
  JobSlice::make(hierarchies("/"), ::getpid()).remove_leftovers();
  for (const std::string& name : left)
    EXPECT_FALSE(std::filesystem::exists(path + "/pids/" + name)) << name;
  for (const std::string& name : kept)
    EXPECT_TRUE(std::filesystem::exists(path + "/pids/" + name)) << name;
}

}  // namespace
}  // namespace ares::os
