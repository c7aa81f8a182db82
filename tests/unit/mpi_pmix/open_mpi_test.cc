// Tests: arespmixd/serve, arespmixd/channel, pmix/host
// Real programs of Open MPI. Each node is an arespmixd; this process is the daemon of the step on all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <map>
#include <variant>

#include "pmi/pmix_check.h"
#include "pmi/pmix_message.h"
#include "tools/mpi_program.h"

namespace ares::pmi {
namespace {

using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

class Step {
 public:
  Step(const std::vector<std::vector<std::uint32_t>>& ranks_by_node,
       std::vector<std::string> hostnames, const test::Folder& folder)
      : folder_(folder), nodes_(ranks_by_node.size()) {
    setup_.library = "libpmix.so.2";
    setup_.map.ranks_by_node = ranks_by_node;
    for (const auto& ranks : ranks_by_node) setup_.map.size += ranks.size();
    setup_.space = "ares_7.0";
    setup_.hostnames = std::move(hostnames);
  }
  ~Step() {
    for (auto& [rank, task] : tasks_)
      if (!task.status) {
        ::kill(task.pid, SIGKILL);
        ::waitpid(task.pid, nullptr, 0);
      }
    for (Node& node : nodes_) {
      if (node.connection >= 0) ::close(node.connection);
      if (node.pid > 0) ::waitpid(node.pid, nullptr, 0);
    }
  }

  // Of the ranks, beside what PMIx needs.
  void add_to_environment(const std::string& name, const std::string& value) {
    more_.emplace_back(name, value);
  }
  // Each node has a UTS namespace, so that programs see hosts of these names.
  void separate_hosts() { separate_ = true; }

  // Starts the servers, and the program on all ranks.
  void start(const std::vector<std::string>& words) {
    words_ = words;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      setup_.map.this_node = i;
      setup_.directory = folder_.path() + "/node" + std::to_string(i);
      std::filesystem::create_directory(setup_.directory);
      int ends[2];
      ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
      nodes_[i].pid = test::start(on_host(i, {ARES_BIN_DIR "/arespmixd", std::to_string(ends[1])}),
                                  folder_.path() + "/server", {}, ends[1]);
      ::close(ends[1]);
      nodes_[i].connection = ends[0];
      send(i, setup_);
    }
  }

  // Serves until all ranks have ended, or the step is to be ended. False at the time limit.
  bool run() {
    const auto deadline = Clock::now() + test::kMpiLimit;
    while (Clock::now() < deadline) {
      if (abort_ || failed_ || poll_exits()) return true;
      std::vector<pollfd> polled;
      for (const Node& node : nodes_) polled.push_back({node.connection, POLLIN, 0});
      ::poll(polled.data(), polled.size(), 20);
      for (std::uint32_t i = 0; i < polled.size(); ++i)
        if (polled[i].revents != 0) receive(i);
    }
    return false;
  }

  const std::optional<PmixAbort>& abort() const { return abort_; }
  const std::optional<std::string>& failed() const { return failed_; }
  int fences() const { return fences_; }
  int modexes() const { return modexes_; }
  std::optional<int> status(std::uint32_t rank) const { return tasks_.at(rank).status; }
  std::string printed(std::uint32_t rank) const {
    return folder_.read("out." + std::to_string(rank));
  }

 private:
  struct Node {
    pid_t pid = 0;
    int connection = -1;
    PmixFrames frames{kMostPmixEvent};
  };
  struct Task {
    std::uint32_t node = 0;
    pid_t pid = 0;
    std::optional<int> status = {};
  };
  struct Collected {
    std::map<std::uint32_t, std::uint64_t> ids;  // by node
    std::map<std::uint32_t, std::string> data;
  };

