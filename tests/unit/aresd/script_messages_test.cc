// A thread plays the step host.
#include "aresd/script_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include "node/records.h"
#include "os/sockets/local_socket.h"
#include "steps/frame.h"
#include "steps/socket_name.h"

namespace ares::aresd {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

const AttemptKey kKey{{JobId(12), TaskIndex{}}, AttemptNo(1)};

class ToldScripts : public testing::Test {
 protected:
  ToldScripts() {
    std::string pattern = testing::TempDir() + "spool-XXXXXX";
    spool = ::mkdtemp(pattern.data());
    directory = spool + "/jobs/" + node::directory_name(kKey);
    std::filesystem::create_directories(directory);
    never.reset(::eventfd(0, EFD_CLOEXEC));
  }
  ~ToldScripts() override {
    if (host.joinable()) host.join();
    std::filesystem::remove_all(spool);
  }

  // Answers one line with this frame; none: closes the connection.
  void answer(std::optional<steps::Frame> frame) {
    Result<os::Fd> listener = os::listen_in(directory, steps::kSocketName, ::geteuid());
    ASSERT_TRUE(listener) << listener.error().message;
    host = std::thread([this, frame, socket = std::move(*listener)] {
      pollfd watched{socket.get(), POLLIN, 0};
      (void)::poll(&watched, 1, 10'000);
      const os::Fd caller(::accept(socket.get(), nullptr, nullptr));
      steps::FrameReader reader;
      char bytes[256];
      for (ssize_t n; (n = ::read(caller.get(), bytes, sizeof bytes)) > 0;) {
        reader.add({bytes, static_cast<std::size_t>(n)});
        const auto got = reader.next();
        if (!got || !*got) continue;
        line = (*got)->payload;
        std::string reply;
        if (frame) steps::append_frame(reply, *frame);
        (void)!::write(caller.get(), reply.data(), reply.size());
        return;
      }
    });
  }
  std::string why() {
    const Status told = tell_script(directory, "hello\n", never.get());
    return told ? "" : told.error().message;
  }

  std::string spool, directory, line;
  os::Fd never;
  std::thread host;
};

TEST_F(ToldScripts, HostSaysWhatBecameOfTheLine) {
  answer(steps::Frame{steps::FrameKind::notified, 0, ""});
  EXPECT_EQ(why(), "");
  host.join();
  EXPECT_EQ(line, "hello\n");
  answer(steps::Frame{steps::FrameKind::notified, 0, "no file"});
  EXPECT_EQ(why(), "no file");
}

TEST_F(ToldScripts, HostThatDoesNotAnswerIsNamed) {
  EXPECT_THAT(why(), HasSubstr("supervisor cannot be reached"));
  answer(std::nullopt);
  EXPECT_THAT(why(), HasSubstr("has closed the connection"));
  host.join();
  answer(steps::Frame{steps::FrameKind::refused, 0, "what?"});
  EXPECT_THAT(why(), HasSubstr("of a release that knows no messages"));
}

TEST_F(ToldScripts, EachMessageIsAnsweredWithItsId) {
  answer(steps::Frame{steps::FrameKind::notified, 0, ""});
  std::vector<std::string> answers;
  {
    ScriptMessages messages([this](const std::string& node) -> Result<std::string> {
      if (node == "pod") return fail(ErrorCode::failed_precondition, "it runs in a pod");
      return spool;
    });
    messages.put({"pod", kKey, 7, "hello\n"});
    messages.put({"n1", kKey, 8, "hello\n"});
    os::Fd both(::eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE));
    ASSERT_TRUE(messages.start([&](const ScriptMessages::Message& message, const Status& told) {
      answers.push_back(std::to_string(message.id) + (told ? "" : " " + told.error().message));
      (void)::eventfd_write(both.get(), 1);
    }));
    eventfd_t one;
    for (int i = 0; i < 2; ++i) ASSERT_EQ(::eventfd_read(both.get(), &one), 0);
    messages.stop();
    messages.put({"n1", kKey, 9, "late\n"});
  }
  EXPECT_THAT(answers, UnorderedElementsAre("7 it runs in a pod", "8"));
}

}  // namespace
}  // namespace ares::aresd
