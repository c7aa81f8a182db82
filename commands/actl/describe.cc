#include "actl/describe.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/duration.h"
#include "base/hostlist.h"
#include "base/timespec.h"
#include "base/units.h"
#include "cli/job_ids.h"
#include "cli/spec_values.h"
#include "cli/table.h"
#include "cli/text.h"

namespace ares::actl {
namespace {

// KEY=VALUE pairs, a few on each line.
class Lines {
 public:
  Lines& add(const std::string& key, const std::string& value) {
    if (!current_.empty()) current_ += ' ';
    current_ += key + "=" + cli::printable(value);
    return *this;
  }
  template <class Number>
  Lines& count(const std::string& key, Number value) {
    return add(key, std::to_string(value));
  }
  void end_line() {
    if (!current_.empty()) lines_.push_back(std::move(current_));
    current_.clear();
  }
  std::string text(bool one_line) {
    end_line();
    return cli::join(lines_, one_line ? " " : "\n   ") + (one_line ? "\n" : "\n\n");
  }

 private:
  std::string current_;
  std::vector<std::string> lines_;
};

std::string time_text(std::int64_t micros) {
  return micros == 0 ? "Unknown" : format_local_time(Time(Duration(micros)));
}

std::string or_null(const std::string& text) {
  return text.empty() ? "(null)" : text;
}

template <class List>
std::string joined(const List& list) {
  return cli::join(std::vector<std::string>(list.begin(), list.end()), ",");
}

std::string limit_text(bool has, std::int64_t seconds) {
  return format_time_limit(has && seconds > 0 ? TimeLimit(Seconds(seconds)) : TimeLimit{});
}

std::string run_time(const api::Job& job, Time now) {
  if (job.started() == 0) return format_duration(Seconds(0));
  const std::int64_t end = job.ended() ? job.ended() : now.time_since_epoch().count();
  return format_duration(Seconds(std::max<std::int64_t>(0, (end - job.started()) / 1'000'000)));
}

std::string names_text(const google::protobuf::RepeatedPtrField<std::string>& names) {
  return or_null(compress_hostlist(std::vector<std::string>(names.begin(), names.end())));
}

template <class List>
std::string index_text(const List& indices) {
  std::string out;
  for (const auto index : indices) out += (out.empty() ? "" : ",") + std::to_string(index);
  return or_null(out);
}

std::string memory_asked(const api::JobSpec& spec) {
  if (spec.has_memory_per_node())
    return spec.memory_per_node() == 0 ? "all"
                                       : format_memory(Bytes(spec.memory_per_node())) + "/node";
  if (spec.has_memory_per_cpu()) return format_memory(Bytes(spec.memory_per_cpu())) + "/cpu";
  return "default";
}

std::string in_folder(const std::string& folder, const std::string& name) {
  return name.starts_with('/') || folder.empty() ? name : folder + "/" + name;
}

void add_files(Lines& lines, const api::Job& job) {
  const api::JobSpec& spec = job.spec();
  const bool array = job.key().has_task() || !spec.array().empty();
  const std::string out =
      spec.std_out().empty() ? (array ? "ares-%A_%a.out" : "ares-%j.out") : spec.std_out();
  const std::string err = spec.std_err().empty() ? out : spec.std_err();
  lines.add("Command", or_null(spec.command())).end_line();
  lines.add("WorkDir", spec.work_dir()).end_line();
  lines
      .add("StdIn", spec.std_in().empty()
                        ? "/dev/null"
                        : in_folder(spec.work_dir(), expand_file_name(spec.std_in(), job)))
      .end_line();
  lines.add("StdOut", in_folder(spec.work_dir(), expand_file_name(out, job))).end_line();
  lines.add("StdErr", in_folder(spec.work_dir(), expand_file_name(err, job))).end_line();
  if (!spec.comment().empty()) lines.add("Comment", spec.comment()).end_line();
}

std::string gpu_counts(const api::Node& node) {
  std::map<std::string, std::size_t> counts;
  for (const api::Gpu& gpu : node.gpus()) ++counts[gpu.type()];
  std::string out;
  for (const auto& [type, count] : counts)
    out += (out.empty() ? "" : ",") + ("gpu:" + type + ":" + std::to_string(count));
  return or_null(out);
}

}  // namespace

std::string expand_file_name(const std::string& pattern, const api::Job& job) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    std::size_t at = i + 1;
    std::size_t width = 0;
    while (pattern[i] == '%' && at < pattern.size() && pattern[at] >= '0' && pattern[at] <= '9' &&
           at < i + 3)
      width = width * 10 + static_cast<std::size_t>(pattern[at++] - '0');
    std::string value;
    switch (pattern[i] == '%' && at < pattern.size() ? pattern[at] : '\0') {
      case 'j': value = std::to_string(job.own_id()); break;
      case 'A': value = std::to_string(job.key().job()); break;
      case 'a':
        value = job.key().has_task() ? std::to_string(job.key().task()) : std::string("%a");
        break;
      case 'r': value = std::to_string(job.restarts()); break;
      case 'x':
        value = job.name();
        width = 0;
        break;
      case 'u':
        value = job.user();
        width = 0;
        break;
      case '%':
        value = "%";
        width = 0;
        break;
      default: out += pattern[i]; continue;
    }
    width = std::min<std::size_t>(width, 10);
    if (value.size() < width) value.insert(0, width - value.size(), '0');
    out += value;
    i = at;
  }
  return out;
}

