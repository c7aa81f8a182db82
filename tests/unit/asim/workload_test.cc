// How asim reads logs, good and damaged ones, and workload files.
#include "asim/workload.h"
#include "asim/read_workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "asim/cluster.h"
#include "asim/yaml_workload.h"

namespace ares::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class File {
 public:
  File(const std::string& name, const std::string& text)
      : path_(std::filesystem::path(testing::TempDir()) /
              (std::to_string(::getpid()) + "-" + name)) {
    if (name.ends_with(".gz")) {
      gzFile file = gzopen(path_.c_str(), "wb");
      gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
      gzclose(file);
    } else {
      std::ofstream(path_, std::ios::binary) << text;
    }
  }
  ~File() { std::filesystem::remove(path_); }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Workload good(const std::string& name, const std::string& text) {
  const File file(name, text);
  auto workload = read_workload(file.path(), 1);
  EXPECT_TRUE(workload) << workload.error().message;
  if (!workload) return {};
  sort_and_limit(*workload, 0);
  return std::move(*workload);
}

std::string refusal(const std::string& name, const std::string& text) {
  const File file(name, text);
  const auto workload = read_workload(file.path(), 1);
  return workload ? "accepted" : workload.error().message;
}

const std::string kLog =
    "; UnixStartTime: 1000\n"
    "; MaxNodes: 3 (batch partition; 9 total)\n"
    ";  MaxProcs: 8\n"
    "\n"
    "  2   50  0   60  4  1.5 -1  4  100 2048 1 7 -1 -1 -1 -1 -1 -1\n"  // out of order
    "  1   10  0   30  2   -1 -1 -1   -1   -1 0 7 -1 -1 -1 -1 -1 -1\n"  // nothing requested
    "  3   60  0    0  1   -1 -1  1   60   -1 1 8 -1 -1 -1 -1 -1 -1\n"  // no run time
    "  4   61 20   -1 -1   -1 -1  4   60   -1 5 8 -1 -1 -1 -1 -1 -1\n"  // cancelled, never ran
    "  5   62  0   90  1   -1 -1  1   60   -1 1 8 -1 -1 -1 -1 -1 -1\n"  // longer than requested
    "  6   63  0   -1  1   -1 -1  1   60   -1 1 8 -1 -1 -1 -1 -1 -1\n"
    "  7   64  0   10 -1   -1 -1 -1   60   -1 1 8 -1 -1 -1 -1 -1 -1\n"
    "  7   64  0    5  1   -1 -1  1   60   -1 2 8 -1 -1 -1 -1 -1 -1\n"
    "  8   -1  0    5  1   -1 -1  1   60   -1 1 8 -1 -1 -1 -1 -1 -1\n";

TEST(Swf, ReadsJobsAndCountsUnusualOnes) {
  for (const char* name : {"a.swf", "a.swf.gz"}) {
    const Workload workload = good(name, kLog);
    ASSERT_EQ(workload.jobs.size(), 4u);
    EXPECT_EQ(workload.origin, Time{Seconds(1000)});
    EXPECT_EQ(workload.machine_nodes, 3u);
    EXPECT_EQ(workload.machine_cpus, 8u);
    const WorkJob& first = workload.jobs[0];
    EXPECT_EQ(first.number, 1u);
    EXPECT_EQ(first.tasks, 2u);  // as allocated, because nothing was requested
    EXPECT_FALSE(first.limit);
    const WorkJob& second = workload.jobs[1];
    EXPECT_EQ(second.submit, Seconds(50));
    EXPECT_EQ(second.run, Seconds(60));
    EXPECT_EQ(second.limit, Seconds(120));
    EXPECT_EQ(second.tasks, 4u);
    EXPECT_EQ(second.user, 7u);
    EXPECT_EQ(second.memory_per_cpu, Bytes::mib(2));
    EXPECT_THAT(workload.left_out,
                ElementsAre(Pair("cancelled before they ran", 1u),
                            Pair("lines about a part of a job", 1u), Pair("no processors", 1u),
                            Pair("no run time", 1u), Pair("no submit time", 1u)));
    EXPECT_THAT(workload.notes,
                ElementsAre(Pair("have no requested time: their run time stands for it", 1u),
                            Pair("ran for no time at all", 1u),
                            Pair("ran longer than they had asked for", 1u)));
  }
}

TEST(Swf, ReadsSemicolonsAndUserNames) {
  const Workload workload = good("b.swf",
                                 "11;0;-1;15;12;-1;-1;-1;420;-1;-1;ann;acc;-1;q;q;;-1;\n"
                                 "12;9;-1;20;1;-1;-1;2;420;-1;-1;bob;acc;-1;q;q;;-1;\n");
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.jobs[0].tasks, 12u);
  EXPECT_EQ(workload.jobs[1].tasks, 2u);
  EXPECT_NE(workload.jobs[0].user, workload.jobs[1].user);
}

