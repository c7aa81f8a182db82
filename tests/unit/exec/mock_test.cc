// Tests: exec/adapter/backend, exec/adapter/convert
// The mock plugin behind the exec interface, driven by a node agent like in aresd.
#include "exec/mock/mock.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "exec/mock/simulated_tree.h"
#include "node/memory_spool.h"
#include "real_node.h"

namespace ares::exec {
namespace {

class Mock : public ::testing::Test, private node::Uplink, private node::Users {
 protected:
  void start(const std::string& options) {
    node::AgentSetup setup;
    setup.name = "n1";
    setup.boot_id = "boot";
    node::Uplink& uplink = *this;
    node::Users& users = *this;
    agent = std::make_unique<node::NodeAgent>(setup, spool, users, uplink);
    executor = std::move(
        *PluginExecutor::open(*mock_plugin(), {"n1", "", "boot", options}, spool, *agent));
    ASSERT_TRUE(agent->recover(*executor, real_now()));
    agent->connected(real_now());
  }
  void tell(ToNodeBody body) { agent->receive({"n1", Epoch(1), std::move(body)}, real_now()); }
  Prepare job(std::uint64_t id, const std::string& script) {
    auto spec = std::make_shared<JobSpec>();
    Prepare prepare;
    prepare.launch.attempt = {{JobId(id), TaskIndex{}}, AttemptNo(1)};
    prepare.launch.fence = Fence(id);
    prepare.launch.spec = spec;
    prepare.launch.share.incarnation = agent->incarnation();
    prepare.script = std::make_shared<std::string>(script);
    return prepare;
  }
  AttemptReport report(const AttemptKey& key) {
    for (const AttemptReport& r : agent->attempts())
      if (r.attempt == key) return r;
    return {};
  }
  bool until(const AttemptKey& key, AttemptPhase phase) {
    const BootTime deadline = os::boot_now() + Seconds(10);
    while (report(key).phase != phase && os::boot_now() < deadline) {
      if (const auto next = executor->next_deadline(); next && *next > os::boot_now())
        ::usleep(1000);
      executor->dispatch(real_now());
    }
    return report(key).phase == phase;
  }
  AttemptReport run(const Prepare& prepare) {
    const AttemptKey& key = prepare.launch.attempt;
    tell(prepare);
    EXPECT_TRUE(until(key, AttemptPhase::ready));
    tell(Go{key, prepare.launch.fence});
    EXPECT_TRUE(until(key, AttemptPhase::done));
    return report(key);
  }

  node::MemorySpool spool;
  std::unique_ptr<node::NodeAgent> agent;
  std::unique_ptr<PluginExecutor> executor;

