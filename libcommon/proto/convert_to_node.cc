#include <utility>

#include "base/signal_name.h"
#include "proto/api_reader.h"
#include "proto/convert.h"
#include "proto/convert_node.h"
#include "proto/convert_parts.h"
#include "proto/gen/node.pb.h"

namespace ares::proto {
namespace {

template <class Repeated, class T>
void put_numbers(const std::vector<T>& numbers, Repeated* out) {
  out->Add(numbers.begin(), numbers.end());
}

template <class Repeated, class T>
void get_numbers(const Repeated& in, std::vector<T>& out) {
  out.assign(in.begin(), in.end());
}

template <class Repeated>
void put_texts(const std::vector<std::string>& texts, Repeated* out) {
  for (const std::string& text : texts) *out->Add() = text;
}

// --- the launch ---

void put_layout(const NodeLayout& layout, api::LaunchSpec* out) {
  put_texts(layout.names, out->mutable_node_names());
  put_numbers(layout.cpus, out->mutable_cpus_per_node());
  put_numbers(layout.tasks, out->mutable_tasks_per_node());
  put_numbers(layout.gpus, out->mutable_gpus_per_node());
}

void get_layout(Reader& read, const api::LaunchSpec& in, LaunchSpec& out) {
  std::vector<std::string> names;
  std::vector<std::uint32_t> cpus, tasks, gpus;
  read.texts("node_names", in.node_names(), TextKind::name, names);
  if (in.rank() >= names.size()) read.reject("rank", "is not one of node_names");
  get_numbers(in.cpus_per_node(), cpus);
  get_numbers(in.tasks_per_node(), tasks);
  get_numbers(in.gpus_per_node(), gpus);
  if (cpus.size() != names.size() || tasks.size() != names.size())
    read.reject("cpus_per_node and tasks_per_node", "are not as many as node_names");
  if (!gpus.empty() && gpus.size() != names.size())
    read.reject("gpus_per_node", "are not as many as node_names");
  out.layout = std::make_shared<const NodeLayout>(std::move(names), std::move(cpus),
                                                  std::move(tasks), std::move(gpus));
}

void put_share(const LaunchSpec& launch, api::LaunchSpec* out) {
  out->set_cpus(launch.share.cpus);
  put_numbers(launch.share.cpu_ids, out->mutable_cpu_ids());
  out->set_memory(launch.share.memory.value());
  for (const GpuIndex gpu : launch.share.gpus) out->add_gpus(gpu.value());
  put_texts(launch.gpu_types, out->mutable_gpu_types());
  out->set_tasks(launch.share.tasks);
  out->set_incarnation(launch.share.incarnation);
  out->set_gpu_part(launch.share.gpu_part);
  out->set_cpu_thousandths(launch.share.cpu_thousandths);
}

void get_share(Reader& read, const api::LaunchSpec& in, LaunchSpec& out) {
  out.share.cpus = in.cpus();
  get_numbers(in.cpu_ids(), out.share.cpu_ids);
  read.bytes("memory", in.memory(), out.share.memory);
  for (const std::uint32_t gpu : in.gpus())
    read_gpu_index(read, gpu, out.share.gpus.emplace_back());
  read.texts("gpu_types", in.gpu_types(), TextKind::name, out.gpu_types);
  if (in.gpu_types_size() != in.gpus_size()) read.reject("gpu_types", "are not as many as gpus");
  out.share.tasks = in.tasks();
  out.share.incarnation = in.incarnation();
  out.share.gpu_part = in.gpu_part();
  out.share.cpu_thousandths = in.cpu_thousandths();
}

void put_array(const LaunchSpec& launch, api::LaunchSpec* out) {
  if (launch.array_count) out->set_array_count(*launch.array_count);
  if (launch.array_min) out->set_array_min(*launch.array_min);
  if (launch.array_max) out->set_array_max(*launch.array_max);
  if (launch.array_step) out->set_array_step(*launch.array_step);
}

void get_array(const api::LaunchSpec& in, LaunchSpec& out) {
  if (in.has_array_count()) out.array_count = in.array_count();
  if (in.has_array_min()) out.array_min = in.array_min();
  if (in.has_array_max()) out.array_max = in.array_max();
  if (in.has_array_step()) out.array_step = in.array_step();
}

void put(const LaunchSpec& launch, api::LaunchSpec* out) {
  put_attempt(launch, out);
  out->set_own_id(launch.own_id.value());
  if (launch.spec) to_api(*launch.spec, out->mutable_spec());
  out->set_cluster_name(launch.cluster_name);
  out->set_node_name(launch.node_name);
  out->set_rank(launch.rank);
  put_layout(*launch.layout, out);
  put_share(launch, out);
  out->set_partition(launch.partition);
  if (launch.time_limit) out->set_time_limit(launch.time_limit->count());
  out->set_restarts(launch.restarts);
  put_array(launch, out);
  out->set_leased(launch.leased);
  out->set_kill_wait(launch.kill_wait.count());
  put_texts(launch.step_addresses, out->mutable_step_addresses());
  out->set_step_key(launch.step_key);
  out->set_master_port(launch.master_port);
  for (const Checkpoint& one : launch.checkpoints) to_api(one, out->add_checkpoints());
  out->set_container_image(launch.container_image);
}

void get(Reader& read, const api::LaunchSpec& in, LaunchSpec& out) {
  read_attempt(read, in, out.attempt, out.fence);
  out.own_id = JobId(in.own_id());
  if (!in.has_spec()) return read.reject("spec", "is missing");
  JobSpec spec;
  read.part("spec", from_api(in.spec()), spec);
  out.spec = std::make_shared<const JobSpec>(std::move(spec));
  read.text("cluster_name", in.cluster_name(), TextKind::name, out.cluster_name);
  read.text("node_name", in.node_name(), TextKind::name, out.node_name);
  out.rank = in.rank();
  get_layout(read, in, out);
  get_share(read, in, out);
  read.text("partition", in.partition(), TextKind::name, out.partition);
  if (in.has_time_limit()) read.seconds("time_limit", in.time_limit(), out.time_limit.emplace());
  out.restarts = in.restarts();
  get_array(in, out);
  out.leased = in.leased();
  read.seconds("kill_wait", in.kill_wait(), out.kill_wait);
  read.texts("step_addresses", in.step_addresses(), TextKind::name, out.step_addresses);
  if (in.step_addresses_size() != 0 && in.step_addresses_size() != in.node_names_size())
    read.reject("step_addresses", "are not as many as node_names");
  out.step_key = in.step_key();
  read.number("master_port", in.master_port(), out.master_port);
  read_checkpoints(read, in.checkpoints(), out.checkpoints);
  read.text("container_image", in.container_image(), TextKind::title, out.container_image);
}

// --- bodies: one put and one get each ---

void put(const Prepare& body, api::NodeDown* message) {
  api::Prepare* out = message->mutable_prepare();
  put(body.launch, out->mutable_launch());
  if (body.script) out->set_script(*body.script);
  if (body.environment) out->set_environment(*body.environment);
}

void get(Reader& read, const api::Prepare& in, Prepare& out) {
  if (!in.has_launch()) return read.reject("launch", "is missing");
  get(read, in.launch(), out.launch);
  out.script = std::make_shared<const std::string>(in.script());
  out.environment = std::make_shared<const std::string>(in.environment());
}

void put(const Go& body, api::NodeDown* message) {
  put_attempt(body, message->mutable_go());
}

void get(Reader& read, const api::Go& in, Go& out) {
  read_attempt(read, in, out.attempt, out.fence);
}

void put(const Kill& body, api::NodeDown* message) {
  put_attempt(body, message->mutable_kill());
  message->mutable_kill()->set_immediately(body.immediately);
  if (body.grace) message->mutable_kill()->set_grace(body.grace->count());
  message->mutable_kill()->set_given_up(body.given_up);
}

void get(Reader& read, const api::Kill& in, Kill& out) {
  read_attempt(read, in, out.attempt, out.fence);
  out.immediately = in.immediately();
  if (in.has_grace()) read.seconds("grace", in.grace(), out.grace.emplace());
  out.given_up = in.given_up();
}

void put(const Signal& body, api::NodeDown* message) {
  api::Signal* out = message->mutable_signal();
  put_attempt(body, out);
  out->set_lsn(body.lsn.value());
  out->set_signal(body.signal);
  out->set_batch_only(body.batch_only);
}

void get(Reader& read, const api::Signal& in, Signal& out) {
  read_attempt(read, in, out.attempt, out.fence);
  out.lsn = Lsn(in.lsn());
  if (in.signal() < 1 || in.signal() > kMaxSignal) read.reject("signal", "is not one from 1 to 64");
  out.signal = in.signal();
  out.batch_only = in.batch_only();
}

void put(const SignalStep& body, api::NodeDown* message) {
  api::SignalStep* out = message->mutable_signal_step();
  put_attempt(body, out);
  out->set_lsn(body.lsn.value());
  out->set_step(body.step);
  out->set_signal(body.signal);
  out->set_by(body.by.value());
}

void get(Reader& read, const api::SignalStep& in, SignalStep& out) {
  read_attempt(read, in, out.attempt, out.fence);
  out.lsn = Lsn(in.lsn());
  out.step = in.step();
  if (in.signal() < 0 || in.signal() > kMaxSignal) read.reject("signal", "is not one from 0 to 64");
  out.signal = in.signal();
  out.by = UserId(in.by());
}

void put(const SetLimit& body, api::NodeDown* message) {
  api::SetLimit* out = message->mutable_set_limit();
  put_attempt(body, out);
  out->set_lsn(body.lsn.value());
  if (body.time_limit) out->set_time_limit(body.time_limit->count());
}

void get(Reader& read, const api::SetLimit& in, SetLimit& out) {
  read_attempt(read, in, out.attempt, out.fence);
  out.lsn = Lsn(in.lsn());
  if (in.has_time_limit()) read.seconds("time_limit", in.time_limit(), out.time_limit.emplace());
}

void put(const SetSuspended& body, api::NodeDown* message) {
  api::SetSuspended* out = message->mutable_set_suspended();
  put_attempt(body, out);
  out->set_lsn(body.lsn.value());
  out->set_suspended(body.suspended);
  out->set_grace(body.grace.count());
}

void get(Reader& read, const api::SetSuspended& in, SetSuspended& out) {
  read_attempt(read, in, out.attempt, out.fence);
  out.lsn = Lsn(in.lsn());
  out.suspended = in.suspended();
  read.seconds("grace", in.grace(), out.grace);
}

void put(const Forget& body, api::NodeDown* message) {
  put_attempt(body, message->mutable_forget());
}

void get(Reader& read, const api::Forget& in, Forget& out) {
  read_attempt(read, in, out.attempt, out.fence);
}

void put(const Welcome& body, api::NodeDown* message) {
  api::Welcome* out = message->mutable_welcome();
  out->set_incarnation(body.incarnation);
  out->set_lease(body.lease.count());
  out->set_heartbeat(body.heartbeat.count());
}

void get(Reader& read, const api::Welcome& in, Welcome& out) {
  out.incarnation = in.incarnation();
  read.seconds("lease", in.lease(), out.lease);
  read.seconds("heartbeat", in.heartbeat(), out.heartbeat);
  if (in.heartbeat() == 0) read.reject("heartbeat", "is missing");
}

void put(const HeartbeatAck& body, api::NodeDown* message) {
  message->mutable_heartbeat_ack()->set_sequence(body.sequence);
}

void get(Reader&, const api::HeartbeatAck& in, HeartbeatAck& out) {
  out.sequence = in.sequence();
}

void put(const Refused& body, api::NodeDown* message) {
  message->mutable_refused()->set_why(body.why);
}

void get(Reader& read, const api::Refused& in, Refused& out) {
  read.text("why", in.why(), TextKind::prose, out.why);
}

void put(const Reboot& body, api::NodeDown* message) {
  message->mutable_reboot()->set_incarnation(body.incarnation);
}

void get(Reader&, const api::Reboot& in, Reboot& out) {
  out.incarnation = in.incarnation();
}

void put(const CheckpointKnown& body, api::NodeDown* message) {
  put_attempt(body, message->mutable_checkpoint_known());
  message->mutable_checkpoint_known()->set_sequence(body.sequence);
}

void get(Reader& read, const api::CheckpointKnown& in, CheckpointKnown& out) {
  read_attempt(read, in, out.attempt, out.fence);
  out.sequence = in.sequence();
}

template <class Body, class Given>
void take(Reader& read, const Given& in, ToNode& out) {
  get(read, in, out.body.emplace<Body>());
}

}  // namespace

void to_api(const ToNode& message, api::NodeDown* out) {
  out->Clear();
  out->set_node(message.node);
  out->set_epoch(message.epoch.value());
  if (message.position) put_position(*message.position, out->mutable_position());
  std::visit([out](const auto& body) { put(body, out); }, message.body);
}

Result<ToNode> from_api(const api::NodeDown& in) {
  ToNode out;
  Reader read("message of the controller");
  read.text("node", in.node(), TextKind::name, out.node);
  if (in.node().empty()) read.reject("node", "is missing");
  out.epoch = Epoch(in.epoch());
  if (in.has_position()) read_position(read, in.position(), out.position.emplace());
  switch (in.body_case()) {
    case api::NodeDown::kPrepare: take<Prepare>(read, in.prepare(), out); break;
    case api::NodeDown::kGo: take<Go>(read, in.go(), out); break;
    case api::NodeDown::kKill: take<Kill>(read, in.kill(), out); break;
    case api::NodeDown::kSignal: take<Signal>(read, in.signal(), out); break;
    case api::NodeDown::kSetLimit: take<SetLimit>(read, in.set_limit(), out); break;
    case api::NodeDown::kSetSuspended: take<SetSuspended>(read, in.set_suspended(), out); break;
    case api::NodeDown::kReboot: take<Reboot>(read, in.reboot(), out); break;
    case api::NodeDown::kSignalStep: take<SignalStep>(read, in.signal_step(), out); break;
    case api::NodeDown::kCheckpointKnown:
      take<CheckpointKnown>(read, in.checkpoint_known(), out);
      break;
    case api::NodeDown::kForget: take<Forget>(read, in.forget(), out); break;
    case api::NodeDown::kWelcome: take<Welcome>(read, in.welcome(), out); break;
    case api::NodeDown::kHeartbeatAck: take<HeartbeatAck>(read, in.heartbeat_ack(), out); break;
    case api::NodeDown::kRefused: take<Refused>(read, in.refused(), out); break;
    // Not for the node's agent: their receiver takes them before.
    case api::NodeDown::kOutputStored:
    case api::NodeDown::kTellScript:
    case api::NodeDown::BODY_NOT_SET:
      read.reject("body", "is missing, or of a kind that this version does not know");
      break;
  }
  return read.finish(std::move(out));
}

}  // namespace ares::proto