std::string describe(const api::Job& job, Time now, bool one_line) {
  const api::JobSpec& spec = job.spec();
  Lines lines;
  lines.count("JobId", job.own_id());
  if (job.key().has_task())
    lines.count("ArrayJobId", job.key().job()).count("ArrayTaskId", job.key().task());
  else if (!spec.array().empty())
    lines.count("ArrayJobId", job.key().job())
        .add("ArrayTaskId", or_null(job.array_tasks()))
        .count("ArrayTaskThrottle", job.array_throttle());
  lines.add("JobName", job.name()).end_line();
  lines.add("UserId", job.user() + "(" + std::to_string(job.uid()) + ")")
      .count("GroupId", spec.gid());
  lines.add("Account", or_null(job.account())).add("QOS", or_null(job.qos())).end_line();
  lines.count("Priority", job.priority()).count("Nice", spec.nice()).end_line();
  lines.add("JobState", job.state())
      .add("Reason", job.reason().empty() ? "None" : job.reason())
      .add("Dependency", or_null(cli::format_dependencies(job.waiting_for())))
      .end_line();
  if (!job.reason_detail().empty()) lines.add("ReasonDetail", job.reason_detail()).end_line();
  lines.count("Requeue", spec.requeue() ? 1 : 0)
      .count("Restarts", job.restarts())
      .count("Attempt", job.attempt());
  lines.add("ExitCode", std::to_string(job.exit_code()) + ":" + std::to_string(job.exit_signal()));
  if (job.has_cancelled_by()) lines.count("CancelledBy", job.cancelled_by());
  lines.end_line();
  lines.add("RunTime", run_time(job, now))
      .add("TimeLimit", limit_text(job.has_time_limit(), job.time_limit()))
      .end_line();
  lines.add("SubmitTime", time_text(job.submitted()))
      .add("EligibleTime", time_text(job.eligible()))
      .end_line();
  lines.add("StartTime", time_text(job.started() ? job.started() : job.expected_start()))
      .add("EndTime", time_text(job.ended()))
      .end_line();
  lines.add("Partition", job.partition()).add("SubmitHost", or_null(spec.submit_host())).end_line();
  lines.add("ReqNodeList", names_text(spec.required_nodes()))
      .add("ExcNodeList", names_text(spec.excluded_nodes()));
  if (!job.excluded().empty()) lines.add("FailedNodeList", names_text(job.excluded()));
  lines.end_line();
  const auto hosts = expand_hostlist(job.node_list());
  lines.add("NodeList", or_null(job.node_list()))
      .add("BatchHost", hosts && !hosts->empty() ? hosts->front() : "(null)")
      .end_line();
  lines.count("NumNodes", job.node_count())
      .count("NumCPUs", job.cpus())
      .count("NumTasks", std::max(spec.tasks(), 1u));
  lines.count("CPUs/Task", std::max(spec.cpus_per_task(), 1u))
      .add("MinMemory", memory_asked(spec))
      .end_line();
  lines.add("Gres", job.gpus().empty() ? "(null)" : "gpu:" + joined(job.gpus()))
      .add("Features", or_null(joined(spec.features())));
  lines.count("Exclusive", spec.exclusive() ? 1 : 0).end_line();
  lines.add("AllocTRES", or_null(job.tres())).end_line();
  for (const api::NodeShare& share : job.shares()) {
    lines.add("Node", share.node())
        .count("CPUs", share.cpus())
        .add("Mem", format_memory(Bytes(share.memory())));
    lines.add("GPUs", index_text(share.gpus())).add("Phase", share.phase()).end_line();
  }
  add_files(lines, job);
  return lines.text(one_line);
}

