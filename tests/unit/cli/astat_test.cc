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