Workload recorded(const std::string& name) {
  auto workload = read_workload(ARES_SOURCE_DIR "/tests/data/workloads/" + name, 1);
  EXPECT_TRUE(workload) << workload.error().message;
  if (!workload) return {};
  sort_and_limit(*workload, 0);
  return std::move(*workload);
}

// The counts were taken from the files with awk.
TEST(Recorded, ExcerptsOfLogsAreReadCompletely) {
  const Workload kth = recorded("kth-sp2.swf");
  EXPECT_EQ(kth.machine_nodes, 100u);
  EXPECT_EQ(kth.origin, Time{Seconds(843'480'031)});
  EXPECT_EQ(kth.jobs.size(), 300u);
  EXPECT_EQ(kth.jobs.front().number, 15u);
  EXPECT_TRUE(
      std::all_of(kth.jobs.begin(), kth.jobs.end(), [](const WorkJob& j) { return j.limit; }));

  const Workload nasa = recorded("nasa-ipsc.swf");
  EXPECT_EQ(nasa.jobs.size(), 150u);
  EXPECT_TRUE(
      std::none_of(nasa.jobs.begin(), nasa.jobs.end(), [](const WorkJob& j) { return j.limit; }));

  const Workload thunder = recorded("llnl-thunder.swf");
  EXPECT_EQ(thunder.machine_cpus, 4008u);
  std::uint64_t left_out = 0;
  for (const auto& [why, count] : thunder.left_out) left_out += count;
  EXPECT_GT(left_out, 0u);
  EXPECT_EQ(thunder.jobs.size() + left_out, 150u);
  EXPECT_TRUE(
      std::is_sorted(thunder.jobs.begin(), thunder.jobs.end(),
                     [](const WorkJob& a, const WorkJob& b) { return a.submit < b.submit; }))
      << "two records of the file are out of order";

  const Workload philly = recorded("philly.csv");
  EXPECT_EQ(philly.jobs.size(), 300u);
  EXPECT_TRUE(philly.has_times);
}

TEST(Swf, ErrorsNameTheLine) {
  EXPECT_THAT(refusal("c.swf", "; ok\n1 2 3\n"), HasSubstr("c.swf:2: expected 18 fields, found 3"));
  EXPECT_THAT(refusal("d.swf", "1 x 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n"),
              HasSubstr("d.swf:1: field 2, \"x\", is not a number"));
  EXPECT_THAT(refusal("e.swf", "1 1e300 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n"),
              HasSubstr("field 2"));
  EXPECT_THAT(refusal("f.txt", "hello\n"), HasSubstr(".swf"));
  EXPECT_THAT(refusal("g.csv", "a,b\n1,2\n"), HasSubstr("columns"));
}

TEST(Swf, DamagedArchiveIsAnError) {
  const File whole("h.swf.gz", kLog + std::string(5000, '\n'));
  std::filesystem::resize_file(whole.path(), std::filesystem::file_size(whole.path()) / 2);
  const auto workload = read_workload(whole.path(), 1);
  ASSERT_FALSE(workload);
  EXPECT_EQ(workload.error().code, ErrorCode::data_loss);
}

