#include "aresctld/watch/job_changes.h"

#include <algorithm>
#include <span>
#include <utility>

#include "aresctld/query/queries.h"
#include "aresctld/query/query_filter.h"
#include "aresctld/query/query_rows.h"
#include "proto/convert.h"

namespace ares::aresctld {
namespace {

// All changes of one job since the watcher's position.
struct Merged {
  bool record = false, reason = false, start = false, contact = false;
  bool appeared = false;  // it had no record before
  bool listed = false;    // the request selected it at some time
  std::shared_ptr<const Job> first,
      last;  // records before the first change and before the last one
};

bool has_waiting(const Job& job) {
  return job.array && !job.array->waiting.empty();
}

class Part {
 public:
  Part(const View& view, const Policy& policy, const api::ListJobs& request, const NamedJobs& named,
       JobFilter filter, JobFilter of_any_state, Time now, Identity* identity)
      : view_(view),
        request_(request),
        named_(named),
        filter_(std::move(filter)),
        of_any_state_(std::move(of_any_state)),
        fields_(request.fields().data(), static_cast<std::size_t>(request.fields_size())),
        shown_(fields_.empty() ? ShownFields::everything(request.details())
                               : ShownFields::only(fields_)),
        rows_(view, policy, shown_, !request.jobs().empty(), now, identity) {}

  // As a listing does; an array's record is a row only while tasks wait in it.
  bool passes(const Job& job) const {
    return filter_.passes(job) && (!job.array || has_waiting(job) || request_.details());
  }

  void add(const JobKey& key, const Merged& merged) {
    const Job* job = view_.state->jobs.find(key);
    if (!merged.record) return add_reason(job, merged);
    if (job && passes(*job)) {
      add_listed(*job, merged);
    } else {
      if (job)
        add_last(*job, merged);
      else if (merged.last && is_terminal(merged.last->state) &&
               !(merged.first && is_terminal(merged.first->state)))
        add_last(*merged.last, merged);
      if (merged.listed || came_and_ended(job, merged)) leave(key);
    }
    if (merged.first) add_tasks_left(*merged.first, job);
  }

  // Nothing is added any more: a single record may have a row for each of many tasks.
  bool is_too_large() const { return lines_ > kMostChanges || bytes_ > kMostBytes; }

  api::Watched take() { return std::move(part_); }

 private:
  static constexpr std::size_t kMostBytes = 4 << 20;

  void put(const Job& job, std::optional<std::uint32_t> waiting = std::nullopt) {
    api::Job& row = *part_.mutable_jobs()->add_jobs();
    rows_.describe(job, waiting, row);
    ++lines_;
    bytes_ += row.ByteSizeLong();
  }

  void leave(const JobKey& key) {
    proto::to_api(key, part_.add_left());
    ++lines_;
  }

  // Only why it is pending or waits for its end, or its expected start, has changed.
  void add_reason(const Job* job, const Merged& merged) {
    if (!job || !passes(*job)) return;
    if (merged.contact) return add_rows(*job, nullptr);
    if (job->state != JobState::pending) return;
    const bool shows_start =
        shown_(api::Job::kExpectedStartFieldNumber) || shown_(api::Job::kExpectedNodesFieldNumber);
    if (merged.reason || shows_start) add_rows(*job, nullptr);
  }

  void add_listed(const Job& job, const Merged& merged) {
    add_rows(job, merged.reason ? nullptr : merged.first.get());
  }

  // A row, or those of the waiting tasks. Of these only new ones if nothing else differs from `before`.
  void add_rows(const Job& job, const Job* before) {
    const auto* tasks = named_.tasks_of(job.key.job);
    if (!has_waiting(job) || (!tasks && !request_.expand_arrays())) return put(job);
    const bool same = before && has_waiting(*before) && as_row(*before) == as_row(job);
    for (const std::uint32_t task : job.array->waiting) {
      if (is_too_large()) return;
      if (tasks && !tasks->contains(task)) continue;
      if (!same || !before->array->waiting.contains(task)) put(job, task);
    }
  }

  bool came_and_ended(const Job* job, const Merged& merged) const {
    return job && merged.appeared && is_terminal(job->state) && !job->array &&
           of_any_state_.passes(*job);
  }

  std::string as_row(const Job& array) {
    api::Job row;
    rows_.describe(array, std::nullopt, row);
    row.clear_array_tasks();
    return row.SerializeAsString();
  }

