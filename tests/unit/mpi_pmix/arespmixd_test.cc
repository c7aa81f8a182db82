// Tests: arespmixd/serve, arespmixd/channel
// arespmixd beside the daemon of a step, without ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <variant>

#include "arespmixd/channel.h"
#include "pmi/pmix_message.h"
#include "tools/mpi_program.h"

namespace ares::pmi {
namespace {

using ::testing::HasSubstr;

class Arespmixd : public ::testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    pid_ = test::start({ARES_BIN_DIR "/arespmixd", std::to_string(ends[1])},
                       folder_.path() + "/printed", {}, ends[1]);
    ::close(ends[1]);
    connection_ = ends[0];
  }
  void TearDown() override {
    if (connection_ >= 0) ::close(connection_);
    if (pid_ > 0) (void)end();
  }

  void send(const std::string& bytes) {
    ASSERT_EQ(::send(connection_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // The next message; nothing when the connection is closed.
  std::optional<PmixEvent> receive() {
    while (true) {
      if (const auto body = frames_.next().value()) return read_event(*body).value();
      char bytes[4096];
      const ssize_t got = ::recv(connection_, bytes, sizeof bytes, 0);
      if (got <= 0) return std::nullopt;
      frames_.add({bytes, static_cast<std::size_t>(got)});
    }
  }
  std::string refusal(const std::string& bytes) {
    send(bytes);
    const auto event = receive();
    const auto* failed = event ? std::get_if<PmixFailed>(&*event) : nullptr;
    return failed ? failed->message : "no refusal";
  }
  // Its exit status; -1 if it does not end.
  int end() {
    const auto deadline = std::chrono::steady_clock::now() + test::kMpiLimit;
    while (std::chrono::steady_clock::now() < deadline) {
      if (const auto status = test::exit_status(pid_)) {
        pid_ = 0;
        return *status;
      }
      ::poll(nullptr, 0, 5);
    }
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
    return -1;
  }
  PmixSetup setup() const {
    return {.library = "libpmix.so.2",
            .map = {.size = 2, .ranks_by_node = {{0}, {1}}},
            .space = "ares_7.0",
            .hostnames = {"a", "b"},
            .directory = folder_.path()};
  }

  test::Folder folder_;
  pid_t pid_ = 0;
  int connection_ = -1;
  PmixFrames frames_{kMostPmixEvent};
};

TEST_F(Arespmixd, AnAbsentLibraryIsToldToTheDaemon) {
  PmixSetup wrong = setup();
  wrong.library = "libabsent-pmix.so.2";
  EXPECT_THAT(refusal(frame(wrong)), HasSubstr("Debian's package libpmix2"));
  EXPECT_EQ(end(), 1);
  EXPECT_THAT(folder_.read("printed"), HasSubstr("arespmixd: cannot load"));
}

TEST_F(Arespmixd, ADaemonOfAnotherReleaseIsRefused) {
  PmixSetup other = setup();
  ++other.version;
  EXPECT_THAT(refusal(frame(other)), HasSubstr("not of the release of the step's daemon"));
  EXPECT_EQ(end(), 1);
}

TEST_F(Arespmixd, WhatIsNotASetupIsRefused) {
  EXPECT_THAT(refusal(frame(PmixRankEnded{0})), HasSubstr("release"));
  EXPECT_EQ(end(), 1);
}

TEST_F(Arespmixd, AMalformedMessageEndsIt) {
  EXPECT_THAT(refusal(std::string("\1\0\0\0\x63", 5)), HasSubstr("unknown message"));
  EXPECT_EQ(end(), 1);
}

TEST_F(Arespmixd, ItServesUntilTheConnectionIsClosed) {
  send(frame(setup()));
  const auto event = receive();
  ASSERT_TRUE(event);
  if (const auto* failed = std::get_if<PmixFailed>(&*event)) {
    EXPECT_THAT(failed->message, HasSubstr("cannot load"));
    GTEST_SKIP() << failed->message;
  }
  const auto* ready = std::get_if<PmixReady>(&*event);
  ASSERT_TRUE(ready);
  ASSERT_EQ(ready->of_local_ranks.size(), 1u);
  EXPECT_THAT(ready->of_local_ranks[0], ::testing::Contains(::testing::Pair("PMIX_RANK", "0")));
  EXPECT_THAT(ready->of_local_ranks[0],
              ::testing::Contains(::testing::Pair("PMIX_NAMESPACE", "ares_7.0")));
  // A rank of another node is not known here, and one that never connected may end.
  send(frame(PmixRankEnded{0}) + frame(PmixFenceResult{99, "x"}) + frame(PmixModexAsk{5, 1}));
  EXPECT_EQ(receive(), PmixEvent(PmixModexData{5, std::nullopt}));
  ::close(std::exchange(connection_, -1));
  EXPECT_EQ(end(), 0) << folder_.read("printed");
}

TEST(PmixChannel, AnEventThatIsTooLongIsAnErrorAndNotSent) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
  const os::Fd daemon(ends[0]);
  pmixd::Channel channel{os::Fd(ends[1])};
  const Status sent = channel.send(PmixFence{1, "all 0", {0}, std::string(kMostPmixEvent, 'x')});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::resource_exhausted);
  EXPECT_THAT(sent.error().message, HasSubstr("67108864 are possible"));
  char byte = 0;
  EXPECT_EQ(::recv(daemon.get(), &byte, 1, 0), -1) << "nothing was sent";
}

}  // namespace
}  // namespace ares::pmi
