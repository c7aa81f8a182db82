// Who a caller is.
#include "rpc/server/authenticator.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <future>

#include "auth/munge.h"
#include "unit/auth/munged.h"

namespace ares::rpc {
namespace {

std::string credential(const testing::Munged& munged) {
  return auth::munge_encode(auth::SessionKey::random().to_credential_payload(), munged.socket(),
                            UserId(getuid()))
      .value();
}

template <class Answer>
auto keep(std::promise<Result<Answer>>& answered) {
  return [&answered](Result<Answer> result) { answered.set_value(std::move(result)); };
}

// A credential that was checked is refused the next time.
TEST(Authenticator, DoesNotCheckTheCredentialOfACallerThatIsGone) {
  testing::Munged munged;
  Authenticator authenticator(munged.socket(), 1, {});
  const std::string once = credential(munged);
  const auto authenticate = [&](bool gone) {
    std::promise<Result<AuthenticatedPeer>> answered;
    authenticator.authenticate(
        once, "here", 1, [gone] { return gone; }, keep(answered));
    return answered.get_future().get();
  };
  EXPECT_EQ(authenticate(true).error().code, ErrorCode::unavailable);
  EXPECT_TRUE(authenticate(false));
  EXPECT_FALSE(authenticate(false));
}

TEST(Authenticator, DoesNotLookUpTheNameOfACallerThatIsGone) {
  std::atomic<int> lookups = 0;
  Authenticator authenticator("/nonexistent", 1, [&](UserId) {
    ++lookups;
    return std::string("alice");
  });
  const auto identify = [&](bool gone) {
    std::promise<Result<auth::Identity>> answered;
    authenticator.identify(
        UserId{1000}, GroupId{1000}, 1, [gone] { return gone; }, keep(answered));
    return answered.get_future().get();
  };
  EXPECT_FALSE(identify(true));
  EXPECT_EQ(lookups, 0);
  EXPECT_EQ(identify(false)->user, "alice");
  EXPECT_EQ(lookups, 1);
}

}  // namespace
}  // namespace ares::rpc
