#include "steps/request.h"

#include "base/interval_set.h"
#include "model/job/binding_options.h"
#include "node/text_fields.h"

namespace ares::steps {
namespace {

using node::FieldReader;
using node::FieldWriter;

// Far above what a step needs, so that a layout of hostile numbers stays small.
constexpr std::uint32_t kMostTasks = 1'000'000;
constexpr std::size_t kMostTaskRanges = 10'000;
constexpr std::size_t kMostCpus = 8192;  // of a node
constexpr std::uint32_t kMostGpus = 8192;
constexpr std::int64_t kMostMemory = std::int64_t{1} << 50;  // so that no product overflows

void put(FieldWriter& out, const TaskSettings& task) {
  for (const std::string& word : task.arguments) out.put("argument", word);
  for (const std::string& variable : task.environment) out.put("variable", variable);
  out.put("directory", task.directory)
      .put("input", task.input)
      .put("output", task.output)
      .put("errors", task.errors)
      .put("append", task.append)
      .put("has_input", task.has_input)
      .put("input_rank", task.input_rank)
      .put("pty", task.pty)
      .put("window_size", task.window_size)
      .put("umask", task.umask)
      .put("cpus_per_task", task.cpus_per_task)
      .put("bind", task.bind)
      .put("mpi", static_cast<int>(task.mpi))
      .put("drop_output", task.drop_output)
      .put("gpus_per_task", task.gpus_per_task)
      .put("gpu_type", task.gpu_type)
      .put("memory_per_node", task.memory_per_node)
      .put("memory_per_cpu", task.memory_per_cpu)
      .put("task_prolog", task.prolog)
      .put("task_epilog", task.epilog);
  if (task.tells_cpus) out.put("tells_cpus", true);
  if (task.tasks_per_core != 0) out.put("tasks_per_core", task.tasks_per_core);
  if (task.tasks_per_socket != 0) out.put("tasks_per_socket", task.tasks_per_socket);
  if (!task.gpu_bind.empty()) out.put("gpu_bind", task.gpu_bind);
  if (!task.mem_bind.empty()) out.put("mem_bind", task.mem_bind);
  for (const Program& program : task.programs) {
    out.put("program_ranks", format_interval_set(program.ranks))
        .put("program_words", program.arguments.size());
    for (const std::string& word : program.arguments) out.put("program_word", word);
  }
}

std::vector<Program> programs_of(FieldReader& in) {
  std::vector<Program> programs;
  const std::vector<std::string> ranks = in.all("program_ranks"), words = in.all("program_word");
  const std::vector<std::size_t> counts = in.numbers<std::size_t>("program_words");
  std::size_t at = 0;
  if (ranks.size() != counts.size())
    return in.wrong("program_words", "is not there once for each program"), programs;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (counts[i] == 0 || counts[i] > words.size() - at)
      return in.wrong("program_words", "is not the number of words"), programs;
    Program program;
    if (!ranks[i].empty()) {
      Result<IntervalSet> set = parse_interval_set(ranks[i], kMostTasks, kMostTaskRanges);
      if (!set) return in.wrong("program_ranks", "is not a list of ranks"), programs;
      program.ranks = std::move(*set);
    }
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(at);
    program.arguments.assign(first, first + static_cast<std::ptrdiff_t>(counts[i]));
    at += counts[i];
    programs.push_back(std::move(program));
  }
  if (at != words.size()) in.wrong("program_word", "belongs to no program");
  for (const std::string& word : words)
    if (word.find('\0') != std::string::npos) in.wrong("program_word", "contains a NUL");
  return programs;
}

TaskSettings task_settings(FieldReader& in) {
  TaskSettings task;
  task.arguments = in.all("argument");
  task.environment = in.all("variable");
  task.directory = in.text("directory");
  task.input = in.text_or_empty("input");
  task.output = in.text_or_empty("output");
  task.errors = in.text_or_empty("errors");
  task.append = in.flag("append");
  task.has_input = in.flag("has_input");
  task.input_rank = in.number_or<std::uint32_t>("input_rank", UINT32_MAX);
  task.pty = in.flag("pty");
  task.window_size = in.number_or<std::uint32_t>("window_size", 0);
  task.umask = in.number_or<std::uint32_t>("umask", 022);
  task.cpus_per_task = in.number_or<std::uint32_t>("cpus_per_task", 1);
  task.bind = in.flag("bind");
  task.tasks_per_core = in.number_or<std::uint32_t>("tasks_per_core", 0);
  task.tasks_per_socket = in.number_or<std::uint32_t>("tasks_per_socket", 0);
  task.drop_output = in.flag("drop_output");
  const int mpi = in.number_or<int>("mpi", 0);
  if (mpi < 0 || mpi > static_cast<int>(Mpi::pmix)) in.wrong("mpi", "is not a known interface");
  task.mpi = static_cast<Mpi>(mpi);
  task.programs = programs_of(in);
  task.gpus_per_task = in.number_or<std::uint32_t>("gpus_per_task", 0);
  if (task.gpus_per_task > kMostGpus) in.wrong("gpus_per_task", "is out of range");
  task.gpu_type = in.text_or_empty("gpu_type");
  task.tells_cpus = in.flag("tells_cpus");
  task.gpu_bind = in.text_or_empty("gpu_bind");
  if (!parse_gpu_bind(task.gpu_bind)) in.wrong("gpu_bind", "cannot be read");
  task.mem_bind = in.text_or_empty("mem_bind");
  if (!parse_mem_bind(task.mem_bind)) in.wrong("mem_bind", "cannot be read");
  task.memory_per_node = in.number_or<std::int64_t>("memory_per_node", 0);
  task.memory_per_cpu = in.number_or<std::int64_t>("memory_per_cpu", 0);
  for (const std::int64_t bytes : {task.memory_per_node, task.memory_per_cpu})
    if (bytes < 0 || bytes > kMostMemory) in.wrong("memory_per_node", "is out of range");
  task.prolog = in.text_or_empty("task_prolog");
  task.epilog = in.text_or_empty("task_epilog");
  for (const std::string& program : {task.prolog, task.epilog})
    if (program.find('\0') != std::string::npos) in.wrong("task_prolog", "contains a NUL");
  if (task.arguments.empty()) in.wrong("argument", "is missing: there is no program to run");
  for (const std::string& text : task.arguments)
    if (text.find('\0') != std::string::npos) in.wrong("argument", "contains a NUL");
  if (task.cpus_per_task == 0 || task.cpus_per_task > kMostTasks)
    in.wrong("cpus_per_task", "is out of range");
  return task;
}

std::string list_of(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[i]);
    if (end - i > 1) text += "-" + std::to_string(numbers[end - 1]);
    i = end;
  }
  return text;
}

