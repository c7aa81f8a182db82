// Submission: refused with a reason, or a new job.
#include <algorithm>

#include "core/job/submit_checks.h"
#include "core/job/text_check.h"

namespace ares::core {
namespace {

constexpr std::string_view kBadLimit =
    "Requested time limit is invalid (missing or exceeds some limit)";
constexpr std::string_view kBadNodes = "Requested node configuration is not available";

Error bad(std::string message) {
  return Error{ErrorCode::invalid_argument, std::move(message)};
}

}  // namespace

Status check_counts(const JobSpec& spec) {
  if (spec.min_nodes < 1 || spec.max_nodes < spec.min_nodes) {
    return fail(bad("Node count specification invalid: " + std::to_string(spec.min_nodes) + " to " +
                    std::to_string(spec.max_nodes)));
  }
  if (spec.tasks < 1)
    return fail(bad("More processors requested than permitted: a job has at least one task"));
  if (spec.cpus_per_task < 1) return fail(bad("a task needs at least one CPU"));
  if (spec.memory_per_node && spec.memory_per_cpu)
    return fail(bad("memory per node and memory per CPU exclude each other"));
  if (spec.required_nodes.size() > spec.max_nodes) {
    return fail(
        bad("Node count specification invalid: " + std::to_string(spec.required_nodes.size()) +
            " nodes required, at most " + std::to_string(spec.max_nodes) + " asked for"));
  }
  const auto none = [](const std::vector<GpuRequest>& list) {
    return std::any_of(list.begin(), list.end(), [](const GpuRequest& g) { return g.count == 0; });
  };
  if (none(spec.gpus_per_node) || none(spec.gpus_total))
    return fail(bad("a GPU request must ask for at least one"));
  return {};
}

namespace {

Status check_array(const Policy& policy, const JobSpec& spec) {
  if (!spec.array) {
    if (spec.array_throttle > 0)
      return fail(bad("Invalid job array specification: a task throttle without an array"));
    return {};
  }
  if (spec.array->empty()) return fail(bad("Invalid job array specification: no tasks"));
  if (spec.array->back() >= policy.max_array_size) {
    return fail(bad("Invalid job array specification: task " + std::to_string(spec.array->back()) +
                    " is above the largest index " + std::to_string(policy.max_array_size - 1) +
                    " (max_array_size)"));
  }
  return {};
}

Status check_blobs(const Policy& policy, const std::vector<Blob>& blobs,
                   const std::vector<std::shared_ptr<const JobSpec>>& specs) {
  for (const Blob& blob : blobs) {
    const bool script = std::any_of(specs.begin(), specs.end(),
                                    [&](const auto& spec) { return blob.id == spec->script; });
    const std::size_t most = script ? policy.max_script_bytes : policy.max_environment_bytes;
    if (blob.content && blob.content->size() > most) {
      return fail(bad(std::string(script ? "the script" : "the environment") + " has " +
                      std::to_string(blob.content->size()) + " bytes; at most " +
                      std::to_string(most) + " are allowed"));
    }
  }
  return {};
}

Status check_privileges(const Question& q, const Principal& who, const JobSpec& spec) {
  if (spec.uid != who.uid) {
    return fail(ErrorCode::permission_denied,
                "a job is submitted by its own user: uid " + std::to_string(who.uid.value()) +
                    " may not submit for uid " + std::to_string(spec.uid.value()));
  }
  if (is_operator(q.policy, who.uid)) return {};
  if (spec.priority)
    return fail(ErrorCode::permission_denied,
                "only operators and administrators may set a priority");
  if (spec.nice < 0)
    return fail(ErrorCode::permission_denied,
                "only operators and administrators may set a negative nice value");
  return {};
}

}  // namespace

Result<std::vector<std::string>> partitions_of(const ClusterState& state, const JobSpec& spec) {
  std::vector<std::string> names;
  for (const std::string& name : spec.partitions) {
    if (!state.partitions.find(name)) return fail(bad("Invalid partition name specified: " + name));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (!names.empty()) return names;
  state.partitions.for_each([&](const std::string& name, const Partition& partition) {
    if (partition.is_default) names = {name};
  });
  if (names.empty())
    return fail(bad(
        "Invalid partition name specified: none given, and this cluster has no default partition"));
  return names;
}

Status check_partitions(const ClusterState& state, const JobSpec& spec,
                        const std::vector<std::string>& names) {
  std::optional<Error> first;
  for (const std::string& name : names) {
    const Partition& partition = *state.partitions.find(name);
    Error error;
    const bool unlimited = spec.time_limit && *spec.time_limit == Seconds{0};
    if (spec.time_limit && *spec.time_limit < Seconds{0}) {
      error = bad(std::string(kBadLimit) + ": it is negative");
    } else if (partition.max_time && spec.time_limit &&
               (unlimited || *spec.time_limit > *partition.max_time)) {
      error = bad(std::string(kBadLimit) + ": partition " + name + " allows " +
                  std::to_string(partition.max_time->count()) + " seconds");
    } else if (std::string why = why_impossible(state, spec, partition); !why.empty()) {
      error = bad(std::string(kBadNodes) + ": " + why);
    } else {
      return {};
    }
    if (!first) first = std::move(error);
  }
  return fail(*first);
}

namespace {

std::string_view kind_name(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::after_any: return "afterany";
    case DependencyKind::after_ok: return "afterok";
    case DependencyKind::after_not_ok: return "afternotok";
    case DependencyKind::after: return "after";
  }
  return "after";
}

}  // namespace

Result<Awaited> check_dependencies(const Question& q, const Principal& who, const JobSpec& spec) {
  Awaited out;
  for (Dependency d : spec.dependencies) {
    JobSelector named;
    named.keys.push_back(d.target);
    const Selected found =
        d.target.task.is_none() && q.state.jobs.find(d.target) ? Selected{} : select(q, who, named);
    const bool known = q.state.jobs.find(d.target) || !found.targets.empty();
    if (known && !found.targets.empty())
      d.target = found.targets.front().key;  // an array task by its own number
    if (!known) {
      if (d.kind == DependencyKind::after_any || d.kind == DependencyKind::after)
        continue;  // counts as satisfied
      return fail(bad(
          "Job dependency problem: " + std::string(kind_name(d.kind)) + ":" + job_text(d.target) +
          " names a job this controller does not know (never submitted, or long over)"));
    }
    switch (standing(q.state, d)) {
      case Standing::met: break;
      case Standing::waiting: out.waiting.push_back(d); break;
      case Standing::failed:
        out.waiting.push_back(d);
        out.failed.push_back(d);
        break;
    }
  }
  return out;
}

namespace {

Status check(const Question& q, const Principal& who, const JobSpec& spec) {
  if (Status s = check_text(spec); !s) return s;
  if (Status s = check_privileges(q, who, spec); !s) return s;
  if (Status s = check_counts(spec); !s) return s;
  return check_array(q.policy, spec);
}

// One specification for jobs that are alike, as a loop over one script makes them: the newest records are looked at. That it
// is shared shows nowhere but in memory.
std::shared_ptr<const JobSpec> shared(const ClusterState& state, const Decision& d,
                                      std::shared_ptr<const JobSpec> spec) {
  constexpr std::uint64_t kLooked = 4;
  for (auto event = d.events.rbegin(); event != d.events.rend(); ++event)
    if (const auto* before = std::get_if<Submitted>(&*event)) {
      if (before->spec == spec || *before->spec == *spec) return before->spec;
      break;
    }
  const std::uint64_t next = state.next_job_id.value();
  for (std::uint64_t id = next; id > 1 && next - id < kLooked; --id) {
    const Job* job = state.jobs.find(JobKey{JobId(id - 1), {}});
    if (job && job->spec && *job->spec == *spec) return job->spec;
  }
  return spec;
}

// Adds one job's events under the id given, or says why it cannot be.
Status admit(const Question& q, const Principal& who, const std::shared_ptr<const JobSpec>& asked,
             JobId id, Decision& d) {
  const JobSpec& spec = *asked;
  if (Status ok = check(q, who, spec); !ok) return ok;
  const Result<std::vector<std::string>> partitions = partitions_of(q.state, spec);
  if (!partitions) return fail(partitions.error());
  if (Status ok = check_partitions(q.state, spec, *partitions); !ok) return ok;
  const Result<Awaited> awaited = check_dependencies(q, who, spec);
  if (!awaited) return fail(awaited.error());

  std::shared_ptr<const JobSpec> admitted = asked;
  if (spec.partitions != *partitions) {
    JobSpec copy = spec;
    copy.partitions = *partitions;
    admitted = std::make_shared<const JobSpec>(std::move(copy));
  }

  Submitted event;
  event.key = JobKey{id, {}};
  event.id_count = spec.array ? 1 + static_cast<std::uint32_t>(spec.array->count()) : 1;
  event.spec = shared(q.state, d, std::move(admitted));
  event.priority = spec.priority.value_or(q.state.partitions.find(partitions->front())->priority);
  event.hold = spec.hold ? Hold::user : Hold::none;
  event.waiting_for = awaited->waiting;
  const JobKey key = event.key;
  d.events.emplace_back(std::move(event));
  for (const Dependency& failed : awaited->failed)
    d.events.emplace_back(DependencyFailed{key, failed});
  d.jobs.push_back(key);
  return {};
}

Decision decide_all(const Question& q, const Principal& who,
                    const std::vector<std::shared_ptr<const JobSpec>>& specs,
                    const std::vector<Blob>& blobs) {
  if (specs.empty() || std::count(specs.begin(), specs.end(), nullptr) > 0)
    return refuse(ErrorCode::invalid_argument, "a submission without a job");
  if (Status ok = check_blobs(q.policy, blobs, specs); !ok)
    return refuse(ok.error().code, ok.error().message);
  if (q.state.jobs.size() + specs.size() > q.policy.max_jobs) {
    return refuse(ErrorCode::resource_exhausted,
                  "the controller holds " + std::to_string(q.state.jobs.size()) +
                      " jobs of at most " + std::to_string(q.policy.max_jobs) +
                      "; submit again later");
  }
  Decision d;
  JobId next = q.state.next_job_id;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (Status ok = admit(q, who, specs[i], next, d); !ok) {
      const std::string which = specs.size() == 1 ? ""
                                                  : "job " + std::to_string(i + 1) + " of " +
                                                        std::to_string(specs.size()) + ": ";
      return refuse(ok.error().code, which + ok.error().message);
    }
    const auto tasks = specs[i]->array ? specs[i]->array->count() : 0;
    next = JobId(next.value() + 1 + tasks);
  }
  return d;
}

}  // namespace

Decision decide_submit(const Question& q, const Principal& who, const Submit& submit) {
  return decide_all(q, who, {submit.spec}, submit.blobs);
}

Decision decide_submit(const Question& q, const Principal& who, const SubmitMany& submit) {
  return decide_all(q, who, submit.specs, submit.blobs);
}

}  // namespace ares::core
