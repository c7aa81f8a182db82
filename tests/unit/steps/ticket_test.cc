#include "steps/ticket.h"

#include <gtest/gtest.h>

#include "steps/handshake.h"

namespace ares::steps {
namespace {

constexpr std::chrono::sys_seconds kExpires{Seconds(1000)};
constexpr Time kInTime{Seconds(999)};

std::string key(std::uint64_t fence = 50) {
  return attempt_key(std::string(32, 'S'), "12.1", Fence(fence), UserId(1000), "n[1-2]");
}

struct Caller {
  ClientCall call{{"12.1", Fence(50), UserId(1000), kExpires}, "nonce of caller", {}};
  std::string theirs = "nonce of daemon";

  // What the node daemon reads if the caller has that key of a ticket.
  ClientCall called(const std::string& with) const {
    std::string line = call_line(call, theirs, with);
    line.pop_back();
    EXPECT_TRUE(is_client_call(line));
    const Result<ClientCall> read = read_call(line);
    EXPECT_TRUE(read);
    return *read;
  }
  std::string own_key() const { return ticket_key(call.ticket, key()); }
};

TEST(Ticket, LetsTheCallerInUntilItExpires) {
  const Caller caller;
  const ClientCall call = caller.called(caller.own_key());
  EXPECT_TRUE(verify_call(call, caller.theirs, key(), kInTime));
  const Status late = verify_call(call, caller.theirs, key(), kExpires);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::stale);
}

TEST(Ticket, IsOfOneAttemptOneCallerAndOneTime) {
  const Caller caller;
  const std::string own = caller.own_key();
  const auto refused = [&](auto change) {
    ClientCall call = caller.called(own);
    change(call);
    return !verify_call(call, caller.theirs, key(), kInTime);
  };
  EXPECT_TRUE(refused([](ClientCall& c) { c.ticket.attempt = "12.2"; }));
  EXPECT_TRUE(refused([](ClientCall& c) { c.ticket.fence = Fence(51); }));
  EXPECT_TRUE(refused([](ClientCall& c) { c.ticket.caller = UserId(1001); }));
  EXPECT_TRUE(refused([](ClientCall& c) { c.ticket.expires += Seconds(3600); }));
  EXPECT_FALSE(verify_call(caller.called(own), caller.theirs, key(51), kInTime)) << "stale fence";
}

TEST(Ticket, ProofHoldsForOneGreeting) {
  const Caller caller;
  EXPECT_FALSE(verify_call(caller.called(caller.own_key()), "another", key(), kInTime));
}

TEST(Ticket, ForgedOneIsRefused) {
  const Caller caller;
  EXPECT_FALSE(verify_call(caller.called(std::string(32, 'x')), caller.theirs, key(), kInTime));
  // A node that got no key lets no caller in, also by the empty one.
  EXPECT_FALSE(verify_call(caller.called(""), caller.theirs, "", kInTime));
}

TEST(Ticket, NodeThatDoesNotKnowTheKeyIsNotTrusted) {
  const Caller caller;
  const ClientCall call = caller.called(caller.own_key());
  std::string answer = answer_line(call, caller.theirs, key());
  answer.pop_back();
  EXPECT_TRUE(read_answer(answer, caller.call, caller.theirs, caller.own_key()));
  answer = answer_line(call, caller.theirs, key(51));
  answer.pop_back();
  EXPECT_FALSE(read_answer(answer, caller.call, caller.theirs, caller.own_key()));
  const Status told =
      read_answer("no refused such job", caller.call, caller.theirs, caller.own_key());
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().message, "such job");
}

TEST(Ticket, NonsenseIsRefused) {
  for (const char* line : {"client", "client 12.1 50 1000 1000 00", "client 12.1 x 1000 1000 00 00",
                           "client 12.1 50 1000 1000 zz 00", "other 12.1 50 1000 1000 00 00"})
    EXPECT_FALSE(read_call(line)) << line;
}

}  // namespace
}  // namespace ares::steps
