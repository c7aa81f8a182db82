#include "aresstepd/steps/task_group.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "aresstepd/steps/pmi1_service.h"
#include "aresstepd/steps/pmix_service.h"
#include "aresstepd/steps/task_process.h"
#include "aresstepd/steps/task_usage.h"
#include "base/clip.h"
#include "base/printable.h"
#include "base/saturating.h"
#include "node/binding.h"
#include "os/file.h"
#include "steps/core_binding.h"
#include "steps/gpu_binding.h"
#include "steps/program.h"
#include "steps/task_environment.h"

namespace ares::stepd {
namespace {

using steps::FrameKind;

// Of a task's input that it has not read: from where arun is asked to wait, and where it may go on. What
// is on its way arrives still; a client that sends more does not speak the protocol.
constexpr std::size_t kFullInput = std::size_t{1} << 20;
constexpr std::size_t kLowInput = kFullInput / 4;
constexpr std::size_t kMostInput = std::size_t{64} << 20;

constexpr const char* kPmixLibrary = "libpmix.so.2";

Duration duration(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

}  // namespace

TaskGroup::TaskGroup(const HostFacts& facts, StepRecords& records, Reactor& reactor, Send send)
    : facts_(facts), records_(records), reactor_(reactor), send_(std::move(send)) {}

TaskGroup::~TaskGroup() {
  *alive_ = false;
  if (pause_timer_) reactor_.forget(pause_timer_.get());
  for (Task& task : tasks_) {
    if (task.pid > 0) ::kill(-task.pid, SIGKILL);
    close_input(task);
    for (Stream& stream : task.streams) close_stream(stream);
  }
  // The library leaves files there.
  if (!pmix_directory_.empty()) (void)os::remove_tree(pmix_directory_);
}

void TaskGroup::receive(const steps::Frame& frame) {
  switch (frame.kind) {
    case FrameKind::launch: prepare(frame.payload); break;
    case FrameKind::go: start_all(); break;
    case FrameKind::input: take_input(frame); break;
    case FrameKind::signal: signal_all(static_cast<int>(frame.number)); break;
    case FrameKind::window_size: set_window(frame.number); break;
    case FrameKind::output_full:
      reader_full_ = frame.number != 0;
      pause_changed();
      break;
    case FrameKind::gather:
      if (const auto exchange = steps::decode_gathered(frame.payload); exchange && mpi_)
        mpi_->gathered(*exchange);
      break;
    case FrameKind::question:
      if (const auto question = steps::decode_question(frame.payload); question && mpi_)
        mpi_->asked(*question);
      break;
    case FrameKind::answer:
      if (const auto answer = steps::decode_answer(frame.payload); answer && mpi_)
        mpi_->answered(*answer);
      break;
    default: break;  // of a later release
  }
}

void TaskGroup::prepare(const std::string& payload) {
  if (launch_) return;
  Result<steps::NodeLaunch> launch = steps::decode_launch(payload);
  if (!launch) return send_(FrameKind::refused, 0, launch.error().message);
  if (launch->layout.nodes[launch->node].index != facts_.spec.launch.rank)
    return send_(FrameKind::refused, 0, "the step is for another node of the job");
  launch_ = std::move(*launch);
  if (Status good = check_gpus(); !good) return say_ready(good);
  if (Status shared = share_cores(); !shared) return say_ready(shared);
  if (Status limited = limit_memory(); !limited) return say_ready(limited);
  if (launch_->task.mpi == steps::Mpi::none) return say_ready({});
  if (Status prepared = prepare_mpi(); !prepared || launch_->task.mpi != steps::Mpi::pmix)
    say_ready(prepared);
}

void TaskGroup::say_ready(const Status& prepared) {
  if (prepared)
    send_(FrameKind::ready, 0, {});
  else
    send_(FrameKind::refused, 0, prepared.error().message);
}

Status TaskGroup::check_gpus() const {
  const steps::StepLayout& layout = launch_->layout;
  const std::string& type = launch_->task.gpu_type;
  if (!layout.divides_gpus) return {};
  for (const std::uint32_t gpu : layout.nodes[launch_->node].gpus) {
    const std::vector<std::string>& types = facts_.spec.launch.gpu_types;
    if (gpu >= facts_.spec.launch.share.gpus.size())
      return fail(ErrorCode::failed_precondition, "the job has no such GPU here");
    if (!type.empty() && (gpu >= types.size() || types[gpu] != type))
      return fail(ErrorCode::failed_precondition,
                  "the step asks for GPUs of type " + quote(type) +
                      ", and not all GPUs of the job here are of it");
  }
  return {};
}

// By their numbers; none: they are not known.
Result<std::vector<std::uint32_t>> TaskGroup::cpus_of_step() const {
  const steps::StepLayout::Node& node = launch_->layout.nodes[launch_->node];
  const std::uint32_t of_job = facts_.spec.launch.share.cpus;
  const std::vector<std::uint32_t> usable =
      node::usable_cpus(facts_.spec.launch.share, facts_.spec.binding);
  if (node.cpus.empty() || node.cpus.size() == of_job) return usable;
  if (usable.size() != of_job)
    return fail(
        ErrorCode::failed_precondition,
        "the job uses one hardware thread of each core, and a part of it cannot be divided by "
        "cores or sockets; leave --exact out");
  std::vector<std::uint32_t> cpus;
  for (const std::uint32_t at : node.cpus)
    if (at < usable.size()) cpus.push_back(usable[at]);
  return cpus;
}

// For --ntasks-per-core and --ntasks-per-socket.
Status TaskGroup::share_cores() {
  const steps::TaskSettings& task = launch_->task;
  if (task.tasks_per_core == 0 && task.tasks_per_socket == 0) return {};
  const auto cpus = cpus_of_step();
  if (!cpus) return fail(cpus.error());
  const auto tasks = static_cast<std::uint32_t>(launch_->layout.nodes[launch_->node].ranks.size());
  auto placed =
      steps::cpus_of_tasks({tasks, task.cpus_per_task, task.tasks_per_core, task.tasks_per_socket},
                           facts_.spec.cpu_layout, *cpus);
  if (!placed) return fail(placed.error());
  placed_ = std::move(*placed);
  return {};
}

Status TaskGroup::limit_memory() {
  const steps::TaskSettings& task = launch_->task;
  const LaunchSpec& job = facts_.spec.launch;
  const steps::StepLayout::Node& node = launch_->layout.nodes[launch_->node];
  const auto cpus = static_cast<std::int64_t>(
      node.cpus.empty() ? node.ranks.size() * task.cpus_per_task : node.cpus.size());
  const Bytes limit = task.memory_per_node != 0 ? Bytes(task.memory_per_node)
                                                : capped_product(Bytes(task.memory_per_cpu),
                                                                 static_cast<std::uint64_t>(cpus));
  if (limit.value() == 0) return {};
  if (job.share.memory.value() > 0 && limit > job.share.memory)
    return fail(ErrorCode::invalid_argument,
                "the step asks for " + std::to_string(limit.value() >> 20) +
                    " MiB of memory, and the job has " +
                    std::to_string(job.share.memory.value() >> 20) + " here");
  if (!facts_.memory) return fail(ErrorCode::failed_precondition, facts_.no_memory);
  auto group = facts_.memory->take(limit);
  if (!group) return fail(group.error());
  memory_ = std::move(*group);
  return {};
}

// With PMIx the service says when it is ready.
Status TaskGroup::prepare_mpi() {
  pmi::TaskMap map{launch_->layout.tasks, {}, launch_->node};
  for (const steps::StepLayout::Node& node : launch_->layout.nodes)
    map.ranks_by_node.push_back(node.ranks);
  if (launch_->task.mpi == steps::Mpi::pmi1) {
    auto service = Pmi1Service::make(std::move(map), launch_->space, reactor_, send_);
    if (!service) return fail(service.error());
    mpi_ = std::move(*service);
    return {};
  }
  pmi::PmixSetup setup;
  setup.library = kPmixLibrary;
  setup.map = std::move(map);
  // Not in the spool, which users must not be able to fill.
  std::string pattern = "/tmp/ares-pmix-XXXXXX";
  if (!::mkdtemp(pattern.data())) return fail(os::errno_error("cannot make a directory in /tmp"));
  pmix_directory_ = pattern;
  setup.directory = pmix_directory_;
  setup.space = launch_->space;
  for (const steps::StepLayout::Node& node : launch_->layout.nodes)
    setup.hostnames.push_back(node.name);
  auto service = PmixService::make(facts_.pmixd, std::move(setup), reactor_, send_,
                                   [this](const Status& status) { say_ready(status); });
  if (!service) return fail(service.error());
  mpi_ = std::move(*service);
  return {};
}

void TaskGroup::start_all() {
  if (!launch_ || !tasks_.empty() || over_) return;
  if (!records_.begin(launch_->step)) {
    over_ = true;
    return send_(FrameKind::refused, 0,
                 "the tasks of step " + std::to_string(launch_->step) +
                     " may have begun before, and are not run again");
  }
  make_pause_timer();
  const std::vector<std::uint32_t>& ranks = launch_->layout.nodes[launch_->node].ranks;
  tasks_.resize(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    tasks_[i].rank = ranks[i];
    if (Status started = start(tasks_[i], static_cast<std::uint32_t>(i)); started) {
      watch(i, 0);
      watch(i, 1);
      continue;
    } else {
      send_(FrameKind::errors, ranks[i], "aresstepd: " + started.error().message + "\n");
      steps::TaskEnd end;
      end.code = 1;
      tasks_[i].ended = true;
      send_(FrameKind::ended, ranks[i], encode(end));
    }
  }
  end_if_over();
}

Status TaskGroup::start(Task& task, std::uint32_t local) {
  const steps::TaskSettings& settings = launch_->task;
  const auto file = [&](const std::string& pattern) {
    return pattern.empty()
               ? std::string()
               : steps::expand_task_pattern(pattern, launch_->step, task.rank, facts_.spec);
  };
  TaskStart start;
  Result<std::vector<std::string>> arguments = steps::arguments_of(settings, task.rank);
  if (!arguments) return fail(arguments.error());
  start.arguments = std::move(*arguments);
  const auto gpus = gpus_of(local);
  if (!gpus) return fail(gpus.error());
  start.environment = steps::task_environment(*launch_, local, facts_.spec, facts_.directory,
                                              facts_.started_at, *gpus);
  start.directory = settings.directory;
  start.input = file(settings.input);
  start.output = file(settings.output);
  start.errors = file(settings.errors);
  start.append = settings.append;
  start.has_input = settings.has_input &&
                    (settings.input_rank == steps::kAllRanks || settings.input_rank == task.rank);
  start.pty = settings.pty && task.rank == 0;
  start.window_size = settings.window_size;
  start.umask = settings.umask;
  start.cpus = cpus_of(local);
  if (settings.tells_cpus) tell_cpus(local, start.cpus);
  steps::TaskMemory memory = memory_of(local);
  start.memory_nodes = std::move(memory.nodes);
  start.only_memory_nodes = memory.policy == node::MemoryPolicy::bind;
  start.prolog = settings.prolog;
  start.epilog = settings.epilog;
  start.slurm_variables = facts_.spec.slurm_variables;
  if (memory_) start.group = memory_->path();
  os::Fd to_mpi;
  if (mpi_) {
    Result<os::Fd> connected = mpi_->connect(local);
    if (!connected) return fail(connected.error());
    to_mpi = std::move(*connected);
    start.passed = to_mpi.get();
    mpi_->describe(local, start.passed, start.environment);
  } else {
    remove_variables(start.environment);
  }
  Result<StartedTask> started = start_task(std::move(start));
  if (!started) return fail(started.error());
  task.pid = started->pid;
  task.streams[0].fd = std::move(started->output);
  task.streams[0].kind = FrameKind::output;
  task.streams[1].fd = std::move(started->errors);
  task.streams[1].kind = FrameKind::errors;
  if (settings.pty && task.rank == 0)
    task.input.reset(::fcntl(task.streams[0].fd.get(), F_DUPFD_CLOEXEC, 0));
  else
    task.input = std::move(started->input);
  return {};
}

// The CPUs of the step on this node; one task's part of them where they are as many as all tasks ask for.
IntervalSet TaskGroup::cpus_of(std::uint32_t local) const {
  if (!placed_.empty()) return placed_[local];
  const steps::StepLayout::Node& node = launch_->layout.nodes[launch_->node];
  const std::vector<std::uint32_t> usable =
      node::usable_cpus(facts_.spec.launch.share, facts_.spec.binding);
  IntervalSet set;
  // Whole cores or other choices of the job make the positions mean something else.
  if (usable.size() != facts_.spec.launch.share.cpus || node.cpus.empty()) return set;
  const std::uint32_t each = launch_->task.cpus_per_task;
  const bool divided = launch_->task.bind && node.cpus.size() == node.ranks.size() * each;
  const std::size_t begin = divided ? std::size_t{local} * each : 0;
  const std::size_t end = divided ? begin + each : node.cpus.size();
  for (std::size_t i = begin; i < end; ++i)
    if (node.cpus[i] < usable.size()) set.insert(usable[node.cpus[i]]);
  return set;
}

void TaskGroup::tell_cpus(std::uint32_t local, IntervalSet cpus) {
  const steps::StepLayout::Node& node = launch_->layout.nodes[launch_->node];
  if (cpus.empty())
    for (const std::uint32_t cpu : node::usable_cpus(facts_.spec.launch.share, facts_.spec.binding))
      cpus.insert(cpu);
  send_(FrameKind::errors, node.ranks[local],
        "cpu-bind: task " + std::to_string(node.ranks[local]) + " on " + node.name + ": " +
            (cpus.empty() ? "any CPU" : "CPUs " + format_interval_set(cpus)) + "\n");
}

// By position among those of the job; none: all, which the job's variables name.
Result<std::optional<std::vector<std::uint32_t>>> TaskGroup::gpus_of(std::uint32_t local) {
  const steps::StepLayout::Node& node = launch_->layout.nodes[launch_->node];
  const Result<GpuBind> bind = parse_gpu_bind(launch_->task.gpu_bind);
  if (!bind) return fail(bind.error());
  const bool is_divided = launch_->layout.divides_gpus;
  if (!is_divided && (bind->kind == GpuBindKind::unset || bind->kind == GpuBindKind::none))
    return std::nullopt;
  steps::StepGpus step{.gpus = node.gpus,
                       .gpus_per_task = launch_->task.gpus_per_task,
                       .near_cpus = facts_.spec.gpu_cpus};
  const std::vector<GpuIndex>& all = facts_.spec.launch.share.gpus;
  if (!is_divided)
    for (std::uint32_t i = 0; i < all.size(); ++i) step.gpus.push_back(i);
  if (bind->kind == GpuBindKind::closest || bind->kind == GpuBindKind::single)
    for (std::uint32_t i = 0; i < node.ranks.size(); ++i) step.cpus_of_tasks.push_back(cpus_of(i));
  Result<std::vector<std::uint32_t>> gpus = steps::gpus_of_task(*bind, step, local);
  if (!gpus) return fail(gpus.error());
  if (bind->verbose) {
    std::string numbers;
    for (const std::uint32_t gpu : *gpus)
      if (gpu < all.size())
        numbers += (numbers.empty() ? "" : ",") + std::to_string(all[gpu].value());
    send_(FrameKind::errors, node.ranks[local],
          "gpu-bind: task " + std::to_string(node.ranks[local]) + " on " + node.name + ": " +
              (numbers.empty() ? "no GPU" : "GPU " + numbers) + "\n");
  }
  return std::optional(std::move(*gpus));
}

steps::TaskMemory TaskGroup::memory_of(std::uint32_t local) {
  const Result<MemBind> bind = parse_mem_bind(launch_->task.mem_bind);
  if (!bind) return {};
  const steps::StepLayout::Node& node = launch_->layout.nodes[launch_->node];
  IntervalSet cpus = cpus_of(local);
  if (cpus.empty())
    for (const std::uint32_t cpu : node::usable_cpus(facts_.spec.launch.share, facts_.spec.binding))
      cpus.insert(cpu);
  steps::TaskMemory memory = steps::memory_of_task(*bind, facts_.spec.cpu_layout, cpus, local);
  if (!memory.note.empty())
    send_(FrameKind::errors, node.ranks[local], "aresstepd: " + memory.note + "\n");
  else if (bind->verbose)
    send_(FrameKind::errors, node.ranks[local],
          "mem-bind: task " + std::to_string(node.ranks[local]) + " on " + node.name + ": " +
              describe(memory) + "\n");
  return memory;
}

bool TaskGroup::ended(pid_t pid, int wait_status, const rusage& used) {
  const auto task =
      std::find_if(tasks_.begin(), tasks_.end(), [&](const Task& t) { return t.pid == pid; });
  if (task == tasks_.end()) return false;
  ::kill(-pid, SIGKILL);  // what it left in its session's group
  task->pid = 0;
  task->ended = true;
  close_input(*task);
  for (Stream& stream : task->streams) read_what_is_left(*task, stream);
  steps::TaskEnd end;
  if (WIFSIGNALED(wait_status))
    end.signal = WTERMSIG(wait_status);
  else
    end.code = WEXITSTATUS(wait_status);
  end.out_of_memory = end.signal == SIGKILL && memory_ && memory_->ran_out_of_memory();
  end.user_cpu = duration(used.ru_utime);
  end.system_cpu = duration(used.ru_stime);
  end.max_rss = std::int64_t{used.ru_maxrss} << 10;
  constexpr std::int64_t kBlock = 512;  // in which the kernel counts here
  end.disk_read = std::int64_t{used.ru_inblock} * kBlock;
  end.disk_written = std::int64_t{used.ru_oublock} * kBlock;
  send_(FrameKind::ended, task->rank, encode(end));
  if (mpi_) mpi_->task_ended(task->rank);
  end_if_over();
  return true;
}

void TaskGroup::tell_usage() {
  steps::TaskEnd sum;
  bool any = false;
  for (const Task& task : tasks_) {
    const std::optional<steps::TaskEnd> used = task.pid > 0 ? usage_of(task.pid) : std::nullopt;
    if (!used) continue;
    any = true;
    sum.user_cpu += used->user_cpu;
    sum.system_cpu += used->system_cpu;
    sum.max_rss = std::max(sum.max_rss, used->max_rss);
    sum.disk_read += used->disk_read;
    sum.disk_written += used->disk_written;
  }
  if (any) send_(FrameKind::usage, 0, encode(sum));
}

void TaskGroup::end_if_over() {
  const auto is_over = [](const Stream& stream) {
    return !stream.fd && (!stream.kept || stream.kept->empty());
  };
  if (over_ || tasks_.empty() || !std::all_of(tasks_.begin(), tasks_.end(), [&](const Task& task) {
        return task.ended && is_over(task.streams[0]) && is_over(task.streams[1]);
      }))
    return;
  over_ = true;
  send_(FrameKind::over, 0, {});
}

void TaskGroup::take_input(const steps::Frame& frame) {
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    Task& task = tasks_[i];
    if (!task.input || (frame.number != steps::kAllRanks && frame.number != task.rank)) continue;
    if (frame.payload.empty())
      task.input_ends = true;
    else if (task.to_write.size() + frame.payload.size() <= kMostInput)
      task.to_write += frame.payload;
    else
      signal_all(SIGKILL);
    write_input(i);
  }
}

void TaskGroup::tell_if_full(Task& task) {
  const bool full = task.to_write.size() > (task.input_full ? kLowInput : kFullInput);
  if (full == task.input_full) return;
  task.input_full = full;
  send_(FrameKind::input_full, task.rank, full ? "1" : "0");
}

void TaskGroup::write_input(std::size_t index) {
  Task& task = tasks_[index];
  while (!task.to_write.empty()) {
    const ssize_t n = ::write(task.input.get(), task.to_write.data(), task.to_write.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) return close_input(task);  // it has closed its input
    task.to_write.erase(0, static_cast<std::size_t>(n));
  }
  tell_if_full(task);
  if (task.to_write.empty() && task.input_ends) return close_input(task);
  const bool wanted = !task.to_write.empty();
  if (wanted == task.input_watched) return;
  task.input_watched = wanted;
  if (wanted)
    reactor_.watch(task.input.get(), EPOLLOUT, [this, index](std::uint32_t) {
      if (tasks_[index].input) write_input(index);
    });
  else
    reactor_.forget(task.input.get());
}

void TaskGroup::close_input(Task& task) {
  if (!task.input) return;
  if (std::exchange(task.input_watched, false)) reactor_.forget(task.input.get());
  task.input.reset();
  task.to_write.clear();
  tell_if_full(task);
}

void TaskGroup::signal_all(int signal) {
  for (const Task& task : tasks_)
    if (task.pid > 0) ::kill(-task.pid, signal);
}

void TaskGroup::set_window(std::uint32_t size) {
  for (const Task& task : tasks_) {
    if (!launch_->task.pty || task.rank != 0 || !task.streams[0].fd) continue;
    winsize window{};
    window.ws_col = static_cast<unsigned short>(size >> 16);
    window.ws_row = static_cast<unsigned short>(size & 0xffff);
    ::ioctl(task.streams[0].fd.get(), TIOCSWINSZ, &window);
  }
}

}  // namespace ares::stepd
