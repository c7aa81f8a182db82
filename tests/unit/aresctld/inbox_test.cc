// The order and bounds of commands that wait for the engine.
#include "aresctld/engine/inbox.h"

#include <gtest/gtest.h>

namespace ares::aresctld {
namespace {

PostedCommand from(std::uint32_t uid, const std::string& id) {
  UserCommand command;
  command.who.uid = UserId{uid};
  command.request_id = id;
  command.body = HoldJobs{};
  return {Command{std::move(command)}, {}};
}

InboxBounds bounds(InboxLoad one_user, InboxLoad in_all = {1000, 1000, 1000}) {
  return {one_user, in_all};
}
constexpr InboxLoad kMany{100, 100, 100};

PostedCommand large(std::uint32_t uid, const std::string& id, std::size_t bytes) {
  PostedCommand posted = from(uid, id);
  posted.bytes = bytes;
  return posted;
}

PostedCommand of_many_jobs(std::uint32_t uid, const std::string& id, std::size_t jobs) {
  PostedCommand posted = from(uid, id);
  SubmitMany many;
  many.specs.resize(jobs);
  std::get<UserCommand>(posted.command.body).body = std::move(many);
  return posted;
}

bool taken(Inbox& inbox, PostedCommand posted) {
  return !inbox.push(posted);
}

std::string next_of(Inbox& inbox) {
  const PostedCommand posted = inbox.pop();
  const auto* user = std::get_if<UserCommand>(&posted.command.body);
  return user ? std::to_string(user->who.uid.value()) + user->request_id : "tick";
}

TEST(Inbox, ManyCommandsOfOneUserDoNotDelayAnother) {
  Inbox inbox(bounds(kMany));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(taken(inbox, from(1000, "a" + std::to_string(i))));
  ASSERT_TRUE(taken(inbox, from(1001, "b")));
  ASSERT_TRUE(taken(inbox, {Command{Tick{}}, {}}));
  EXPECT_EQ(next_of(inbox), "tick");
  EXPECT_EQ(next_of(inbox), "1000a0");
  EXPECT_EQ(next_of(inbox), "1001b");
  for (int i = 1; i < 50; ++i) EXPECT_EQ(next_of(inbox), "1000a" + std::to_string(i));
  EXPECT_TRUE(inbox.empty());
}

TEST(Inbox, UsersAreServedInTurn) {
  Inbox inbox(bounds(kMany));
  for (const char* id : {"1", "2"})
    for (const std::uint32_t uid : {3U, 7U, 5U})
      ASSERT_TRUE(taken(inbox, from(uid, "-" + std::string(id))));
  for (const char* expected : {"3-1", "5-1", "7-1", "3-2", "5-2", "7-2"})
    EXPECT_EQ(next_of(inbox), expected);
}

TEST(Inbox, UserAboveTheBoundIsRefusedAndOthersAreNot) {
  Inbox inbox(bounds({2, 100, 100}));
  EXPECT_TRUE(taken(inbox, from(1, "a")));
  EXPECT_TRUE(taken(inbox, from(1, "b")));
  EXPECT_FALSE(taken(inbox, from(1, "c")));
  EXPECT_TRUE(taken(inbox, from(2, "d")));
  EXPECT_EQ(inbox.size(), 3u);
  inbox.pop();
  EXPECT_TRUE(taken(inbox, from(1, "c")));
}

// Regression: only commands were counted: 5,000 of 8 MiB, or of 10,000 jobs each, could wait in memory for every user.
TEST(Inbox, BytesAndJobsOfAUserAreBoundedToo) {
  Inbox inbox(bounds(kMany));
  EXPECT_TRUE(taken(inbox, large(1, "a", 60)));
  EXPECT_FALSE(taken(inbox, large(1, "b", 60)));
  EXPECT_TRUE(taken(inbox, large(1, "c", 40)));
  EXPECT_TRUE(taken(inbox, of_many_jobs(2, "a", 70)));
  EXPECT_FALSE(taken(inbox, of_many_jobs(2, "b", 70)));
  EXPECT_EQ(inbox.load(), (InboxLoad{3, 72, 100}));
  while (!inbox.empty()) inbox.pop();
  EXPECT_EQ(inbox.load(), InboxLoad{});
  EXPECT_TRUE(taken(inbox, large(1, "b", 60)));
}

TEST(Inbox, CommandAboveTheBoundIsAcceptedAlone) {
  Inbox inbox(bounds({10, 10, 10}, {20, 20, 20}));
  EXPECT_TRUE(taken(inbox, large(1, "a", 1000)));
  EXPECT_FALSE(taken(inbox, from(1, "b")));
}

// Regression: with a common bound for all users four of them could block all others.
TEST(Inbox, UserWithNothingWaitingIsAcceptedAboveTheTotal) {
  Inbox inbox(bounds({5, 1000, 1000}, {10, 1000, 1000}));
  for (int i = 0; i < 5; ++i)
    for (const std::uint32_t uid : {1U, 2U})
      ASSERT_TRUE(taken(inbox, from(uid, std::to_string(i))));
  EXPECT_TRUE(taken(inbox, from(3, "a")));
  EXPECT_FALSE(taken(inbox, from(3, "b"))) << "it has one waiting";
  int more = 0;
  for (std::uint32_t uid = 10; uid < 100; ++uid) more += taken(inbox, from(uid, "c")) ? 1 : 0;
  EXPECT_EQ(more, 29) << "as many as four times the bound hold";
  ASSERT_TRUE(taken(inbox, {Command{Tick{}}, {}})) << "what is not a user's is not bounded";
}

bool is_abandoned(const PostedCommand& posted) {
  return posted.abandoned && posted.abandoned();
}

// Regression: while the database was down, a client that retries every 30 s left a copy each time.
TEST(Inbox, AbandonedCommandsAreRemoved) {
  Inbox inbox(bounds(kMany));
  bool gone = false;
  for (const char* id : {"a", "b", "c"}) {
    PostedCommand posted = large(1, id, 10);
    if (*id != 'b') posted.abandoned = [&gone] { return gone; };
    ASSERT_TRUE(taken(inbox, std::move(posted)));
  }
  PostedCommand other = large(2, "d", 10);
  other.abandoned = [&gone] { return gone; };
  ASSERT_TRUE(taken(inbox, std::move(other)));
  EXPECT_TRUE(inbox.take(is_abandoned).empty());
  gone = true;
  EXPECT_EQ(inbox.take(is_abandoned).size(), 3u);
  EXPECT_EQ(inbox.size(), 1u);
  EXPECT_EQ(inbox.load(), (InboxLoad{1, 1, 10}));
  EXPECT_EQ(next_of(inbox), "1b");
  EXPECT_TRUE(inbox.empty());
}

}  // namespace
}  // namespace ares::aresctld