  // The job is not listed any more. It is shown once as it is now, if it was listed or came and ended meanwhile.
  void add_last(const Job& job, const Merged& merged) {
    if (!merged.listed && !came_and_ended(&job, merged)) return;
    if (!job.array) return put(job);
    // Tasks that waited in the record and were cancelled there; those that started have records.
    if (!merged.last || !merged.last->array) return;
    Job cancelled = job;
    cancelled.array->waiting = {};
    for (const std::uint32_t task : merged.last->array->waiting)
      if (!view_.state->jobs.find(JobKey{job.key.job, TaskIndex{task}}))
        cancelled.array->waiting.insert(task);
    if (!has_waiting(cancelled)) return;
    if (!is_terminal(cancelled.state) && cancelled.ending)
      cancelled.state = cancelled.ending->state;
    put(cancelled);
  }

  // Rows of single tasks that wait no more and got no record.
  void add_tasks_left(const Job& before, const Job* after) {
    const auto* tasks = named_.tasks_of(before.key.job);
    if (!has_waiting(before) || (!tasks && !request_.expand_arrays())) return;
    for (const std::uint32_t task : before.array->waiting) {
      if (is_too_large()) return;
      if (tasks && !tasks->contains(task)) continue;
      const JobKey key{before.key.job, TaskIndex{task}};
      if (after && after->array && after->array->waiting.contains(task)) continue;
      if (!view_.state->jobs.find(key)) leave(key);
    }
  }

  const View& view_;
  const api::ListJobs& request_;
  const NamedJobs& named_;
  const JobFilter filter_, of_any_state_;
  const std::span<const std::uint32_t> fields_;
  const ShownFields shown_;
  JobRows rows_;
  api::Watched part_;
  std::size_t lines_ = 0, bytes_ = 0;  // of part_
};

}  // namespace

Result<NamedJobs> NamedJobs::make(const ClusterState& state, const api::ListJobs& request) {
  const auto keys = named_jobs(state, request);
  if (!keys) return fail(keys.error());
  NamedJobs named;
  named.all_ = keys->empty();
  for (const JobKey& key : *keys)
    if (!key.task.is_none()) named.jobs_[key.job].insert(key.task.value);
  for (const JobKey& key : *keys)
    if (key.task.is_none()) named.jobs_[key.job].clear();
  return named;
}

bool NamedJobs::has(const JobKey& key) const {
  if (all_) return true;
  const auto found = jobs_.find(key.job);
  if (found == jobs_.end()) return false;
  return key.task.is_none() || found->second.empty() || found->second.contains(key.task.value);
}

const std::set<std::uint32_t>* NamedJobs::tasks_of(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() || found->second.empty() ? nullptr : &found->second;
}

Result<std::optional<api::Watched>> changes_since(const View& view, const Policy& policy,
                                                  const api::ListJobs& request,
                                                  const NamedJobs& named, const ChangeLog& log,
                                                  std::uint64_t position, Time now,
                                                  Identity* identity) {
  auto filter = JobFilter::make(*view.state, request, now);
  if (!filter) return fail(filter.error());
  api::ListJobs any_state = request;
  any_state.clear_states();
  auto of_any_state = JobFilter::make(*view.state, any_state, now);
  if (!of_any_state) return fail(of_any_state.error());

  Part part(view, policy, request, named, std::move(*filter), std::move(*of_any_state), now,
            identity);
  std::map<JobKey, Merged> merged;
  log.for_each_from(position, [&](const JobChange& change) {
    if (!named.has(change.key)) return;
    Merged& one = merged[change.key];
    one.reason = one.reason || change.reason;
    one.start = one.start || change.start;
    one.contact = one.contact || change.contact;
    if (!change.record) return;
    if (!one.record) {
      one.first = change.before;
      one.appeared = !change.before;
    }
    one.record = true;
    one.last = change.before;
    one.listed = one.listed || (change.before && part.passes(*change.before));
  });
  if (merged.size() > kMostChanges) return std::optional<api::Watched>();
  for (const auto& [key, one] : merged) {
    part.add(key, one);
    if (part.is_too_large()) return std::optional<api::Watched>();
  }

  api::Watched out = part.take();
  out.set_kind(api::Watched::CHANGES);
  out.mutable_jobs()->set_now(now.time_since_epoch().count());
  out.mutable_jobs()->set_lsn(view.state->lsn.value());
  out.mutable_jobs()->set_cluster(policy.cluster_name);
  out.set_lsn(view.state->lsn.value());
  return std::optional(std::move(out));
}

}  // namespace ares::aresctld