// In the order of the text, unlike an IntervalSet. More than `most` are not even expanded.
std::vector<std::uint32_t> numbers_of(FieldReader& in, std::string_view key, std::string_view text,
                                      std::size_t most) {
  std::vector<std::uint32_t> numbers;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    const std::size_t dash = item.find('-');
    std::uint32_t first = 0, last = 0;
    const auto read = [&](std::string_view digits, std::uint32_t& number) {
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), number);
      return error == std::errc() && end == digits.data() + digits.size() && number < kMostTasks;
    };
    if (!read(item.substr(0, dash), first))
      return in.wrong(key, "is not a list of numbers"), numbers;
    last = first;
    if (dash != std::string_view::npos && (!read(item.substr(dash + 1), last) || last < first))
      return in.wrong(key, "is not a list of numbers"), numbers;
    if (numbers.size() + (last - first) >= most) return in.wrong(key, "is too long"), numbers;
    for (std::uint32_t number = first; number <= last; ++number) numbers.push_back(number);
  }
  return numbers;
}

void put(FieldWriter& out, const StepLayout& layout) {
  out.put("tasks", layout.tasks);
  for (const StepLayout::Node& node : layout.nodes)
    out.put("node", node.name)
        .put("node_index", node.index)
        .put("node_ranks", list_of(node.ranks))
        .put("node_cpus", list_of(node.cpus));
  if (layout.terminal) out.put("terminal", true);
  if (!layout.divides_gpus) return;
  out.put("divides_gpus", true);
  for (const StepLayout::Node& node : layout.nodes) out.put("node_gpus", list_of(node.gpus));
}

StepLayout layout_of(FieldReader& in) {
  StepLayout layout;
  layout.tasks = in.number<std::uint32_t>("tasks");
  if (layout.tasks > kMostTasks) return in.wrong("tasks", "is out of range"), layout;
  const std::vector<std::string> names = in.all("node"), ranks = in.all("node_ranks"),
                                 cpus = in.all("node_cpus");
  const std::vector<std::uint32_t> indices = in.numbers<std::uint32_t>("node_index");
  if (ranks.size() != names.size() || cpus.size() != names.size() || indices.size() != names.size())
    return in.wrong("node", "has not one line of each kind"), layout;
  layout.terminal = in.flag("terminal");
  layout.divides_gpus = in.flag("divides_gpus");
  const std::vector<std::string> gpus = in.all("node_gpus");
  if (gpus.size() != (layout.divides_gpus ? names.size() : 0))
    return in.wrong("node_gpus", "is not there once for each node"), layout;
  std::size_t total = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    StepLayout::Node node{indices[i], names[i],
                          numbers_of(in, "node_ranks", ranks[i], layout.tasks - total),
                          numbers_of(in, "node_cpus", cpus[i], kMostCpus)};
    if (layout.divides_gpus) node.gpus = numbers_of(in, "node_gpus", gpus[i], kMostGpus);
    if (!in.status()) return layout;
    for (const std::uint32_t rank : node.ranks)
      if (rank >= layout.tasks) return in.wrong("node_ranks", "is out of range"), layout;
    total += node.ranks.size();
    layout.nodes.push_back(std::move(node));
  }
  if (layout.tasks == 0 || total != layout.tasks) in.wrong("tasks", "is not the number of ranks");
  return layout;
}

}  // namespace

