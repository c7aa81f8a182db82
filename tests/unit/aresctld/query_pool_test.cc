#include "aresctld/query/query_pool.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

namespace ares::aresctld {
namespace {

constexpr UserId kAlice{1001}, kBob{1002}, kCarol{1003};

// Queries that record their names, and wait until they are released.
class QueryPoolTest : public ::testing::Test {
 protected:
  std::function<void()> query(const std::string& name, bool waits = false) {
    return [this, name, waits] {
      std::unique_lock lock(mutex_);
      ran_.push_back(name);
      changed_.notify_all();
      if (waits) changed_.wait(lock, [this] { return open_; });
    };
  }
  void let_through() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  std::vector<std::string> await(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(
        changed_.wait_for(lock, std::chrono::seconds(20), [&] { return ran_.size() >= count; }));
    return ran_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> ran_;
  bool open_ = false;
};

TEST_F(QueryPoolTest, UsersTakeTurns) {
  QueryPool pool(1, {.waiting = 100, .waiting_per_user = 10, .running_per_user = 1});
  EXPECT_FALSE(pool.add(kAlice, query("a0", true)));
  await(1);
  for (const char* name : {"a1", "a2", "a3"}) EXPECT_FALSE(pool.add(kAlice, query(name)));
  for (const char* name : {"b1", "b2"}) EXPECT_FALSE(pool.add(kBob, query(name)));
  EXPECT_FALSE(pool.add(kCarol, query("c1")));
  let_through();
  EXPECT_EQ(await(7), (std::vector<std::string>{"a0", "a1", "b1", "c1", "a2", "b2", "a3"}));
}

TEST_F(QueryPoolTest, SlowQueriesOfOneUserLeaveAThreadToOthers) {
  QueryPool pool(2, {.waiting = 100, .waiting_per_user = 10, .running_per_user = 1});
  for (const char* name : {"a1", "a2", "a3"}) EXPECT_FALSE(pool.add(kAlice, query(name, true)));
  await(1);
  EXPECT_FALSE(pool.add(kBob, query("b1")));
  EXPECT_EQ(await(2), (std::vector<std::string>{"a1", "b1"}));
  EXPECT_FALSE(pool.add(kBob, query("b2")));
  EXPECT_EQ(await(3).back(), "b2");
  let_through();
  EXPECT_EQ(await(5).size(), 5u);
}

TEST_F(QueryPoolTest, UserAboveTheBoundIsRefusedWithARetryTime) {
  QueryPool pool(1, {.waiting = 5, .waiting_per_user = 3, .running_per_user = 1});
  EXPECT_FALSE(pool.add(kAlice, query("a0", true)));
  await(1);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(pool.add(kAlice, query("a")));
  const auto refused = pool.add(kAlice, query("a"));
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->why.find("your"), std::string::npos) << refused->why;
  EXPECT_GT(refused->retry_after.count(), 0);
  EXPECT_FALSE(pool.add(kBob, query("b")));
  EXPECT_FALSE(pool.add(kBob, query("b")));
  const auto full = pool.add(kCarol, query("c"));
  ASSERT_TRUE(full);
  EXPECT_EQ(full->why.find("your"), std::string::npos) << full->why;
  let_through();
  EXPECT_EQ(await(6).size(), 6u);
  EXPECT_FALSE(pool.add(kAlice, query("again"))) << "there is room again";
  EXPECT_EQ(await(7).back(), "again");
}

TEST_F(QueryPoolTest, WaitingQueriesAreAnsweredBeforeItStops) {
  QueryPool pool(2, {.waiting = 100, .waiting_per_user = 50, .running_per_user = 1});
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(pool.add(kAlice, query("a")));
  pool.stop();
  EXPECT_EQ(ran_.size(), 20u);
  EXPECT_TRUE(pool.add(kAlice, query("late")));
}

}  // namespace
}  // namespace ares::aresctld
