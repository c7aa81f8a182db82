// Tests: model/job/binding
// The grammars of the options that bind tasks, and what contradicts each other.
#include "model/job/binding_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares {
namespace {

using testing::HasSubstr;

IntervalSet set(const std::string& text) {
  return parse_interval_set(text).value();
}

template <class T>
std::string why(const Result<T>& refused) {
  return refused ? "accepted" : refused.error().message;
}
std::string why(const Status& refused) {
  return refused ? "accepted" : refused.error().message;
}

TEST(CpuBinding, KindsAreReadWithTheirLists) {
  EXPECT_EQ(parse_cpu_bind("")->kind, CpuBindKind::unset);
  EXPECT_EQ(parse_cpu_bind("none")->kind, CpuBindKind::none);
  EXPECT_EQ(parse_cpu_bind("no")->kind, CpuBindKind::none) << "old name";
  EXPECT_EQ(parse_cpu_bind("cores")->kind, CpuBindKind::cores);
  const CpuBind map = parse_cpu_bind("verbose,map_cpu:0,0x10,3*2").value();
  EXPECT_TRUE(map.verbose);
  EXPECT_EQ(map.kind, CpuBindKind::map_cpu);
  EXPECT_EQ(map.list.of_task(0), set("0"));
  EXPECT_EQ(map.list.of_task(1), set("16"));
  EXPECT_EQ(map.list.of_task(3), set("3"));
  EXPECT_EQ(map.list.of_task(4), set("0")) << "the list starts again";
  const CpuBind mask = parse_cpu_bind("mask_cpu:0xf00000000,c").value();
  EXPECT_FALSE(mask.verbose);
  EXPECT_EQ(mask.list.of_task(0), set("32-35"));
  EXPECT_EQ(mask.list.of_task(1), set("2-3"));
  EXPECT_TRUE(parse_cpu_bind("verbose")->verbose);
  EXPECT_TRUE(parse_cpu_bind("v,cores")->verbose);
  EXPECT_EQ(parse_cpu_bind("q")->kind, CpuBindKind::unset);  // as snakemake gives it to srun
  EXPECT_FALSE(parse_cpu_bind("verbose,quiet,ldoms")->verbose);
}

TEST(CpuBinding, WrongWordsAreRefusedWithTheRightOnes) {
  EXPECT_EQ(
      why(parse_cpu_bind("corse")),
      "\"corse\" is not a way to bind tasks to CPUs; use none, cores, threads, sockets, ldoms, "
      "rank, rank_ldom, map_cpu, mask_cpu, map_ldom, mask_ldom");
  EXPECT_THAT(why(parse_cpu_bind("map_cpu")), HasSubstr("needs a list, such as map_cpu:0,1"));
  EXPECT_THAT(why(parse_cpu_bind("mask_cpu:")), HasSubstr("such as mask_cpu:0x3,0xc"));
  EXPECT_THAT(why(parse_cpu_bind("cores:2")), HasSubstr("takes no list; leave out \":2\""));
  EXPECT_THAT(why(parse_cpu_bind("map_cpu:0,,1")), HasSubstr("\"\" is not a number"));
  EXPECT_THAT(why(parse_cpu_bind("map_cpu:4096")), HasSubstr("is not a number from 0 to 4095"));
  EXPECT_THAT(why(parse_cpu_bind("mask_cpu:0x0")), HasSubstr("at least one bit"));
  EXPECT_THAT(why(parse_cpu_bind("mask_cpu:xyz")), HasSubstr("is not a mask"));
  EXPECT_THAT(why(parse_cpu_bind("map_cpu:1*0")), HasSubstr("number of tasks from 1"));
  EXPECT_THAT(why(parse_cpu_bind("mask_cpu:" + std::string(1025, 'f'))),
              HasSubstr("is not a mask"));
  EXPECT_THAT(why(parse_cpu_bind(std::string(5000, 'f'))), HasSubstr("more than 4095 bytes"));
}

TEST(MemBinding, KindsAndFlagsAreRead) {
  EXPECT_EQ(parse_mem_bind("local")->kind, MemBindKind::local);
  EXPECT_FALSE(parse_mem_bind("local")->prefer);
  const MemBind bind = parse_mem_bind("p,verbose,mask_mem:0x3").value();
  EXPECT_TRUE(bind.prefer);
  EXPECT_TRUE(bind.verbose);
  EXPECT_EQ(bind.list.of_task(7), set("0-1"));
  EXPECT_THAT(why(parse_mem_bind("prefer")), HasSubstr("needs the nodes to prefer"));
  EXPECT_EQ(why(parse_mem_bind("sort")),
            "\"sort\" is not a way to bind memory; use none, local, rank, map_mem, mask_mem");
}

TEST(GpuBinding, KindsAndCountsAreRead) {
  EXPECT_EQ(parse_gpu_bind("closest")->kind, GpuBindKind::closest);
  EXPECT_EQ(parse_gpu_bind("verbose,single:2")->count, 2u);
  EXPECT_EQ(parse_gpu_bind("map_gpu:3,1")->list.of_task(1), set("1")) << "old name";
  EXPECT_EQ(parse_gpu_bind("mask:0x3,0xc")->list.of_task(1), set("2-3"));
  EXPECT_THAT(why(parse_gpu_bind("per_task")), HasSubstr("such as per_task:1"));
  EXPECT_THAT(why(parse_gpu_bind("per_task:0")), HasSubstr("needs a number from 1"));
  EXPECT_EQ(
      why(parse_gpu_bind("nearest")),
      "\"nearest\" is not a way to bind tasks to GPUs; use none, closest, map, mask, per_task, "
      "single");
}

TEST(DistributionOfTasks, LevelsAreRead) {
  const Distribution full = parse_distribution("cyclic:block:fcyclic,nopack").value();
  EXPECT_EQ(full.nodes, "cyclic");
  EXPECT_EQ(full.sockets, "block");
  EXPECT_EQ(full.cores, "fcyclic");
  EXPECT_EQ(full.pack, false);
  EXPECT_EQ(parse_distribution("plane=4")->plane_size, 4u);
  EXPECT_EQ(parse_distribution("*:cyclic")->nodes, "");
  EXPECT_EQ(parse_distribution("nopack")->pack, false);
  EXPECT_EQ(why(parse_distribution("round")),
            "\"round\" is not a distribution over nodes; use block, cyclic, plane=SIZE, arbitrary "
            "or *");
  EXPECT_THAT(why(parse_distribution("block:arbitrary")), HasSubstr("over sockets; use block"));
  EXPECT_THAT(why(parse_distribution("plane=0")), HasSubstr("such as plane=4"));
  EXPECT_THAT(why(parse_distribution("block:")), HasSubstr("ends with a colon"));
  EXPECT_THAT(why(parse_distribution("block:block:block:block")), HasSubstr("three parts"));
  EXPECT_THAT(why(parse_distribution("block,tight")), HasSubstr("is not pack or nopack"));
}

TEST(Binding, ContradictionsAreRefused) {
  EXPECT_EQ(why(check_binding({})), "accepted");
  EXPECT_EQ(why(check_binding({"nomultithread", 0, "verbose", "local", "none", "block"})),
            "accepted");
  EXPECT_THAT(why(check_binding({"nomultithread", 1, "", "", "", ""})), HasSubstr("in two ways"));
  EXPECT_THAT(why(check_binding({"compute_bound", 0, "cores", "", "", ""})),
              HasSubstr("give --hint or --cpu-bind"));
  EXPECT_THAT(why(check_binding({"nothreads", 0, "", "", "", ""})),
              HasSubstr("--hint: \"nothreads\" is not a hint; use compute_bound"));
  EXPECT_THAT(why(check_binding({"", 65, "", "", "", ""})), HasSubstr("65 threads"));
  EXPECT_THAT(why(check_binding({"", 0, "", "x", "", ""})), HasSubstr("--mem-bind: "));
}

TEST(Binding, HintsSayHowManyThreadsOfACoreAreUsed) {
  EXPECT_EQ(used_threads_per_core({}), std::nullopt);
  EXPECT_EQ(used_threads_per_core({"multithread", 0, "", "", "", ""}), std::nullopt);
  for (const char* hint : {"nomultithread", "compute_bound", "memory_bound"})
    EXPECT_EQ(used_threads_per_core({hint, 0, "", "", "", ""}), 1u) << hint;
  EXPECT_EQ(used_threads_per_core({"", 2, "", "", "", ""}), 2u);
}

}  // namespace
}  // namespace ares
