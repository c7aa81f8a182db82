#include "node/step_spec.h"

#include <charconv>

#include "base/interval_set.h"
#include "model/cluster/cpu_layout.h"
#include "model/job/gpu_part.h"
#include "node/checkpoint_fields.h"
#include "node/text_fields.h"

namespace ares::node {
namespace {

template <class T>
void put_optional(FieldWriter& out, std::string_view key, const std::optional<T>& value) {
  if (value) out.put(key, *value);
}

void put_text(FieldWriter& out, std::string_view key, const std::string& value) {
  if (!value.empty()) out.put(key, value);
}

void put_texts(FieldWriter& out, std::string_view key, const std::vector<std::string>& values) {
  for (const std::string& value : values) out.put(key, value);
}

template <class T>
void put_numbers(FieldWriter& out, std::string_view key, const std::vector<T>& values) {
  for (const T& value : values) out.put(key, value);
}

void put_set(FieldWriter& out, std::string_view key, const IntervalSet& set) {
  if (!set.empty()) out.put(key, format_interval_set(set));
}

IntervalSet get_set(FieldReader& in, std::string_view key) {
  const std::string text = in.text_or_empty(key);
  if (text.empty()) return {};
  Result<IntervalSet> set = parse_interval_set(text, kMaxCpuNumber);
  if (set) return *std::move(set);
  in.wrong(key, set.error().message);
  return {};
}

void put_binding(FieldWriter& out, const StepBinding& binding) {
  put_set(out, "usable_cpus", binding.usable_cpus);
  put_set(out, "script_cpus", binding.script_cpus);
  if (binding.unbound) out.put("unbound", true);
  if (binding.policy != MemoryPolicy::none)
    out.put("memory_policy", binding.policy == MemoryPolicy::bind ? "bind" : "prefer");
  put_set(out, "memory_nodes", binding.memory_nodes);
  put_texts(out, "binding_note", binding.notes);
  if (binding.verbose) out.put("binding_verbose", true);
}

StepBinding get_binding(FieldReader& in) {
  StepBinding binding;
  binding.usable_cpus = get_set(in, "usable_cpus");
  binding.script_cpus = get_set(in, "script_cpus");
  binding.unbound = in.flag("unbound");
  const std::string policy = in.text_or_empty("memory_policy");
  if (policy == "bind") binding.policy = MemoryPolicy::bind;
  if (policy == "prefer") binding.policy = MemoryPolicy::prefer;
  binding.memory_nodes = get_set(in, "memory_nodes");
  binding.notes = in.all("binding_note");
  binding.verbose = in.flag("binding_verbose");
  return binding;
}

void put_program(FieldWriter& out, std::string_view path, std::string_view timeout,
                 const std::optional<SiteProgram>& program) {
  if (program) out.put(path, program->path).put(timeout, program->timeout.count());
}

std::optional<SiteProgram> get_program(FieldReader& in, std::string_view path,
                                       std::string_view timeout) {
  SiteProgram program{in.text_or_empty(path), {}};
  if (program.path.empty()) return std::nullopt;
  program.timeout = Seconds(in.number<std::int64_t>(timeout));
  return program;
}

void put_container(FieldWriter& out, const ContainerRequest& request) {
  out.put("in_container", true);
  put_text(out, "own_image", request.image);
  for (const ContainerMount& mount : request.mounts)
    out.put("mount_source", mount.source)
        .put("mount_target", mount.target)
        .put("mount_read_only", static_cast<std::uint32_t>(mount.is_read_only));
  put_text(out, "container_work_dir", request.work_dir);
  put_texts(out, "container_variable", request.variables);
  if (request.is_per_rank) out.put("per_rank", true);
  put_text(out, "pod_template", request.pod_template);
  put_text(out, "namespace", request.space);
  put_text(out, "service_account", request.service_account);
}

ContainerRequest get_container(FieldReader& in) {
  ContainerRequest request;
  request.image = in.text_or_empty("own_image");
  const std::vector<std::string> sources = in.all("mount_source");
  const std::vector<std::string> targets = in.all("mount_target");
  const auto read_only = in.numbers<std::uint32_t>("mount_read_only");
  if (targets.size() != sources.size() || read_only.size() != sources.size())
    in.wrong("mount_target", "does not pair with mount_source");
  else
    for (std::size_t i = 0; i < sources.size(); ++i)
      request.mounts.push_back({sources[i], targets[i], read_only[i] != 0});
  request.work_dir = in.text_or_empty("container_work_dir");
  request.variables = in.all("container_variable");
  request.is_per_rank = in.flag("per_rank");
  request.pod_template = in.text_or_empty("pod_template");
  request.space = in.text_or_empty("namespace");
  request.service_account = in.text_or_empty("service_account");
  return request;
}

// TYPE:THOUSANDTHS for each request.
void put_gpus(FieldWriter& out, const char* key, const std::vector<GpuRequest>& requests) {
  for (const GpuRequest& request : requests)
    out.put(key, request.type + ":" + std::to_string(thousandths_of(request)));
}

std::vector<GpuRequest> get_gpus(FieldReader& in, const char* key) {
  std::vector<GpuRequest> requests;
  for (const std::string& text : in.all(key)) {
    const std::size_t colon = text.rfind(':');
    std::uint32_t thousandths = 0;
    const char* const end = text.data() + text.size();
    if (colon == std::string::npos ||
        std::from_chars(text.data() + colon + 1, end, thousandths).ptr != end) {
      in.wrong(key, "is not TYPE:THOUSANDTHS");
      continue;
    }
    requests.push_back({.type = text.substr(0, colon),
                        .count = thousandths / kWholeGpu,
                        .part = thousandths % kWholeGpu});
  }
  return requests;
}

// Only the fields that a supervisor reads: the job's demands, dependencies and priority stay in the
// controller.
void put_job(FieldWriter& out, const JobSpec& job) {
  out.put("name", job.name)
      .put("uid", job.uid)
      .put("gid", job.gid)
      .put("user", job.user)
      .put("account", job.account)
      .put("qos", job.qos)
      .put("tasks", job.tasks)
      .put("cpus_per_task", job.cpus_per_task)
      .put("tasks_per_node", job.tasks_per_node);
  if (job.cpu_thousandths_per_task > 0)
    out.put("cpu_thousandths_per_task", job.cpu_thousandths_per_task);
  if (job.overcommit) out.put("overcommit", true);
  put_optional(out, "memory_per_node", job.memory_per_node);
  put_optional(out, "memory_per_cpu", job.memory_per_cpu);
  put_optional(out, "memory_per_gpu", job.memory_per_gpu);
  if (job.tmp_disk > Bytes{}) out.put("tmp_disk", job.tmp_disk);
  put_gpus(out, "gpus_per_node", job.gpus_per_node);
  put_gpus(out, "gpus_per_task", job.gpus_per_task);
  put_gpus(out, "gpus_total", job.gpus_total);
  put_texts(out, "reservation", job.reservations);
  for (const LicenseRequest& license : job.licenses)
    out.put("license", license.name).put("license_count", license.count);
  if (job.any_license) out.put("any_license", true);
  put_texts(out, "argument", job.arguments);
  out.put("submit_dir", job.submit_dir)
      .put("submit_host", job.submit_host)
      .put("work_dir", job.work_dir)
      .put("std_in", job.std_in.get())
      .put("std_out", job.std_out)
      .put("std_err", job.std_err.get())
      .put("append", job.open_mode == OpenMode::append)
      .put("umask", job.umask);
  if (job.warning) out.put("warning_signal", format_warning_signal(*job.warning));
  if (job.gang) out.put("gang", job.gang->name).put("gang_size", job.gang->size);
  put_text(out, "hint", job.binding->hint);
  if (job.binding->threads_per_core > 0) out.put("threads_per_core", job.binding->threads_per_core);
  put_text(out, "cpu_bind", job.binding->cpu_bind);
  put_text(out, "mem_bind", job.binding->mem_bind);
  put_text(out, "gpu_bind", job.binding->gpu_bind);
  put_text(out, "distribution", job.binding->distribution);
  if (job.checkpoint)
    out.put("checkpoint_place", job.checkpoint->place)
        .put("checkpoints_kept", job.checkpoint->keep);
  if (job.container) put_container(out, *job.container);
  for (const ResourceLimit& limit : job.limits)
    out.put("rlimit_resource", limit.resource).put("rlimit_soft", limit.soft);
}

std::vector<LicenseRequest> get_licenses(FieldReader& in) {
  std::vector<LicenseRequest> licenses;
  const auto counts = in.numbers<std::uint32_t>("license_count");
  std::vector<std::string> names = in.all("license");
  if (names.size() != counts.size()) in.wrong("license_count", "does not pair with license");
  for (std::size_t i = 0; i < std::min(names.size(), counts.size()); ++i)
    licenses.push_back({std::move(names[i]), counts[i]});
  return licenses;
}

std::shared_ptr<const JobSpec> get_job(FieldReader& in) {
  auto job = std::make_shared<JobSpec>();
  job->name = in.text("name");
  job->uid = in.id<UserId>("uid");
  job->gid = in.id<GroupId>("gid");
  job->user = in.text_or_empty("user");
  job->account = in.text_or_empty("account");
  job->qos = in.text_or_empty("qos");
  job->tasks = in.number<std::uint32_t>("tasks");
  job->cpus_per_task = in.number<std::uint32_t>("cpus_per_task");
  job->tasks_per_node = in.number<std::uint32_t>("tasks_per_node");
  job->cpu_thousandths_per_task = in.number_or<std::uint32_t>("cpu_thousandths_per_task", 0);
  job->overcommit = in.flag("overcommit");
  if (auto n = in.optional_number<std::int64_t>("memory_per_node"))
    job->memory_per_node = Bytes(*n);
  if (auto n = in.optional_number<std::int64_t>("memory_per_cpu")) job->memory_per_cpu = Bytes(*n);
  if (auto n = in.optional_number<std::int64_t>("memory_per_gpu")) job->memory_per_gpu = Bytes(*n);
  job->tmp_disk = Bytes(in.number_or<std::int64_t>("tmp_disk", 0));
  job->gpus_per_node = get_gpus(in, "gpus_per_node");
  job->gpus_per_task = get_gpus(in, "gpus_per_task");
  job->gpus_total = get_gpus(in, "gpus_total");
  job->reservations = in.all("reservation");
  job->licenses = get_licenses(in);
  job->any_license = in.flag("any_license");
  job->arguments = in.all("argument");
  job->submit_dir = in.text_or_empty("submit_dir");
  job->submit_host = in.text_or_empty("submit_host");
  job->work_dir = in.text_or_empty("work_dir");
  job->std_in = in.text_or_empty("std_in");
  job->std_out = in.text_or_empty("std_out");
  job->std_err = in.text_or_empty("std_err");
  job->open_mode = in.flag("append") ? OpenMode::append : OpenMode::truncate;
  job->umask = in.number<std::uint32_t>("umask");
  if (const std::string warning = in.text_or_empty("warning_signal"); !warning.empty()) {
    if (const Result<WarningSignal> parsed = parse_warning_signal(warning))
      job->warning = *parsed;
    else
      in.wrong("warning_signal", parsed.error().message);
  }
  if (const auto size = in.optional_number<std::uint32_t>("gang_size"))
    job->gang = GangRequest{in.text_or_empty("gang"), *size, 0, std::nullopt};
  job->binding =
      JobBinding{in.text_or_empty("hint"),     in.number_or<std::uint32_t>("threads_per_core", 0),
                 in.text_or_empty("cpu_bind"), in.text_or_empty("mem_bind"),
                 in.text_or_empty("gpu_bind"), in.text_or_empty("distribution")};
  if (const std::string place = in.text_or_empty("checkpoint_place"); !place.empty())
    job->checkpoint = CheckpointRequest{place, in.number_or<std::uint32_t>("checkpoints_kept", 2)};
  if (in.flag("in_container")) job->container = get_container(in);
  const auto resources = in.numbers<std::int32_t>("rlimit_resource");
  const auto softs = in.numbers<std::uint64_t>("rlimit_soft");
  if (resources.size() != softs.size())
    in.wrong("rlimit_soft", "does not pair with rlimit_resource");
  for (std::size_t i = 0; i < std::min(resources.size(), softs.size()); ++i)
    job->limits.push_back({resources[i], softs[i]});
  return job;
}

}  // namespace

std::string encode(const StepSpec& spec) {
  const LaunchSpec& launch = spec.launch;
  FieldWriter out;
  out.put("job", launch.attempt.job.job);
  if (!launch.attempt.job.task.is_none()) out.put("array_task", launch.attempt.job.task.value);
  out.put("attempt", launch.attempt.attempt)
      .put("fence", launch.fence)
      .put("own_id", launch.own_id)
      .put("cluster", launch.cluster_name)
      .put("node", launch.node_name)
      .put("rank", launch.rank);
  put_texts(out, "node_of_rank", launch.layout->names);
  put_numbers(out, "cpus_of_rank", launch.layout->cpus);
  put_numbers(out, "tasks_of_rank", launch.layout->tasks);
  put_numbers(out, "gpus_of_rank", launch.layout->gpus);
  out.put("cpus", launch.share.cpus);
  put_numbers(out, "cpu_id", launch.share.cpu_ids);
  out.put("memory", launch.share.memory);
  put_numbers(out, "gpu", launch.share.gpus);
  put_texts(out, "gpu_type", launch.gpu_types);
  out.put("gpu_part", launch.share.gpu_part);
  if (launch.share.cpu_thousandths > 0) out.put("cpu_thousandths", launch.share.cpu_thousandths);
  out.put("share_tasks", launch.share.tasks)
      .put("incarnation", launch.share.incarnation)
      .put("partition", launch.partition)
      .put("restarts", launch.restarts)
      .put("leased", launch.leased)
      .put("kill_wait", launch.kill_wait.count());
  if (launch.time_limit) out.put("time_limit", launch.time_limit->count());
  put_optional(out, "array_count", launch.array_count);
  put_optional(out, "array_min", launch.array_min);
  put_optional(out, "array_max", launch.array_max);
  put_optional(out, "array_step", launch.array_step);
  put_job(out, *launch.spec);
  out.put("user_name", spec.user.name).put("user_gid", spec.user.gid);
  put_numbers(out, "user_group", spec.user.groups);
  out.put("user_home", spec.user.home)
      .put("user_shell", spec.user.shell)
      .put("node_has_gpus", spec.node_has_gpus);
  put_optional(out, "memory_limit", spec.memory_limit);
  if (spec.max_processes != 0) out.put("max_processes", spec.max_processes);
  put_texts(out, "denied_device", spec.denied_devices);
  put_binding(out, spec.binding);
  put_texts(out, "visible_gpu", spec.visible_gpus);
  for (const IntervalSet& cpus : spec.gpu_cpus) out.put("gpu_cpus", format_interval_set(cpus));
  put_text(out, "cpu_layout", format_cpu_layout(spec.cpu_layout));
  put_program(out, "prolog", "prolog_timeout", spec.prolog);
  put_program(out, "epilog", "epilog_timeout", spec.epilog);
  if (!spec.task_prolog.empty()) out.put("task_prolog", spec.task_prolog);
  put_program(out, "task_epilog", "task_epilog_timeout", spec.task_epilog);
  put_text(out, "pam_service", spec.pam_service);
  if (!spec.private_tmp.empty()) out.put("private_tmp", spec.private_tmp);
  out.put("allocation_timeout", spec.allocation_timeout.count());
  if (!spec.slurm_variables) out.put("slurm_variables", 0);
  put_texts(out, "step_address", launch.step_addresses);
  if (!launch.step_key.empty()) out.put("step_key", launch.step_key);
  if (launch.master_port != 0) out.put("master_port", launch.master_port);
  put_checkpoints(out, launch.checkpoints);
  put_text(out, "container_image", launch.container_image);
  return out.take();
}

Result<StepSpec> decode_step_spec(std::string_view text) {
  FieldReader in("spec", text);
  StepSpec spec;
  LaunchSpec& launch = spec.launch;
  launch.attempt.job.job = in.id<JobId>("job");
  launch.attempt.job.task.value = in.number_or<std::uint32_t>("array_task", TaskIndex::kNone);
  launch.attempt.attempt = in.id<AttemptNo>("attempt");
  launch.fence = in.id<Fence>("fence");
  launch.own_id = in.id<JobId>("own_id");
  launch.cluster_name = in.text("cluster");
  launch.node_name = in.text("node");
  launch.rank = in.number<std::uint32_t>("rank");
  launch.layout = std::make_shared<const NodeLayout>(
      in.all("node_of_rank"), in.numbers<std::uint32_t>("cpus_of_rank"),
      in.numbers<std::uint32_t>("tasks_of_rank"), in.numbers<std::uint32_t>("gpus_of_rank"));
  launch.share.cpus = in.number<std::uint32_t>("cpus");
  launch.share.cpu_ids = in.numbers<std::uint32_t>("cpu_id");
  launch.share.memory = Bytes(in.number<std::int64_t>("memory"));
  for (std::uint16_t index : in.numbers<std::uint16_t>("gpu"))
    launch.share.gpus.push_back(GpuIndex(index));
  launch.gpu_types = in.all("gpu_type");
  launch.share.gpu_part = in.number_or<std::uint32_t>("gpu_part", 0);
  launch.share.cpu_thousandths = in.number_or<std::uint32_t>("cpu_thousandths", 0);
  launch.share.tasks = in.number<std::uint32_t>("share_tasks");
  launch.share.incarnation = in.number<std::uint64_t>("incarnation");
  launch.partition = in.text_or_empty("partition");
  launch.restarts = in.number<std::uint32_t>("restarts");
  launch.leased = in.flag("leased");
  launch.kill_wait = Seconds(in.number<std::int64_t>("kill_wait"));
  if (auto s = in.optional_number<std::int64_t>("time_limit")) launch.time_limit = Seconds(*s);
  launch.array_count = in.optional_number<std::uint32_t>("array_count");
  launch.array_min = in.optional_number<std::uint32_t>("array_min");
  launch.array_max = in.optional_number<std::uint32_t>("array_max");
  launch.array_step = in.optional_number<std::uint32_t>("array_step");
  launch.spec = get_job(in);
  spec.user.name = in.text_or_empty("user_name");
  spec.user.gid = in.id<GroupId>("user_gid");
  for (std::uint32_t gid : in.numbers<std::uint32_t>("user_group"))
    spec.user.groups.push_back(GroupId(gid));
  spec.user.home = in.text_or_empty("user_home");
  spec.user.shell = in.text_or_empty("user_shell");
  spec.node_has_gpus = in.flag("node_has_gpus");
  if (auto n = in.optional_number<std::int64_t>("memory_limit")) spec.memory_limit = Bytes(*n);
  spec.max_processes = in.number_or<std::uint64_t>("max_processes", 0);
  spec.denied_devices = in.all("denied_device");
  spec.binding = get_binding(in);
  spec.visible_gpus = in.all("visible_gpu");
  for (const std::string& list : in.all("gpu_cpus")) {
    Result<IntervalSet> cpus = parse_interval_set(list);
    if (!cpus && !list.empty()) in.wrong("gpu_cpus", "is not a list of CPUs");
    spec.gpu_cpus.push_back(cpus ? std::move(*cpus) : IntervalSet());
  }
  if (Result<CpuLayout> layout = parse_cpu_layout(in.text_or_empty("cpu_layout")); layout)
    spec.cpu_layout = *std::move(layout);
  else
    in.wrong("cpu_layout", layout.error().message);
  spec.prolog = get_program(in, "prolog", "prolog_timeout");
  spec.epilog = get_program(in, "epilog", "epilog_timeout");
  spec.task_prolog = in.text_or_empty("task_prolog");
  spec.task_epilog = get_program(in, "task_epilog", "task_epilog_timeout");
  spec.pam_service = in.text_or_empty("pam_service");
  spec.private_tmp = in.text_or_empty("private_tmp");
  if (auto s = in.optional_number<std::int64_t>("allocation_timeout"))
    spec.allocation_timeout = Seconds(*s);
  if (auto set = in.optional_number<std::uint32_t>("slurm_variables"))
    spec.slurm_variables = *set != 0;
  launch.step_addresses = in.all("step_address");
  launch.step_key = in.text_or_empty("step_key");
  launch.master_port = in.number_or<std::uint16_t>("master_port", 0);
  launch.checkpoints = get_checkpoints(in);
  launch.container_image = in.text_or_empty("container_image");
  if (Status status = in.status(); !status) return fail(status.error());
  return spec;
}

}  // namespace ares::node