 private:
  void send(FromNode) override {}
  Result<node::UserIdentity> find(UserId, GroupId gid) override {
    return node::UserIdentity{{}, gid, {}, {}, {}};
  }
};

TEST_F(Mock, RunsAsLongAsTheScriptSleeps) {
  start("");
  const AttemptReport report = run(job(1, "#!/bin/sh\necho x\n  sleep 0.2\nsleep 100\n"));
  const Duration time = *report.ended_at - *report.ran_since;
  EXPECT_GE(time, std::chrono::milliseconds(190));
  EXPECT_LT(time, Seconds(5));
  EXPECT_EQ(report.exit.code, 0);
}

TEST_F(Mock, ConfiguredRunTimePrecedesTheScript) {
  start("run_time_ms 10\n");
  const AttemptReport report = run(job(1, "#!/bin/sh\nsleep 100\n"));
  EXPECT_LT(*report.ended_at - *report.ran_since, Seconds(5));
}

TEST_F(Mock, ConfiguredRateOfJobsFails) {
  start("fail_permille 300\n");
  int failed = 0;
  for (std::uint64_t id = 1; id <= 200; ++id) failed += run(job(id, "#!/bin/sh\n")).exit.code;
  EXPECT_GT(failed, 30);
  EXPECT_LT(failed, 90);
}

TEST_F(Mock, ConfiguredRateOfLaunchesFails) {
  start("launch_fail_permille 1000\n");
  const Prepare prepare = job(1, "#!/bin/sh\n");
  tell(prepare);
  EXPECT_TRUE(until(prepare.launch.attempt, AttemptPhase::never_ran));
}

TEST_F(Mock, SlowNodeDelaysTheLaunch) {
  start("slow_permille 1000\nslow_delay_ms 50\n");
  const BootTime begin = os::boot_now();
  const Prepare prepare = job(1, "#!/bin/sh\n");
  tell(prepare);
  EXPECT_TRUE(until(prepare.launch.attempt, AttemptPhase::ready));
  EXPECT_GE(os::boot_now() - begin, std::chrono::milliseconds(50));
}

TEST_F(Mock, LimitKillAndNeverRanAreLikeThoseOfRealJobs) {
  start("");
  Prepare limited = job(1, "#!/bin/sh\nsleep 100\n");
  limited.launch.time_limit = Seconds(0);
  const AttemptReport late = run(limited);
  EXPECT_TRUE(late.exit.timed_out);
  EXPECT_EQ(late.exit.signal, SIGTERM);

  const Prepare gated = job(2, "#!/bin/sh\nsleep 100\n");
  tell(gated);
  ASSERT_TRUE(until(gated.launch.attempt, AttemptPhase::ready));
  tell(Kill{gated.launch.attempt, gated.launch.fence});
  EXPECT_TRUE(until(gated.launch.attempt, AttemptPhase::never_ran));
  tell(Forget{gated.launch.attempt, gated.launch.fence});
  EXPECT_TRUE(spool.list()->size() == 1u);

  const Prepare quick = job(3, "#!/bin/sh\n");
  tell(quick);
  tell(Kill{quick.launch.attempt, quick.launch.fence});
  EXPECT_TRUE(until(quick.launch.attempt, AttemptPhase::never_ran));
}

// A warning goes to what the script has started, which a simulated job has not.
TEST_F(Mock, WarningDoesNotEndASimulatedJob) {
  start("");
  Prepare warned = job(1, "#!/bin/sh\nsleep 0.2\n");
  auto spec = std::make_shared<JobSpec>();
  spec->warning = WarningSignal{SIGUSR1, kLongestWarning, false};
  warned.launch.spec = spec;
  warned.launch.time_limit = Seconds(60);
  EXPECT_EQ(run(warned).exit, ExitStatus{});
}

TEST(FirstSleep, IsFoundAtTheStartOfALine) {
  EXPECT_EQ(first_sleep("#!/bin/sh\nsleep 3\n"), Duration(Seconds(3)));
  EXPECT_EQ(first_sleep("\tsleep 0.5 # half"), Duration(std::chrono::milliseconds(500)));
  EXPECT_FALSE(first_sleep("echo sleep 3\nsleeping 4\nsleep x\n"));
  EXPECT_FALSE(first_sleep(""));
}

// A plugin of 0.1.0: its reports end with the detail, and it fills in less of what an attempt uses.
struct OldPlugin {
  ares_exec_host host{};
  static void list(void* self) {
    auto& old = *static_cast<OldPlugin*>(self);
    std::vector<char> report(offsetof(ares_exec_report, disk_read) + 2 * sizeof(std::int64_t),
                             0x7f);
    ares_exec_report known{};
    known.phase = ARES_EXEC_DONE;
    known.max_rss = 5;
    std::memcpy(report.data(), &known, offsetof(ares_exec_report, disk_read));
    old.host.changed(old.host.context, reinterpret_cast<const ares_exec_report*>(report.data()));
  }
};

TEST_F(Mock, ReportsOfOlderPluginsAreNotReadBeyondTheirEnd) {
  start("");
  ares_exec_plugin table = *mock_plugin();
  table.open = [](const ares_exec_host* host, char*, size_t) -> void* {
    return new OldPlugin{*host};
  };
  table.close = [](void* self) { delete static_cast<OldPlugin*>(self); };
  table.list = OldPlugin::list;
  ares_exec_plugin unset = table;  // written for 0.1.0, compiled with the header of this release
  unset.report_size = 0;
  table.size = offsetof(ares_exec_plugin, report_size);
  for (const ares_exec_plugin& plugin : {table, unset}) {
    auto old = PluginExecutor::open(plugin, {"n1", "", "boot", ""}, spool, *agent);
    ASSERT_TRUE(old);
    const std::vector<AttemptReport> reports = (*old)->list(real_now());
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].usage.max_rss, Bytes(5));
    EXPECT_EQ(reports[0].usage.disk_read, Bytes{});
    EXPECT_EQ(reports[0].usage.disk_written, Bytes{});
  }
}

}  // namespace
}  // namespace ares::exec
