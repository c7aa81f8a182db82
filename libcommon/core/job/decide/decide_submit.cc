// Submission: new jobs, or a refusal with its reason.
#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/duration.h"
#include "core/accounts/limits/partition_bounds.h"
#include "core/accounts/membership.h"
#include "core/cluster/spare_nodes.h"
#include "core/job/checks/container_checks.h"
#include "core/job/checks/default_memory.h"
#include "core/job/checks/submit_checks.h"
#include "core/job/checks/tmp_disk.h"
#include "core/job/gang.h"
#include "model/job/text_check.h"
#include "model/policy/request_limits.h"

namespace ares::core {
namespace {

constexpr std::string_view kBadLimit =
    "Requested time limit is invalid (missing or exceeds some limit)";
constexpr std::string_view kBadNodes = "Requested node configuration is not available";

Error bad(std::string message) {
  return Error{ErrorCode::invalid_argument, std::move(message)};
}

Status check_array(const Policy& policy, const JobSpec& spec) {
  if (!spec.array) {
    if (spec.array_throttle > 0)
      return fail(bad("Invalid job array specification: a task throttle without an array"));
    return {};
  }
  if (spec.array->empty()) return fail(bad("Invalid job array specification: no tasks"));
  // Indices have no other bound than their type.
  if (spec.array->count() > policy.max_array_size)
    return fail(bad("Invalid job array specification: " + std::to_string(spec.array->count()) +
                    " tasks; at most " + std::to_string(policy.max_array_size) +
                    " are allowed (policy.max_array_size)"));
  if (spec.array->intervals().size() > kMaxArrayRanges)
    return fail(
        bad("Invalid job array specification: " + std::to_string(spec.array->intervals().size()) +
            " separate ranges of tasks; at most " + std::to_string(kMaxArrayRanges) +
            " are allowed: number the tasks without gaps"));
  return {};
}

Status check_blobs(const Policy& policy, const std::vector<Blob>& blobs,
                   const std::vector<std::shared_ptr<const JobSpec>>& specs) {
  std::set<BlobId> scripts;
  for (const auto& spec : specs) scripts.insert(spec->script);
  for (const Blob& blob : blobs) {
    const bool script = scripts.contains(blob.id);
    const std::size_t most = script ? policy.max_script_bytes : policy.max_environment_bytes;
    if (blob.content && blob.content->size() > most) {
      return fail(bad(std::string(script ? "the script" : "the environment") + " has " +
                      std::to_string(blob.content->size()) + " bytes; at most " +
                      std::to_string(most) + " are allowed"));
    }
  }
  return {};
}

Status check_privileges(const DecisionContext& q, const Principal& who, const JobSpec& spec) {
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

Error unknown_partition(const std::string& name) {
  return bad("Invalid partition name specified: " + name);
}

}  // namespace

Result<std::vector<std::string>> partitions_of(const ClusterState& state, const JobSpec& spec) {
  std::vector<std::string> names;
  for (const std::string& name : spec.partitions) {
    if (!state.partitions.find(name)) return fail(unknown_partition(name));
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

namespace {

// Limits of the partition itself, which may be raised.
Status check_partition_limits(const DecisionContext& q, const JobSpec& spec,
                              const Partition& partition) {
  const PartitionBounds bounds = bounds_of(q.state.accounting, spec, partition);
  const bool unlimited = spec.time_limit && *spec.time_limit == Seconds{0};
  if (bounds.max_time && spec.time_limit && (unlimited || *spec.time_limit > *bounds.max_time))
    return fail(bad(std::string(kBadLimit) + ": partition " + partition.name + " allows at most " +
                    format_time_limit(*bounds.max_time)));
  if (bounds.max_nodes && spec.min_nodes > *bounds.max_nodes)
    return fail(bad(std::string(kBadNodes) + ": needs " + std::to_string(spec.min_nodes) +
                    " nodes; partition " + partition.name + " allows a job " +
                    std::to_string(*bounds.max_nodes)));
  return {};
}

Status check_possible(const DecisionContext& q, const JobSpec& spec, const Partition& partition) {
  std::string why = why_impossible(q.state, spec, partition);
  if (why.empty()) why = why_network_forbids(q.state, q.policy, spec, partition);
  if (why.empty()) return {};
  return fail(bad(std::string(kBadNodes) + ": " + why));
}

}  // namespace

Status check_partitions(const DecisionContext& q, const JobSpec& spec,
                        const std::vector<std::string>& names) {
  if (spec.time_limit && *spec.time_limit < Seconds{0})
    return fail(bad(std::string(kBadLimit) + ": it is negative"));
  const PartitionLimits enforced = q.policy.enforce_partition_limits;
  std::optional<Error> first;
  bool some = false;  // a partition may run it
  for (const std::string& name : names) {
    // A waiting job may name one that was removed from ares.yaml.
    const Partition* const partition = q.state.partitions.find(name);
    Status good = !partition                          ? fail(unknown_partition(name))
                  : enforced == PartitionLimits::none ? Status()
                                                      : check_partition_limits(q, spec, *partition);
    if (!good && enforced == PartitionLimits::all) return good;
    if (good) good = check_possible(q, spec, *partition);
    some = some || good;
    if (!good && !first) first = std::move(good.error());
    if (some && enforced != PartitionLimits::all) return {};
  }
  if (some) return {};
  return fail(*first);
}

Status check_account(const DecisionContext& q, const JobSpec& spec) {
  const auto problem =
      ineligible(q.state.accounting, q.policy.accounting.enforce, spec, spec.partitions);
  if (!problem) return {};
  return fail(bad((problem->reason == Reason::invalid_qos
                       ? "Invalid qos specification: "
                       : "Invalid account or account/partition combination specified: ") +
                  problem->text +
                  (problem->reason == Reason::invalid_account
                       ? "; " + accounts_text(q.state.accounting, spec)
                       : "")));
}

Status check_wckey(const DecisionContext& q, const JobSpec& spec) {
  if (!q.policy.accounting.require_wckey) return {};
  const auto problem = foreign_wckey(q.state.accounting, spec);
  if (!problem) return {};
  return fail(bad("Invalid wckey specification: " + *problem));
}

namespace {

Error over_limit_error(const OverLimit& over) {
  return bad("Job violates accounting/QOS policy (" + over.name + "): " + over.text);
}

}  // namespace

Status check_limits(const DecisionContext& q, const JobSpec& spec) {
  LimitUse use(q.state, q.policy, q.now, q.sums);
  std::optional<OverLimit> first;
  for (const std::string& name : spec.partitions) {
    const Partition* partition = q.state.partitions.find(name);
    if (!partition) continue;
    const auto limit = spec.time_limit           ? spec.time_limit
                       : partition->default_time ? partition->default_time
                                                 : partition->max_time;
    auto over = use.over_alone(spec, *partition, limit == Seconds{0} ? std::nullopt : limit);
    if (!over || !over->refuse) return {};
    if (!first) first = std::move(over);
  }
  if (!first) return {};
  return fail(over_limit_error(*first));
}

Status check_submitted(LimitUse& use, const JobSpec& spec, std::uint64_t jobs) {
  if (const auto over = use.over_submitted(spec, spec.partitions.front(), jobs))
    return fail(over_limit_error(*over));
  return {};
}

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

Status check_reservations(const ClusterState& state, const JobSpec& spec) {
  const auto refused = [](const std::string& name, const std::string& why) {
    return fail(bad("Requested reservation is invalid: " + name + " " + why));
  };
  constexpr std::size_t kMost = 64;
  if (spec.reservations.size() > kMost)
    return fail(bad("Requested reservation is invalid: at most " + std::to_string(kMost) +
                    " may be named"));
  for (const std::string& name : spec.reservations) {
    const Reservation* r = state.reservations.find(name);
    if (!r) return refused(name, "does not exist");
    if (r->maintenance) return refused(name, "is for maintenance: no jobs run in it");
    if (!may_use(*r, spec.uid, spec.account))
      return fail(ErrorCode::permission_denied,
                  "reservation " + name + " is not for user " + spec.user +
                      (spec.account.empty() ? std::string() : ", nor for account " + spec.account));
    const Seconds needed = spec.time_min.value_or(spec.time_limit.value_or(Seconds{0}));
    if (!r->flexible && needed > r->end - r->start)
      return refused(name, "lasts " +
                               format_duration(std::chrono::floor<Seconds>(r->end - r->start)) +
                               ", the job asks for " + format_duration(needed));
  }
  return {};
}

namespace {

Status check(const DecisionContext& q, const Principal& who, const JobSpec& spec) {
  if (Status s = check_text(spec); !s) return s;
  if (Status s = check_privileges(q, who, spec); !s) return s;
  if (Status s = check_resources(q.policy, spec); !s) return s;
  if (Status s = check_gang(spec); !s) return s;
  if (Status s = check_times(spec, q.now); !s) return s;
  return check_array(q.policy, spec);
}

// Shares one specification between equal jobs, as a loop over one script submits them. Compares it
// with the newest records only. Only saves memory.
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

// Without those that take no new jobs, unless all of them are like that.
std::vector<std::string> open_ones(const ClusterState& state, std::vector<std::string> partitions) {
  std::vector<std::string> open;
  for (const std::string& name : partitions)
    if (check_open(state, {name})) open.push_back(name);
  return open.empty() ? partitions : open;
}

// "partition a takes no new jobs now (DRAIN); the job waits for b" if the settled specification lacks some that were requested.
std::string closed_text(const ClusterState& state, const JobSpec& requested,
                        const JobSpec& settled) {
  if (requested.partitions.empty()) return {};
  if (const Status open = check_open(state, requested.partitions); !open) {
    std::string rest;
    for (const std::string& name : settled.partitions) rest += (rest.empty() ? "" : ",") + name;
    return open.error().message + "; the job waits for " + rest;
  }
  return {};
}

// What the user is told of a job that is accepted; empty: nothing.
std::string notes_on(const ClusterState& state, const JobSpec& requested, const JobSpec& settled) {
  std::string notes = closed_text(state, requested, settled);
  const std::string storage = uncounted_tmp_disk(state, settled);
  return notes + (notes.empty() || storage.empty() ? "" : "; ") + storage;
}

// Fills in what the specification leaves open, by the current state: partitions, account, number of
// nodes, memory. Adds the spare nodes.
Result<std::shared_ptr<const JobSpec>> settle(const DecisionContext& q,
                                              const std::shared_ptr<const JobSpec>& spec) {
  const ClusterState& state = q.state;
  auto named = partitions_of(state, *spec);
  if (!named) return fail(named.error());
  std::vector<std::string> partitions = *std::move(named);
  if (q.policy.enforce_partition_limits != PartitionLimits::all)
    partitions = open_ones(state, std::move(partitions));
  const std::optional<Bytes> memory = default_memory(state, *spec, partitions);
  const bool whole = spec->partitions == partitions && spec->max_nodes > 0 &&
                     spec->spare_nodes == 0 && !memory && !lacks_container_feature(*spec);
  if (whole && state.accounting.empty()) return spec;
  JobSpec settled = *spec;
  if (!fill_account(state.accounting, partitions.front(), settled) && whole) return spec;
  settled.partitions = std::move(partitions);
  if (memory) settled.memory_per_cpu = memory;
  require_container_feature(settled);
  if (settled.max_nodes == 0) settle_nodes(state, settled);
  if (const std::uint32_t spare = settled.spare_nodes; spare > 0)
    settled = with_more_nodes(std::move(settled), spare);
  return std::make_shared<const JobSpec>(std::move(settled));
}

// The checks that all jobs of one specification have in common. Returns the settled specification.
Result<std::shared_ptr<const JobSpec>> validate(const DecisionContext& q, const Principal& who,
                                                const std::shared_ptr<const JobSpec>& requested) {
  if (Status ok = check(q, who, *requested); !ok) return fail(ok.error());
  auto settled = settle(q, requested);
  if (!settled) return settled;
  const std::vector<std::string>& partitions = (*settled)->partitions;
  if (Status ok = check_open(q.state, partitions); !ok) return fail(ok.error());
  if (Status ok = check_partitions(q, **settled, partitions); !ok) return fail(ok.error());
  if (Status ok = check_account(q, **settled); !ok) return fail(ok.error());
  if (Status ok = check_wckey(q, **settled); !ok) return fail(ok.error());
  if (Status ok = check_limits(q, **settled); !ok) return fail(ok.error());
  if (Status ok = check_reservations(q.state, **settled); !ok) return fail(ok.error());
  return settled;
}

// State shared by the jobs of one command.
struct SubmissionBatch {
  explicit SubmissionBatch(const DecisionContext& q) : use(q.state, q.policy, q.now, q.sums) {}
  LimitUse use;  // including the jobs so far
  // By the requested specification, which thousands of jobs may share, so that it is checked once.
  std::unordered_map<const JobSpec*, std::shared_ptr<const JobSpec>> validated;
  // Names of the jobs so far, all of one user. They refer to the specifications in `validated`.
  std::unordered_set<std::string_view> names;
  std::uint64_t corresponding_tasks = 0;
  GangAdmission gangs;
};

// Adds one job's events under the given id, or returns why it is refused.
Status admit(const DecisionContext& q, const Principal& who,
             const std::shared_ptr<const JobSpec>& requested, JobId id, SubmissionBatch& batch,
             Decision& d) {
  std::shared_ptr<const JobSpec>& settled = batch.validated[requested.get()];
  if (!settled) {
    auto validated = validate(q, who, requested);
    if (!validated) return fail(validated.error());
    settled = std::move(*validated);
  }
  const JobSpec& spec = *settled;
  if (d.text.empty()) d.text = notes_on(q.state, *requested, spec);
  const JobKey key{id, {}};
  const Result<CheckedDependencies> dependencies =
      check_dependencies(q, who, spec, key, [&] { return batch.names.contains(spec.name); });
  if (!dependencies) return fail(dependencies.error());
  if (Status ok = batch.gangs.join(q.state, spec); !ok) return fail(ok.error());
  const std::uint64_t jobs = spec.array ? spec.array->count() : 1;
  if (Status ok = check_submitted(batch.use, spec, jobs); !ok) return fail(ok.error());
  batch.use.submit(spec, spec.partitions.front(), jobs);
  batch.names.insert(spec.name);
  batch.corresponding_tasks += corresponding_tasks(spec);
  if (Status ok = check_corresponding(batch.corresponding_tasks); !ok) return fail(ok.error());

  Submitted event;
  event.key = key;
  event.id_count = spec.array ? 1 + static_cast<std::uint32_t>(spec.array->count()) : 1;
  event.spec = shared(q.state, d, settled);
  event.priority =
      spec.priority.value_or(q.state.partitions.find(spec.partitions.front())->priority);
  event.hold = spec.hold ? Hold::user : Hold::none;
  event.waiting_for = dependencies->waiting;
  d.events.emplace_back(std::move(event));
  for (const auto& [met, not_before] : dependencies->delayed)
    d.events.emplace_back(DependencyMet{key, met, not_before});
  for (const Dependency& failed : dependencies->failed)
    d.events.emplace_back(DependencyFailed{key, failed});
  d.jobs.push_back(key);
  return {};
}

Decision decide_all(const DecisionContext& q, const Principal& who,
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
  SubmissionBatch batch(q);
  JobId next = q.state.next_job_id;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (Status ok = admit(q, who, specs[i], next, batch, d); !ok) {
      const std::string which = specs.size() == 1 ? ""
                                                  : "job " + std::to_string(i + 1) + " of " +
                                                        std::to_string(specs.size()) + ": ";
      return refuse(ok.error().code, which + ok.error().message);
    }
    if (d.events.size() > kMaxSubmitEvents)
      return refuse(ErrorCode::invalid_argument,
                    "job " + std::to_string(i + 1) + " of " + std::to_string(specs.size()) +
                        ": too many dependencies in one request that are met or failed already; "
                        "at most " +
                        std::to_string(kMaxSubmitEvents) +
                        " jobs and such dependencies are allowed: submit fewer jobs at once");
    const auto tasks = specs[i]->array ? specs[i]->array->count() : 0;
    next = JobId(next.value() + 1 + tasks);
  }
  return d;
}

}  // namespace

Decision decide_submit(const DecisionContext& q, const Principal& who, const Submit& submit) {
  return decide_all(q, who, {submit.spec}, submit.blobs);
}

Decision decide_submit(const DecisionContext& q, const Principal& who, const SubmitMany& submit) {
  return decide_all(q, who, submit.specs, submit.blobs);
}

}  // namespace ares::core
