// Tests: node_need, feasible, decide_update
// Jobs that request a fraction of a CPU for each task: whether they could ever run, and changes of them.
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

TEST(SubmitCpus, AFractionOfACpuFitsWhereThousandthsAreCounted) {
  Cluster c;
  const auto refusal = [&](std::uint32_t tasks, std::uint32_t thousandths,
                           std::optional<Bytes> per_cpu = {}) {
    JobSpec s = Cluster::spec();
    s.tasks = tasks;
    s.min_nodes = s.max_nodes = 1;
    s.cpus_per_task = static_cast<std::uint32_t>(whole_cpus(thousandths));
    s.cpu_thousandths_per_task = thousandths;
    s.memory_per_cpu = per_cpu;
    const Reply reply = c.try_submit(s);
    return reply.failed ? reply.error.message : std::string();
  };
  EXPECT_NE(refusal(5, 500).find("needs 5 tasks of 1 CPUs; 1 nodes of partition main have room "
                                 "for 4"),
            std::string::npos);
  EXPECT_EQ(refusal(4, 500), "");
  Inventory inventory = Cluster::machine();
  inventory.cpu_thousandths = 4000;
  c.register_node(1, {}, inventory);
  EXPECT_EQ(refusal(8, 500), "");
  EXPECT_NE(refusal(9, 500).find("needs 9 tasks of 0.5 CPUs; 1 nodes of partition main have room "
                                 "for 8"),
            std::string::npos)
      << refusal(9, 500);
  EXPECT_NE(refusal(1, 4001).find("needs 4.001 CPUs on one node; the most a node of partition main "
                                  "has is 4"),
            std::string::npos)
      << refusal(1, 4001);
  EXPECT_EQ(refusal(8, 500, Bytes::mib(1000)), "") << "memory is in proportion";
  EXPECT_NE(refusal(8, 500, Bytes::mib(1001)), "");
}

TEST(SubmitCpus, CpusAloneTakeAFractionAway) {
  Cluster c;
  JobSpec spec = Cluster::spec();
  spec.cpu_thousandths_per_task = 500;
  const JobKey key = c.submit(spec);
  ASSERT_EQ(c.job(key).spec->cpu_thousandths_per_task, 500u);
  const auto to = [&](std::vector<std::string> fields, std::uint32_t cpus,
                      std::uint32_t thousandths) {
    JobSpec values;
    values.cpus_per_task = cpus;
    values.cpu_thousandths_per_task = thousandths;
    UpdateJob update;
    update.jobs = Cluster::named(key);
    update.fields = std::move(fields);
    update.values = std::make_shared<const JobSpec>(std::move(values));
    const Reply reply = c.user(kAlice, update);
    EXPECT_FALSE(reply.failed) << reply.error.message;
    return std::pair(c.job(key).spec->cpus_per_task, c.job(key).spec->cpu_thousandths_per_task);
  };
  EXPECT_EQ(to({"cpus_per_task", "cpu_thousandths_per_task"}, 2, 1250), std::pair(2u, 1250u));
  EXPECT_EQ(to({"cpus_per_task", "cpu_thousandths_per_task"}, 3, 1250), std::pair(3u, 0u));
  EXPECT_EQ(to({"cpus_per_task", "cpu_thousandths_per_task"}, 1, 500), std::pair(1u, 500u));
  EXPECT_EQ(to({"cpus_per_task"}, 1, 0), std::pair(1u, 0u));
}

}  // namespace
}  // namespace ares::core