TEST(Swf, MachineOfTheHeaderHasAllItsProcessors) {
  const Workload workload = good("i.swf", kLog);
  const auto config = read_cluster("swf", workload, {"backfill=easy:4"});
  ASSERT_TRUE(config) << config.error().message;
  std::vector<std::uint32_t> cpus;
  for (const auto& node : config->nodes) cpus.push_back(node.inventory.cpus);
  EXPECT_THAT(cpus, ElementsAre(3u, 3u, 2u));
  EXPECT_EQ(config->policy.backfill, (Backfill{BackfillKind::easy, 4}));
  EXPECT_THAT(read_cluster("swf", workload, {"backfill=easi"}).error().message,
              HasSubstr("backfill=easi"));
  EXPECT_THAT(read_cluster("swf", workload, {"backfil=easy"}).error().message,
              HasSubstr("did you mean \"backfill\""));
  EXPECT_FALSE(read_cluster("swf", Workload{}, {}));
}

TEST(GpuTrace, ReadsPodsOfOpenb) {
  const Workload workload =
      good("pods.csv",
           "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
           "deletion_time,scheduled_time\n"
           "p0,12000,16384,1,1000,,LS,Running,0,100,20\n"
           "p1,6500,12288,1,460,,LS,Running,5,50,5\n"
           "p2,1000,10,2,1000,T4,BE,Succeeded,6,30,10\n"
           "p3,1000,10,1,1000,G2|T4,BE,Succeeded,7,30,10\n"
           "p4,1000,10,0,0,,BE,Pending,8,,\n");
  ASSERT_EQ(workload.jobs.size(), 4u);
  EXPECT_EQ(workload.jobs[0].run, Seconds(80));
  const JobSpec& shared = workload.specs[workload.jobs[1].spec_index];
  EXPECT_EQ(shared.cpus_per_task, 7u);
  EXPECT_EQ(shared.memory_per_node, Bytes::mib(12288));
  EXPECT_EQ(shared.gpus_per_node, (std::vector{GpuRequest{"", 0, 460}}));
  EXPECT_EQ(workload.specs[workload.jobs[2].spec_index].gpus_per_node,
            (std::vector{GpuRequest{"T4", 2}}));
  EXPECT_THAT(workload.specs[workload.jobs[3].spec_index].features, ElementsAre("G2|T4"));
  EXPECT_EQ(workload.left_out.at("no end in the trace"), 1u);
}

// The variants of openb in which more pods request several GPUs have only the columns of requests.
TEST(GpuTrace, ReadsListsOfPodsWithoutTimesOrModels) {
  const Workload workload = good("pods.csv",
                                 "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
                                 "a,12000,16384,1,460\n"
                                 "b,64000,262144,8,1000\n"
                                 "c,12000,16384,1,460\n");
  EXPECT_FALSE(workload.has_times);
  ASSERT_EQ(workload.jobs.size(), 3u);
  EXPECT_EQ(workload.jobs[0].spec_index, workload.jobs[2].spec_index);
  const JobSpec& part = workload.specs[workload.jobs[0].spec_index];
  EXPECT_EQ(part.gpus_per_node, (std::vector<GpuRequest>{{"", 0, 460}}));
  EXPECT_TRUE(part.features.empty());
  EXPECT_EQ(workload.specs[workload.jobs[1].spec_index].gpus_per_node,
            (std::vector<GpuRequest>{{"", 8}}));
  EXPECT_TRUE(good("timed.csv",
                   "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,"
                   "creation_time,deletion_time,scheduled_time\n")
                  .has_times);
}

TEST(GpuTrace, ReadsJobsWithIntervals) {
  const std::string header =
      "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status\n";
  const Workload workload = good("jobs.csv", header +
                                                 "0,1,16,80,2,0,100.4,0,Pass\n"
                                                 "1,2,0,32768,512,94,18431.92,21590,Failed\n"
                                                 "2,1,16,80,2,6,50,0,Killed\n");
  ASSERT_EQ(workload.jobs.size(), 3u);
  const WorkJob& gpus = workload.jobs[0];
  EXPECT_EQ(gpus.run, Seconds(100));
  EXPECT_EQ(gpus.limit, std::nullopt) << "a wall_time of 0 is not known";
  const JobSpec& spec = workload.specs.at(gpus.spec_index);
  EXPECT_EQ(spec.min_nodes, 2u);
  EXPECT_EQ(spec.cpus_per_task, 40u);
  EXPECT_EQ(spec.gpus_per_node, (std::vector<GpuRequest>{{"", 8}}));
  const WorkJob& wide = workload.jobs[1];
  EXPECT_EQ(wide.submit, Seconds(94));
  EXPECT_EQ(wide.limit, Seconds(21600)) << "whole minutes, as for asub";
  EXPECT_EQ(workload.specs.at(wide.spec_index).cpus_per_task, 64u);
  EXPECT_TRUE(workload.specs.at(wide.spec_index).gpus_per_node.empty());
  EXPECT_EQ(workload.jobs[2].submit, Seconds(100));
  EXPECT_EQ(workload.jobs[2].spec_index, gpus.spec_index);
  EXPECT_THAT(refusal("bad.csv", header + "0,1,1,1,0,0,5,0,Pass\n"), HasSubstr(":2"));
  EXPECT_THAT(refusal("bad.csv", header + "0,1,1,1,1,-3,5,0,Pass\n"), HasSubstr("interval"));
}

