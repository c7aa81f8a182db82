#include "auth/session_table.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

namespace ares::auth {
namespace {

using Clock = SessionTable::Clock;
using namespace std::chrono_literals;

const Clock::time_point kStart{1000s};

Identity user(std::uint32_t uid) {
  return {UserId(uid), GroupId(uid), "u", "127.0.0.1"};
}

Result<Session> say(SessionTable& table, const Session& session, std::uint64_t sequence,
                    Clock::time_point now = kStart) {
  return table.accept(session.id, sequence, "hello",
                      seal(*session.key, Direction::request, session.id, sequence, "hello"), now);
}

TEST(SessionTable, SessionNamesItsUser) {
  SessionTable table;
  const Session one = table.open(SessionKey::random(), user(1), kStart);
  const Session two = table.open(SessionKey::random(), user(2), kStart);
  EXPECT_NE(one.id, two.id);
  EXPECT_EQ(say(table, one, 1).value().identity->uid, UserId(1));
  EXPECT_EQ(say(table, two, 1).value().identity->uid, UserId(2));
}

TEST(SessionTable, RefusesReplayTamperingAndOtherSessions) {
  SessionTable table;
  const Session one = table.open(SessionKey::random(), user(1), kStart);
  const Session two = table.open(SessionKey::random(), user(2), kStart);
  ASSERT_TRUE(say(table, one, 1));
  EXPECT_FALSE(say(table, one, 1)) << "replayed";
  const std::string mac = seal(*one.key, Direction::request, one.id, 2, "hello");
  EXPECT_FALSE(table.accept(one.id, 2, "hellO", mac, kStart)) << "changed";
  EXPECT_FALSE(table.accept(one.id, 3, "hello", mac, kStart)) << "renumbered";
  EXPECT_FALSE(table.accept(two.id, 2, "hello", mac, kStart)) << "of another session";
  EXPECT_TRUE(table.accept(one.id, 2, "hello", mac, kStart))
      << "a forged message must not use up the number of the true one";
}

TEST(SessionTable, UnknownSessionHasItsErrorMessage) {
  SessionTable table;
  const Session one = table.open(SessionKey::random(), user(1), kStart);
  auto unknown = table.accept(one.id + 1, 1, "hello", "mac", kStart);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error(), (Error{ErrorCode::unauthenticated, std::string(kSessionUnknown)}));
  auto forged = table.accept(one.id, 1, "hello", "mac", kStart);
  ASSERT_FALSE(forged);
  EXPECT_NE(forged.error().message, kSessionUnknown);
}

TEST(SessionTable, RemovesIdleSessionsOnly) {
  SessionTable table({.sessions = 10, .sessions_per_user = 10, .idle = 60s});
  const Session idle = table.open(SessionKey::random(), user(1), kStart);
  const Session busy = table.open(SessionKey::random(), user(1), kStart);
  for (int minute = 1; minute < 10; ++minute)
    ASSERT_TRUE(say(table, busy, static_cast<std::uint64_t>(minute), kStart + minute * 30s));
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(say(table, idle, 1, kStart + 300s).error().message, kSessionUnknown);
}

TEST(SessionTable, OneUserCannotDisplaceSessionsOfOthers) {
  SessionTable table({.sessions = 100, .sessions_per_user = 10, .idle = 60s});
  const Session mine = table.open(SessionKey::random(), user(1), kStart);
  for (int i = 0; i < 1000; ++i) table.open(SessionKey::random(), user(2), kStart + 1s);
  EXPECT_EQ(table.size(), 11u);
  EXPECT_TRUE(say(table, mine, 1, kStart + 2s));
}

TEST(SessionTable, SizeIsBounded) {
  SessionTable table({.sessions = 50, .sessions_per_user = 10, .idle = 60s});
  const Session first = table.open(SessionKey::random(), user(0), kStart);
  Session last;
  for (std::uint32_t i = 1; i < 500; ++i)
    last = table.open(SessionKey::random(), user(i), kStart + 1s);
  EXPECT_EQ(table.size(), 50u);
  EXPECT_FALSE(say(table, first, 1, kStart + 2s));
  EXPECT_TRUE(say(table, last, 1, kStart + 2s));
}

TEST(SessionTable, SupportsConcurrentThreads) {
  SessionTable table({.sessions = 64, .sessions_per_user = 16, .idle = 60s});
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&table, t] {
      for (int i = 0; i < 2000; ++i) {
        const Session session = table.open(SessionKey::random(), user(t), kStart);
        EXPECT_TRUE(say(table, session, 1));
        EXPECT_FALSE(say(table, session, 1));
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_LE(table.size(), 64u);
}

}  // namespace
}  // namespace ares::auth
