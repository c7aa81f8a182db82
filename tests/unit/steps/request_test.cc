#include "steps/request.h"

#include <gtest/gtest.h>

namespace ares::steps {
namespace {

TaskSettings settings() {
  TaskSettings task;
  task.arguments = {"./a program", "", "two\nlines"};
  task.environment = {"PATH=/bin", "EMPTY="};
  task.directory = "/home/a b";
  task.output = "out.%t";
  task.append = task.has_input = task.pty = true;
  task.input_rank = 2;
  task.window_size = 80 << 16 | 24;
  task.umask = 077;
  task.cpus_per_task = 3;
  task.bind = false;
  task.tells_cpus = true;
  task.mpi = Mpi::pmi1;
  task.gpus_per_task = 2;
  task.tasks_per_core = 1;
  task.tasks_per_socket = 3;
  task.gpu_bind = "verbose,map:1,0";
  task.mem_bind = "prefer,mask_mem:0x1,0x2";
  task.gpu_type = "a100";
  task.memory_per_node = std::int64_t{3} << 30;
  task.memory_per_cpu = 5;
  task.prolog = "/site/before it";
  task.epilog = "after";
  return task;
}

StepLayout layout() {
  return {5, {{0, "n1", {0, 2, 4}, {0, 1, 3}}, {2, "n3", {1, 3}, {}}}};
}

TEST(StepRequest, IsDecodedAsEncoded) {
  StepRequest request;
  request.task = settings();
  request.tasks = 7;
  request.nodes = 2;
  request.tasks_per_node = 4;
  request.wanted_nodes = {"n1", "n3"};
  request.excluded_nodes = {"n2"};
  request.spread = Spread::cyclic;
  request.name = "of two\nlines";
  request.time_limit = 90;
  request.gpus = 0;
  request.gpus_per_node = 3;
  request.exact = request.overcommit = request.immediate = request.kill_on_bad_exit = true;
  const Result<StepRequest> decoded = decode_request(encode(request));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, request);
}

TEST(StepRequest, WithoutAProgramOrWithNonsenseIsRefused) {
  StepRequest request;
  request.task = settings();
  request.task.arguments.clear();
  EXPECT_FALSE(decode_request(encode(request)));
  request.task = settings();
  request.task.arguments = {std::string("a\0b", 3)};
  EXPECT_FALSE(decode_request(encode(request)));
  request.task = settings();
  request.task.mem_bind = "near";
  EXPECT_FALSE(decode_request(encode(request)));
  request.task = settings();
  request.tasks = 2'000'000;
  const Result<StepRequest> many = decode_request(encode(request));
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, ErrorCode::invalid_argument);
}

TEST(NodeLaunch, IsDecodedAsEncoded) {
  const NodeLaunch launch{9, 1, "space", layout(), settings()};
  const Result<NodeLaunch> decoded = decode_launch(encode(launch));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, launch);
}

TEST(NodeLaunch, SaysWhichGpusEachNodeHas) {
  NodeLaunch launch{9, 1, "space", layout(), settings(), "name"};
  launch.layout.divides_gpus = launch.layout.terminal = true;
  launch.layout.nodes[1].gpus = {0, 3};
  const Result<NodeLaunch> decoded = decode_launch(encode(launch));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, launch);
  std::string short_of_one = encode(launch);
  const std::string line = "node_gpus 0,3\n";
  short_of_one.erase(short_of_one.find(line), line.size());
  EXPECT_FALSE(decode_launch(short_of_one)) << "a node without its GPUs would see all of them";
}

TEST(StepRequest, AmountsOutOfRangeAreRefused) {
  StepRequest request;
  request.task = settings();
  request.task.memory_per_cpu = -1;
  EXPECT_FALSE(decode_request(encode(request)));
  request.task.memory_per_cpu = INT64_MAX;
  EXPECT_FALSE(decode_request(encode(request)));
  request.task = settings();
  request.gpus_per_node = 1'000'000;
  EXPECT_FALSE(decode_request(encode(request)));
}

TEST(NodeLaunch, LayoutThatContradictsItselfIsRefused) {
  const std::string good = encode(NodeLaunch{9, 1, "space", layout(), settings()});
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return decode_launch(text);
  };
  EXPECT_FALSE(with("this_node 1", "this_node 2")) << "no such node";
  EXPECT_FALSE(with("tasks 5", "tasks 6")) << "more tasks than ranks";
  EXPECT_FALSE(with("node_ranks 1,3", "node_ranks 1,9")) << "a rank that does not exist";
  EXPECT_FALSE(with("node_ranks 1,3", "node_ranks 1,x"));
  EXPECT_FALSE(with("node_ranks 1,3", "node_ranks 0-4294967295")) << "a list of any length";
}

TEST(TaskEnd, ExitCodeIsThatOfAShell) {
  EXPECT_EQ(exit_code({.code = 3}), 3);
  EXPECT_EQ(exit_code({.code = 0, .signal = 9}), 137);
  EXPECT_EQ(exit_code({.code = 0, .signal = 9, .out_of_memory = true}), 253);
  const TaskEnd end{3, 0, false, Duration(5), Duration(6), 7};
  const Result<TaskEnd> decoded = decode_end(encode(end));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, end);
}

}  // namespace
}  // namespace ares::steps
