#include "aresctld/past_targets.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "aresctld/query/queries.h"
#include "aresctld/specs_of.h"
#include "cli/values/job_ids.h"
#include "proto/convert.h"

namespace ares::aresctld {
namespace {

bool asks_for_result(const Dependency& d) {
  return d.kind == DependencyKind::after_ok || d.kind == DependencyKind::after_not_ok;
}

// Also by the number that an array task has for itself.
bool is_known(const View& view, const Policy& policy, const JobKey& key, Time now) {
  if (view.state->jobs.find(key) || view.state->jobs.find(JobKey{key.job, {}})) return true;
  api::ListJobs one;
  proto::to_api(key, one.add_jobs());
  return list_jobs(view, policy, one, now).has_value();
}

// How a job, a task or all tasks of an array ended. None: not yet, or nothing is known.
struct PastEnd {
  bool succeeded = true;
  std::string state{};  // of the first one that did not succeed
};

std::optional<PastEnd> end_of(const JobKey& target, const ReadAccounting& read) {
  api::Accounting query;
  proto::to_api(target, query.add_jobs());
  PastEnd end;
  bool any = false;
  for (;;) {
    const auto rows = read(query);
    if (!rows) return std::nullopt;
    for (const api::AccountingRow& row : rows->rows()) {
      if (row.superseded()) continue;
      const auto state = parse_job_state(row.state());
      if (!state || !is_terminal(*state)) return std::nullopt;
      any = true;
      if (*state == JobState::completed || !end.succeeded) continue;
      end.succeeded = false;
      end.state = row.state();
    }
    if (!rows->more()) break;
    *query.mutable_after() = rows->last();
  }
  return any ? std::optional(end) : std::nullopt;
}

bool is_met(const Dependency& d, const PastEnd& end) {
  return end.succeeded == (d.kind == DependencyKind::after_ok);
}

}  // namespace

std::vector<JobKey> past_targets(const UserBody& body, const View& view, const Policy& policy,
                                 Time now) {
  std::set<JobKey> targets;
  for_each_spec(body, [&](const std::shared_ptr<const JobSpec>& spec) {
    for (const Dependency& d : spec->dependencies)
      if (asks_for_result(d)) targets.insert(d.target);
  });
  std::vector<JobKey> past;
  for (const JobKey& target : targets)
    if (!is_known(view, policy, target, now)) past.push_back(target);
  return past;
}

std::string answer_from_past(UserBody& body, const std::vector<JobKey>& targets,
                             const ReadAccounting& read) {
  std::map<JobKey, PastEnd> ends;
  std::string note;
  for (const JobKey& target : targets) {
    const auto end = end_of(target, read);
    if (!end) continue;
    ends.emplace(target, *end);
    if (!note.empty()) note += ", ";
    note += "job " + cli::format_job_id(target) + " ended " +
            (end->succeeded ? "COMPLETED" : end->state);
  }
  std::shared_ptr<const JobSpec> last, last_changed;  // equal specifications stay shared
  for_each_spec(body, [&](std::shared_ptr<const JobSpec>& spec) {
    if (spec == last) {
      spec = last_changed;
      return;
    }
    last = spec;
    auto changed = std::make_shared<JobSpec>(*spec);
    const auto removed = std::erase_if(changed->dependencies.edit(), [&](const Dependency& d) {
      const auto end = asks_for_result(d) ? ends.find(d.target) : ends.end();
      return end != ends.end() && is_met(d, end->second);
    });
    if (removed > 0 && changed->any_dependency) changed->dependencies.clear();
    if (removed > 0) spec = std::move(changed);
    last_changed = spec;
  });
  return note;
}

}  // namespace ares::aresctld
