// Submission: refused with a reason, or a new job.
#include <algorithm>

#include "base/duration.h"
#include "core/cluster/licenses.h"
#include "core/job/submit_checks.h"
#include "core/job/text_check.h"
#include "model/constraint.h"

namespace ares::core {
namespace {

constexpr std::string_view kBadLimit =
    "Requested time limit is invalid (missing or exceeds some limit)";
constexpr std::string_view kBadNodes = "Requested node configuration is not available";
// As many numbers of nodes as anybody will write; a list of millions would be carried along for ever.
constexpr std::size_t kMaxNodeCounts = 1000;

Error bad(std::string message) {
  return Error{ErrorCode::invalid_argument, std::move(message)};
}

}  // namespace

Status check_counts(const JobSpec& spec) {
  if (spec.min_nodes < 1 || (spec.max_nodes > 0 && spec.max_nodes < spec.min_nodes)) {
    return fail(bad("Node count specification invalid: " + std::to_string(spec.min_nodes) + " to " +
                    std::to_string(spec.max_nodes)));
  }
  if (spec.tasks < 1)
    return fail(bad("More processors requested than permitted: a job has at least one task"));
  if (spec.cpus_per_task < 1) return fail(bad("a task needs at least one CPU"));
  if ((spec.memory_per_node ? 1 : 0) + (spec.memory_per_cpu ? 1 : 0) +
          (spec.memory_per_gpu ? 1 : 0) >
      1)
    return fail(bad("memory per node, per CPU and per GPU exclude each other"));
  if (spec.max_nodes > 0 && spec.required_nodes.size() > spec.max_nodes) {
    return fail(
        bad("Node count specification invalid: " + std::to_string(spec.required_nodes.size()) +
            " nodes required, at most " + std::to_string(spec.max_nodes) + " asked for"));
  }
  const auto none = [](const std::vector<GpuRequest>& list) {
    return std::any_of(list.begin(), list.end(), [](const GpuRequest& g) { return g.count == 0; });
  };
  if (none(spec.gpus_per_node) || none(spec.gpus_total) || none(spec.gpus_per_task))
    return fail(bad("a GPU request must ask for at least one"));
  return {};
}

Status check_gpus(const JobSpec& spec) {
  const auto sum = [](const std::vector<GpuRequest>& list) {
    std::uint64_t count = 0;
    for (const GpuRequest& g : list) count += g.count;
    return count;
  };
  const std::uint64_t per_task = sum(spec.gpus_per_task), per_node = sum(spec.gpus_per_node),
                      total = sum(spec.gpus_total);
  if (spec.gpus_per_task.size() > 1) return fail(bad("GPUs for each task must be of one type"));
  if (per_task > 0 && total > 0 && total != per_task * spec.tasks)
    return fail(bad(std::to_string(total) + " GPUs in total do not match " +
                    std::to_string(spec.tasks) + " tasks of " + std::to_string(per_task)));
  if (per_task > 0 && per_node > 0 && per_node != per_task * spec.tasks_per_node)
    return fail(bad(std::to_string(per_node) + " GPUs a node do not match " +
                    std::to_string(spec.tasks_per_node) + " tasks a node of " +
                    std::to_string(per_task)));
  if (spec.cpus_per_gpu == 0 && !spec.memory_per_gpu) return {};
  if (per_task + per_node + total == 0)
    return fail(bad("CPUs or memory for each GPU, but no GPUs asked for"));
  if (per_task == 0 && per_node > 0 && total > 0)
    return fail(bad("CPUs or memory for each GPU: give GPUs for each node, or in total, not both"));
  if (per_task == 0 && total > 0 && spec.max_nodes > 1)
    return fail(
        bad("CPUs or memory for each GPU, with GPUs in total, is for jobs of one node: give "
            "GPUs for each node or task instead"));
  return {};
}

Status check_node_counts(const JobSpec& spec) {
  if (!spec.node_counts) return {};
  if (spec.node_counts->empty() || spec.node_counts->front() < 1 ||
      spec.node_counts->front() != spec.min_nodes || spec.node_counts->back() != spec.max_nodes)
    return fail(bad("Node count specification invalid: " + format_interval_set(*spec.node_counts)));
  if (spec.node_counts->intervals().size() > kMaxNodeCounts)
    return fail(bad("Node count specification invalid: more than " +
                    std::to_string(kMaxNodeCounts) + " numbers"));
  return {};
}

Status check_constraint(const JobSpec& spec) {
  const auto constraint = parse_constraints(spec.features);
  if (!constraint) return fail(constraint.error());
  for (const FeatureCount& count : constraint->counts)
    if (spec.max_nodes > 0 && count.nodes > spec.max_nodes)
      return fail(bad(std::string(kBadNodes) + ": " + std::to_string(count.nodes) + " nodes with " +
                      count.test.text() + " asked for, but at most " +
                      std::to_string(spec.max_nodes) + " nodes"));
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

Status check_open(const ClusterState& state, const std::vector<std::string>& partitions) {
  for (const std::string& name : partitions) {
    const Partition* partition = state.partitions.find(name);
    if (partition && !partition->open)
      return fail(ErrorCode::failed_precondition, "partition " + name + " takes no new jobs now (" +
                                                      std::string(state_text(*partition)) + ")");
  }
  return {};
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
    case DependencyKind::after_corr: return "aftercorr";
    case DependencyKind::singleton: return "singleton";
  }
  return "after";
}

// Whether an unknown job has let the dependency fail for all that anybody knows: then it is better refused.
bool needs_known_target(DependencyKind kind) {
  return kind == DependencyKind::after_ok || kind == DependencyKind::after_not_ok;
}

// Looks the target up; true if there is something to wait for. An array task may go by its own number.
Result<bool> find_target(const Question& q, const Principal& who, Dependency& d) {
  if (d.kind == DependencyKind::singleton || q.state.jobs.find(d.target)) return true;
  JobSelector named;
  named.keys.push_back(d.target);
  const Selected found = select(q, who, named);
  if (!found.targets.empty()) {
    d.target = found.targets.front().key;
    return true;
  }
  if (!needs_known_target(d.kind)) return false;
  return fail(bad("Job dependency problem: " + std::string(kind_name(d.kind)) + ":" +
                  job_text(d.target) +
                  " names a job this controller does not know (never submitted, or long over)"));
}

}  // namespace

