// The packets of `aresstepd --serve`; launches through it are in tests/unit/exec/step_servers_test.cc.
// Tests: fork_server, ready_supervisor
#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "node/launch_packet.h"
#include "os/sockets/passing.h"

namespace ares::stepd {
namespace {

constexpr int kPatienceMs = 20'000;

class ServeTest : public testing::Test {
 protected:
  void SetUp() override {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    aresd.reset(pair[0]);
    os::Fd theirs(pair[1]);
    pid = ::fork();
    if (pid == 0) {
      const int null = ::open("/dev/null", O_RDWR);
      ::dup2(null, 0);
      ::dup2(theirs.get(), 3);
      ::close_range(4, ~0U, 0);
      ::fcntl(3, F_SETFD, 0);
      ::execl(ARES_BIN_DIR "/aresstepd", "aresstepd", "--serve", "3", nullptr);
      ::_exit(127);
    }
  }
  void TearDown() override {
    if (pid > 0) {
      EXPECT_EQ(end(), 0);
    }
  }
  // Closes the socket; returns the server's wait status.
  int end() {
    aresd.reset();
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    pid = 0;
    return status;
  }
  static bool readable(const os::Fd& fd) {
    pollfd look{fd.get(), POLLIN, 0};
    return ::poll(&look, 1, kPatienceMs) > 0;
  }
  Result<os::Passed> answer() const {
    return readable(aresd) ? os::receive_passed(aresd.get())
                           : Result<os::Passed>(fail(ErrorCode::unavailable, "no answer"));
  }

  os::Fd aresd;
  pid_t pid = 0;
};

struct Channel {
  os::Fd ours, theirs;
  Channel() {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return;
    ours.reset(pair[0]);
    theirs.reset(pair[1]);
  }
};

TEST_F(ServeTest, RefusesAPacketOfALaterVersionAndServesOn) {
  Channel channel;
  ASSERT_TRUE(os::pass(aresd.get(), "version 2\nnumber 7\ndirectory /a\n", channel.theirs.get()));
  channel.theirs.reset();
  const Result<os::Passed> packet = answer();
  ASSERT_TRUE(packet) << packet.error().message;
  const Result<node::LaunchAnswer> refused = node::decode_launch_answer(packet->text);
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_NE(refused->error.find("understands up to 1"), std::string::npos) << refused->error;
  EXPECT_FALSE(packet->fd);
  EXPECT_TRUE(readable(channel.ours)) << "the end of the channel says that there is no supervisor";

  ASSERT_TRUE(os::pass(aresd.get(), encode(node::LaunchRequest{8, "/a"})));
  const Result<os::Passed> second = answer();
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_NE(node::decode_launch_answer(second->text)->error, "") << "a request without a channel";
}

// One that is given an attempt which it cannot open ends, and both its ends can be seen.
TEST_F(ServeTest, AnswersWithTheProcessOfTheSupervisor) {
  for (std::uint64_t number = 1; number <= 5; ++number) {
    Channel channel;
    const node::LaunchRequest request{number, "/no/such/directory/7.1"};
    ASSERT_TRUE(os::pass(aresd.get(), encode(request), channel.theirs.get()));
    channel.theirs.reset();
    const Result<os::Passed> packet = answer();
    ASSERT_TRUE(packet) << packet.error().message;
    const Result<node::LaunchAnswer> given = node::decode_launch_answer(packet->text);
    ASSERT_TRUE(given) << given.error().message;
    EXPECT_EQ(given->number, number);
    EXPECT_EQ(given->error, "");
    EXPECT_GT(given->pid, 1);
    ASSERT_TRUE(packet->fd);
    EXPECT_TRUE(readable(packet->fd)) << "the supervisor ends";
    ASSERT_TRUE(readable(channel.ours));
    EXPECT_EQ(os::receive_passed(channel.ours.get()).error().code, ErrorCode::not_found);
  }
}

TEST_F(ServeTest, EndsWithItsAresdOnly) {
  for (std::uint64_t number = 1; number <= 2; ++number) {
    Channel channel;
    const node::LaunchRequest request{number, "/no/such/7.1"};
    ASSERT_TRUE(os::pass(aresd.get(), encode(request), channel.theirs.get()));
    EXPECT_TRUE(answer());
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) ::kill(pid, signal);
  }
  EXPECT_EQ(end(), 0);
}

}  // namespace
}  // namespace ares::stepd
