#include "proto/convert.h"

#include <utility>

#include "model/job/binding_options.h"
#include "model/job/checkpoint_place.h"
#include "model/job/gpu_constraint.h"
#include "model/job/mail.h"
#include "model/policy/request_limits.h"
#include "proto/api_reader.h"
#include "proto/convert_container.h"
#include "proto/gen/api.pb.h"
#include "proto/gen/node.pb.h"

namespace ares::proto {
namespace {

constexpr BlobId kNoBlob{};
constexpr std::uint32_t kMaxNodeCount = 1'000'000;

std::string to_bytes(const BlobId& id) {
  if (id == kNoBlob) return {};
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}

api::Dependency::Kind to_api(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::after_any: return api::Dependency::AFTER_ANY;
    case DependencyKind::after_ok: return api::Dependency::AFTER_OK;
    case DependencyKind::after_not_ok: return api::Dependency::AFTER_NOT_OK;
    case DependencyKind::after: return api::Dependency::AFTER;
    case DependencyKind::after_corr: return api::Dependency::AFTER_CORR;
    case DependencyKind::singleton: return api::Dependency::SINGLETON;
  }
  std::abort();
}

// A newer client may send a kind that this version does not know.
std::optional<DependencyKind> from_api(api::Dependency::Kind kind) {
  switch (static_cast<int>(kind)) {
    case api::Dependency::AFTER_ANY: return DependencyKind::after_any;
    case api::Dependency::AFTER_OK: return DependencyKind::after_ok;
    case api::Dependency::AFTER_NOT_OK: return DependencyKind::after_not_ok;
    case api::Dependency::AFTER: return DependencyKind::after;
    case api::Dependency::AFTER_CORR: return DependencyKind::after_corr;
    case api::Dependency::SINGLETON: return DependencyKind::singleton;
  }
  return std::nullopt;
}

template <class Repeated>
void put_gpus(const std::vector<GpuRequest>& gpus, Repeated* out) {
  for (const GpuRequest& gpu : gpus) {
    auto* added = out->Add();
    added->set_type(gpu.type);
    added->set_count(gpu.count);
    added->set_part(gpu.part);
  }
}

template <class Repeated>
void put_texts(const std::vector<std::string>& texts, Repeated* out) {
  for (const std::string& text : texts) *out->Add() = text;
}

template <class Repeated>
void read_gpus(Reader& read, std::string_view field, const Repeated& in,
               std::vector<GpuRequest>& out) {
  for (const auto& gpu : in) {
    GpuRequest request{.type = {}, .count = gpu.count(), .part = gpu.part()};
    read.text(field, gpu.type(), TextKind::name, request.type);
    out.push_back(std::move(request));
  }
}

void read_alternatives(Reader& read, const api::JobSpec& in, JobSpec& out) {
  for (const api::GpuAlternative& given : in.gpu_alternatives()) {
    GpuAlternative& alternative = out.gpu_alternatives.emplace_back();
    alternative.cost = given.cost();
    read_gpus(read, "gpu_alternatives", given.gpus(), alternative.gpus);
  }
  if (in.alternatives_per() < 0 || in.alternatives_per() > static_cast<int>(kLastGpusPer))
    return read.reject("alternatives_per", "is none of the lists of GPUs");
  out.alternatives_per = static_cast<GpusPer>(in.alternatives_per());
}

// Checked here and not only at admission, because thousands of requests may wait for admission.
void read_identity(Reader& read, const api::JobSpec& in, JobSpec& out) {
  read.text("name", in.name(), TextKind::title, out.name);
  out.uid = UserId(in.uid());
  out.gid = GroupId(in.gid());
  read.text("user", in.user(), TextKind::name, out.user);
  read.text("account", in.account(), TextKind::name, out.account);
  read.text("qos", in.qos(), TextKind::name, out.qos);
  read.text("wckey", in.wckey(), TextKind::name, out.wckey);
  read.text("comment", in.comment(), TextKind::prose, out.comment);
  read.texts("partitions", in.partitions(), TextKind::name, out.partitions);
}

// A text that this version cannot read is refused here, because the node reads it again.
void read_binding(Reader& read, const api::Binding& in, JobBinding& out) {
  read.text("hint", in.hint(), TextKind::name, out.hint);
  out.threads_per_core = in.threads_per_core();
  read.text("cpu_bind", in.cpu_bind(), TextKind::path, out.cpu_bind);
  read.text("mem_bind", in.mem_bind(), TextKind::path, out.mem_bind);
  read.text("gpu_bind", in.gpu_bind(), TextKind::path, out.gpu_bind);
  read.text("distribution", in.distribution(), TextKind::name, out.distribution);
  if (const Status good = check_binding(out); !good)
    read.reject("binding", "is not possible: " + good.error().message);
}

void read_resources(Reader& read, const api::JobSpec& in, JobSpec& out) {
  out.min_nodes = in.min_nodes();
  out.max_nodes = in.max_nodes();
  out.tasks = in.tasks();
  out.cpus_per_task = in.cpus_per_task();
  out.tasks_per_node = in.tasks_per_node();
  if (in.has_memory_per_node())
    read.bytes("memory_per_node", in.memory_per_node(), out.memory_per_node.emplace());
  if (in.has_memory_per_cpu())
    read.bytes("memory_per_cpu", in.memory_per_cpu(), out.memory_per_cpu.emplace());
  read_gpus(read, "gpus_per_node", in.gpus_per_node(), out.gpus_per_node);
  read_gpus(read, "gpus_total", in.gpus_total(), out.gpus_total);
  read_gpus(read, "gpus_per_task", in.gpus_per_task(), out.gpus_per_task);
  read_alternatives(read, in, out);
  out.cpus_per_gpu = in.cpus_per_gpu();
  if (in.has_memory_per_gpu())
    read.bytes("memory_per_gpu", in.memory_per_gpu(), out.memory_per_gpu.emplace());
  if (!in.node_counts().empty())
    read.part("node_counts",
              parse_interval_set(in.node_counts(), kMaxNodeCount, kMaxNodeCountRanges),
              out.node_counts.emplace());
  out.exclusive = in.exclusive();
  out.exclusive_user = in.exclusive_user();
  read.texts("required_nodes", in.required_nodes(), TextKind::name, out.required_nodes);
  read.texts("excluded_nodes", in.excluded_nodes(), TextKind::name, out.excluded_nodes);
  read.texts("features", in.features(), TextKind::title, out.features);
  read.text("prefer", in.prefer(), TextKind::title, out.prefer);
  out.switches = in.switches();
  if (in.has_switches_wait())
    read.seconds("switches_wait", in.switches_wait(), out.switches_wait.emplace());
  out.segment = in.segment();
  out.overcommit = in.overcommit();
  read.texts("reservations", in.reservations(), TextKind::name, out.reservations);
  if (!in.gpu_topology().empty())
    read.part("gpu_topology", parse_gpu_shape(in.gpu_topology()), out.gpu_constraint.shape);
  out.gpu_constraint.min_nvlinks = in.min_nvlink();
  for (const auto& license : in.licenses()) {
    LicenseRequest request{.name = {}, .count = license.count()};
    read.text("licenses", license.name(), TextKind::name, request.name);
    out.licenses.push_back(std::move(request));
  }
  out.any_license = in.any_license();
  read_binding(read, in.binding(), out.binding);
}

void read_dependencies(Reader& read, const api::JobSpec& in, JobSpec& out) {
  for (const auto& given : in.dependencies()) {
    Dependency dependency;
    const auto kind = from_api(given.kind());
    if (!kind) return read.reject("dependencies", "has a kind that this version does not know");
    dependency.kind = *kind;
    if (dependency.kind != DependencyKind::singleton)
      read.part("dependencies", proto::from_api(given.target()), dependency.target);
    read.seconds("dependencies", given.delay(), dependency.delay);
    out.dependencies.push_back(dependency);
  }
  out.any_dependency = in.any_dependency();
}

// With the job's id and the name of a checkpoint it is still a path.
constexpr std::size_t kLongestCheckpointPlace = 4000;

void read_checkpoint(Reader& read, const api::CheckpointRequest& in, CheckpointRequest& out) {
  read.text("checkpoint", in.place(), TextKind::path, out.place);
  if (!is_checkpoint_place(in.place()))
    read.reject("checkpoint", "is not an absolute path or an S3 URI");
  if (in.place().size() > kLongestCheckpointPlace)
    read.reject("checkpoint", "is longer than " + std::to_string(kLongestCheckpointPlace) +
                                  " bytes: no checkpoint could have a path in it");
  out.keep = in.keep();
  if (in.keep() < 1 || in.keep() > kMostCheckpointsKept)
    read.reject("checkpoint", "keeps none or more than " + std::to_string(kMostCheckpointsKept));
}

void read_timing(Reader& read, const api::JobSpec& in, bool requeue_default, JobSpec& out) {
  if (in.has_time_limit()) read.seconds("time_limit", in.time_limit(), out.time_limit.emplace());
  if (in.has_time_min()) read.seconds("time_min", in.time_min(), out.time_min.emplace());
  if (in.has_begin()) read.time("begin", in.begin(), out.begin.emplace());
  if (in.has_deadline()) read.time("deadline", in.deadline(), out.deadline.emplace());
  read_dependencies(read, in, out);
  out.kill_on_invalid_dependency = in.kill_on_invalid_dependency();
  if (in.has_priority()) out.priority = in.priority();
  out.nice = in.nice();
  out.hold = in.hold();
  out.requeue = in.has_requeue() ? in.requeue() : requeue_default;
  if (!in.array().empty())
    read.part("array", parse_interval_set(in.array(), TaskIndex::kNone - 1, kMaxArrayRanges),
              out.array.emplace());
  out.array_throttle = in.array_throttle();
  if (!in.warning_signal().empty())
    read.part("warning_signal", parse_warning_signal(in.warning_signal()), out.warning.emplace());
  out.expedite = in.expedite();
  out.spare_nodes = in.spare_nodes();
  if (in.has_checkpoint()) read_checkpoint(read, in.checkpoint(), out.checkpoint.emplace());
  if (in.has_container()) read_container(read, in.container(), out.container.emplace());
}

void read_gang(Reader& read, const api::JobSpec& in, JobSpec& out) {
  if (!in.has_gang()) return;
  GangRequest& gang = out.gang.emplace();
  read.text("gang", in.gang().name(), TextKind::name, gang.name);
  gang.size = in.gang().size();
  gang.min = in.gang().min();
  if (in.gang().has_timeout())
    read.seconds("gang timeout", in.gang().timeout(), gang.timeout.emplace());
}

void read_process_context(Reader& read, const api::JobSpec& in, JobSpec& out) {
  read.digest("script", in.script(), out.script);
  read.digest("environment", in.environment(), out.environment);
  read.texts("arguments", in.arguments(), TextKind::argument, out.arguments);
  read.text("submit_dir", in.submit_dir(), TextKind::path, out.submit_dir);
  read.text("work_dir", in.work_dir(), TextKind::path, out.work_dir);
  read.text("std_in", in.std_in(), TextKind::path, out.std_in);
  read.text("std_out", in.std_out(), TextKind::path, out.std_out);
  read.text("std_err", in.std_err(), TextKind::path, out.std_err);
  out.open_mode = in.append() ? OpenMode::append : OpenMode::truncate;
  if (in.umask() > 0777) read.reject("umask", "is more than 0777");
  out.umask = in.umask();
  for (const auto& limit : in.limits()) {
    if (limit.resource() < 0) read.reject("limits", "names a negative resource");
    out.limits.push_back({limit.resource(), limit.soft()});
  }
  read.text("submit_host", in.submit_host(), TextKind::name, out.submit_host);
  read.text("submit_zone", in.submit_zone(), TextKind::name, out.submit_zone);
  read.text("command", in.command(), TextKind::path, out.command);
  read.text("submit_line", in.submit_line(), TextKind::prose, out.submit_line);
}

void read_mail(Reader& read, const api::JobSpec& in, JobSpec& out) {
  if (!in.mail_types().empty())
    read.part("mail_types", parse_mail_types(in.mail_types()), out.mail_types);
  read.text("mail_user", in.mail_user(), TextKind::name, out.mail_user);
}

}  // namespace