Status check_times(const JobSpec& spec, Time now) {
  const std::string bad_limit(kBadLimit);
  const Seconds limit = spec.time_limit.value_or(Seconds{0});  // 0: none given, or unlimited
  if (spec.time_min && limit > Seconds{0} && *spec.time_min > limit)
    return fail(bad(bad_limit + ": the minimum, " + format_duration(*spec.time_min) +
                    ", is above the limit itself, " + format_duration(limit)));
  if (!spec.deadline) return {};
  const Seconds needed = spec.time_min.value_or(limit);
  const Time start = std::max(now, spec.begin.value_or(now));
  if (start + std::max(needed, Seconds{1}) > *spec.deadline)
    return fail(bad(bad_limit + ": the deadline cannot be met" +
                    (*spec.deadline <= now ? ", it has passed"
                     : needed > Seconds{0} ? " by a job of " + format_duration(needed)
                                           : std::string(", the job may not begin before it"))));
  return {};
}

Result<Awaited> check_dependencies(const Question& q, const Principal& who, const JobSpec& spec,
                                   const JobKey& key,
                                   const std::function<bool()>& same_name_ahead) {
  constexpr std::size_t kMost = 10'000;
  if (spec.dependencies.size() > kMost)
    return fail(bad("Job dependency problem: more than " + std::to_string(kMost) + " jobs"));
  Awaited out;
  bool one_met = false;
  for (Dependency d : spec.dependencies) {
    const Result<bool> known = find_target(q, who, d);
    if (!known) return fail(known.error());
    Standing s = *known ? standing(q.state, {key, spec}, d) : Standing{Standing::met, {}};
    if (d.kind == DependencyKind::singleton && same_name_ahead && same_name_ahead()) s = {};
    if (s.kind == Standing::met && s.not_before <= q.now) {
      one_met = true;
      continue;
    }
    out.waiting.push_back(d);
    if (s.kind == Standing::met) out.delayed.emplace_back(d, s.not_before);
    if (s.kind == Standing::failed) out.failed.push_back(d);
  }
  if (one_met && spec.any_dependency) out = {};
  return out;
}

