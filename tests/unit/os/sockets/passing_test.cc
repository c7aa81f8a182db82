#include "os/sockets/passing.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace ares::os {
namespace {

struct Sockets {
  Fd one, other;
  Sockets() {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0) return;
    one.reset(pair[0]);
    other.reset(pair[1]);
  }
};

TEST(Passing, TextAndDescriptorArriveTogether) {
  Sockets sockets;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Fd reads(ends[0]), writes(ends[1]);
  ASSERT_TRUE(pass(sockets.one.get(), "first", writes.get()));
  ASSERT_TRUE(pass(sockets.one.get(), "second"));
  writes.reset();

  Result<Passed> first = receive_passed(sockets.other.get());
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->text, "first");
  EXPECT_NE(::fcntl(first->fd.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(::write(first->fd.get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(reads.get(), &byte, 1), 1);
  first->fd.reset();
  EXPECT_EQ(::read(reads.get(), &byte, 1), 0) << "no other copy is left";

  const Result<Passed> second = receive_passed(sockets.other.get());
  ASSERT_TRUE(second);
  EXPECT_EQ(second->text, "second");
  EXPECT_FALSE(second->fd);
}

TEST(Passing, SaysWhetherThereIsNoPacketOrNoSender) {
  Sockets sockets;
  EXPECT_EQ(receive_passed(sockets.other.get()).error().code, ErrorCode::unavailable);
  ASSERT_TRUE(pass(sockets.one.get(), "last"));
  sockets.one.reset();
  EXPECT_TRUE(receive_passed(sockets.other.get()));
  EXPECT_EQ(receive_passed(sockets.other.get()).error().code, ErrorCode::not_found);
  EXPECT_FALSE(pass(sockets.other.get(), "to no process"));
}

TEST(Passing, FullSocketIsAnErrorAndNoWait) {
  Sockets sockets;
  Status sent;
  for (int i = 0; i < 100'000 && sent; ++i) sent = pass(sockets.one.get(), "again");
  EXPECT_EQ(sent.error().code, ErrorCode::unavailable);
}

TEST(Passing, TooLongPacketIsRefused) {
  Sockets sockets;
  ASSERT_TRUE(pass(sockets.one.get(), std::string(kLongestPassed + 1, 'x')));
  EXPECT_EQ(receive_passed(sockets.other.get()).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace ares::os
