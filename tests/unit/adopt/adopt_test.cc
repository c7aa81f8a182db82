#include "adopt/adopt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "exec/baremetal/file_spool.h"
#include "node/step_spec.h"

namespace ares::adopt {
namespace {

using node::Record;
using testing::HasSubstr;

std::string text_of(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A spool with records of attempts, and directories in place of their control groups.
class Adopt : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-adopt-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    spool = std::move(*exec::FileSpool::open(folder + "/spool"));
  }
  void TearDown() override {
    spool.reset();
    std::filesystem::remove_all(folder);
  }

  std::string group(std::uint64_t job) const { return folder + "/group" + std::to_string(job); }
  AttemptKey attempt(std::uint64_t job) const { return {{JobId(job), TaskIndex{}}, AttemptNo{1}}; }
  // Of a script that started `at` seconds after 1970.
  void add_running(std::uint64_t job, const std::string& user, int at) {
    node::StepSpec spec;
    spec.launch.attempt = attempt(job);
    spec.launch.fence = Fence(5);
    spec.launch.layout = std::make_shared<const NodeLayout>();
    spec.launch.spec = std::make_shared<const JobSpec>();
    spec.user.name = user;
    auto dir = std::move(*spool->create(attempt(job)));
    ASSERT_TRUE(dir->create(Record::spec, node::encode(spec)));
    const Time when{std::chrono::seconds(at)};
    node::IntentRecord intent;
    intent.attempt = attempt(job);
    intent.fence = Fence(5);
    intent.boot_id = "boot";
    intent.at = when;
    ASSERT_TRUE(dir->create(Record::intent, node::encode(intent)));
    node::StartedRecord started;
    started.cgroups = group(job) + ":" + folder + "/none";
    started.at = when;
    ASSERT_TRUE(dir->create(Record::started, node::encode(started)));
    node::TaskRecord task;
    task.at = when;
    ASSERT_TRUE(dir->create(Record::task, node::encode(task)));
    ASSERT_TRUE(dir->create(Record::go, node::encode(node::GoRecord{Fence(5), when})));
    ASSERT_TRUE(*dir->lock());
    supervisors.push_back(std::move(dir));
    std::filesystem::create_directory(group(job));
    std::ofstream(group(job) + "/cgroup.procs");
    std::ofstream(group(job) + "/freezer.state") << "THAWED\n";
  }
  Status adopt_for(const std::string& user) const { return adopt(*spool, user, "boot", 4711); }

  std::string folder;
  std::unique_ptr<exec::FileSpool> spool;
  std::vector<std::unique_ptr<node::AttemptDir>> supervisors;
};

TEST_F(Adopt, TheLatestJobOfTheUserTakesTheProcess) {
  add_running(1, "ann", 100);
  add_running(2, "ann", 300);
  add_running(3, "ann", 200);
  add_running(4, "bob", 400);
  ASSERT_TRUE(adopt_for("ann"));
  EXPECT_EQ(text_of(group(2) + "/cgroup.procs"), "4711");
  for (const std::uint64_t other : {1, 3, 4})
    EXPECT_EQ(text_of(group(other) + "/cgroup.procs"), "");
  const auto jobs = running_jobs(*spool, "ann", "boot");
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs[0].groups, std::vector{group(2)}) << "those that exist";
}

TEST_F(Adopt, AUserWithoutARunningJobIsRefused) {
  add_running(1, "ann", 100);
  EXPECT_EQ(adopt_for("bob").error().message, "user bob has no running job on this node");
  EXPECT_EQ(adopt_for("bob").error().code, ErrorCode::permission_denied);
  node::ExitRecord exit;
  exit.fence = Fence(5);
  ASSERT_TRUE(supervisors[0]->create(Record::exit, node::encode(exit)));
  EXPECT_EQ(adopt_for("ann").error().message, "user ann has no running job on this node");
}

TEST_F(Adopt, ASuspendedJobTakesNoProcess) {
  add_running(1, "ann", 100);
  add_running(2, "ann", 200);
  std::ofstream(group(2) + "/freezer.state") << "FROZEN\n";
  ASSERT_TRUE(adopt_for("ann"));
  EXPECT_EQ(text_of(group(1) + "/cgroup.procs"), "4711") << "an earlier job does";
  std::ofstream(group(1) + "/freezer.state") << "FROZEN\n";
  EXPECT_EQ(adopt_for("ann").error().message, "job 2.1 is suspended");
}

// Nothing would end the session with the job.
TEST_F(Adopt, AJobWithoutAGroupThatEndsProcessesTakesNone) {
  add_running(1, "ann", 100);
  std::filesystem::remove(group(1) + "/freezer.state");
  EXPECT_THAT(adopt_for("ann").error().message, HasSubstr("has no control groups on this node"));
}

}  // namespace
}  // namespace ares::adopt