void to_api(const JobKey& key, api::JobRef* out) {
  out->set_job(key.job.value());
  if (!key.task.is_none()) out->set_task(key.task.value);
}

void to_api(const Dependency& dependency, api::Dependency* out) {
  out->set_kind(to_api(dependency.kind));
  if (dependency.kind != DependencyKind::singleton)
    to_api(dependency.target, out->mutable_target());
  out->set_delay(dependency.delay.count());
}

Result<JobKey> from_api(const api::JobRef& ref) {
  if (ref.job() == 0) return fail(ErrorCode::invalid_argument, "job id 0 is none");
  JobKey key{JobId(ref.job()), {}};
  if (ref.has_task()) {
    if (ref.task() == TaskIndex::kNone)
      return fail(ErrorCode::invalid_argument, "array task index is out of range");
    key.task = TaskIndex{ref.task()};
  }
  return key;
}

void to_api(const AttemptKey& key, api::AttemptKey* out) {
  to_api(key.job, out->mutable_job());
  out->set_attempt(key.attempt.value());
}

Result<AttemptKey> from_api(const api::AttemptKey& key) {
  auto job = from_api(key.job());
  if (!job) return fail(std::move(job.error()));
  if (key.attempt() == 0) return fail(ErrorCode::invalid_argument, "attempt 0 is none");
  return AttemptKey{*job, AttemptNo(key.attempt())};
}

