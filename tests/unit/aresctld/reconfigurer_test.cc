// Tests: config_holder
// Reconfigurer: what a repeated request publishes, and what wakes up waiting threads.
#include "aresctld/reconfigurer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <future>

#include "config/config.h"
#include "store/journal/mem_journal.h"

namespace ares::aresctld {
namespace {

using namespace std::chrono_literals;

class ReconfigurerTest : public testing::Test {
 protected:
  ReconfigurerTest() {
    write(1);
    auto config = config::load(path_);
    EXPECT_TRUE(config) << config.error().message;
    if (!config) return;
    config_holder_.publish(std::make_shared<const config::Config>(std::move(*config)));
    auto opened = journal_.open();
    EXPECT_TRUE(opened);
    opened->state.epoch = opened->epoch;
    EngineLoop::Sinks sinks;
    sinks.publish = [this](std::shared_ptr<const ClusterState> state) {
      views_.publish_state(std::move(state));
    };
    sinks.send = [](Effects) {};
    sinks.durable = [](const Committed&) {};
    sinks.fatal = [](const Error& error) { ADD_FAILURE() << error.message; };
    sinks.database = [](const Error*) {};
    const Epoch epoch = opened->epoch;
    engine_ = std::make_unique<EngineLoop>(journal_, std::move(opened->state),
                                           config_holder_.policy(), clock_, std::move(sinks));
    engine_->start();
    engine_->post(Command{Activate{epoch, "here"}});
    engine_->post(Command{to_command(*config_holder_.read())});
    reconfigurer_ = std::make_unique<Reconfigurer>(config_holder_, *engine_, views_);
  }

  ~ReconfigurerTest() override { std::remove(path_.c_str()); }

  void write(int licenses) const {
    std::ofstream(path_) << "cluster: demo\ncontroller: {user: root}\nlicenses: {matlab: "
                         << licenses
                         << "}\nnodes:\n  - {name: n1, cpus: 4, memory: 4000M}\n"
                            "partitions:\n  - {name: main, nodes: ALL, default: true}\n";
  }

  Result<api::Reconfigured> apply(const std::string& request) {
    std::promise<Result<api::Reconfigured>> done;
    reconfigurer_->apply({UserId{0}, GroupId{0}, "root", "here"}, request, Digest{},
                         [&](Result<api::Reconfigured> result) { done.set_value(result); });
    return done.get_future().get();
  }

  std::uint32_t licenses() const { return config_holder_.policy()->licenses.at("matlab"); }

  const std::string path_ =
      testing::TempDir() + "/ares-reconfigurer-" + std::to_string(::getpid()) + ".yaml";
  ConfigHolder config_holder_{nullptr};
  store::MemJournal journal_{std::make_shared<store::MemDatabase>()};
  Clock clock_;
  ViewHolder views_;
  std::unique_ptr<EngineLoop> engine_;
  std::unique_ptr<Reconfigurer> reconfigurer_;
};

// Regression: after a lost reply and an edit of the file, all threads except the engine got the newer file as if it were applied.
TEST_F(ReconfigurerTest, RepeatedRequestPublishesNothing) {
  write(2);
  const auto first = apply("x");
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->applied());
  EXPECT_EQ(licenses(), 2u);

  const auto again = apply("x");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->applied());
  EXPECT_EQ(again->changes_size(), 0);

  write(3);
  const auto edited = apply("x");
  ASSERT_FALSE(edited);
  EXPECT_EQ(edited.error().code, ErrorCode::failed_precondition);
  EXPECT_NE(edited.error().message.find("has changed since"), std::string::npos);
  EXPECT_EQ(licenses(), 2u) << "the engine has not seen the third";

  ASSERT_TRUE(apply("y"));
  EXPECT_EQ(licenses(), 3u);
}

// The state is published before the rules: a pass in between must run again with the new ones.
TEST_F(ReconfigurerTest, PublishedRulesWakeUpWaitingThreads) {
  write(2);
  ASSERT_TRUE(apply("x"));
  const View view = views_.read();
  EXPECT_EQ(view.wakeups, 1u);
  EXPECT_TRUE(views_.wait_for_change(view.state->lsn, 0, std::nullopt))
      << "it had read the old rules";
  ASSERT_TRUE(apply("x"));
  EXPECT_EQ(views_.read().wakeups, 1u) << "nothing was published";
}

}  // namespace
}  // namespace ares::aresctld
