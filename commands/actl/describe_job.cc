#include "actl/describe.h"

#include <grp.h>

#include <algorithm>
#include <concepts>
#include <map>
#include <set>
#include <vector>

#include "actl/lines.h"
#include "base/file_pattern.h"
#include "base/hostlist.h"
#include "base/units.h"
#include "cli/output/explanation.h"
#include "cli/values/gpu_values.h"
#include "cli/values/spec_values.h"
#include "model/job/gpu_part.h"
#include "model/job/spec_table.h"

namespace ares::actl {
namespace {

std::string run_time(const api::Job& job, Time now) {
  if (job.started() == 0) return format_duration(Seconds(0));
  const std::int64_t end = job.ended()          ? job.ended()
                           : job.suspended_at() ? job.suspended_at()
                                                : now.time_since_epoch().count();
  const std::int64_t ran = end - job.started() - job.suspended();
  return format_duration(Seconds(std::max<std::int64_t>(0, ran / 1'000'000)));
}

std::string names_text(const google::protobuf::RepeatedPtrField<std::string>& names) {
  return or_null(compress_hostlist(std::vector<std::string>(names.begin(), names.end())));
}

std::string requested_memory(const api::JobSpec& spec) {
  if (spec.has_memory_per_node())
    return spec.memory_per_node() == 0 ? "all"
                                       : format_memory(Bytes(spec.memory_per_node())) + "/node";
  if (spec.has_memory_per_cpu()) return format_memory(Bytes(spec.memory_per_cpu())) + "/cpu";
  if (spec.has_memory_per_gpu()) return format_memory(Bytes(spec.memory_per_gpu())) + "/gpu";
  return "default";
}

std::string group_text(std::uint32_t gid) {
  const group* entry = getgrgid(gid);
  return entry ? std::string(entry->gr_name) + "(" + std::to_string(gid) + ")"
               : std::to_string(gid);
}

std::string id_text(const api::JobRef& ref) {
  return std::to_string(ref.job()) + (ref.has_task() ? "_" + std::to_string(ref.task()) : "");
}

void describe_preemption(const api::Job& job, Lines& lines) {
  if (job.has_preempted_by())
    lines.add("PreemptTime", time_text(job.preempted_at()))
        .add("PreemptedBy", id_text(job.preempted_by()))
        .add("PreemptGraceEnd", time_text(job.preempt_until()))
        .end_line();
  if (job.preempting().empty()) return;
  std::string victims;
  for (const api::JobRef& victim : job.preempting())
    victims += (victims.empty() ? "" : ",") + id_text(victim);
  lines.add("Preempting", victims);
  if (!job.has_preempted_by()) lines.add("PreemptGraceEnd", time_text(job.preempt_until()));
  lines.end_line();
}

void describe_suspension(const api::Job& job, Lines& lines) {
  if (job.suspended_at() == 0 && job.suspended() == 0) return;
  lines.add("SuspendTime", time_text(job.suspended_at()));
  if (job.suspended_at() && !job.suspended_by_user().empty())
    lines.add("SuspendedBy", job.suspended_by_user());
  if (job.has_suspended_for()) lines.add("SuspendedFor", id_text(job.suspended_for()));
  lines.add("SecsSuspended", std::to_string(job.suspended() / 1'000'000)).end_line();
}

void describe_silence(const api::Job& job, Lines& lines) {
  if (job.silent_nodes().empty()) return;
  lines.add("SilentNodes", job.silent_nodes())
      .add("SilentSince", time_text(job.silent_since()))
      .add("NodeDeadTime", job.dead_at() ? time_text(job.dead_at()) : "UNLIMITED")
      .end_line();
}

// Values as the lines of SpecLine show them; an empty one has no line.
std::string line_text(const std::string& text) {
  return text;
}
std::string line_text(std::same_as<bool> auto is_set) {
  return is_set ? "YES" : "";
}
std::string line_text(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  return joined(texts);
}

// The fields of the specification that have a line for themselves at this place. The lines that this file writes out have several
// fields, are there even if nothing is set, or show what only the job's record has.
template <SpecLine::Place place, class Spec>
void add_lines(Lines& lines, const Spec& spec) {
#define ARES_SPEC_FIELD(member, api_name, storage_name, text, title, change, line) \
  if constexpr (spec_line::line.place == place)                                    \
    if (const std::string value = line_text(spec.api_name()); !value.empty())      \
      lines.add(std::string(spec_line::line.key), value).end_line();
#include "model/job/spec_fields.def"
}

std::string in_folder(const std::string& folder, const std::string& name) {
  return name.starts_with('/') || folder.empty() ? name : folder + "/" + name;
}

// Replaces the fields that are known: array tasks differ, and the node is known only after the
// allocation.
std::string expand_file_name(const std::string& pattern, const api::Job& job) {
  const bool whole_array = !job.key().has_task() && !job.spec().array().empty();
  PatternValues values;
  if (!whole_array) values.job = job.own_id();
  values.array = job.key().job();
  if (!whole_array) values.task = job.key().has_task() ? job.key().task() : 0;
  if (const auto hosts = expand_hostlist(job.node_list()); hosts && !hosts->empty()) {
    values.node = hosts->front();
    values.node_rank = 0;
  }
  values.restarts = job.restarts();
  values.user = job.user();
  values.name = job.name();
  return expand_pattern(pattern, values);
}

void add_files(Lines& lines, const api::Job& job) {
  const api::JobSpec& spec = job.spec();
  const bool array = job.key().has_task() || !spec.array().empty();
  const std::string out =
      spec.std_out().empty() ? std::string(default_output(array)) : spec.std_out();
  const std::string err = spec.std_err().empty() ? out : spec.std_err();
  lines.add("Command", or_null(spec.command())).end_line();
  add_lines<SpecLine::Place::files>(lines, spec);
  lines.add("WorkDir", spec.work_dir()).end_line();
  lines
      .add("StdIn", spec.std_in().empty()
                        ? "/dev/null"
                        : in_folder(spec.work_dir(), expand_file_name(spec.std_in(), job)))
      .end_line();
  lines.add("StdOut", in_folder(spec.work_dir(), expand_file_name(out, job))).end_line();
  lines.add("StdErr", in_folder(spec.work_dir(), expand_file_name(err, job))).end_line();
  add_lines<SpecLine::Place::notes>(lines, spec);
  if (!spec.mail_types().empty() || !spec.mail_user().empty())
    lines.add("MailUser", spec.mail_user().empty() ? job.user() : spec.mail_user())
        .add("MailType", spec.mail_types().empty() ? "NONE" : spec.mail_types())
        .end_line();
}

void add_array(Lines& lines, const api::Job& job) {
  if (job.key().has_task())
    lines.count("ArrayJobId", job.key().job()).count("ArrayTaskId", job.key().task());
  else if (!job.spec().array().empty())
    lines.count("ArrayJobId", job.key().job())
        .add("ArrayTaskId", or_null(job.array_tasks()))
        .count("ArrayTaskThrottle", job.array_throttle());
}

// The end time, or the latest end time of a job that has not ended.
std::string end_text(const api::Job& job) {
  if (job.ended() || !job.started() || !job.has_time_limit()) return time_text(job.ended());
  if (job.suspended_at()) return time_text(0);  // The end of a suspended job is unknown.
  return time_text(job.started() + job.suspended() + job.time_limit() * 1'000'000);
}

// In the format of asub --switches: "2@10:00".
std::string switches_text(const api::JobSpec& spec) {
  std::string text = std::to_string(spec.switches());
  if (spec.has_switches_wait()) text += "@" + limit_text(true, spec.switches_wait());
  return text;
}

const char* gpus_per_text(api::GpusPer per) {
  if (per == api::PER_JOB) return "job";
  return per == api::PER_TASK ? "task" : "node";
}

// Only what was given.
void add_binding(Lines& lines, const api::Binding& binding) {
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) lines.add(key, text);
  };
  add("Hint", binding.hint());
  if (binding.threads_per_core() > 0) lines.count("ThreadsPerCore", binding.threads_per_core());
  add("CpuBind", binding.cpu_bind());
  add("MemBind", binding.mem_bind());
  add("GpuBind", binding.gpu_bind());
  add("Distribution", binding.distribution());
  lines.end_line();
}