namespace {

void put_binding(const JobBinding& binding, api::JobSpec* out) {
  if (binding == JobBinding{}) return;
  api::Binding* to = out->mutable_binding();
  to->set_hint(binding.hint);
  to->set_threads_per_core(binding.threads_per_core);
  to->set_cpu_bind(binding.cpu_bind);
  to->set_mem_bind(binding.mem_bind);
  to->set_gpu_bind(binding.gpu_bind);
  to->set_distribution(binding.distribution);
}

}  // namespace

void to_api(const JobSpec& spec, api::JobSpec* out) {
  out->Clear();
  out->set_name(spec.name);
  out->set_uid(spec.uid.value());
  out->set_gid(spec.gid.value());
  out->set_user(spec.user);
  out->set_account(spec.account);
  out->set_qos(spec.qos);
  out->set_wckey(spec.wckey);
  out->set_comment(spec.comment);
  put_texts(spec.partitions, out->mutable_partitions());
  out->set_min_nodes(spec.min_nodes);
  out->set_max_nodes(spec.max_nodes);
  out->set_tasks(spec.tasks);
  out->set_cpus_per_task(spec.cpus_per_task);
  out->set_tasks_per_node(spec.tasks_per_node);
  if (spec.memory_per_node) out->set_memory_per_node(spec.memory_per_node->value());
  if (spec.memory_per_cpu) out->set_memory_per_cpu(spec.memory_per_cpu->value());
  put_gpus(spec.gpus_per_node, out->mutable_gpus_per_node());
  put_gpus(spec.gpus_total, out->mutable_gpus_total());
  put_gpus(spec.gpus_per_task, out->mutable_gpus_per_task());
  for (const GpuAlternative& alternative : spec.gpu_alternatives) {
    auto* added = out->add_gpu_alternatives();
    added->set_cost(alternative.cost);
    put_gpus(alternative.gpus, added->mutable_gpus());
  }
  out->set_alternatives_per(static_cast<api::GpusPer>(spec.alternatives_per));
  out->set_cpus_per_gpu(spec.cpus_per_gpu);
  if (spec.memory_per_gpu) out->set_memory_per_gpu(spec.memory_per_gpu->value());
  if (spec.node_counts) out->set_node_counts(format_interval_set(*spec.node_counts));
  out->set_exclusive(spec.exclusive);
  out->set_exclusive_user(spec.exclusive_user);
  put_texts(spec.required_nodes, out->mutable_required_nodes());
  put_texts(spec.excluded_nodes, out->mutable_excluded_nodes());
  put_texts(spec.features, out->mutable_features());
  out->set_prefer(spec.prefer);
  out->set_switches(spec.switches);
  if (spec.switches_wait) out->set_switches_wait(spec.switches_wait->count());
  out->set_segment(spec.segment);
  put_texts(spec.reservations, out->mutable_reservations());
  if (spec.gpu_constraint.shape != GpuShape::any)
    out->set_gpu_topology(std::string(to_string(spec.gpu_constraint.shape)));
  out->set_min_nvlink(spec.gpu_constraint.min_nvlinks);
  put_binding(spec.binding, out);
  for (const LicenseRequest& license : spec.licenses) {
    auto* added = out->add_licenses();
    added->set_name(license.name);
    added->set_count(license.count);
  }
  out->set_any_license(spec.any_license);
  if (spec.time_limit) out->set_time_limit(spec.time_limit->count());
  if (spec.time_min) out->set_time_min(spec.time_min->count());
  if (spec.begin) out->set_begin(spec.begin->time_since_epoch().count());
  if (spec.deadline) out->set_deadline(spec.deadline->time_since_epoch().count());
  for (const Dependency& dependency : spec.dependencies) {
    to_api(dependency, out->add_dependencies());
  }
  out->set_any_dependency(spec.any_dependency);
  out->set_kill_on_invalid_dependency(spec.kill_on_invalid_dependency);
  if (spec.priority) out->set_priority(*spec.priority);
  out->set_nice(spec.nice);
  out->set_hold(spec.hold);
  out->set_requeue(spec.requeue);
  if (spec.array) out->set_array(format_interval_set(*spec.array));
  out->set_array_throttle(spec.array_throttle);
  out->set_script(to_bytes(spec.script));
  out->set_environment(to_bytes(spec.environment));
  put_texts(spec.arguments, out->mutable_arguments());
  out->set_submit_dir(spec.submit_dir);
  out->set_work_dir(spec.work_dir);
  out->set_std_in(spec.std_in);
  out->set_std_out(spec.std_out);
  out->set_std_err(spec.std_err);
  out->set_append(spec.open_mode == OpenMode::append);
  out->set_umask(spec.umask);
  for (const ResourceLimit& limit : spec.limits) {
    auto* added = out->add_limits();
    added->set_resource(limit.resource);
    added->set_soft(limit.soft);
  }
  out->set_submit_host(spec.submit_host);
  out->set_submit_zone(spec.submit_zone);
  out->set_command(spec.command);
  out->set_mail_types(format_mail_types(spec.mail_types));
  out->set_mail_user(spec.mail_user);
  if (spec.warning) out->set_warning_signal(format_warning_signal(*spec.warning));
  out->set_expedite(spec.expedite);
  out->set_spare_nodes(spec.spare_nodes);
  if (spec.checkpoint) {
    out->mutable_checkpoint()->set_place(spec.checkpoint->place);
    out->mutable_checkpoint()->set_keep(spec.checkpoint->keep);
  }
  if (spec.container) to_api(*spec.container, out->mutable_container());
  out->set_submit_line(spec.submit_line);
  out->set_overcommit(spec.overcommit);
  if (!spec.gang) return;
  out->mutable_gang()->set_name(spec.gang->name);
  out->mutable_gang()->set_size(spec.gang->size);
  out->mutable_gang()->set_min(spec.gang->min);
  if (spec.gang->timeout) out->mutable_gang()->set_timeout(spec.gang->timeout->count());
}

Result<JobSpec> from_api(const api::JobSpec& in, bool requeue_default) {
  Reader read("job specification");
  JobSpec out;
  read_identity(read, in, out);
  read_resources(read, in, out);
  read_timing(read, in, requeue_default, out);
  read_gang(read, in, out);
  read_process_context(read, in, out);
  read_mail(read, in, out);
  return read.finish(std::move(out));
}

}  // namespace ares::proto