TEST(GpuTrace, ListsWithOnlyPartOfTheTimesAreRefused) {
  EXPECT_THAT(refusal("half.csv", "cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time\n"),
              HasSubstr("columns"));
}

TEST(OwnWorkload, SameSeedDrawsTheSameJobs) {
  const std::string text =
      "jobs:\n  - {name: a, users: 2, count: 50, every: 10, arrivals: random, run: [60, 3600], "
      "tasks: [1, 8], overestimate: 2}\n  - {submit: 1:00:00, run: 5, time_limit: 10}\n";
  const auto once = parse_yaml_workload(text, "w.yaml", 7);
  const auto again = parse_yaml_workload(text, "w.yaml", 7);
  const auto other = parse_yaml_workload(text, "w.yaml", 8);
  ASSERT_TRUE(once) << once.error().message;
  ASSERT_EQ(once->jobs.size(), 51u);
  bool same = true, differs = false;
  for (std::size_t i = 0; i < 50; ++i) {
    const WorkJob& job = once->jobs[i];
    same = same && job.run == again->jobs[i].run && job.submit == again->jobs[i].submit;
    differs = differs || job.run != other->jobs[i].run;
    EXPECT_GE(job.run, Seconds(60));
    EXPECT_LE(job.run, Seconds(3600));
    EXPECT_EQ(*job.limit, job.run * 2);
    EXPECT_GE(job.tasks, 1u);
    EXPECT_LE(job.tasks, 8u);
    EXPECT_EQ(job.user, i % 2);
  }
  EXPECT_TRUE(same);
  EXPECT_TRUE(differs);
  EXPECT_EQ(once->jobs.back().submit, Seconds(3600));
  EXPECT_EQ(once->jobs.back().limit, Seconds(600));
}

TEST(OwnWorkload, MembersOfAGangHaveOneTimeAndUser) {
  const auto workload = parse_yaml_workload(
      "jobs:\n  - {users: 2, count: 6, gang: 3, every: 10, run: 5}\n", "w.yaml", 1);
  ASSERT_TRUE(workload) << workload.error().message;
  ASSERT_EQ(workload->jobs.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(workload->jobs[i].submit, Seconds(i < 3 ? 0 : 10));
    EXPECT_EQ(workload->jobs[i].user, i < 3 ? 0u : 1u);
    EXPECT_EQ(workload->jobs[i].gang, i < 3 ? 1u : 2u);
  }
  EXPECT_EQ(workload->specs[0].gang->size, 3u);
}

TEST(OwnWorkload, ErrorsNameFileAndLine) {
  const auto why = [](const std::string& text) {
    const auto workload = parse_yaml_workload(text, "w.yaml", 1);
    return workload ? "accepted" : workload.error().message;
  };
  EXPECT_THAT(why("jobs:\n  - {runn: 5}\n"), HasSubstr("w.yaml:2: unknown key \"runn\""));
  EXPECT_THAT(why("jobs:\n  - {run: [5, 1]}\n"), HasSubstr("w.yaml:2"));
  EXPECT_THAT(why("jobs:\n  - {gpus: none}\n"), HasSubstr("TYPE:COUNT"));
  EXPECT_THAT(why("nodes: []\n"), HasSubstr("jobs:"));
  EXPECT_THAT(why("jobs:\n  - {count: 5, gang: 2}\n"), HasSubstr("w.yaml:2: count is no multiple"));
}

}  // namespace
}  // namespace ares::sim
