#include "aresctld/notify/delivery_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ares::aresctld {
namespace {

using std::chrono::seconds;

constexpr SteadyTime kStart{std::chrono::hours(1)};
constexpr RetryRules kRules{Seconds(60), Seconds(3600)};

Delivery delivery(std::uint64_t number, const std::string& user, const std::string& webhook = "") {
  Delivery d;
  d.notice.user = user;
  d.webhook = webhook;
  d.number = number;
  d.queued = kStart;
  return d;
}

class DeliveryQueueTest : public testing::Test {
 protected:
  std::uint64_t take(SteadyTime now = kStart) {
    auto taken = queue.take(now);
    if (!taken) return 0;
    const std::uint64_t number = taken->number;
    running.push_back(*std::move(taken));
    return number;
  }
  Delivery running_one(std::uint64_t number) {
    for (auto it = running.begin(); it != running.end(); ++it)
      if (it->number == number) {
        Delivery found = *it;
        running.erase(it);
        return found;
      }
    ADD_FAILURE() << number << " is not being sent";
    return {};
  }

  DeliveryQueue queue{DeliveryBounds{6, 6, 4, 8, 2}};
  std::vector<Delivery> running;
};

TEST_F(DeliveryQueueTest, UsersTakeTurns) {
  for (const std::uint64_t n : {1, 2, 3}) EXPECT_TRUE(queue.add(delivery(n, "ann", "a")));
  EXPECT_TRUE(queue.add(delivery(4, "bob", "b")));
  EXPECT_EQ(take(), 1u);
  EXPECT_EQ(take(), 4u);
  EXPECT_EQ(take(), 2u);
}

TEST_F(DeliveryQueueTest, BoundsHoldForAllAndForEachUser) {
  for (const std::uint64_t n : {1, 2, 3, 4}) EXPECT_TRUE(queue.add(delivery(n, "ann")));
  EXPECT_FALSE(queue.add(delivery(5, "ann")));
  EXPECT_TRUE(queue.add(delivery(6, "bob")));
  EXPECT_TRUE(queue.add(delivery(7, "eve")));
  EXPECT_FALSE(queue.add(delivery(8, "eve")));
  take();
  EXPECT_FALSE(queue.add(delivery(8, "eve"))) << "one that is being sent counts";
  queue.sent(running_one(1));
  EXPECT_TRUE(queue.add(delivery(8, "eve")));
}

TEST_F(DeliveryQueueTest, SlowTargetDelaysNoOther) {
  for (const std::uint64_t n : {1, 2, 3}) queue.add(delivery(n, "ann", "slow"));
  queue.add(delivery(4, "bob", "quick"));
  EXPECT_EQ(take(), 4u);
  EXPECT_EQ(take(), 1u);
  EXPECT_EQ(take(), 2u);
  EXPECT_EQ(take(), 0u) << "two of a target at a time";
  EXPECT_EQ(queue.next_due(), std::nullopt);
  queue.sent(running_one(2));
  EXPECT_EQ(take(), 3u);
}

TEST_F(DeliveryQueueTest, UsersOfATargetTakeTurnsBesideABusyTarget) {
  DeliveryQueue fair{DeliveryBounds{100, 100, 100, 8, 1}};
  for (std::uint64_t n = 1; n <= 10; ++n) {
    fair.add(delivery(n, "ann"));
    fair.add(delivery(100 + n, "bob"));
    fair.add(delivery(200 + n, "eve", "hook"));
  }
  std::vector<std::string> mails;
  auto mail = fair.take(kStart), hook = fair.take(kStart);
  for (int i = 0; i < 6; ++i) {
    if (!mail->webhook.empty()) std::swap(mail, hook);
    mails.push_back(mail->notice.user);
    fair.sent(*mail);
    mail = fair.take(kStart);
    fair.sent(*hook);
    hook = fair.take(kStart);
    ASSERT_TRUE(mail && hook);
  }
  EXPECT_EQ(std::count(mails.begin(), mails.end(), "bob"), 3);
}

TEST_F(DeliveryQueueTest, DeadTargetDropsWhatIsTooOldAndLeavesRoom) {
  for (const std::uint64_t n : {1, 2, 3}) queue.add(delivery(n, "ann", "dead"));
  take();
  queue.failed(running_one(1), {true, Seconds(0)}, kRules, kStart);
  EXPECT_TRUE(queue.expire(kRules, kStart + seconds(3599)).empty());
  const auto expired = queue.expire(kRules, kStart + seconds(3600));
  EXPECT_EQ(expired.size(), 2u) << "the third one is tried once more before";
  EXPECT_EQ(queue.waiting(), 1u);
}

TEST_F(DeliveryQueueTest, MessagesThatFailInARowPauseTheirTarget) {
  for (const std::uint64_t n : {1, 2, 3, 4}) queue.add(delivery(n, "ann", "gone"));
  for (const std::uint64_t n : {1, 2, 3}) {
    EXPECT_EQ(take(), n);
    const auto after = queue.failed(running_one(n), {}, kRules, kStart);
    EXPECT_EQ(after.is_news, n == 3) << n;
  }
  EXPECT_EQ(take(), 0u) << "it is paused";
}

TEST_F(DeliveryQueueTest, MessageUnderWayDoesNotEndAPauseThatWasAskedFor) {
  queue.add(delivery(1, "ann", "busy"));
  queue.add(delivery(2, "ann", "busy"));
  queue.add(delivery(3, "ann", "busy"));
  take();
  take();
  queue.failed(running_one(1), {true, Seconds(300)}, kRules, kStart + seconds(1));
  EXPECT_FALSE(queue.sent(running_one(2)));
  EXPECT_EQ(queue.next_due(), kStart + seconds(301));
}

TEST_F(DeliveryQueueTest, NewConfigurationEndsPauses) {
  queue.add(delivery(1, "ann", "down"));
  queue.add(delivery(2, "ann", "down"));
  take();
  queue.failed(running_one(1), {true, Seconds(3000)}, kRules, kStart);
  EXPECT_EQ(take(), 0u);
  queue.retry_now();
  EXPECT_NE(take(), 0u);
}

TEST_F(DeliveryQueueTest, FailingTargetIsPausedForAll) {
  queue.add(delivery(1, "ann", "down"));
  queue.add(delivery(2, "bob", "down"));
  queue.add(delivery(3, "bob", "up"));
  EXPECT_EQ(take(), 1u);
  const auto after = queue.failed(running_one(1), {true, Seconds(0)}, kRules, kStart);
  EXPECT_TRUE(after.is_news);
  EXPECT_FALSE(after.gave_up);
  EXPECT_EQ(after.pause, Seconds(60));
  EXPECT_EQ(take(), 3u);
  EXPECT_EQ(take(), 0u);
  EXPECT_EQ(queue.next_due(), kStart + seconds(60));
  const SteadyTime later = kStart + seconds(60);
  EXPECT_EQ(take(later), 2u) << "it is bob's turn";
  const auto again = queue.failed(running_one(2), {true, Seconds(0)}, kRules, later);
  EXPECT_FALSE(again.is_news);
  EXPECT_EQ(again.pause, Seconds(120)) << "pauses grow with the failures of the target";
  EXPECT_EQ(take(later + seconds(119)), 0u);
  EXPECT_EQ(take(later + seconds(120)), 1u);
  EXPECT_TRUE(queue.sent(running_one(1))) << "it is well again";
  EXPECT_EQ(take(later + seconds(120)), 2u);
}

TEST_F(DeliveryQueueTest, FailuresAtTheSameTimeArePausedOnce) {
  queue.add(delivery(1, "ann", "down"));
  queue.add(delivery(2, "bob", "down"));
  take();
  take();
  EXPECT_EQ(queue.failed(running_one(1), {true, Seconds(0)}, kRules, kStart).pause, Seconds(60));
  queue.failed(running_one(2), {true, Seconds(0)}, kRules, kStart + seconds(1));
  EXPECT_EQ(queue.next_due(), kStart + seconds(60));
}

TEST_F(DeliveryQueueTest, MessageThatIsRefusedForNowDelaysNoOther) {
  queue.add(delivery(1, "ann"));
  queue.add(delivery(2, "ann"));
  EXPECT_EQ(take(), 1u);
  EXPECT_EQ(queue.failed(running_one(1), {false, Seconds(0)}, kRules, kStart).pause, Seconds(60));
  EXPECT_EQ(take(), 2u);
  queue.sent(running_one(2));
  EXPECT_EQ(take(kStart + seconds(59)), 0u);
  EXPECT_EQ(take(kStart + seconds(60)), 1u);
  EXPECT_EQ(running.front().tries, 1u);
}

TEST_F(DeliveryQueueTest, GivesUpAfterTheTimeOfTheSite) {
  queue.add(delivery(1, "ann"));
  take();
  EXPECT_TRUE(queue.failed(running_one(1), {}, {Seconds(60), Seconds(0)}, kStart).gave_up);
  EXPECT_EQ(queue.waiting(), 0u);
  queue.add(delivery(2, "ann"));
  take();
  EXPECT_FALSE(queue.failed(running_one(2), {}, kRules, kStart + seconds(3000)).gave_up);
  take(kStart + seconds(3060));
  EXPECT_TRUE(queue.failed(running_one(2), {}, kRules, kStart + seconds(3500)).gave_up);
  EXPECT_EQ(queue.next_due(), std::nullopt);
}

TEST(RetryPause, GrowsToAnHour) {
  EXPECT_EQ(retry_pause(Seconds(60), 1, Seconds(0)), Seconds(60));
  EXPECT_EQ(retry_pause(Seconds(60), 3, Seconds(0)), Seconds(240));
  EXPECT_EQ(retry_pause(Seconds(60), 4'000'000'000u, Seconds(0)), Seconds(3600));
  EXPECT_EQ(retry_pause(Seconds(7200), 5, Seconds(0)), Seconds(7200));
  EXPECT_EQ(retry_pause(Seconds(1), 1, Seconds(500)), Seconds(500)) << "the server's wish";
}

}  // namespace
}  // namespace ares::aresctld