std::string describe(const api::Node& node, bool one_line) {
  Lines lines;
  lines.add("NodeName", node.name()).add("State", node.state()).end_line();
  lines.count("CPUAlloc", node.cpus_allocated()).count("CPUTot", node.cpus()).end_line();
  lines.add("RealMemory", format_memory(Bytes(node.memory())))
      .add("AllocMem", format_memory(Bytes(node.memory_allocated())))
      .end_line();
  lines.add("Gres", gpu_counts(node))
      .add("GPUsInUse", index_text(node.gpus_allocated()))
      .end_line();
  lines.add("Partitions", or_null(joined(node.partitions())))
      .add("Features", or_null(joined(node.features())))
      .end_line();
  std::vector<std::string> jobs;
  for (const api::JobRef& job : node.jobs()) jobs.push_back(cli::format_job_id(cli::key_of(job)));
  lines.add("Jobs", or_null(cli::join(jobs, ","))).end_line();
  lines.add("RegisterTime", time_text(node.registered_at()))
      .add("LastHeard", time_text(node.last_heard()))
      .end_line();
  lines.add("NodeAddr", or_null(node.address()))
      .add("Version", or_null(node.version()))
      .count("Incarnation", node.incarnation())
      .end_line();
  lines.add("RequeueOnSilence", node.can_freeze() ? "yes" : "no (its jobs cannot be frozen)")
      .end_line();
  if (!node.reason().empty())
    lines
        .add("Reason",
             node.reason() + " [" + node.reason_by() + "@" + time_text(node.reason_at()) + "]")
        .end_line();
  return lines.text(one_line);
}

std::string describe(const api::Partition& partition, bool one_line) {
  Lines lines;
  lines.add("PartitionName", partition.name()).end_line();
  lines.add("Default", partition.is_default() ? "YES" : "NO")
      .add("State", partition.up() ? "UP" : "DOWN")
      .end_line();
  lines.add("Nodes", or_null(partition.nodes())).end_line();
  lines.add("MaxTime", limit_text(partition.has_max_time(), partition.max_time()));
  lines
      .add("DefaultTime",
           partition.has_default_time() ? limit_text(true, partition.default_time()) : "NONE")
      .end_line();
  lines
      .add("MaxNodes",
           partition.has_max_nodes() ? std::to_string(partition.max_nodes()) : "UNLIMITED")
      .count("MinNodes", partition.min_nodes())
      .end_line();
  lines.count("PriorityTier", partition.tier())
      .count("PriorityJobFactor", partition.priority())
      .end_line();
  lines.add("DefMemPerCPU", format_memory(Bytes(partition.default_memory_per_cpu())));
  lines.add("OverSubscribe", partition.exclusive() ? "EXCLUSIVE" : "NO").end_line();
  return lines.text(one_line);
}

}  // namespace ares::actl
