// What the dependencies of a specification name, and whether that is met.
#include <algorithm>
#include <map>
#include <string_view>

#include "core/job/checks/submit_checks.h"
#include "model/policy/request_limits.h"

namespace ares::core {
namespace {

Error bad(std::string message) {
  return Error{ErrorCode::invalid_argument, std::move(message)};
}

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

// afterok and afternotok cannot be decided for an unknown job; the submission is refused.
bool needs_known_target(DependencyKind kind) {
  return kind == DependencyKind::after_ok || kind == DependencyKind::after_not_ok;
}

// Whether there is something to wait for. Replaces an array task's own id by the task's key.
Result<bool> find_target(const DecisionContext& q, const Principal& who, Dependency& d) {
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

struct Awaitable {
  Dependency dependency;
  bool known = false;  // there is something to wait for
};

// The dependencies in their order, each once. If one is repeated with another delay, the longer
// delay counts, or with any_dependency the shorter one.
Result<std::vector<Awaitable>> known_targets(const DecisionContext& q, const Principal& who,
                                             const JobSpec& spec) {
  std::vector<Awaitable> out;
  std::map<std::pair<DependencyKind, JobKey>, std::size_t> places;
  for (Dependency d : spec.dependencies) {
    const Result<bool> known = find_target(q, who, d);
    if (!known) return fail(known.error());
    const auto [place, added] = places.try_emplace({d.kind, d.target}, out.size());
    if (added) {
      out.push_back({d, *known});
      continue;
    }
    Seconds& delay = out[place->second].dependency.delay;
    delay = spec.any_dependency ? std::min(delay, d.delay) : std::max(delay, d.delay);
  }
  return out;
}

}  // namespace

std::uint64_t corresponding_tasks(const JobSpec& spec) {
  if (!spec.array) return 0;
  const auto arrays =
      std::count_if(spec.dependencies.begin(), spec.dependencies.end(), [](const Dependency& d) {
        return d.kind == DependencyKind::after_corr && d.target.task.is_none();
      });
  return static_cast<std::uint64_t>(arrays) * spec.array->count();
}

Status check_corresponding(std::uint64_t tasks) {
  if (tasks <= kMaxCorrespondingTasks) return {};
  return fail(bad("Job dependency problem: aftercorr of more than " +
                  std::to_string(kMaxCorrespondingTasks) + " tasks in all"));
}

Result<CheckedDependencies> check_dependencies(const DecisionContext& q, const Principal& who,
                                               const JobSpec& spec, const JobKey& key,
                                               const std::function<bool()>& same_name_ahead) {
  if (spec.dependencies.size() > kMaxDependencies)
    return fail(bad("Job dependency problem: " + std::to_string(spec.dependencies.size()) +
                    " jobs or tasks to wait for; at most " + std::to_string(kMaxDependencies) +
                    " are allowed: name an array instead of its tasks"));
  if (Status ok = check_corresponding(corresponding_tasks(spec)); !ok) return fail(ok.error());
  const auto requested = known_targets(q, who, spec);
  if (!requested) return fail(requested.error());
  CheckedDependencies out;
  bool one_met = false;
  for (const auto& [d, known] : *requested) {
    DependencyStatus s = known ? dependency_status(q.state, {key, spec}, d)
                               : DependencyStatus{DependencyStatus::met, {}};
    if (d.kind == DependencyKind::singleton && same_name_ahead && same_name_ahead()) s = {};
    if (s.kind == DependencyStatus::met && s.not_before <= q.now) {
      one_met = true;
      continue;
    }
    out.waiting.push_back(d);
    if (s.kind == DependencyStatus::met) out.delayed.emplace_back(d, s.not_before);
    if (s.kind == DependencyStatus::failed) out.failed.push_back(d);
  }
  if (one_met && spec.any_dependency) out = {};
  return out;
}

}  // namespace ares::core