// "1-4" while any of these numbers may be.
std::string nodes_text(const api::Job& job) {
  const api::JobSpec& spec = job.spec();
  const bool waits = parse_job_state(job.state()) == JobState::pending && job.node_list().empty();
  if (waits && !spec.node_counts().empty()) return spec.node_counts();
  std::string text = std::to_string(job.node_count());
  if (waits && spec.max_nodes() > job.node_count()) text += "-" + std::to_string(spec.max_nodes());
  return text;
}

std::string cpus_per_task_text(const api::JobSpec& spec) {
  const std::uint32_t thousandths = spec.cpu_thousandths_per_task();
  return thousandths > 0 ? format_thousandths(thousandths)
                         : std::to_string(std::max(spec.cpus_per_task(), 1u));
}

// A job keeps one of its lists of GPUs.
const char* gpus_key(const api::JobSpec& spec) {
  if (!spec.gpus_per_task().empty()) return "TresPerTask";
  return spec.gpus_total().empty() ? "TresPerNode" : "TresPerJob";
}

void add_resources(Lines& lines, const api::Job& job) {
  const api::JobSpec& spec = job.spec();
  lines.add("NumNodes", nodes_text(job))
      .count("NumCPUs", job.cpus())
      .count("NumTasks", std::max(spec.tasks(), 1u))
      .add("CPUs/Task", cpus_per_task_text(spec))
      .end_line();
  add_lines<SpecLine::Place::counts>(lines, spec);
  lines.add("ReqTRES", job.requested_tres()).end_line();
  lines.add("AllocTRES", or_null(job.tres())).end_line();
  lines.count("NtasksPerNode", spec.tasks_per_node()).add("MinMemory", requested_memory(spec));
  if (spec.tmp_disk() > 0) lines.add("MinTmpDiskNode", format_memory(Bytes(spec.tmp_disk())));
  lines.add(gpus_key(spec), job.gpus().empty() ? "(null)" : "gres/gpu:" + joined(job.gpus()))
      .end_line();
  if (!spec.gpu_alternatives().empty())
    lines.add("GpuAlternatives", cli::format_gpu_list(spec, spec.alternatives_per(), ""))
        .add("GpusPer", gpus_per_text(spec.alternatives_per()))
        .end_line();
  std::vector<std::string> licenses;
  for (const api::LicenseRequest& license : spec.licenses())
    licenses.push_back(license.name() + ":" + std::to_string(license.count()));
  lines
      .add("Features",
           or_null(cli::join(
               std::vector<std::string>(spec.features().begin(), spec.features().end()), "&")))
      .add("Prefer", or_null(spec.prefer()))
      .add("Licenses", or_null(cli::join(licenses, spec.any_license() ? "|" : ",")))
      .add("OverSubscribe", spec.exclusive()        ? "NO"
                            : spec.exclusive_user() ? "USER"
                                                    : "OK")
      .end_line();
  add_lines<SpecLine::Place::nodes>(lines, spec);
  if (!job.gang().empty()) {
    lines.add("Gang", job.gang())
        .add("GangMembers",
             std::to_string(job.gang_members()) + "/" + std::to_string(job.gang_size()));
    if (spec.gang().min() > 0) lines.count("GangMin", spec.gang().min());
    lines.add("GangTimeout", limit_text(spec.gang().has_timeout(), spec.gang().timeout()))
        .end_line();
  }
  if (spec.switches() > 0 || spec.segment() > 0)
    lines.add("Switches", switches_text(spec)).count("SegmentSize", spec.segment()).end_line();
  if (!spec.gpu_topology().empty() || spec.min_nvlink() > 0)
    lines.add("GpuTopology", spec.gpu_topology().empty() ? "any" : spec.gpu_topology())
        .count("MinNvlink", spec.min_nvlink())
        .end_line();
  add_binding(lines, spec.binding());
}

