#include "aresctld/accounting/waiting_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/sched/queue/shown_priority.h"
#include "model/job/requested.h"
#include "proto/convert.h"
#include "store/pg/catalogue.h"
#include "store/pg/pg_params.h"

namespace ares::aresctld {
namespace {

using Row = api::AccountingRow;

std::int64_t micros(Time t) {
  return t.time_since_epoch().count();
}

template <class T>
class AnyOf {
 public:
  explicit AnyOf(const std::vector<T>& values) : values_(values.begin(), values.end()) {}
  bool passes(const T& value) const { return values_.empty() || values_.contains(value); }
  bool contains(const T& value) const { return values_.contains(value); }
  bool empty() const { return values_.empty(); }

 private:
  std::set<T> values_;
};

bool within(const store::Range& range, std::int64_t value) {
  return (!range.least || value >= *range.least) && (!range.most || value <= *range.most);
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

// None = unlimited.
std::optional<std::int64_t> time_limit(const ClusterState& state, const Job& job) {
  std::optional<Seconds> limit = job.time_limit;
  if (!limit && !job.spec->partitions.empty())
    if (const Partition* partition = state.partitions.find(job.spec->partitions.front()))
      limit = partition->default_time ? partition->default_time : partition->max_time;
  if (!limit || limit->count() <= 0) return std::nullopt;
  return limit->count();
}

class Filter {
 public:
  explicit Filter(const store::AccountingFilter& from)
      : from_(from),
        users_(from.users),
        accounts_(from.accounts),
        partitions_(from.partitions),
        names_(from.names),
        qos_(from.qos),
        wckeys_(from.wckeys),
        uids_(from.uids),
        gids_(from.gids),
        states_(from.states) {}

  // Whether any pending job can pass the filter.
  bool any() const { return states_.passes("PENDING") && from_.nodes.empty(); }

  bool passes(const ClusterState& state, const Job& job) const {
    const JobSpec& spec = *job.spec;
    const bool anybody = users_.empty() && uids_.empty();
    if (!anybody && !users_.contains(spec.user) && !uids_.contains(spec.uid.value())) return false;
    if (!gids_.passes(spec.gid.value()) || !accounts_.passes(spec.account) ||
        !names_.passes(spec.name) || !qos_.passes(spec.qos) || !wckeys_.passes(spec.wckey))
      return false;
    if (!partitions_.empty() &&
        std::none_of(spec.partitions.begin(), spec.partitions.end(),
                     [&](const std::string& p) { return partitions_.contains(p); }))
      return false;
    if (from_.end && job.submitted > *from_.end) return false;
    if (!within(from_.node_count, spec.min_nodes) ||
        !within(from_.cpus, static_cast<std::int64_t>(requested_cpus(spec))))
      return false;
    if (!from_.time_limit.least && !from_.time_limit.most) return true;
    const auto limit = time_limit(state, job);
    return limit ? within(from_.time_limit, *limit) : !from_.time_limit.most;
  }

 private:
  const store::AccountingFilter& from_;
  AnyOf<std::string> users_, accounts_, partitions_, names_, qos_, wckeys_;
  AnyOf<std::uint64_t> uids_, gids_;
  AnyOf<std::string> states_;
};

// A pending record; of an array also the requested tasks. None = all tasks.
struct Found {
  JobKey key;
  std::optional<IntervalSet> tasks;
};

struct InOrder {
  bool operator()(const JobKey& a, const JobKey& b) const { return store::row_before(a, b); }
};

// Resolves job ids to pending records.
class Named {
 public:
  Named(const ClusterState& state, const std::vector<JobKey>& ids) : state_(state) {
    std::vector<JobKey> unknown;
    for (const JobKey& id : ids)
      if (!add(id) && id.task.is_none()) unknown.push_back(id);
    if (!unknown.empty()) add_by_own_id(unknown);
  }

  std::vector<Found> take() const {
    std::vector<Found> found;
    for (const auto& [key, tasks] : found_) found.push_back({key, tasks});
    return found;
  }

 private:
  bool add(const JobKey& id) {
    if (!id.task.is_none()) {
      if (state_.jobs.find(id)) return whole(id);
      const JobKey array_key{id.job, {}};
      const Job* array = state_.jobs.find(array_key);
      if (!array || !array->array || !array->array->waiting.contains(id.task.value)) return false;
      const auto known = found_.find(array_key);
      if (known == found_.end())
        found_[array_key] = IntervalSet{};
      else if (!known->second)
        return true;  // the whole array was requested
      found_[array_key]->insert(id.task.value);
      return true;
    }
    bool any = false;
    state_.jobs.for_each_from(JobKey{id.job, TaskIndex{0}}, [&](const JobKey& at, const Job&) {
      if (at.job != id.job) return false;
      return any = whole(at);
    });
    return any;
  }

  bool whole(const JobKey& key) {
    found_[key] = std::nullopt;
    return true;
  }

  // The job ids of an array's tasks follow that of the array.
  void add_by_own_id(const std::vector<JobKey>& ids) {
    std::map<JobId, const Job*> arrays;
    state_.pending.for_each([&](const JobKey& key, const Lsn&) {
      const Job* job = state_.jobs.find(key);
      if (job && job->array) arrays.emplace(key.job, job);
    });
    for (const JobKey& id : ids) {
      auto after = arrays.upper_bound(id.job);
      if (after == arrays.begin()) continue;
      const Job& array = *std::prev(after)->second;
      std::uint64_t rank = id.job.value() - array.key.job.value();  // from 1
      for (const IntervalSet::Interval& run : array.spec->array->intervals()) {
        const std::uint64_t size = std::uint64_t{run.last} - run.first + 1;
        if (rank <= size) {
          add(JobKey{array.key.job, TaskIndex{static_cast<std::uint32_t>(run.first + rank - 1)}});
          break;
        }
        rank -= size;
      }
    }
  }

  const ClusterState& state_;
  std::map<JobKey, std::optional<IntervalSet>, InOrder> found_;
};

class Writer {
 public:
  Writer(const View& view, const Policy& policy, const store::AccountingFilter& filter, Time now)
      : view_(view),
        priorities_(*view.state, policy, now),
        priority_(wanted(filter, Row::kPriorityFieldNumber)),
        reason_(wanted(filter, Row::kReasonFieldNumber)),
        resources_(wanted(filter, Row::kRequestedTresFieldNumber)) {}

  void write(const Job& job, const std::optional<IntervalSet>& tasks, Row& out) {
    const JobSpec& spec = *job.spec;
    proto::to_api(job.key, out.mutable_key());
    out.set_own_id(job.own_id.value());
    out.set_attempt(job.attempt.value() == 0 ? 0 : job.attempt.next().value());
    out.set_name(spec.name);
    out.set_user(spec.user);
    out.set_uid(spec.uid.value());
    out.set_gid(spec.gid.value());
    out.set_account(spec.account);
    out.set_qos(spec.qos);
    out.set_wckey(spec.wckey.get());
    out.set_partition(join(spec.partitions));
    out.set_state(std::string(to_string(JobState::pending)));
    out.set_submitted(micros(job.submitted));
    out.set_eligible(micros(job.eligible));
    if (const auto limit = time_limit(*view_.state, job)) out.set_time_limit(*limit);
    out.set_tasks(spec.tasks);
    if (priority_) out.set_priority(priorities_.of(job));
    out.set_restarts(job.restarts);
    out.set_exclusive(spec.exclusive);
    if (reason_) out.set_reason(std::string(to_string(reason(job))));
    if (resources_)
      out.set_requested_tres(store::Catalogue::text(store::Catalogue::requested(spec)));
    if (job.array) write_tasks(job, tasks ? *tasks : job.array->waiting, out);
    out.set_cause(store::clean_text(job.cause));
    write_texts(spec, out);
  }

 private:
  static bool wanted(const store::AccountingFilter& filter, int field) {
    return filter.fields.empty() || std::find(filter.fields.begin(), filter.fields.end(),
                                              std::uint32_t(field)) != filter.fields.end();
  }

  Reason reason(const Job& job) const {
    if (job.hold == Hold::none && !job.dependency_failed)
      if (const PendingInfo* found = view_.pending->find(job.key)) return found->reason;
    return job.reason;
  }

  static void write_tasks(const Job& job, const IntervalSet& tasks, Row& out) {
    std::string text = format_interval_set(tasks);
    if (job.array->throttle > 0) text += "%" + std::to_string(job.array->throttle);
    out.set_array_tasks(std::move(text));
  }

  static void write_texts(const JobSpec& spec, Row& out) {
    if (spec.array) out.set_array_spec(format_interval_set(*spec.array));
    out.set_work_dir(spec.work_dir);
    out.set_submit_host(spec.submit_host);
    out.set_submit_zone(spec.submit_zone);
    out.set_comment(spec.comment.get());
    std::string features;
    for (const std::string& feature : spec.features)
      features += (features.empty() ? "" : "&") + feature;
    out.set_constraints(std::move(features));
    out.set_std_in(spec.std_in.get());
    out.set_std_out(spec.std_out);
    out.set_std_err(spec.std_err.get());
    out.set_submit_line(spec.submit_line);
    out.set_reservations(join(spec.reservations));
    out.set_segment(spec.segment);
    out.set_exclusive_user(spec.exclusive_user);
    if (spec.container) out.set_container_image(spec.container->image);
    out.set_extra(spec.extra.get());
  }

  const View& view_;
  core::sched::ShownPriorities priorities_;
  const bool priority_;
  const bool reason_, resources_;
};

bool waits(const Job& job) {
  return is_queued(job) && (!job.array || !job.array->waiting.empty());
}

}  // namespace

api::AccountingRows waiting_rows(const View& view, const Policy& policy,
                                 const store::AccountingFilter& filter, std::uint32_t limit,
                                 Time now) {
  api::AccountingRows out;
  const Filter test(filter);
  if (!test.any()) return out;
  const ClusterState& state = *view.state;
  Writer writer(view, policy, filter, now);
  const auto add = [&](const JobKey& key, const std::optional<IntervalSet>& tasks) {
    if (filter.after && !store::row_before(*filter.after, key)) return;
    const Job* job = state.jobs.find(key);
    if (job && waits(*job) && test.passes(state, *job)) writer.write(*job, tasks, *out.add_rows());
  };
  // The next page starts after all rows of the last job examined.
  const auto full = [&](const JobKey& last) {
    if (static_cast<std::uint32_t>(out.rows_size()) < limit) return false;
    out.set_more(true);
    proto::to_api(last, out.mutable_last());
    return true;
  };

  if (!filter.jobs.empty()) {
    std::optional<JobKey> last;
    for (const Found& found : Named(state, filter.jobs).take()) {
      if (last && full(*last)) break;
      add(found.key, found.tasks);
      last = found.key;
    }
    return out;
  }

  // In a view an array's own record follows its tasks, in accounting it precedes them.
  std::vector<JobKey> group;
  const auto flush = [&] {
    std::sort(group.begin(), group.end(), InOrder{});
    for (const JobKey& key : group) add(key, std::nullopt);
    const bool stop = !group.empty() && full(group.back());
    group.clear();
    return stop;
  };
  bool stopped = false;
  const JobKey first = filter.after ? JobKey{filter.after->job, TaskIndex{0}} : JobKey{};
  state.pending.for_each_from(JobKey{first.job, TaskIndex{0}}, [&](const JobKey& key, const Lsn&) {
    if (!group.empty() && group.back().job != key.job && flush()) {
      stopped = true;
      return false;
    }
    group.push_back(key);
    return true;
  });
  if (!stopped && flush()) {
    out.set_more(false);  // it was the last row
    out.clear_last();
  }
  return out;
}

}  // namespace ares::aresctld
