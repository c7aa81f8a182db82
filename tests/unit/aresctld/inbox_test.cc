// Whose turn it is when many commands wait for the engine.
#include "aresctld/inbox.h"

#include <gtest/gtest.h>

namespace ares::aresctld {
namespace {

Posted from(std::uint32_t uid, const std::string& id) {
  UserCommand command;
  command.who.uid = UserId{uid};
  command.request_id = id;
  command.body = HoldJobs{};
  return {Command{std::move(command)}, {}};
}

std::string next_of(Inbox& inbox) {
  const Posted posted = inbox.pop();
  const auto* user = std::get_if<UserCommand>(&posted.command.body);
  return user ? std::to_string(user->who.uid.value()) + user->request_id : "tick";
}

TEST(Inbox, OneUsersLoopDoesNotDelayAnothersCommand) {
  Inbox inbox(100);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(inbox.push(from(1000, "a" + std::to_string(i))));
  ASSERT_TRUE(inbox.push(from(1001, "b")));
  ASSERT_TRUE(inbox.push({Command{Tick{}}, {}}));
  EXPECT_EQ(next_of(inbox), "tick");
  EXPECT_EQ(next_of(inbox), "1000a0");
  EXPECT_EQ(next_of(inbox), "1001b");
  for (int i = 1; i < 50; ++i) EXPECT_EQ(next_of(inbox), "1000a" + std::to_string(i));
  EXPECT_TRUE(inbox.empty());
}

TEST(Inbox, UsersAreServedInTurn) {
  Inbox inbox(100);
  for (const char* id : {"1", "2"})
    for (const std::uint32_t uid : {3U, 7U, 5U})
      ASSERT_TRUE(inbox.push(from(uid, "-" + std::string(id))));
  for (const char* expected : {"3-1", "5-1", "7-1", "3-2", "5-2", "7-2"})
    EXPECT_EQ(next_of(inbox), expected);
}

TEST(Inbox, AUserWithTooManyWaitingIsRefusedAndOthersAreNot) {
  Inbox inbox(2);
  EXPECT_TRUE(inbox.push(from(1, "a")));
  EXPECT_TRUE(inbox.push(from(1, "b")));
  EXPECT_FALSE(inbox.push(from(1, "c")));
  EXPECT_TRUE(inbox.push(from(2, "d")));
  EXPECT_EQ(inbox.size(), 3u);
  inbox.pop();
  EXPECT_TRUE(inbox.push(from(1, "c")));
}

}  // namespace
}  // namespace ares::aresctld
