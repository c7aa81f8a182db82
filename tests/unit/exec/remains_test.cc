#include "exec/baremetal/remains.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/task_tree.h"
#include "real_node.h"

namespace ares::exec {
namespace {

const AttemptKey kKey{{JobId(7), TaskIndex{}}, AttemptNo(1)};

// An attempt whose supervisor is dead, past `go`.
class RemainsTest : public testing::Test {
 protected:
  void SetUp() override {
    dir = std::move(*spool->create(kKey));
    put(node::Record::intent, encode(node::IntentRecord{kKey, Fence(70), 1, boot_id, 0, false, {}}));
    put(node::Record::started, encode(node::StartedRecord{}));
    put(node::Record::go, encode(node::GoRecord{Fence(70), {}}));
  }
  void put(node::Record record, const std::string& text) {
    ASSERT_TRUE(dir->create(record, text));
  }
  node::Remains end() { return end_remains(*spool, kKey, {"n1", boot_id}); }

  TemporaryDirectory work;
  std::string boot_id = *os::boot_id();
  std::unique_ptr<FileSpool> spool = std::move(*FileSpool::open(work / "spool"));
  std::unique_ptr<node::AttemptDir> dir;
};

// Regression: after the init of an attempt had ended, its pid became that of another attempt's init, and the attempt stayed
// for as long as the other one ran.
TEST_F(RemainsTest, InitOfAnotherAttemptIsNotTakenForOurs) {
  if (!os::can_make_namespace(os::namespace_kind())) GTEST_SKIP() << "needs a pid namespace";
  os::TaskTree other([] { return os::TaskTree::BodyFailure{}; }, {os::namespace_kind(), true},
                     std::nullopt);
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
  os::TaskTree tree([] { return os::TaskTree::BodyFailure{}; }, {os::namespace_kind(), true},
                    std::nullopt);
  const Result<pid_t> init = tree.spawn_gated();
  ASSERT_TRUE(init) << init.error().message;
  node::TaskRecord task;
  task.pid = *init;
  task.own_pid_namespace = true;
  task.start_ticks = os::process_start_ticks(*init);
  put(node::Record::task, encode(task));
  EXPECT_EQ(end().state, node::Remains::dying);
}

}  // namespace
}  // namespace ares::exec
