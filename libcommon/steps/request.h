// What arun asks for, what a launcher is told and what is told of the tasks of a step, with their text
// forms in frames. Values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/interval_set.h"
#include "base/result.h"
#include "base/time.h"

namespace ares::steps {

enum class Spread : std::uint8_t {
  block,   // ranks follow each other on a node
  cyclic,  // ranks go round the nodes
};
enum class Mpi : std::uint8_t { none, pmi1, pmix };  // numbers travel in frames

// What some tasks of a step run (steps/program.h).
struct Program {
  IntervalSet ranks;                   // empty: those that no program before it has
  std::vector<std::string> arguments;  // the program first
  friend bool operator==(const Program&, const Program&) = default;
};

// What the tasks of a step have in common.
struct TaskSettings {
  std::vector<std::string> arguments;    // the program first
  std::vector<std::string> environment;  // NAME=value
  std::string directory;
  // Files that a task opens on its node, patterns of node/file_pattern.h; empty: the stream of arun.
  std::string input, output, errors;
  bool append = false;                    // to files that exist
  bool has_input = false;                 // arun sends an input
  std::uint32_t input_rank = UINT32_MAX;  // the only task that gets it; or all
  bool pty = false;                       // rank 0 gets a terminal
  std::uint32_t window_size = 0;
  std::uint32_t umask = 022;
  std::uint32_t cpus_per_task = 1;
  bool bind =
      true;  // each task to its own CPUs, where the step has just as many as its tasks ask for
  // At most so many tasks on a core or a socket, each on CPUs of its own; 0: no limit (steps/core_binding.h).
  std::uint32_t tasks_per_core = 0, tasks_per_socket = 0;
  bool tells_cpus = false;  // each task says on its standard error which CPUs it may use
  Mpi mpi = Mpi::none;
  bool drop_output = false;       // the oldest, where arun does not read it; else tasks wait
  std::vector<Program> programs;  // in place of `arguments`
  // GPUs of each task alone; 0: each sees all that the step has on its node.
  std::uint32_t gpus_per_task = 0;
  std::string gpu_type;  // that all GPUs of the step must have; empty: any
  std::string gpu_bind;  // of --gpu-bind; empty: each task has its part, or all
  std::string mem_bind;  // of --mem-bind; empty: memory comes from where the kernel chooses
  // At most this for all tasks of a node together, in bytes; 0: the limit of the job alone.
  std::int64_t memory_per_node = 0;
  std::int64_t memory_per_cpu = 0;  // times the CPUs that the step has there
  // Programs that run as the user before and after each task; empty: none.
  std::string prolog, epilog;
  friend bool operator==(const TaskSettings&, const TaskSettings&) = default;
};

struct StepRequest {
  TaskSettings task;
  std::string name;                  // in listings and accounting; empty: that of the program
  std::uint32_t time_limit = 0;      // seconds; 0: none but that of the job
  std::uint32_t tasks = 0;           // 0: one on each node, or as many as the job has
  std::uint32_t nodes = 0;           // 0: as many as needed
  std::uint32_t tasks_per_node = 0;  // at most; 0: no limit
  // GPUs of all nodes together, and of each node. If neither these nor `task.gpus_per_task` say anything,
  // the step sees all of the job's.
  std::optional<std::uint32_t> gpus, gpus_per_node;
  std::vector<std::string> wanted_nodes;  // only these; empty: any of the job
  std::vector<std::string> excluded_nodes;
  Spread spread = Spread::block;
  bool exact = false;       // only the CPUs that it asks for; else all of its nodes
  bool overlap = false;     // does not wait for other steps, and others do not wait for it
  bool overcommit = false;  // more tasks than CPUs
  bool immediate = false;   // is refused instead of waiting
  bool kill_on_bad_exit = false;
  friend bool operator==(const StepRequest&, const StepRequest&) = default;
};

// Where the tasks of a step run.
struct StepLayout {
  struct Node {
    std::uint32_t index = 0;  // in the job's node list
    std::string name;
    std::vector<std::uint32_t> ranks;
    // Of the job's CPUs on the node, by position; empty: all.
    std::vector<std::uint32_t> cpus;
    // Of the job's GPUs there, by position; only where the layout divides them.
    std::vector<std::uint32_t> gpus{};
    friend bool operator==(const Node&, const Node&) = default;
  };
  std::uint32_t tasks = 0;
  std::vector<Node> nodes;
  bool terminal = false;      // task 0 has one
  bool divides_gpus = false;  // else the step sees all GPUs of the job
  friend bool operator==(const StepLayout&, const StepLayout&) = default;
};

struct NodeLaunch {
  std::uint32_t step = 0;
  std::uint32_t node = 0;  // in `layout.nodes`
  std::string space;       // names the step for MPI; others cannot guess it
  StepLayout layout;
  TaskSettings task;
  std::string name{};  // of the step
  friend bool operator==(const NodeLaunch&, const NodeLaunch&) = default;
};

struct TaskEnd {
  std::int32_t code = 0;
  std::int32_t signal = 0;
  bool out_of_memory = false;
  Duration user_cpu{}, system_cpu{};
  std::int64_t max_rss = 0;  // bytes
  std::int64_t disk_read = 0, disk_written = 0;
  friend bool operator==(const TaskEnd&, const TaskEnd&) = default;
};

std::string encode(const StepRequest& request);
std::string encode(const StepLayout& layout);
std::string encode(const NodeLaunch& launch);
std::string encode(const TaskEnd& end);
Result<StepRequest> decode_request(std::string_view text);
Result<StepLayout> decode_layout(std::string_view text);
Result<NodeLaunch> decode_launch(std::string_view text);
Result<TaskEnd> decode_end(std::string_view text);

// What the program that asked exits with: 128 + the signal of a task that a signal ended.
int exit_code(const TaskEnd& end);

}  // namespace ares::steps
