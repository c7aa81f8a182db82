#include "aresstepd/checkpoint_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "node/checkpoint_fields.h"
#include "os/file.h"
#include "os/sockets/local_socket.h"

namespace ares::stepd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CheckpointServiceTest : public testing::Test {
 protected:
  CheckpointServiceTest() {
    char pattern[] = "/tmp/ares-service-XXXXXX";
    directory_ = ::mkdtemp(pattern);
    auto job = std::make_shared<JobSpec>();
    job->uid = UserId(::getuid());
    job->checkpoint = CheckpointRequest{"/scratch", 2};
    launch_.spec = job;
    launch_.own_id = JobId(12);
    launch_.cluster_name = "one";
    launch_.attempt.attempt = AttemptNo(3);
    launch_.checkpoints = {{6, AttemptNo(2), {}, Bytes(1), "/scratch/one/12/000006.2", Time()}};
  }
  ~CheckpointServiceTest() override { std::filesystem::remove_all(directory_); }

  CheckpointService& service() {
    if (!service_) {
      service_ =
          std::make_unique<CheckpointService>(launch_, directory_,
                                              CheckpointService::Hooks{[this](int fd, bool on) {
                                                                         if (on)
                                                                           watched_.push_back(fd);
                                                                         else
                                                                           std::erase(watched_, fd);
                                                                       },
                                                                       [this] { ++changes_; }});
      EXPECT_TRUE(service_->listen());
      service_->start();
    }
    return *service_;
  }
  os::Fd connect() {
    service();
    auto socket = os::connect_in(directory_, checkpoint::kSocketName);
    EXPECT_TRUE(socket) << socket.error().message;
    service().serve(watched_.front());  // the listener
    return std::move(*socket);
  }
  // Lets the service read what was sent on any connection.
  void serve_all() {
    const std::vector<int> all(watched_.begin() + 1, watched_.end());
    for (const int fd : all) service().serve(fd);
  }
  void send(const os::Fd& socket, const std::string& text) {
    EXPECT_EQ(::send(socket.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    serve_all();
  }
  static std::string said(const os::Fd& socket) {
    char buffer[2048];
    const ssize_t count = ::recv(socket.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    return count == 0 ? "closed" : count < 0 ? "" : std::string(buffer, std::size_t(count));
  }
  static std::string commit(std::uint64_t sequence) {
    return "commit " + std::to_string(sequence) + " " + std::string(64, 'a') + " 10\n";
  }
  std::vector<Checkpoint> record() {
    const auto text = os::read_file(directory_ + "/checkpoints");
    return text ? node::decode_checkpoints(*text).value_or(std::vector<Checkpoint>{})
                : std::vector<Checkpoint>{};
  }

  std::string directory_;
  LaunchSpec launch_;
  std::vector<int> watched_;
  int changes_ = 0;

 private:
  std::unique_ptr<CheckpointService> service_;
};

TEST_F(CheckpointServiceTest, NumbersGoOnWhereTheJobWas) {
  const os::Fd job = connect();
  send(job, "begin\nbegin\n");
  EXPECT_EQ(said(job), "begun 7 3 12\nbegun 8 3 12\n");
}

TEST_F(CheckpointServiceTest, PublishedOneIsRecordedAndKnownWhenTheControllerSaysSo) {
  const os::Fd job = connect();
  send(job, "begin\n" + commit(7));
  EXPECT_EQ(said(job), "begun 7 3 12\nrecorded 0\n");
  EXPECT_EQ(changes_, 1);
  ASSERT_EQ(record().size(), 1u);
  EXPECT_EQ(record()[0].uri, "/scratch/one/12/000007.3");
  EXPECT_EQ(record()[0].attempt, AttemptNo(3));
  service().known(7);
  EXPECT_EQ(said(job), "known 6\n") << "of the two that are kept 6 is the older one";
  EXPECT_TRUE(record().empty()) << "nothing is left to tell";
  EXPECT_EQ(changes_, 2);
}

TEST_F(CheckpointServiceTest, LatestAnswersForAllBeforeIt) {
  const os::Fd first = connect(), second = connect();
  send(first, "begin\n");
  send(second, "begin\n");
  send(first, commit(7));
  send(second, commit(8));
  service().known(8);
  EXPECT_THAT(said(first), HasSubstr("known 7\n"));
  EXPECT_THAT(said(second), HasSubstr("known 7\n"));
}

TEST_F(CheckpointServiceTest, OlderOneThatComesLateIsRefused) {
  const os::Fd job = connect();
  send(job, "begin\nbegin\n" + commit(8));
  (void)said(job);
  send(job, commit(7));
  EXPECT_EQ(said(job), "error a newer checkpoint was committed meanwhile\n");
}

TEST_F(CheckpointServiceTest, NumberThatWasNotGivenIsRefused) {
  const os::Fd job = connect();
  send(job, commit(7));
  EXPECT_EQ(said(job), "error the checkpoint was not begun\n");
  send(job, "begin\n");
  (void)said(job);
  const os::Fd other = connect();
  send(other, commit(7));
  EXPECT_EQ(said(other), "error the checkpoint was not begun\n") << "it belongs to another one";
  EXPECT_TRUE(record().empty());
}

TEST_F(CheckpointServiceTest, OnlyAsManyAsAreKeptWaitForTheController) {
  const os::Fd job = connect();
  for (const std::uint64_t sequence : {7, 8, 9}) send(job, "begin\n" + commit(sequence));
  ASSERT_EQ(record().size(), 2u);
  EXPECT_EQ(record()[0].sequence, 8u);
  service().known(9);
  EXPECT_THAT(said(job), HasSubstr("known 8\n"));
}

// One that moves back what was refused must find it there.
TEST_F(CheckpointServiceTest, OneThatIsBeingPublishedIsNotRemoved) {
  const os::Fd slow = connect(), fast = connect();
  send(slow, "begin\n");
  for (const std::uint64_t sequence : {8, 9, 10}) {
    send(fast, "begin\n" + commit(sequence));
    service().known(sequence);
  }
  EXPECT_THAT(said(fast), HasSubstr("known 7\n"));
  send(slow, commit(7));
  EXPECT_THAT(said(slow), HasSubstr("error a newer checkpoint was committed meanwhile\n"));
  send(fast, "begin\n" + commit(11));
  service().known(11);
  EXPECT_THAT(said(fast), HasSubstr("known 7\n")) << "it may not be back yet";
  ::shutdown(slow.get(), SHUT_RDWR);
  serve_all();
  send(fast, "begin\n" + commit(12));
  service().known(12);
  EXPECT_THAT(said(fast), HasSubstr("known 11\n"));
}

TEST_F(CheckpointServiceTest, ManyCommitsAreReportedOnceInAWhileAndTheNewestOfThem) {
  const os::Fd job = connect();
  for (std::uint64_t sequence = 7; sequence < 100; ++sequence) {
    send(job, "begin\n" + commit(sequence));
    const std::string answer = said(job);
    ASSERT_THAT(answer, HasSubstr("recorded ")) << "at once";
  }
  EXPECT_EQ(changes_, 1);
  ASSERT_TRUE(service().next_deadline());
  const BootTime due = *service().next_deadline();
  service().tick(due - Duration{1});
  EXPECT_EQ(changes_, 1);
  service().tick(due);
  EXPECT_EQ(changes_, 2);
  EXPECT_FALSE(service().next_deadline());
  ASSERT_EQ(record().size(), 2u);
  EXPECT_EQ(record()[1].sequence, 99u);
}

TEST_F(CheckpointServiceTest, OtherWordsAndEndlessLinesEndTheConnection) {
  const os::Fd job = connect();
  send(job, "rubbish\n");
  EXPECT_EQ(said(job), "closed");
  const os::Fd other = connect();
  for (int i = 0; i < 2; ++i) send(other, std::string(1000, 'x'));
  EXPECT_EQ(said(other), "closed");
}

TEST_F(CheckpointServiceTest, ConnectionsAreBounded) {
  std::vector<os::Fd> many;
  for (int i = 0; i < 20; ++i) many.push_back(connect());
  send(many[0], "begin\n");
  EXPECT_EQ(said(many[0]), "begun 7 3 12\n");
  EXPECT_EQ(said(many[19]), "error more than 16 processes of the job commit at once\n");
  many.erase(many.begin() + 1, many.begin() + 10);
  serve_all();
  const os::Fd later = connect();
  send(later, "begin\n");
  EXPECT_EQ(said(later), "begun 8 3 12\n") << "others have gone";
}

TEST_F(CheckpointServiceTest, DirectoryThatCannotBeWrittenRefusesTheCommit) {
  const os::Fd job = connect();
  send(job, "begin\n");
  (void)said(job);
  std::filesystem::create_directories(directory_ + "/checkpoints/in the way");
  send(job, commit(7));
  EXPECT_THAT(said(job), HasSubstr("error the node cannot record the checkpoint"));
  std::filesystem::remove_all(directory_ + "/checkpoints");
  send(job, "begin\n" + commit(8));
  EXPECT_THAT(said(job), HasSubstr("recorded"));
}

}  // namespace
}  // namespace ares::stepd