  std::vector<std::string> on_host(std::uint32_t node, std::vector<std::string> words) const {
    if (!separate_) return words;
    words.insert(words.begin(),
                 {"unshare", "--uts", "sh", "-c", "hostname \"$1\" && shift && exec \"$@\"", "sh",
                  setup_.hostnames[node]});
    return words;
  }
  void send(std::uint32_t node, const PmixCommand& command) {
    const std::string text = frame(command);
    EXPECT_EQ(::send(nodes_[node].connection, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  void receive(std::uint32_t i) {
    char bytes[65536];
    const ssize_t got = ::recv(nodes_[i].connection, bytes, sizeof bytes, 0);
    if (got <= 0) {
      if (!failed_) failed_ = "arespmixd ended";
      return;
    }
    nodes_[i].frames.add({bytes, static_cast<std::size_t>(got)});
    setup_.map.this_node = i;
    while (const auto body = nodes_[i].frames.next().value()) {
      const PmixEvent event = read_event(*body).value();
      const Status right = check(event, setup_.map);
      EXPECT_TRUE(right) << right.error().message;
      std::visit([&](const auto& one) { on(i, one); }, event);
    }
  }
  bool poll_exits() {
    bool all = tasks_.size() == setup_.map.size;
    for (auto& [rank, task] : tasks_) {
      if (!task.status) {
        task.status = test::exit_status(task.pid);
        if (task.status) send(task.node, PmixRankEnded{rank});
      }
      all = all && task.status;
    }
    return all;
  }

  void on(std::uint32_t i, const PmixReady& ready) {
    const auto& ranks = setup_.map.ranks_by_node[i];
    ASSERT_EQ(ready.of_local_ranks.size(), ranks.size());
    for (std::size_t at = 0; at < ranks.size(); ++at) {
      Environment environment = ready.of_local_ranks[at];
      // What Open MPI 4 looks for, as the environment of steps has it.
      environment.insert(environment.end(), more_.begin(), more_.end());
      // The only network that all machines have.
      environment.emplace_back("OMPI_MCA_btl_tcp_if_include", "lo");
      // Open MPI names its shared memory after host, user and step. So nodes on one host, and tests beside each other, would
      // write into the same.
      if (!separate_)
        environment.emplace_back("OMPI_MCA_btl_vader_backing_directory",
                                 folder_.path() + "/node" + std::to_string(i));
      environment.insert(environment.end(),
                         {{"SLURM_NODELIST", "any"}, {"SLURM_JOBID", "7"}, {"SLURM_STEP_ID", "0"}});
      const std::uint32_t rank = ranks[at];
      tasks_[rank] = {
          .node = i,
          .pid = test::start(on_host(i, words_), folder_.path() + "/out." + std::to_string(rank),
                             environment)};
    }
  }
  void on(std::uint32_t, const PmixFailed& failed) { failed_ = failed.message; }
  void on(std::uint32_t, const PmixAbort& abort) {
    if (!abort_) abort_ = abort;
  }
  void on(std::uint32_t i, const PmixFence& fence) {
    ++fences_;
    Collected& collected = fences_by_name_[fence.name];
    collected.ids[i] = fence.id;
    collected.data[i] = fence.data;
    if (collected.ids.size() < fence.nodes.size()) return;
    std::string all;
    for (const auto& [node, data] : collected.data) all += data;
    for (const auto& [node, id] : collected.ids) send(node, PmixFenceResult{id, all});
  }
  void on(std::uint32_t i, const PmixModexRequest& request) {
    ++modexes_;
    const std::uint32_t owner = nodes_of_ranks(setup_.map)[request.rank];
    asked_[next_ask_] = {i, request.id};
    send(owner, PmixModexAsk{next_ask_++, request.rank});
  }
  void on(std::uint32_t, const PmixModexData& data) {
    const auto [node, id] = asked_.at(data.id);
    send(node, PmixModexResult{id, data.data});
  }

  const test::Folder& folder_;
  PmixSetup setup_;
  Environment more_;
  bool separate_ = false;
  std::vector<std::string> words_;
  std::vector<Node> nodes_;
  std::map<std::uint32_t, Task> tasks_;
  std::map<std::string, Collected> fences_by_name_;
  std::map<std::uint64_t, std::pair<std::uint32_t, std::uint64_t>> asked_;
  std::uint64_t next_ask_ = 1;
  std::optional<PmixAbort> abort_;
  std::optional<std::string> failed_;
  int fences_ = 0, modexes_ = 0;
};

std::string this_host() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

class OpenMpi : public ::testing::Test {
 protected:
  void SetUp() override {
    // Open MPI refuses root otherwise.
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    built_ =
        test::build_mpi_ring("mpicc.openmpi", "openmpi-bin",
                             std::string(ARES_SOURCE_DIR) + "/tests/tools/mpi_ring.c", folder_);
    if (!built_.skip.empty()) GTEST_SKIP() << built_.skip;
  }

  void expect_ring(Step& step, const std::vector<std::vector<std::uint32_t>>& ranks_by_node) {
    step.start({built_.program});
    ASSERT_TRUE(step.run());
    ASSERT_FALSE(step.failed()) << *step.failed() << folder_.read("server");
    EXPECT_FALSE(step.abort()) << step.abort()->message;
    unsigned size = 0;
    for (const auto& ranks : ranks_by_node) size += ranks.size();
    for (const auto& ranks : ranks_by_node)
      for (const std::uint32_t rank : ranks) {
        EXPECT_THAT(step.printed(rank), HasSubstr(test::ring_line(rank, size, ranks.size())));
        EXPECT_EQ(step.status(rank), 0);
      }
    // The library completes by itself what concerns one node only.
    EXPECT_EQ(step.fences() > 0, ranks_by_node.size() > 1);
  }

  test::Folder folder_;
  test::Built built_;
};

TEST_F(OpenMpi, FourRanksOnOneNodeCompute) {
  Step step({{0, 1, 2, 3}}, {this_host()}, folder_);
  expect_ring(step, {{0, 1, 2, 3}});
}

TEST_F(OpenMpi, FourRanksOnTwoNodesCompute) {
  Step step({{0, 1}, {2, 3}}, {this_host(), "elsewhere"}, folder_);
  expect_ring(step, {{0, 1}, {2, 3}});
}

TEST_F(OpenMpi, RanksInTurnOnUnequalNodesCompute) {
  Step step({{0, 2, 4}, {1, 3}}, {this_host(), "elsewhere"}, folder_);
  expect_ring(step, {{0, 2, 4}, {1, 3}});
}

TEST_F(OpenMpi, AProgramThatAsksForEachRankAloneComputes) {
  Step step({{0, 1}, {2, 3}}, {this_host(), "elsewhere"}, folder_);
  step.add_to_environment("OMPI_MCA_pmix_base_async_modex", "1");
  step.add_to_environment("OMPI_MCA_pmix_base_collect_data", "0");
  expect_ring(step, {{0, 1}, {2, 3}});
  EXPECT_GT(step.modexes(), 0);
}

TEST_F(OpenMpi, TwoHostsOfOtherNamesCompute) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a namespace the name of a host";
  Step step({{0, 1}, {2, 3}}, {"ares-host1", "ares-host2"}, folder_);
  step.separate_hosts();
  expect_ring(step, {{0, 1}, {2, 3}});
}

TEST_F(OpenMpi, AnAbortNamesTheRankAndItsCode) {
  Step step({{0}, {1}}, {this_host(), "elsewhere"}, folder_);
  step.start({built_.program, "abort"});
  ASSERT_TRUE(step.run());
  ASSERT_TRUE(step.abort()) << step.failed().value_or("");
  EXPECT_EQ(step.abort()->rank, 1u);
  EXPECT_EQ(step.abort()->exit_code, 7);
  EXPECT_THAT(step.abort()->message, HasSubstr("rank 1 called MPI_Abort with code 7"));
}

TEST_F(OpenMpi, ARankThatLeavesDoesNotLetTheOthersWait) {
  Step step({{0, 1}}, {this_host()}, folder_);
  step.start({built_.program, "leave"});
  ASSERT_TRUE(step.run());
  ASSERT_TRUE(step.abort()) << step.failed().value_or("");
  EXPECT_EQ(step.abort()->message, "rank 1 ended without MPI_Finalize");
}

}  // namespace
}  // namespace ares::pmi
