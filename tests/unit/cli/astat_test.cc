// How astat sums up what the nodes of a job told.
#include <gtest/gtest.h>

#include "astat/columns.h"

namespace ares::astat {
namespace {

void add_line(api::RunningUse& use, std::uint32_t task, const std::string& node, bool known) {
  api::RunningUse::Line& line = *use.add_lines();
  line.mutable_job()->set_job(12);
  line.mutable_job()->set_task(task);
  line.set_node(node);
  line.set_cpus(2);
  line.set_tasks(1);
  line.set_memory_allocated(1 << 20);
  line.set_known(known);
  if (!known) return;
  line.set_heard_at(10'000'000 + use.lines_size());
  line.set_user_cpu(1'500'000);
  line.set_system_cpu(500'000);
  line.set_memory(1000);
  line.set_max_rss(1000 * use.lines_size());
  line.set_processes(3);
  line.set_disk_read(4096);
  line.set_disk_written(1 << 20);
}

std::string cell(const Row& row, std::string_view name) {
  for (const auto& column : columns().supported)
    if (column.name == name) {
      std::string text;
      column.put(row, text);
      return text;
    }
  return "no such column";
}

TEST(Astat, SumsTheNodesOfAJob) {
  api::RunningUse use;
  use.set_now(20'000'000);
  add_line(use, 1, "n1", true);
  add_line(use, 1, "n2", true);
  add_line(use, 2, "n3", true);
  const std::vector<Row> rows = rows_of(use, false);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(cell(rows[0], "JobID"), "12_1");
  EXPECT_EQ(cell(rows[0], "NodeList"), "n[1-2]");
  EXPECT_EQ(cell(rows[0], "TotalCPU"), "00:04.000");
  EXPECT_EQ(cell(rows[0], "AveCPU"), "00:02.000");
  EXPECT_EQ(cell(rows[0], "Processes"), "6");
  EXPECT_EQ(cell(rows[0], "MaxRSSNode"), "n2");
  EXPECT_EQ(cell(rows[0], "Age"), "0:09");  // of the oldest
  EXPECT_EQ(cell(rows[1], "NodeList"), "n3");
  EXPECT_EQ(rows_of(use, true).size(), 3u);
}

TEST(Astat, StepsThatRunAreLinesOfTheirOwn) {
  api::RunningUse use;
  use.set_now(20'000'000);
  add_line(use, 1, "n1", true);
  add_line(use, 1, "n2", true);
  for (const int number : {0, 1}) {
    api::AccountingStep& step = *use.mutable_lines(0)->add_steps();
    step.set_number(number);
    step.set_tasks(4);
    step.set_node_list("n[1-2]");
    step.set_user_cpu(8'000'000);
    step.set_max_rss(5 << 20);
    step.set_max_rss_node("n2");
    if (number == 0) step.set_ended(15'000'000);
  }
  const std::vector<Row> all = step_rows(use, {}, true);
  ASSERT_EQ(all.size(), 2u) << "the script and the step that runs";
  EXPECT_EQ(cell(all[0], "JobID"), "12_1.batch");
  EXPECT_EQ(cell(all[1], "JobID"), "12_1.1");
  EXPECT_EQ(cell(all[1], "NTasks"), "4");
  EXPECT_EQ(cell(all[1], "AveCPU"), "00:02.000");
  EXPECT_EQ(cell(all[1], "MaxRSS"), "5M");
  EXPECT_EQ(cell(all[1], "NodeList"), "n[1-2]");
  EXPECT_EQ(cell(all[1], "Processes"), "") << "not known of a step";
  const JobKey job{JobId(12), TaskIndex{}};
  EXPECT_EQ(step_rows(use, {{}, {{job, 1}}}, false).size(), 1u);
  EXPECT_EQ(step_rows(use, {{}, {{job, 0}}}, false).size(), 0u) << "it has ended";
}

TEST(Astat, FieldsThatNoNodeToldAreEmpty) {
  api::RunningUse use;
  add_line(use, 1, "n1", false);
  const std::vector<Row> rows = rows_of(use, false);
  ASSERT_EQ(rows.size(), 1u);
  for (const char* name : {"RSS", "MaxRSS", "TotalCPU", "CPUEff", "Processes", "Age"})
    EXPECT_EQ(cell(rows[0], name), "") << name;
  EXPECT_EQ(cell(rows[0], "ReqMem"), "1M");
}

}  // namespace
}  // namespace ares::astat
