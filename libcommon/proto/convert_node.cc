#include "proto/convert_node.h"

#include <utility>

#include "model/cluster/cpu_layout.h"
#include "proto/api_reader.h"
#include "proto/convert.h"
#include "proto/convert_parts.h"
#include "proto/gen/node.pb.h"

namespace ares::proto {
namespace {

// --- parts ---

void put(const Usage& usage, api::Usage* out) {
  out->set_user_cpu(usage.user_cpu.count());
  out->set_system_cpu(usage.system_cpu.count());
  out->set_max_rss(usage.max_rss.value());
  out->set_disk_read(usage.disk_read.value());
  out->set_disk_written(usage.disk_written.value());
}

void get(Reader& read, const api::Usage& in, Usage& out) {
  read.duration("user_cpu", in.user_cpu(), out.user_cpu);
  read.duration("system_cpu", in.system_cpu(), out.system_cpu);
  read.bytes("max_rss", in.max_rss(), out.max_rss);
  read.bytes("disk_read", in.disk_read(), out.disk_read);
  read.bytes("disk_written", in.disk_written(), out.disk_written);
}

void put(const StepRecord& step, api::StepRecord* out) {
  out->set_number(step.number);
  out->set_name(step.name);
  out->set_state(static_cast<std::uint32_t>(step.state));
  out->set_exit_code(step.exit_code);
  out->set_exit_signal(step.exit_signal);
  if (step.cancelled_by) out->set_cancelled_by(step.cancelled_by->value());
  out->set_started(step.started.time_since_epoch().count());
  if (step.ended) out->set_ended(step.ended->time_since_epoch().count());
  out->set_steps(step.steps);
  out->set_tasks(step.tasks);
  out->set_cpus(step.cpus);
  out->set_nodes(step.nodes);
  out->set_node_list(step.node_list);
  out->set_user_cpu(step.user_cpu.count());
  out->set_system_cpu(step.system_cpu.count());
  out->set_max_rss(step.max_rss.value());
  out->set_sum_rss(step.sum_rss.value());
  out->set_max_rss_node(step.max_rss_node);
  out->set_disk_read(step.disk_read.value());
  out->set_disk_written(step.disk_written.value());
}

void get(Reader& read, const api::StepRecord& in, StepRecord& out) {
  out.number = in.number();
  if (in.number() < kBatchStep || in.number() > kOtherSteps)
    read.reject("number", "is not one of a step");
  Reader::cleaned_text(in.name(), out.name);
  if (in.state() > static_cast<std::uint32_t>(kLastStepState))
    return read.reject("state", "is one that this version does not know");
  out.state = static_cast<StepState>(in.state());
  out.exit_code = in.exit_code();
  out.exit_signal = in.exit_signal();
  if (in.has_cancelled_by()) out.cancelled_by = UserId(in.cancelled_by());
  read.time("started", in.started(), out.started);
  if (in.ended() != 0) read.time("ended", in.ended(), out.ended.emplace());
  out.steps = in.steps();
  out.tasks = in.tasks();
  out.cpus = in.cpus();
  out.nodes = in.nodes();
  Reader::cleaned_text(in.node_list(), out.node_list);
  read.duration("user_cpu", in.user_cpu(), out.user_cpu);
  read.duration("system_cpu", in.system_cpu(), out.system_cpu);
  read.bytes("max_rss", in.max_rss(), out.max_rss);
  read.bytes("sum_rss", in.sum_rss(), out.sum_rss);
  Reader::cleaned_text(in.max_rss_node(), out.max_rss_node);
  read.bytes("disk_read", in.disk_read(), out.disk_read);
  read.bytes("disk_written", in.disk_written(), out.disk_written);
}

template <class Repeated>
void get_steps(Reader& read, const Repeated& in, std::vector<StepRecord>& out) {
  constexpr int kMost = static_cast<int>(kMostSteps) + 2;  // the batch script, and the rest
  if (in.size() > kMost) return read.reject("steps", "are more than are recorded");
  for (const api::StepRecord& step : in) get(read, step, out.emplace_back());
}

void put(const AttemptReport& report, api::AttemptReport* out) {
  to_api(report.attempt, out->mutable_attempt());
  out->set_fence(report.fence.value());
  out->set_phase(static_cast<std::uint32_t>(report.phase));
  if (report.ran_since) out->set_ran_since(report.ran_since->time_since_epoch().count());
  if (report.ended_at) out->set_ended_at(report.ended_at->time_since_epoch().count());
  api::ExitStatus* exit = out->mutable_exit();
  exit->set_code(report.exit.code);
  exit->set_signal(report.exit.signal);
  exit->set_out_of_memory(report.exit.out_of_memory);
  exit->set_timed_out(report.exit.timed_out);
  put(report.usage, out->mutable_usage());
  out->set_detail(report.detail);
  out->set_node_problem(report.node_problem);
  for (const StepRecord& step : report.steps) put(step, out->add_steps());
  for (const Checkpoint& one : report.checkpoints) to_api(one, out->add_checkpoints());
  if (report.restored) to_api(*report.restored, out->mutable_restored());
  out->set_fault(static_cast<std::uint32_t>(report.fault));
}

void get(Reader& read, const api::AttemptReport& in, AttemptReport& out) {
  read_attempt(read, in, out.attempt, out.fence);
  if (in.phase() > static_cast<std::uint32_t>(AttemptPhase::lost))
    return read.reject("phase", "is one that this version does not know");
  out.phase = static_cast<AttemptPhase>(in.phase());
  if (in.ran_since() != 0) read.time("ran_since", in.ran_since(), out.ran_since.emplace());
  if (in.ended_at() != 0) read.time("ended_at", in.ended_at(), out.ended_at.emplace());
  out.exit = {.code = in.exit().code(),
              .signal = in.exit().signal(),
              .out_of_memory = in.exit().out_of_memory(),
              .timed_out = in.exit().timed_out()};
  get(read, in.usage(), out.usage);
  Reader::cleaned_text(in.detail(), out.detail);
  Reader::cleaned_text(in.node_problem(), out.node_problem);
  get_steps(read, in.steps(), out.steps);
  read_checkpoints(read, in.checkpoints(), out.checkpoints);
  if (in.has_restored()) out.restored = from_api(in.restored());
  // One that this version does not know is taken for the node's: the job is tried elsewhere.
  if (in.fault() <= static_cast<std::uint32_t>(kLastLaunchFault))
    out.fault = static_cast<LaunchFault>(in.fault());
}

void put(const AttemptUse& use, api::AttemptUse* out) {
  to_api(use.attempt, out->mutable_attempt());
  put(use.usage, out->mutable_usage());
  out->set_memory(use.memory.value());
  out->set_processes(use.processes);
  for (const StepRecord& step : use.steps) put(step, out->add_steps());
}

void get(Reader& read, const api::AttemptUse& in, AttemptUse& out) {
  read.part("attempt", from_api(in.attempt()), out.attempt);
  get(read, in.usage(), out.usage);
  read.bytes("memory", in.memory(), out.memory);
  out.processes = in.processes();
  get_steps(read, in.steps(), out.steps);
}

template <class Repeated>
void put_reports(const std::vector<AttemptReport>& reports, Repeated* out) {
  for (const AttemptReport& report : reports) put(report, out->Add());
}

template <class Repeated>
void get_reports(Reader& read, const Repeated& in, std::vector<AttemptReport>& out) {
  out.resize(static_cast<std::size_t>(in.size()));
  for (int i = 0; i < in.size(); ++i) get(read, in[i], out[static_cast<std::size_t>(i)]);
}

void put(const Inventory& inventory, api::Inventory* out) {
  out->set_cpus(inventory.cpus);
  out->set_memory(inventory.memory.value());
  for (const Gpu& gpu : inventory.gpus) {
    auto* added = out->add_gpus();
    added->set_index(gpu.index.value());
    added->set_type(gpu.type);
    added->mutable_cores()->Add(gpu.cores.begin(), gpu.cores.end());
    added->set_memory(gpu.memory.value());
  }
  for (const std::string& feature : inventory.features) out->add_features(feature);
  out->set_gpu_topology(std::string(inventory.gpu_topology.text()));
  out->set_cpu_layout(std::string(inventory.cpu_layout.text()));
  if (inventory.max_attempts) out->set_max_attempts(*inventory.max_attempts);
  if (inventory.tmp_disk) out->set_tmp_disk(inventory.tmp_disk->value());
  out->set_cpu_thousandths(inventory.cpu_thousandths);
}

void get(Reader& read, const api::Inventory& in, Inventory& out) {
  out.cpus = in.cpus();
  read.bytes("memory", in.memory(), out.memory);
  for (const auto& given : in.gpus()) {
    Gpu gpu;
    read_gpu_index(read, given.index(), gpu.index);
    read.text("gpu type", given.type(), TextKind::name, gpu.type);
    if (gpu.type.empty()) gpu.type = "gpu";
    gpu.cores.assign(given.cores().begin(), given.cores().end());
    read.bytes("gpu memory", given.memory(), gpu.memory);
    if (!out.gpus.empty() && gpu.index <= out.gpus.back().index)
      return read.reject("gpus", "are not in ascending order of their index");
    out.gpus.push_back(std::move(gpu));
  }
  read.texts("features", in.features(), TextKind::name, out.features);
  if (in.gpu_topology().size() > kMaxGpuTopology)
    return read.reject("gpu_topology", "is longer than 64 KiB");
  out.gpu_topology = GpuTopology(in.gpu_topology());
  if (in.cpu_layout().size() > kMaxCpuLayout)
    return read.reject("cpu_layout", "is longer than 64 KiB");
  out.cpu_layout = SharedText(in.cpu_layout());
  if (in.has_max_attempts()) out.max_attempts = in.max_attempts();
  if (in.has_tmp_disk()) read.bytes("tmp_disk", in.tmp_disk(), out.tmp_disk.emplace());
  out.cpu_thousandths = in.cpu_thousandths();
}

// --- bodies: one put and one get each ---

void put(const Register& body, api::NodeUp* message) {
  api::Register* out = message->mutable_register_();
  out->set_name(body.name);
  out->set_incarnation_tag(body.incarnation_tag);
  out->set_incarnation(body.incarnation);
  put(body.inventory, out->mutable_inventory());
  out->set_can_freeze(body.can_freeze);
  out->set_version(body.version);
  out->set_highest_epoch(body.highest_epoch.value());
  out->set_highest_lsn(body.highest_lsn.value());
  put_reports(body.attempts, out->mutable_attempts());
  if (!body.position.history.empty()) put_position(body.position, out->mutable_position());
  out->set_enforced(body.enforced);
  out->set_step_port(body.step_port);
  if (body.clock) out->set_clock(body.clock->time_since_epoch().count());
  out->set_fault(body.fault);
  out->set_joins(body.joins);
  out->set_machine_gone(body.machine_gone);
}

void get(Reader& read, const api::Register& in, Register& out) {
  read.text("name", in.name(), TextKind::name, out.name);
  if (in.name().empty()) read.reject("name", "is missing");
  read.text("incarnation_tag", in.incarnation_tag(), TextKind::name, out.incarnation_tag);
  out.incarnation = in.incarnation();
  if (!in.has_inventory()) read.reject("inventory", "is missing");
  get(read, in.inventory(), out.inventory);
  out.can_freeze = in.can_freeze();
  read.text("version", in.version(), TextKind::name, out.version);
  out.highest_epoch = Epoch(in.highest_epoch());
  out.highest_lsn = Lsn(in.highest_lsn());
  get_reports(read, in.attempts(), out.attempts);
  if (in.has_position()) read_position(read, in.position(), out.position);
  read.text("enforced", in.enforced(), TextKind::name, out.enforced);
  if (in.clock() != 0) read.time("clock", in.clock(), out.clock.emplace());
  Reader::cleaned_text(in.fault(), out.fault);
  out.joins = in.joins();
  out.machine_gone = in.machine_gone();
  if (in.step_port() > UINT16_MAX) read.reject("step_port", "is not a port");
  out.step_port = static_cast<std::uint16_t>(in.step_port());
}

void put(const Heartbeat& body, api::NodeUp* message) {
  api::Heartbeat* out = message->mutable_heartbeat();
  out->set_sequence(body.sequence);
  put_reports(body.attempts, out->mutable_attempts());
  for (const AttemptUse& use : body.used) put(use, out->add_used());
  if (body.clock) out->set_clock(body.clock->time_since_epoch().count());
  out->set_fault(body.fault);
  out->set_machine_gone(body.machine_gone);
  if (body.load.cpu_load) out->set_cpu_load(*body.load.cpu_load);
  if (body.load.free_memory) out->set_free_memory(body.load.free_memory->value());
}

void get(Reader& read, const api::Heartbeat& in, Heartbeat& out) {
  out.sequence = in.sequence();
  get_reports(read, in.attempts(), out.attempts);
  for (const api::AttemptUse& use : in.used()) get(read, use, out.used.emplace_back());
  if (in.clock() != 0) read.time("clock", in.clock(), out.clock.emplace());
  Reader::cleaned_text(in.fault(), out.fault);
  out.machine_gone = in.machine_gone();
  if (in.has_cpu_load()) out.load.cpu_load = in.cpu_load();
  if (in.has_free_memory())
    read.bytes("free_memory", in.free_memory(), out.load.free_memory.emplace());
}

void put(const Progress& body, api::NodeUp* message) {
  put(body.report, message->mutable_progress());
}

void get(Reader& read, const api::AttemptReport& in, Progress& out) {
  get(read, in, out.report);
}

void put(const LaunchRefused& body, api::NodeUp* message) {
  api::LaunchRefused* out = message->mutable_launch_refused();
  put_attempt(body, out);
  out->set_node_fault(body.node_fault);
  out->set_cause(body.cause);
}

void get(Reader& read, const api::LaunchRefused& in, LaunchRefused& out) {
  read_attempt(read, in, out.attempt, out.fence);
  out.node_fault = in.node_fault();
  Reader::cleaned_text(in.cause(), out.cause);
}

template <class Body, class Given>
void take(Reader& read, const Given& in, FromNode& out) {
  get(read, in, out.body.emplace<Body>());
}

}  // namespace

void to_api(const FromNode& message, api::NodeUp* out) {
  out->Clear();
  out->set_node(message.node);
  out->set_incarnation(message.incarnation);
  std::visit([out](const auto& body) { put(body, out); }, message.body);
}

Result<FromNode> from_api(const api::NodeUp& in) {
  FromNode out;
  Reader read("message of a node");
  read.text("node", in.node(), TextKind::name, out.node);
  if (in.node().empty()) read.reject("node", "is missing");
  out.incarnation = in.incarnation();
  switch (in.body_case()) {
    case api::NodeUp::kRegister: take<Register>(read, in.register_(), out); break;
    case api::NodeUp::kHeartbeat: take<Heartbeat>(read, in.heartbeat(), out); break;
    case api::NodeUp::kProgress: take<Progress>(read, in.progress(), out); break;
    case api::NodeUp::kLaunchRefused: take<LaunchRefused>(read, in.launch_refused(), out); break;
    // No commands of the engine: their receiver takes them before.
    case api::NodeUp::kOutput:
    case api::NodeUp::kScriptTold:
    case api::NodeUp::BODY_NOT_SET:
      read.reject("body", "is missing, or of a kind that this version does not know");
      break;
  }
  return read.finish(std::move(out));
}

}  // namespace ares::proto
