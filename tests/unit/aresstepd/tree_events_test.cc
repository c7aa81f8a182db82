#include "aresstepd/tree_events.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ares::stepd {
namespace {

using os::TaskTree;

// Returns the given events from successive calls of collect(), and records what is forwarded.
class Looks {
 public:
  explicit Looks(std::vector<std::string> found) : found_(std::move(found)) {}

  // One wake-up of the supervisor.
  void wake() {
    forward_events([this] { return collect(); },
                   [this](TaskTree::TaskEnd end) {
                     said_.push_back("task " + std::to_string(end.code));
                     if (kill_at_task_end) found_.insert(found_.begin() + at_, "gone");
                   },
                   [this](const TaskTree::Gone&) { said_.push_back("gone"); },
                   [this](int status) { said_.push_back("helper " + std::to_string(status)); },
                   [this] { said_.push_back("beside"); });
  }
  const std::vector<std::string>& said() const { return said_; }

  bool kill_at_task_end = false;

 private:
  TaskTree::Events collect() {
    TaskTree::Events events;
    const std::string what = static_cast<std::size_t>(at_) < found_.size() ? found_[at_++] : "";
    if (what.find("task") != std::string::npos) events.task_end = TaskTree::TaskEnd{7, 0, ""};
    if (what.find("gone") != std::string::npos) events.gone = TaskTree::Gone{};
    if (what.find("helper") != std::string::npos) events.helper_end = 256;
    events.beside_ended = what.find("beside") != std::string::npos;
    return events;
  }

  std::vector<std::string> found_;
  std::vector<std::string>::difference_type at_ = 0;
  std::vector<std::string> said_;
};

using Said = std::vector<std::string>;

// Regression: the end of a script between two calls of one wake-up was lost: its job ran for ever.
TEST(TreeEvents, EndOfTheTaskAfterAnEmptyResultIsReported) {
  Looks looks({"", "task", "gone"});
  looks.wake();
  looks.wake();
  looks.wake();
  EXPECT_EQ(looks.said(), (Said{"task 7", "gone"}));
}

TEST(TreeEvents, EndOfTheProcessBesideTheTaskIsForwardedBeforeThatOfAll) {
  Looks looks({"beside", "task gone beside"});
  looks.wake();
  looks.wake();
  EXPECT_EQ(looks.said(), (Said{"beside", "task 7", "beside", "gone"}));
}

TEST(TreeEvents, EndOfAHelperIsForwarded) {
  Looks looks({"helper", "task gone"});
  looks.wake();
  looks.wake();
  EXPECT_EQ(looks.said(), (Said{"helper 256", "task 7", "gone"}));
}

TEST(TreeEvents, EventsCausedByTheEndAreForwardedInTheSameWakeUp) {
  Looks looks({"task"});
  looks.kill_at_task_end = true;
  looks.wake();
  EXPECT_EQ(looks.said(), (Said{"task 7", "gone"}));
}

TEST(TreeEvents, SimultaneousEventsAreForwardedInOrder) {
  Looks looks({"task gone"});
  looks.wake();
  EXPECT_EQ(looks.said(), (Said{"task 7", "gone"}));
}

}  // namespace
}  // namespace ares::stepd
