// The specification of a job, and its parts.
#include "proto/storage_records.h"

namespace ares::proto {

void put(const GpuRequest& from, storage::GpuRequest& to) {
  to.set_type(from.type);
  to.set_count(from.count);
  to.set_part(from.part);
}

GpuRequest get(const storage::GpuRequest& from, DecodeErrors&) {
  return GpuRequest{from.type(), from.count(), from.part()};
}

void put(const GpuAlternative& from, storage::GpuAlternative& to) {
  put_messages(from.gpus, to.mutable_gpus());
  to.set_cost(from.cost);
}

GpuAlternative get(const storage::GpuAlternative& from, DecodeErrors& errors) {
  return GpuAlternative{get_messages<GpuRequest>(from.gpus(), errors), from.cost()};
}

void put(const LicenseRequest& from, storage::LicenseRequest& to) {
  to.set_name(from.name);
  to.set_count(from.count);
}

LicenseRequest get(const storage::LicenseRequest& from, DecodeErrors&) {
  return LicenseRequest{from.name(), from.count()};
}

void put(const Dependency& from, storage::Dependency& to) {
  to.set_kind(number(from.kind));
  put(from.target, *to.mutable_target());
  to.set_delay(from.delay.count());
}

Dependency get(const storage::Dependency& from, DecodeErrors& errors) {
  Dependency to;
  to.kind = errors.check(from.kind(), kLastDependencyKind, "dependency kind");
  to.target = get(from.target(), errors);
  to.delay = Seconds(from.delay());
  return to;
}

void put(const ResourceLimit& from, storage::ResourceLimit& to) {
  to.set_resource(from.resource);
  to.set_soft(from.soft);
}

ResourceLimit get(const storage::ResourceLimit& from, DecodeErrors&) {
  return ResourceLimit{from.resource(), from.soft()};
}

namespace {

void put(const GangRequest& from, storage::GangRequest& to) {
  to.set_name(from.name);
  to.set_size(from.size);
  to.set_min(from.min);
  if (from.timeout) to.set_timeout(from.timeout->count());
}

GangRequest get(const storage::GangRequest& from, DecodeErrors&) {
  GangRequest to{from.name(), from.size(), from.min(), std::nullopt};
  if (from.has_timeout()) to.timeout = Seconds(from.timeout());
  return to;
}

void put(const JobBinding& from, storage::Binding& to) {
  to.set_hint(from.hint);
  to.set_threads_per_core(from.threads_per_core);
  to.set_cpu_bind(from.cpu_bind);
  to.set_mem_bind(from.mem_bind);
  to.set_gpu_bind(from.gpu_bind);
  to.set_distribution(from.distribution);
}

JobBinding get(const storage::Binding& from, DecodeErrors&) {
  return {from.hint(),     from.threads_per_core(), from.cpu_bind(),
          from.mem_bind(), from.gpu_bind(),         from.distribution()};
}

}  // namespace

void put(const JobSpec& from, storage::JobSpec& to) {
  to.set_name(from.name);
  to.set_uid(from.uid.value());
  to.set_gid(from.gid.value());
  to.set_user(from.user);
  to.set_account(from.account);
  to.set_qos(from.qos);
  to.set_wckey(from.wckey);
  to.set_comment(from.comment);
  put_list(from.partitions, to.mutable_partitions());
  to.set_min_nodes(from.min_nodes);
  to.set_max_nodes(from.max_nodes);
  to.set_tasks(from.tasks);
  to.set_cpus_per_task(from.cpus_per_task);
  to.set_tasks_per_node(from.tasks_per_node);
  if (from.memory_per_node) to.set_memory_per_node(from.memory_per_node->value());
  if (from.memory_per_cpu) to.set_memory_per_cpu(from.memory_per_cpu->value());
  put_messages(from.gpus_per_node, to.mutable_gpus_per_node());
  put_messages(from.gpus_total, to.mutable_gpus_total());
  to.set_exclusive(from.exclusive);
  put_list(from.required_nodes, to.mutable_required_nodes());
  put_list(from.excluded_nodes, to.mutable_excluded_nodes());
  put_list(from.features, to.mutable_features());
  if (from.time_limit) to.set_time_limit(from.time_limit->count());
  if (from.begin) to.set_begin(micros(*from.begin));
  put_messages(from.dependencies, to.mutable_dependencies());
  to.set_kill_on_invalid_dependency(from.kill_on_invalid_dependency);
  if (from.priority) to.set_priority(*from.priority);
  to.set_nice(from.nice);
  to.set_hold(from.hold);
  to.set_requeue(from.requeue);
  if (from.array) put(*from.array, *to.mutable_array());
  to.set_array_throttle(from.array_throttle);
  to.set_script(to_bytes(from.script));
  to.set_environment(to_bytes(from.environment));
  put_list(from.arguments, to.mutable_arguments());
  to.set_submit_dir(from.submit_dir);
  to.set_work_dir(from.work_dir);
  to.set_std_in(from.std_in);
  to.set_std_out(from.std_out);
  to.set_std_err(from.std_err);
  to.set_open_mode(number(from.open_mode));
  to.set_umask(from.umask);
  put_messages(from.limits, to.mutable_limits());
  to.set_submit_host(from.submit_host);
  to.set_submit_zone(from.submit_zone);
  to.set_command(from.command);
  if (from.node_counts) put(*from.node_counts, *to.mutable_node_counts());
  put_messages(from.gpus_per_task, to.mutable_gpus_per_task());
  to.set_cpus_per_gpu(from.cpus_per_gpu);
  if (from.memory_per_gpu) to.set_memory_per_gpu(from.memory_per_gpu->value());
  to.set_exclusive_user(from.exclusive_user);
  put_messages(from.licenses, to.mutable_licenses());
  to.set_any_license(from.any_license);
  if (from.time_min) to.set_time_min(from.time_min->count());
  if (from.deadline) to.set_deadline(micros(*from.deadline));
  to.set_any_dependency(from.any_dependency);
  to.set_mail_types(from.mail_types);
  to.set_mail_user(from.mail_user);
  to.set_prefer(from.prefer);
  to.set_switches(from.switches);
  if (from.switches_wait) to.set_switches_wait(from.switches_wait->count());
  to.set_segment(from.segment);
  put_list(from.reservations, to.mutable_reservations());
  to.set_gpu_topology(number(from.gpu_constraint.shape));
  to.set_min_nvlink(from.gpu_constraint.min_nvlinks);
  put_messages(from.gpu_alternatives, to.mutable_gpu_alternatives());
  to.set_alternatives_per(number(from.alternatives_per));
  if (from.gang) put(*from.gang, *to.mutable_gang());
  if (from.binding != JobBinding{}) put(from.binding, *to.mutable_binding());
  if (from.warning) to.set_warning_signal(format_warning_signal(*from.warning));
  to.set_expedite(from.expedite);
  to.set_spare_nodes(from.spare_nodes);
  if (from.checkpoint) {
    to.mutable_checkpoint()->set_place(from.checkpoint->place);
    to.mutable_checkpoint()->set_keep(from.checkpoint->keep);
  }
  if (from.container) put(*from.container, *to.mutable_container());
  to.set_submit_line(from.submit_line);
  to.set_overcommit(from.overcommit);
}

JobSpec get(const storage::JobSpec& from, DecodeErrors& errors) {
  JobSpec to;
  to.name = from.name();
  to.uid = UserId(from.uid());
  to.gid = GroupId(from.gid());
  to.user = from.user();
  to.account = from.account();
  to.qos = from.qos();
  to.wckey = from.wckey();
  to.comment = from.comment();
  to.partitions = get_list<std::string>(from.partitions());
  to.min_nodes = from.min_nodes();
  to.max_nodes = from.max_nodes();
  to.tasks = from.tasks();
  to.cpus_per_task = from.cpus_per_task();
  to.tasks_per_node = from.tasks_per_node();
  if (from.has_memory_per_node()) to.memory_per_node = Bytes(from.memory_per_node());
  if (from.has_memory_per_cpu()) to.memory_per_cpu = Bytes(from.memory_per_cpu());
  to.gpus_per_node = get_messages<GpuRequest>(from.gpus_per_node(), errors);
  to.gpus_total = get_messages<GpuRequest>(from.gpus_total(), errors);
  to.exclusive = from.exclusive();
  to.required_nodes = get_list<std::string>(from.required_nodes());
  to.excluded_nodes = get_list<std::string>(from.excluded_nodes());
  to.features = get_list<std::string>(from.features());
  if (from.has_time_limit()) to.time_limit = Seconds(from.time_limit());
  if (from.has_begin()) to.begin = to_time(from.begin());
  to.dependencies = get_messages<Dependency>(from.dependencies(), errors);
  to.kill_on_invalid_dependency = from.kill_on_invalid_dependency();
  if (from.has_priority()) to.priority = from.priority();
  to.nice = from.nice();
  to.hold = from.hold();
  to.requeue = from.requeue();
  if (from.has_array()) to.array = get(from.array(), errors);
  to.array_throttle = from.array_throttle();
  to.script = to_digest<32>(from.script(), "a script's digest", errors);
  to.environment = to_digest<32>(from.environment(), "an environment's digest", errors);
  to.arguments = get_list<std::string>(from.arguments());
  to.submit_dir = from.submit_dir();
  to.work_dir = from.work_dir();
  to.std_in = from.std_in();
  to.std_out = from.std_out();
  to.std_err = from.std_err();
  to.open_mode = errors.check(from.open_mode(), OpenMode::append, "open mode");
  to.umask = from.umask();
  to.limits = get_messages<ResourceLimit>(from.limits(), errors);
  to.submit_host = from.submit_host();
  to.submit_zone = from.submit_zone();
  to.command = from.command();
  if (from.has_node_counts()) to.node_counts = get(from.node_counts(), errors);
  to.gpus_per_task = get_messages<GpuRequest>(from.gpus_per_task(), errors);
  to.cpus_per_gpu = from.cpus_per_gpu();
  if (from.has_memory_per_gpu()) to.memory_per_gpu = Bytes(from.memory_per_gpu());
  to.exclusive_user = from.exclusive_user();
  to.licenses = get_messages<LicenseRequest>(from.licenses(), errors);
  to.any_license = from.any_license();
  if (from.has_time_min()) to.time_min = Seconds(from.time_min());
  if (from.has_deadline()) to.deadline = to_time(from.deadline());
  to.any_dependency = from.any_dependency();
  to.mail_types = from.mail_types();
  to.mail_user = from.mail_user();
  to.prefer = from.prefer();
  to.switches = from.switches();
  if (from.has_switches_wait()) to.switches_wait = Seconds(from.switches_wait());
  to.segment = from.segment();
  to.reservations = get_list<std::string>(from.reservations());
  to.gpu_constraint = {errors.check(from.gpu_topology(), kLastGpuShape, "topology of GPUs"),
                       from.min_nvlink()};
  to.gpu_alternatives = get_messages<GpuAlternative>(from.gpu_alternatives(), errors);
  to.alternatives_per = errors.check(from.alternatives_per(), kLastGpusPer, "list of GPUs");
  if (from.has_gang()) to.gang = get(from.gang(), errors);
  if (from.has_binding()) to.binding = get(from.binding(), errors);
  if (!from.warning_signal().empty()) {
    if (const Result<WarningSignal> warning = parse_warning_signal(from.warning_signal()))
      to.warning = *warning;
    else
      errors.add(warning.error().message);
  }
  to.expedite = from.expedite();
  to.spare_nodes = from.spare_nodes();
  if (from.has_checkpoint())
    to.checkpoint = CheckpointRequest{from.checkpoint().place(), from.checkpoint().keep()};
  if (from.has_container()) to.container = get(from.container(), errors);
  to.submit_line = from.submit_line();
  to.overcommit = from.overcommit();
  return to;
}

}  // namespace ares::proto
