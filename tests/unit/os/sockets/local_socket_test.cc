// Tests: local_socket, affinity
#include "os/sockets/local_socket.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "os/affinity.h"

namespace ares::os {
namespace {

class LocalSocketTest : public testing::Test {
 protected:
  LocalSocketTest() {
    std::string pattern = testing::TempDir() + "socket-XXXXXX";
    top_ = ::mkdtemp(pattern.data());
    // Longer than a name of a socket may be.
    directory = top_ + "/" + std::string(120, 'd');
    std::filesystem::create_directory(directory);
  }
  ~LocalSocketTest() override { std::filesystem::remove_all(top_); }

  std::string directory;

 private:
  std::string top_;
};

TEST_F(LocalSocketTest, ConnectsInADirectoryOfAnyLength) {
  const Result<Fd> listener = listen_in(directory, "s", ::geteuid());
  ASSERT_TRUE(listener) << listener.error().message;
  const Result<Fd> client = connect_in(directory, "s");
  ASSERT_TRUE(client) << client.error().message;
  const Fd server(::accept(listener->get(), nullptr, nullptr));
  ASSERT_EQ(::write(client->get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(server.get(), &byte, 1), 1);
  struct stat info {};
  ASSERT_EQ(::stat((directory + "/s").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U) << "no other user may connect";
}

TEST_F(LocalSocketTest, ErrorsTellASocketThatIsMissingFromOneWithoutAListener) {
  EXPECT_EQ(connect_in(directory, "s").error().code, ErrorCode::not_found);
  ASSERT_TRUE(listen_in(directory, "s", ::geteuid()));  // closed at once
  EXPECT_EQ(connect_in(directory, "s").error().code, ErrorCode::unavailable);
  EXPECT_TRUE(listen_in(directory, "s", ::geteuid())) << "what was left is replaced";
  EXPECT_FALSE(listen_in(directory + "/missing", "s", ::geteuid()));
}

TEST_F(LocalSocketTest, FullQueueIsNotWaitedForIfAskedNotTo) {
  const Result<Fd> listener = listen_in(directory, "s", ::geteuid());
  ASSERT_TRUE(listener);
  ASSERT_EQ(::listen(listener->get(), 1), 0);
  std::vector<Fd> waiting;
  Result<Fd> next = connect_in(directory, "s", false);
  for (; next && waiting.size() < 10; next = connect_in(directory, "s", false))
    waiting.push_back(std::move(*next));
  ASSERT_FALSE(next) << "two wait where one may";
  EXPECT_EQ(next.error().code, ErrorCode::unavailable);
}

TEST(Affinity, ThreadRunsOnTheCpusAndOnAnyWithoutASet) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  std::uint32_t first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  run_on({});
  cpu_set_t now;
  ASSERT_EQ(::sched_getaffinity(0, sizeof now, &now), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &now));
  IntervalSet one;
  one.insert(first);
  run_on(one);
  ASSERT_EQ(::sched_getaffinity(0, sizeof now, &now), 0);
  EXPECT_EQ(CPU_COUNT(&now), 1);
  EXPECT_TRUE(CPU_ISSET(first, &now));
  ::sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace ares::os
