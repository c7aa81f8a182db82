#include "rpc/wire/received_bytes.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <string>

#include "rpc/wire/socket.h"

namespace ares::rpc {
namespace {

struct Count final : ReceiveWatch {
  std::size_t bytes = 0;
  bool received(std::string_view text) override {
    bytes += text.size();
    return true;
  }
};

class ReceivedBytes : public ::testing::Test {
 protected:
  ReceivedBytes() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    here = Socket(ends[0]);
    there = Socket(ends[1]);
  }
  void receive(std::string text) {
    ASSERT_EQ(::send(there.fd(), text.data(), text.size(), 0), ssize_t(text.size()));
    iovec part{text.data(), text.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    ASSERT_EQ(::recvmsg(here.fd(), &message, 0), ssize_t(text.size()));
  }
  Socket here, there;
  const std::shared_ptr<Count> first = std::make_shared<Count>();
  const std::shared_ptr<Count> second = std::make_shared<Count>();
};

TEST_F(ReceivedBytes, AreSeenByTheLastWatchOfTheNumber) {
  watch_received(here.fd(), first);
  receive("one");
  watch_received(here.fd(), second);
  unwatch_received(here.fd(), first.get());  // the number has another watch
  receive("three");
  unwatch_received(here.fd(), second.get());
  receive("unseen");
  EXPECT_EQ(first->bytes, 3u);
  EXPECT_EQ(second->bytes, 5u);
}

// Regression: a local connection was counted for the ended one that had its number before.
TEST_F(ReceivedBytes, AreNotCountedForTheConnectionThatHadTheNumberBefore) {
  watch_received(here.fd(), first);
  unwatch_received(here.fd());
  receive("unseen");
  EXPECT_EQ(first->bytes, 0u);
}

}  // namespace
}  // namespace ares::rpc