std::string encode(const StepRequest& request) {
  FieldWriter out;
  put(out, request.task);
  out.put("step_name", request.name)
      .put("time_limit", request.time_limit)
      .put("tasks", request.tasks)
      .put("nodes", request.nodes)
      .put("tasks_per_node", request.tasks_per_node)
      .put("spread", static_cast<int>(request.spread))
      .put("exact", request.exact)
      .put("overlap", request.overlap)
      .put("overcommit", request.overcommit)
      .put("immediate", request.immediate)
      .put("kill_on_bad_exit", request.kill_on_bad_exit);
  if (request.gpus) out.put("gpus", *request.gpus);
  if (request.gpus_per_node) out.put("gpus_per_node", *request.gpus_per_node);
  for (const std::string& name : request.wanted_nodes) out.put("wanted_node", name);
  for (const std::string& name : request.excluded_nodes) out.put("excluded_node", name);
  return out.take();
}

Result<StepRequest> decode_request(std::string_view text) {
  FieldReader in("step request", text);
  StepRequest request;
  request.task = task_settings(in);
  request.name = in.text_or_empty("step_name");
  request.time_limit = in.number_or<std::uint32_t>("time_limit", 0);
  request.gpus = in.optional_number<std::uint32_t>("gpus");
  request.gpus_per_node = in.optional_number<std::uint32_t>("gpus_per_node");
  if (request.gpus.value_or(0) > kMostTasks || request.gpus_per_node.value_or(0) > kMostGpus)
    in.wrong("gpus", "is out of range");
  request.tasks = in.number_or<std::uint32_t>("tasks", 0);
  request.nodes = in.number_or<std::uint32_t>("nodes", 0);
  request.tasks_per_node = in.number_or<std::uint32_t>("tasks_per_node", 0);
  request.spread = in.number_or<int>("spread", 0) == 0 ? Spread::block : Spread::cyclic;
  request.exact = in.flag("exact");
  request.overlap = in.flag("overlap");
  request.overcommit = in.flag("overcommit");
  request.immediate = in.flag("immediate");
  request.kill_on_bad_exit = in.flag("kill_on_bad_exit");
  request.wanted_nodes = in.all("wanted_node");
  request.excluded_nodes = in.all("excluded_node");
  if (request.tasks > kMostTasks) in.wrong("tasks", "is out of range");
  if (Status status = in.status(); !status)
    return fail(ErrorCode::invalid_argument, status.error().message);
  return request;
}

std::string encode(const StepLayout& layout) {
  FieldWriter out;
  put(out, layout);
  return out.take();
}

Result<StepLayout> decode_layout(std::string_view text) {
  FieldReader in("step layout", text);
  StepLayout layout = layout_of(in);
  if (Status status = in.status(); !status) return fail(status.error());
  return layout;
}

std::string encode(const NodeLaunch& launch) {
  FieldWriter out;
  out.put("step", launch.step)
      .put("this_node", launch.node)
      .put("step_name", launch.name)
      .put("space", launch.space);
  put(out, launch.layout);
  put(out, launch.task);
  return out.take();
}

Result<NodeLaunch> decode_launch(std::string_view text) {
  FieldReader in("step launch", text);
  NodeLaunch launch;
  launch.step = in.number<std::uint32_t>("step");
  launch.node = in.number<std::uint32_t>("this_node");
  launch.name = in.text_or_empty("step_name");
  launch.space = in.text_or_empty("space");
  launch.layout = layout_of(in);
  launch.task = task_settings(in);
  if (launch.node >= launch.layout.nodes.size()) in.wrong("this_node", "is not in the layout");
  if (Status status = in.status(); !status) return fail(status.error());
  return launch;
}

std::string encode(const TaskEnd& end) {
  return FieldWriter()
      .put("code", end.code)
      .put("signal", end.signal)
      .put("out_of_memory", end.out_of_memory)
      .put("user_cpu_us", end.user_cpu.count())
      .put("system_cpu_us", end.system_cpu.count())
      .put("max_rss", end.max_rss)
      .put("disk_read", end.disk_read)
      .put("disk_written", end.disk_written)
      .take();
}

Result<TaskEnd> decode_end(std::string_view text) {
  FieldReader in("end of a task", text);
  TaskEnd end;
  end.code = in.number<std::int32_t>("code");
  end.signal = in.number<std::int32_t>("signal");
  end.out_of_memory = in.flag("out_of_memory");
  end.user_cpu = Duration(in.number<std::int64_t>("user_cpu_us"));
  end.system_cpu = Duration(in.number<std::int64_t>("system_cpu_us"));
  end.max_rss = in.number<std::int64_t>("max_rss");
  end.disk_read = in.number_or<std::int64_t>("disk_read", 0);
  end.disk_written = in.number_or<std::int64_t>("disk_written", 0);
  if (Status status = in.status(); !status) return fail(status.error());
  return end;
}

int exit_code(const TaskEnd& end) {
  constexpr int kOutOfMemory = 253;
  constexpr int kSignalled = 128;
  if (end.out_of_memory) return kOutOfMemory;
  return end.signal != 0 ? kSignalled + end.signal : end.code;
}

}  // namespace ares::steps
