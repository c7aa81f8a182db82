#include "exec/baremetal/remains.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/task_tree.h"
#include "unit/exec/real_node.h"

namespace ares::exec {
namespace {

const AttemptKey kKey{{JobId(7), TaskIndex{}}, AttemptNo(1)};

// An attempt whose supervisor is dead, past `go`.
class RemainsTest : public testing::Test {
 protected:
  void SetUp() override {
    dir = std::move(*spool->create(kKey));
    put(node::Record::intent,
        encode(node::IntentRecord{kKey, Fence(70), 1, boot_id, 0, false, {}}));
    put(node::Record::go, encode(node::GoRecord{Fence(70), {}}));
  }
  void put(node::Record record, const std::string& text) { ASSERT_TRUE(dir->create(record, text)); }
  node::Remains end(const std::string& config = {}) {
    return end_remains(*spool, kKey, {"n1", boot_id, config});
  }

  TemporaryDirectory work;
  std::string boot_id = *os::boot_id();
  std::unique_ptr<FileSpool> spool = std::move(*FileSpool::open(work / "spool"));
  std::unique_ptr<node::AttemptDir> dir;
};

// Regression: after the init of an attempt had ended, its pid became that of another attempt's init, and the attempt stayed
// for as long as the other one ran.
TEST_F(RemainsTest, InitOfAnotherAttemptIsNotTakenForOurs) {
  if (!os::can_make_namespace(os::namespace_kind())) GTEST_SKIP() << "needs a pid namespace";
  os::TaskTree other([](const std::string&) { return os::TaskTree::BodyFailure{}; },
                     {os::namespace_kind(), true}, std::nullopt);
  const Result<pid_t> init = other.spawn_gated();
  ASSERT_TRUE(init) << init.error().message;
  node::TaskRecord task;
  task.pid = *init;
  task.own_pid_namespace = true;
  task.start_ticks = os::process_start_ticks(*init) - 1;
  put(node::Record::task, encode(task));
  EXPECT_EQ(end().state, node::Remains::none);
}

TEST_F(RemainsTest, InitThatStillExistsIsWaitedFor) {
  if (!os::can_make_namespace(os::namespace_kind())) GTEST_SKIP() << "needs a pid namespace";
  os::TaskTree tree([](const std::string&) { return os::TaskTree::BodyFailure{}; },
                    {os::namespace_kind(), true}, std::nullopt);
  const Result<pid_t> init = tree.spawn_gated();
  ASSERT_TRUE(init) << init.error().message;
  node::TaskRecord task;
  task.pid = *init;
  task.own_pid_namespace = true;
  task.start_ticks = os::process_start_ticks(*init);
  put(node::Record::task, encode(task));
  EXPECT_EQ(end().state, node::Remains::dying);
}

TEST_F(RemainsTest, ConfirmationIsNotAdvisedWhileTheReaperLives) {
  node::TaskRecord task;
  task.pid = ::getpid();
  put(node::Record::task, encode(task));
  node::StartedRecord started;
  started.reaper_pid = ::getpid();
  started.reaper_start_ticks = os::process_start_ticks(::getpid());
  put(node::Record::started, encode(started));
  const node::Remains remains = end();
  EXPECT_EQ(remains.state, node::Remains::dying);
  EXPECT_TRUE(remains.advice.ends_with(" process " + std::to_string(::getpid()))) << remains.advice;
}

TEST_F(RemainsTest, AdviceIsTheCommandForTheConfigurationOfTheDaemon) {
  node::TaskRecord task;
  task.pid = ::getpid();
  put(node::Record::task, encode(task));
  const auto ends_with = [](const node::Remains& remains, const std::string& command) {
    EXPECT_EQ(remains.state, node::Remains::unknown);
    EXPECT_TRUE(remains.advice.ends_with(": " + command)) << remains.advice;
  };
  ends_with(end(), "aresd --node n1 --confirm-ended 7.1");
  ends_with(end("/srv/a.yaml"), "aresd --config /srv/a.yaml --node n1 --confirm-ended 7.1");
  ends_with(end("/srv/it's a.yaml"),
            "aresd --config '/srv/it'\\''s a.yaml' --node n1 --confirm-ended 7.1");
}

}  // namespace
}  // namespace ares::exec
