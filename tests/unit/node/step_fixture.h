// A StepMachine with a fake tree of processes, for its tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/memory_spool.h"
#include "node/step.h"
#include "unit/node/world.h"

namespace ares::node::steps_of_tests {

class FakeTree final : public ProcessTree {
 public:
  Result<TaskRecord> spawn_gated() override {
    if (broken) return fail(ErrorCode::resource_exhausted, "cannot fork");
    return TaskRecord{};
  }
  void open_gate() override { ++opened; }
  void signal(std::int32_t s, SignalTo to) override {
    signals.push_back(to == SignalTo::batch_script ? -s : s);
    if (to == SignalTo::others) to_others.push_back(s);
  }
  void announce_end(Time at, std::string_view why) override {
    announced.emplace_back(at, std::string(why));
  }
  bool freeze() override { return frozen = can_freeze; }
  void thaw() override { frozen = guardian_stopped = false; }
  void guard_until(BootTime until) override { guarded_until = until; }
  bool stopped_by_guardian() const override { return guardian_stopped; }
  void kill_all() override { ++kills; }
  bool runs_steps() const override { return steps; }

  bool steps = false;
  bool broken = false, can_freeze = true, frozen = false;
  bool guardian_stopped = false;
  std::optional<BootTime> guarded_until;
  int opened = 0, kills = 0;
  std::vector<int> signals, to_others;
  std::vector<std::pair<Time, std::string>> announced;
};

class StepTest : public ::testing::Test {
 protected:
  StepTest() {
    settings.attempt = kKey;
    settings.fence = Fence(50);
    settings.kill_wait = Seconds(30);
    dir = std::move(*spool.create(kKey));
    IntentRecord intent{kKey, Fence(50), 1, "boot", 0, false, now.wall};
    EXPECT_TRUE(dir->create(Record::intent, encode(intent)));
  }
  StepMachine& machine() {
    if (!machine_)
      machine_ = std::make_unique<StepMachine>(settings, *dir, tree,
                                               [this](StepNotice n) { notices.push_back(n); });
    return *machine_;
  }
  void let_go(std::optional<BootTime> lease = std::nullopt) {
    ASSERT_TRUE(machine().start(now));
    machine().receive(StepGo{Fence(50), lease}, now);
    ASSERT_EQ(tree.opened, 1);
  }
  void after(Duration time) {
    now.boot += time;
    now.wall += time;
    machine().tick(now);
  }
  ExitRecord exit_record() { return *decode_exit(*dir->read(Record::exit)); }

  MemorySpool spool;
  std::unique_ptr<AttemptDir> dir;
  FakeTree tree;
  StepSettings settings;
  Moment now{Time(Seconds(1'700'000'000)), BootTime(Seconds(5000))};
  std::vector<StepNotice> notices;

 private:
  std::unique_ptr<StepMachine> machine_;
};

}  // namespace ares::node::steps_of_tests
