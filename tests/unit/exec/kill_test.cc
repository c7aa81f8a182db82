// Kills daemons and supervisors at random moments while launches are repeated, and counts starts by their files.
#include <random>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "unit/exec/processes.h"
#include "unit/exec/real_node.h"

namespace ares::exec {
namespace {

constexpr int kLaunches = 300;
constexpr int kAtOnce = 6;

// One job of the campaign, driven as a controller would: repeated until an end is reported.
struct Job {
  Prepare prepare;
  int turns = 0;
  AttemptPhase end = AttemptPhase::accepted;
  bool killed =
      false;  // with the first process of its namespace, maybe before the script's first line
};

int count_lines(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

TEST(KillCampaign, NoAttemptRunsTwice) {
  TemporaryDirectory work;
  RealNode node(work / "spool");
  std::mt19937 random(20240601);
  auto chance = [&](unsigned percent) { return random() % 100 < percent; };
  int launched = 0;
  std::map<AttemptKey, Job> live, ended;
  std::map<AttemptPhase, int> ends;
  std::set<std::string> groups;  // recorded by supervisors that were killed

  const BootTime deadline = os::boot_now() + Seconds(100);
  while ((launched < kLaunches || !live.empty()) && os::boot_now() < deadline) {
    while (launched < kLaunches && live.size() < kAtOnce) {
      ++launched;
      const std::string mark = "mark." + std::to_string(launched);
      Prepare prepare = make_prepare(node, static_cast<std::uint64_t>(launched),
                                     "echo start >> " + mark + "\n", work.path());
      edit(prepare).std_out = "/dev/null";
      const AttemptKey key = prepare.launch.attempt;
      live[key] = {std::move(prepare)};
    }
    for (auto it = live.begin(); it != live.end();) {
      Job& job = it->second;
      const AttemptKey key = it->first;
      const Fence fence = job.prepare.launch.fence;
      if (node.knows(key) && node::has_ended(node.report(key).phase)) {
        job.end = node.report(key).phase;
        job.killed = node.report(key).exit.signal == SIGKILL;
        ++ends[job.end];
        node.tell(Forget{key, fence});
        node.tell(job.prepare);  // a late copy
        node.tell(Go{key, fence});
        ended[key] = std::move(job);
        it = live.erase(it);
        continue;
      }
      if (!node.knows(key) || chance(20))
        for (unsigned copies = 1 + random() % 3; copies > 0; --copies) node.tell(job.prepare);
      if (node.knows(key) && node.report(key).phase == AttemptPhase::ready)
        for (unsigned copies = 1 + random() % 2; copies > 0; --copies) node.tell(Go{key, fence});
      if (chance(15) && node.spool().open(key))
        if (const node::StartedRecord supervisor = node.started(key); supervisor.pid > 1) {
          std::istringstream recorded(supervisor.cgroups);
          for (std::string group; std::getline(recorded, group, ':');) groups.insert(group);
          const auto pid = static_cast<pid_t>(supervisor.pid);
          const std::vector<pid_t> inits = chance(30) ? children_of(pid) : std::vector<pid_t>{pid};
          for (const pid_t victim : inits) ::kill(victim, SIGKILL);
        }
      ++it;
    }
    if (chance(8)) node.restart();
    if (const pid_t server = chance(4) ? fork_server() : 0; server > 0) {
      // The server, or those that wait for an attempt.
      const std::vector<pid_t> victims =
          chance(50) ? children_of(server) : std::vector<pid_t>{server};
      for (const pid_t victim : victims) {
        for (const std::string& group : ready_groups_of(victim)) groups.insert(group);
        ::kill(victim, SIGKILL);
      }
    }
    const BootTime turn = os::boot_now() + std::chrono::milliseconds(random() % 8);
    node.until([&] { return os::boot_now() >= turn; });
  }
  ASSERT_EQ(ended.size(), static_cast<std::size_t>(kLaunches)) << "within the time";
  for (const auto& [key, job] : ended) {
    const int starts =
        count_lines(file_text(work / ("mark." + std::to_string(key.job.job.value()))));
    EXPECT_LE(starts, 1) << node::directory_name(key);
    if (job.end == AttemptPhase::done && !job.killed) {
      EXPECT_EQ(starts, 1) << node::directory_name(key);
    }
    if (job.end == AttemptPhase::never_ran) {
      EXPECT_EQ(starts, 0) << node::directory_name(key);
    }
  }
  // No control group of theirs is left on the machine either.
  for (const std::string& group : groups)
    EXPECT_TRUE(node.until([&] { return !std::filesystem::exists(group); }))
        << group << " is left over";
  EXPECT_GT(ends[AttemptPhase::done], 30);
  EXPECT_GT(ends[AttemptPhase::never_ran] + ends[AttemptPhase::lost], 30);
  RecordProperty("done", ends[AttemptPhase::done]);
  RecordProperty("never_ran", ends[AttemptPhase::never_ran]);
  RecordProperty("lost", ends[AttemptPhase::lost]);
  std::printf("done %d, never ran %d, lost %d\n", ends[AttemptPhase::done],
              ends[AttemptPhase::never_ran], ends[AttemptPhase::lost]);
}

}  // namespace
}  // namespace ares::exec
