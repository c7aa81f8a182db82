#include "aeff/efficiency.h"

#include <gtest/gtest.h>

namespace ares::aeff {
namespace {

constexpr std::int64_t kSecond = 1'000'000;

api::AccountingRow row() {
  api::AccountingRow row;
  row.mutable_key()->set_job(12);
  row.set_own_id(12);
  row.set_user("alice");
  row.set_group("users");
  row.set_state("COMPLETED");
  row.set_submitted(100 * kSecond);
  row.set_allocated_at(110 * kSecond);
  row.set_started(110 * kSecond);
  row.set_ended(210 * kSecond);
  row.set_node_count(2);
  row.set_cpus(8);
  row.set_allocated_tres("cpu=8,gres/gpu=1.5,mem=4000M,node=2");
  row.set_user_cpu(390 * kSecond);
  row.set_system_cpu(10 * kSecond);
  row.set_max_rss(std::int64_t{1500} << 20);
  return row;
}

TEST(Efficiency, ComparesWhatWasUsedWithWhatTheJobHad) {
  EXPECT_EQ(describe(row(), "c", Time()),
            "Job ID: 12\n"
            "Cluster: c\n"
            "User/Group: alice/users\n"
            "State: COMPLETED (exit code 0)\n"
            "Nodes: 2\n"
            "Cores per node: 4\n"
            "CPU Utilized: 00:06:40\n"
            "CPU Efficiency: 50.00% of 00:13:20 core-walltime\n"
            "Job Wall-clock time: 00:01:40\n"
            "Memory Utilized: 1.46G (of the node with the most)\n"
            "Memory Efficiency: 75.00% of 1.95G a node\n"
            "GPUs: 1.5\n"
            "GPU Efficiency: not measured; they were held for 00:02:30 GPU-walltime\n");
}

TEST(Efficiency, SaysWhatIsNotKnown) {
  api::AccountingRow running = row();
  running.set_state("RUNNING");
  running.set_ended(0);
  const std::string text = describe(running, "c", Time(Duration(170 * kSecond)));
  EXPECT_NE(text.find("CPU Efficiency: known when it has ended; astat -j 12"), std::string::npos);
  EXPECT_NE(text.find("Job Wall-clock time: 00:01:00\n"), std::string::npos);
  EXPECT_EQ(text.find("Memory"), std::string::npos);

  api::AccountingRow never = row();
  never.set_state("CANCELLED");
  never.set_started(0);
  EXPECT_NE(describe(never, "c", Time()).find("Efficiency: it never ran\n"), std::string::npos);

  api::AccountingRow task = row();
  task.mutable_key()->set_task(3);
  task.set_own_id(15);
  task.set_exit_signal(9);
  task.set_allocated_tres("cpu=8,node=2");
  const std::string of_task = describe(task, "c", Time());
  EXPECT_NE(of_task.find("Job ID: 15\nArray Job ID: 12_3\n"), std::string::npos);
  EXPECT_NE(of_task.find("(exit code 0, signal 9)"), std::string::npos);
  EXPECT_NE(of_task.find("Memory Efficiency: no memory was reserved for it\n"), std::string::npos);
}

}  // namespace
}  // namespace ares::aeff
