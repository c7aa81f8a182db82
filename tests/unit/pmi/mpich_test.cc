// Tests: pmi1_server
// Real programs of MPICH, whose nodes are servers in this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <map>

#include "pmi/pmi1_server.h"
#include "tools/mpi_program.h"

namespace ares::pmi {
namespace {

using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

// A step: its ranks as processes, and the server of each node.
class Step {
 public:
  Step(const std::string& program, const std::vector<std::vector<std::uint32_t>>& ranks_by_node,
       const std::string& mode, const test::Folder& folder)
      : folder_(folder) {
    TaskMap map{.ranks_by_node = ranks_by_node};
    for (const auto& ranks : ranks_by_node) map.size += ranks.size();
    for (; map.this_node < ranks_by_node.size(); ++map.this_node) {
      servers_.push_back(Pmi1Server::create(map, "ares_7.0").value());
      for (const std::uint32_t rank : map.local_ranks()) {
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        std::vector<std::string> words{program};
        if (!mode.empty()) words.push_back(mode);
        const pid_t pid =
            test::start(words, output(rank), environment(map, rank, ends[1]), ends[1]);
        ::close(ends[1]);
        ranks_[rank] = {.node = map.this_node, .pid = pid, .connection = ends[0]};
      }
    }
  }
  ~Step() {
    for (auto& [rank, task] : ranks_) {
      if (!task.status) {
        ::kill(task.pid, SIGKILL);
        ::waitpid(task.pid, nullptr, 0);
      }
      ::close(task.connection);
    }
  }

  // Serves until all ranks have ended, or the step is to be ended. False at the time limit.
  bool run() {
    const auto deadline = Clock::now() + test::kMpiLimit;
    while (Clock::now() < deadline) {
      if (abort_ || poll_exits()) return true;
      std::vector<pollfd> polled;
      std::vector<std::uint32_t> who;
      for (const auto& [rank, task] : ranks_)
        if (!task.closed) {
          polled.push_back({task.connection, POLLIN, 0});
          who.push_back(rank);
        }
      ::poll(polled.data(), polled.size(), 20);
      for (std::size_t i = 0; i < polled.size(); ++i)
        if (polled[i].revents != 0) serve(who[i]);
    }
    return false;
  }

  const std::optional<Abort>& abort() const { return abort_; }
  std::optional<int> status(std::uint32_t rank) const { return ranks_.at(rank).status; }
  std::string printed(std::uint32_t rank) const {
    return folder_.read("out." + std::to_string(rank));
  }

 private:
  struct Task {
    std::uint32_t node = 0;
    pid_t pid = 0;
    int connection = -1;
    bool closed = false;
    std::optional<int> status = {};
  };

  std::string output(std::uint32_t rank) const {
    return folder_.path() + "/out." + std::to_string(rank);
  }
  bool poll_exits() {
    bool all = true;
    for (auto& [rank, task] : ranks_) {
      if (!task.status) task.status = test::exit_status(task.pid);
      all = all && task.status;
    }
    return all;
  }
  void serve(std::uint32_t rank) {
    Task& task = ranks_[rank];
    char bytes[4096];
    const ssize_t got = ::recv(task.connection, bytes, sizeof bytes, 0);
    Pmi1Server& server = servers_[task.node];
    if (got <= 0) {
      task.closed = true;
      return take(task.node, server.on_closed(rank));
    }
    take(task.node, server.on_bytes(rank, {bytes, static_cast<std::size_t>(got)}));
  }
  void take(std::uint32_t node, const Outcome& outcome) {
    for (const Reply& reply : outcome.replies)
      EXPECT_EQ(
          ::send(ranks_[reply.rank].connection, reply.line.data(), reply.line.size(), MSG_NOSIGNAL),
          static_cast<ssize_t>(reply.line.size()));
    if (outcome.abort && !abort_) abort_ = outcome.abort;
    if (!outcome.contribution) return;
    contributions_[node] = *outcome.contribution;
    if (contributions_.size() < servers_.size()) return;
    std::vector<std::string> all;
    for (auto& [from, text] : contributions_) all.push_back(std::move(text));
    contributions_.clear();
    for (std::uint32_t i = 0; i < servers_.size(); ++i) take(i, servers_[i].on_fence(all));
  }

  const test::Folder& folder_;
  std::vector<Pmi1Server> servers_;
  std::map<std::uint32_t, Task> ranks_;
  std::map<std::uint32_t, std::string> contributions_;
  std::optional<Abort> abort_;
};

class Mpich : public ::testing::Test {
 protected:
  void SetUp() override {
    built_ = test::build_mpi_ring(
        "mpicc.mpich", "mpich", std::string(ARES_SOURCE_DIR) + "/tests/tools/mpi_ring.c", folder_);
    if (!built_.skip.empty()) GTEST_SKIP() << built_.skip;
  }

  void expect_ring(const std::vector<std::vector<std::uint32_t>>& ranks_by_node) {
    Step step(built_.program, ranks_by_node, "", folder_);
    ASSERT_TRUE(step.run());
    EXPECT_FALSE(step.abort()) << step.abort()->message;
    unsigned size = 0;
    for (const auto& ranks : ranks_by_node) size += ranks.size();
    for (const auto& ranks : ranks_by_node)
      for (const std::uint32_t rank : ranks) {
        EXPECT_THAT(step.printed(rank), HasSubstr(test::ring_line(rank, size, ranks.size())));
        EXPECT_EQ(step.status(rank), 0);
      }
  }

  test::Folder folder_;
  test::Built built_;
};

TEST_F(Mpich, FourRanksOnOneNodeCompute) {
  expect_ring({{0, 1, 2, 3}});
}

TEST_F(Mpich, FourRanksOnTwoNodesCompute) {
  expect_ring({{0, 1}, {2, 3}});
}

TEST_F(Mpich, RanksInTurnOnUnequalNodesCompute) {
  expect_ring({{0, 2, 4}, {1, 3}});
}

TEST_F(Mpich, AnAbortNamesTheRankAndItsCode) {
  Step step(built_.program, {{0}, {1}}, "abort", folder_);
  ASSERT_TRUE(step.run());
  ASSERT_TRUE(step.abort());
  EXPECT_EQ(step.abort()->rank, 1u);
  EXPECT_EQ(step.abort()->exit_code, 7);
}

TEST_F(Mpich, ARankThatLeavesDoesNotLetTheOthersWait) {
  Step step(built_.program, {{0, 1}}, "leave", folder_);
  ASSERT_TRUE(step.run());
  ASSERT_TRUE(step.abort());
  EXPECT_EQ(step.abort()->message, "rank 1 ended without MPI_Finalize");
}

TEST_F(Mpich, ASpawnIsRefusedAndTheProgramGoesOn) {
  Step step(built_.program, {{0, 1}}, "spawn", folder_);
  ASSERT_TRUE(step.run());
  EXPECT_FALSE(step.abort()) << step.abort()->message;
  EXPECT_THAT(step.printed(0), HasSubstr("spawn refused"));
  EXPECT_EQ(step.status(1), 0);
}

}  // namespace
}  // namespace ares::pmi