void add_shares(Lines& lines, const api::Job& job) {
  for (const api::NodeShare& share : job.shares()) {
    lines.add("Node", share.node())
        .add("CPUs", share.cpu_thousandths() > 0 ? format_thousandths(share.cpu_thousandths())
                                                 : std::to_string(share.cpus()))
        .add("Mem", format_memory(Bytes(share.memory())))
        .add("GPUs", index_text(share.gpus()));
    if (share.gpu_part() > 0) lines.add("GPUFraction", format_thousandths(share.gpu_part()));
    lines.add("Phase", share.phase()).end_line();
  }
}

// "--nodelist=n4" as "--nodelist n4": a program that reads KEY=VALUE must not take it for a key.
std::string without_keys(const std::string& text) {
  std::string out;
  for (std::string word : cli::split(text, ' ')) {
    const std::size_t equals = word.find('=');
    const std::size_t option = word.find("--");
    if (equals != std::string::npos && option < equals) word[equals] = ' ';
    out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

// Each line of the explanation has its own key: "WaitsFor=Resources in main: …", numbered if there
// are several.
void add_why(Lines& lines, const api::Explanation& why) {
  const auto reasons = cli::explanation_lines(why);
  std::map<std::string, int> counts, seen;
  for (const cli::ExplanationLine& line : reasons) ++counts[line.title];
  for (const cli::ExplanationLine& line : reasons) {
    std::string key;
    for (const std::string& word : cli::split(line.title, ' '))
      key += cli::upper(word.substr(0, 1)) + word.substr(1);
    if (key == "Priority") key += "Detail";  // Priority has its own key above.
    if (counts[line.title] > 1) key += std::to_string(++seen[line.title]);
    lines.add(key, without_keys(line.text)).end_line();
  }
}

// Of a job that asked to return first after a failure.
void describe_expedite(const api::Job& job, Lines& lines) {
  const bool asks = job.spec().expedite() || job.spec().spare_nodes() > 0;
  if (!asks && !job.returns_first()) return;
  lines.add("ExpeditedRequeue", job.spec().expedite() ? "Yes" : "No")
      .count("ExpeditedReturns", job.expedited_returns())
      .add("ReturnsFirst", job.returns_first() ? "Yes" : "No");
  if (!job.kept_nodes().empty())
    lines.add("KeptNodeList", job.kept_nodes()).add("KeptUntil", time_text(job.kept_until()));
  if (job.spec().spare_nodes() > 0)
    lines.count("SpareNodes", job.spec().spare_nodes())
        .add("SpareNodeList", or_null(job.spare_nodes()));
  lines.end_line();
}

std::string mounts_text(const api::ContainerRequest& request) {
  std::string text;
  for (const api::ContainerMount& mount : request.mounts())
    text += (text.empty() ? "" : ",") + mount.source() + ":" + mount.target() +
            (mount.read_only() ? ":ro" : "");
  return text;
}

void describe_container(const api::ContainerRequest& request, Lines& lines) {
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) lines.add(key, value);
  };
  add("ContainerImage", request.image());
  add("ContainerMounts", mounts_text(request));
  add("ContainerWorkDir", request.work_dir());
  if (request.per_rank()) lines.count("ContainerPerRank", 1);
  if (!request.pod_template().empty())
    lines.add("PodTemplate", std::to_string(request.pod_template().size()) + "B");
  add("Namespace", request.namespace_name());
  add("ServiceAccount", request.service_account());
  lines.end_line();
}