Status check_resources(const Policy& policy, const JobSpec& spec) {
  for (Status (*check_part)(const JobSpec&) :
       {check_counts, check_gpus, check_node_counts, check_constraint})
    if (Status s = check_part(spec); !s) return s;
  return check_licenses(policy, spec);
}

namespace {

Status check(const Question& q, const Principal& who, const JobSpec& spec) {
  if (Status s = check_text(spec); !s) return s;
  if (Status s = check_privileges(q, who, spec); !s) return s;
  if (Status s = check_resources(q.policy, spec); !s) return s;
  if (Status s = check_times(spec, q.now); !s) return s;
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

// What the specification leaves open, settled by the cluster as it is now: the partitions, and how many nodes. Nodes that are
// named are enough if they can be; else the job may spread over as many as it has tasks.
Result<std::shared_ptr<const JobSpec>> settle(const ClusterState& state,
                                              const std::shared_ptr<const JobSpec>& spec) {
  auto partitions = partitions_of(state, *spec);
  if (!partitions) return fail(partitions.error());
  if (spec->partitions == *partitions && spec->max_nodes > 0) return spec;
  JobSpec settled = *spec;
  settled.partitions = std::move(*partitions);
  if (settled.max_nodes == 0)
    settled.max_nodes = named_nodes_suffice(state, *spec)
                            ? settled.min_nodes
                            : std::max(settled.min_nodes, settled.tasks);
  return std::make_shared<const JobSpec>(std::move(settled));
}

// Whether the same command submits a job of that user and name before this one.
bool same_name_ahead(const Decision& d, const JobSpec& spec) {
  return std::any_of(d.events.rbegin(), d.events.rend(), [&](const EventBody& body) {
    const auto* before = std::get_if<Submitted>(&body);
    return before && before->spec->uid == spec.uid && before->spec->name == spec.name;
  });
}

// Adds one job's events under the id given, or says why it cannot be.
Status admit(const Question& q, const Principal& who, const std::shared_ptr<const JobSpec>& asked,
             JobId id, Decision& d) {
  if (Status ok = check(q, who, *asked); !ok) return ok;
  const auto settled = settle(q.state, asked);
  if (!settled) return fail(settled.error());
  const JobSpec& spec = **settled;
  if (Status ok = check_open(q.state, spec.partitions); !ok) return ok;
  if (Status ok = check_partitions(q.state, spec, spec.partitions); !ok) return ok;
  const JobKey key{id, {}};
  const Result<Awaited> awaited =
      check_dependencies(q, who, spec, key, [&] { return same_name_ahead(d, spec); });
  if (!awaited) return fail(awaited.error());

  Submitted event;
  event.key = key;
  event.id_count = spec.array ? 1 + static_cast<std::uint32_t>(spec.array->count()) : 1;
  event.spec = shared(q.state, d, *settled);
  event.priority =
      spec.priority.value_or(q.state.partitions.find(spec.partitions.front())->priority);
  event.hold = spec.hold ? Hold::user : Hold::none;
  event.waiting_for = awaited->waiting;
  d.events.emplace_back(std::move(event));
  for (const auto& [met, not_before] : awaited->delayed)
    d.events.emplace_back(DependencyMet{key, met, not_before});
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