// What it has committed, newest first.
void describe_checkpoints(const api::Job& job, Lines& lines) {
  if (!job.spec().has_checkpoint()) return;
  lines.add("Checkpoint", job.spec().checkpoint().place())
      .count("CheckpointsKept", job.spec().checkpoint().keep())
      .end_line();
  if (job.has_restored()) {
    const api::Restored& restored = job.restored();
    lines.count("RestoredAttempt", restored.attempt());
    if (restored.sequence() > 0)
      lines.count("RestoredCheckpoint", restored.sequence());
    else
      lines.add("RestoredCheckpoint", "None");
    lines.count("DamagedCheckpoints", restored.passed_over()).end_line();
  }
  for (const api::Checkpoint& one : job.checkpoints())
    lines.count("CommittedCheckpoint", one.sequence())
        .count("CheckpointAttempt", one.attempt())
        .add("CheckpointTime", time_text(one.at()))
        .add("CheckpointSize", format_memory(Bytes(one.size())))
        .add("CheckpointPath", one.uri())
        .end_line();
}

}  // namespace

void remove_divided_arrays(api::Jobs& jobs) {
  std::set<std::uint64_t> with_tasks;
  for (const api::Job& job : jobs.jobs())
    if (job.key().has_task()) with_tasks.insert(job.key().job());
  auto* all = jobs.mutable_jobs();
  all->erase(std::remove_if(all->begin(), all->end(),
                            [&](const api::Job& job) {
                              return !job.key().has_task() && !job.spec().array().empty() &&
                                     job.array_tasks().empty() &&
                                     with_tasks.contains(job.key().job());
                            }),
             all->end());
}

std::string describe(const api::Job& job, Time now, bool one_line, bool details,
                     const api::Explanation* why) {
  const api::JobSpec& spec = job.spec();
  Lines lines;
  lines.count("JobId", job.own_id());
  add_array(lines, job);
  lines.add("JobName", job.name()).end_line();
  lines.add("UserId", job.user() + "(" + std::to_string(job.uid()) + ")")
      .add("GroupId", group_text(spec.gid()))
      .end_line();
  lines.count("Priority", job.priority())
      .count("Nice", spec.nice())
      .add("Account", or_null(job.account()))
      .add("QOS", or_null(job.qos()));
  if (!spec.wckey().empty()) lines.add("WCKey", spec.wckey());
  lines.end_line();
  lines.add("JobState", job.state())
      .add("Reason", job.reason().empty() ? "None" : job.reason())
      .add("Dependency", or_null(cli::format_dependencies(job.waiting_for())))
      .end_line();
  if (!job.reason_detail().empty()) lines.add("ReasonDetail", job.reason_detail()).end_line();
  if (!job.cause().empty()) lines.add("Cause", job.cause()).end_line();
  lines.count("Requeue", spec.requeue() ? 1 : 0)
      .count("Restarts", job.restarts())
      .count("BatchFlag", 1)
      .count("Attempt", job.attempt())
      .add("ExitCode", std::to_string(job.exit_code()) + ":" + std::to_string(job.exit_signal()));
  if (job.has_cancelled_by()) lines.count("CancelledBy", job.cancelled_by());
  if (spec.kill_on_invalid_dependency()) lines.count("KillOnInvalidDependent", 1);
  lines.end_line();
  describe_expedite(job, lines);
  describe_checkpoints(job, lines);
  if (spec.has_container()) describe_container(spec.container(), lines);
  describe_preemption(job, lines);
  describe_suspension(job, lines);
  describe_silence(job, lines);
  lines.add("RunTime", run_time(job, now))
      .add("TimeLimit", limit_text(job.has_time_limit(), job.time_limit()))
      .add("TimeMin", spec.has_time_min() ? limit_text(true, spec.time_min()) : "N/A")
      .end_line();
  lines.add("SubmitTime", time_text(job.submitted()))
      .add("EligibleTime", time_text(job.eligible()))
      .add("AccrueTime", time_text(job.accrues()))
      .end_line();
  lines.add("StartTime", time_text(job.started() ? job.started() : job.expected_start()))
      .add("EndTime", end_text(job))
      .add("Deadline", spec.has_deadline() ? time_text(spec.deadline()) : "N/A")
      .end_line();
  lines.add("Partition", job.partition()).add("SubmitHost", or_null(spec.submit_host())).end_line();
  lines.add("ReqNodeList", names_text(spec.required_nodes()))
      .add("ExcNodeList", names_text(spec.excluded_nodes()));
  if (!job.excluded().empty()) lines.add("FailedNodeList", names_text(job.excluded()));
  if (!job.failed_node().empty()) lines.add("FailedNode", job.failed_node());
  lines.end_line();
  const auto hosts = expand_hostlist(job.node_list());
  lines.add("NodeList", or_null(job.node_list()))
      .add("BatchHost", hosts && !hosts->empty() ? hosts->front() : "(null)")
      .end_line();
  add_resources(lines, job);
  if (details) add_shares(lines, job);
  add_files(lines, job);
  if (why) add_why(lines, *why);
  return lines.text(one_line);
}

}  // namespace ares::actl
