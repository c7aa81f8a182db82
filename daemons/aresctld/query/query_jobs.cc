#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "aresctld/query/queries.h"
#include "aresctld/query/query_filter.h"
#include "aresctld/query/query_rows.h"
#include "aresctld/query/row_page.h"
#include "proto/convert.h"

namespace ares::aresctld {
namespace {

// Records from `first` to `last`; with `waiting` only that task of the array's record.
struct Range {
  JobKey first, last;
  std::optional<std::uint32_t> waiting;
};
constexpr Range kEverything{
    {JobId(0), TaskIndex{0}}, {JobId(UINT64_MAX), TaskIndex{}}, std::nullopt};

// End of the previous page: after `record`, or after a waiting task within it.
struct Position {
  std::uint32_t range = 0;
  JobKey record{};
  std::optional<std::uint32_t> waiting;
};

// Records of a job id: a job, an array with its tasks, one task, or a task's own id. None: unknown.
std::optional<Range> range_of(const ClusterState& state, JobKey key) {
  if (!key.task.is_none()) {
    if (state.jobs.find(key)) return Range{key, key, std::nullopt};
    const JobKey array_key{key.job, {}};
    const Job* array = state.jobs.find(array_key);
    if (!array || !array->array || !array->array->waiting.contains(key.task.value))
      return std::nullopt;
    return Range{array_key, array_key, key.task.value};
  }
  const auto* below = state.jobs.last_below(JobKey{key.job.next(), TaskIndex{0}});
  if (!below) return std::nullopt;
  if (below->first.job == key.job)
    return Range{{key.job, TaskIndex{0}}, {key.job, TaskIndex{}}, std::nullopt};
  // An array reserves the job ids after its own for its tasks.
  const Job& array = *below->second;
  if (!array.spec->array) return std::nullopt;
  std::uint64_t rank = key.job.value() - array.key.job.value() - 1;
  for (const IntervalSet::Interval& run : array.spec->array->intervals()) {
    const std::uint64_t size = std::uint64_t{run.last} - run.first + 1;
    if (rank < size)
      return range_of(state,
                      {array.key.job, TaskIndex{run.first + static_cast<std::uint32_t>(rank)}});
    rank -= size;
  }
  return std::nullopt;
}

// One answer: collects rows until it is full.
class Page {
 public:
  Page(const View& view, const Policy& policy, const api::ListJobs& request, Time now,
       Identity* identity)
      : request_(request),
        fields_(request.fields().data(), static_cast<std::size_t>(request.fields_size())),
        rows_(view, policy,
              fields_.empty() ? ShownFields::everything(request.details())
                              : ShownFields::only(fields_),
              !request.jobs().empty(), now, identity),
        page_(fields_, request.page()) {}

  bool full() const { return page_.full(); }
  bool empty() const { return page_.empty(); }

  void add(const Job& job, std::optional<std::uint32_t> waiting = std::nullopt) {
    rows_.describe(job, waiting, scratch_);
    page_.add(scratch_);
  }

  // Adds a record's row, or rows of its waiting tasks after `after`. Returns the last one if full.
  std::optional<std::uint32_t> add_record(const Job& job, std::optional<std::uint32_t> after) {
    if (!job.array || !request_.expand_arrays() || job.array->waiting.empty()) {
      // An array's record is shown while tasks wait in it, or if details are requested.
      if (!job.array || !job.array->waiting.empty() || request_.details()) add(job);
      return std::nullopt;
    }
    for (const std::uint32_t task : job.array->waiting) {
      if (after && task <= *after) continue;
      add(job, task);
      if (full() && task != job.array->waiting.back()) return task;
    }
    return std::nullopt;
  }

  api::Jobs take() {
    api::Jobs out;
    page_.move_to(out, *out.mutable_jobs());
    return out;
  }

 private:
  const api::ListJobs& request_;
  const std::span<const std::uint32_t> fields_;
  JobRows rows_;
  RowPage<api::Job> page_;
  api::Job scratch_;
};

// Adds the rows of a range after `from`. Returns the position to continue from if the page is full.
std::optional<Position> add_range(const ClusterState& state, const JobFilter& filter,
                                  const Range& range, const std::optional<Position>& from,
                                  Page& page) {
  std::optional<Position> stopped;
  const JobKey first = from ? std::max(from->record, range.first) : range.first;
  state.jobs.for_each_from(first, [&](const JobKey& key, const Job& job) {
    if (key > range.last) return false;
    const bool resumed = from && key == from->record;
    if (resumed && !from->waiting) return true;
    if (!filter.passes(job)) return true;
    std::optional<std::uint32_t> reached;
    if (range.waiting)
      page.add(job, range.waiting);
    else
      reached = page.add_record(job, resumed ? from->waiting : std::nullopt);
    if (!page.full()) return true;
    stopped = Position{0, key, reached};
    return false;
  });
  return stopped;
}

Result<std::optional<Position>> position_of(const api::ListJobs& request) {
  if (!request.has_after()) return std::optional<Position>();
  auto key = proto::from_api(request.after().record());
  if (!key) return fail(key.error());
  Position at{request.after().range(), *key, std::nullopt};
  if (request.after().has_waiting()) at.waiting = request.after().waiting();
  return std::optional(at);
}

Error no_such_job(const api::JobRef& ref) {
  return {ErrorCode::not_found, "Invalid job id specified: " + std::to_string(ref.job()) +
                                    (ref.has_task() ? "_" + std::to_string(ref.task()) : "")};
}

// Ranges of the requested ids; unknown ids go to `missing`. Repeated ids are ignored.
Result<std::vector<std::optional<Range>>> ranges_of(const ClusterState& state,
                                                    const api::ListJobs& request,
                                                    std::vector<api::JobRef>& missing) {
  std::vector<std::optional<Range>> ranges;
  std::set<JobKey> named;
  if (request.jobs().empty()) ranges.emplace_back(kEverything);
  for (const auto& ref : request.jobs()) {
    const auto key = proto::from_api(ref);
    if (!key) return fail(key.error());
    if (!named.insert(*key).second) {
      ranges.emplace_back();  // keeps the indexes of the ranges, which positions refer to
      continue;
    }
    ranges.push_back(range_of(state, *key));
    if (!ranges.back()) missing.push_back(ref);
  }
  return ranges;
}

// For an empty result: reports names that do not exist.
Status check_names(const ClusterState& state, const Policy& policy, const api::ListJobs& request) {
  for (const std::string& name : request.partitions())
    if (!state.partitions.find(name))
      return fail(ErrorCode::not_found, "Invalid partition name specified: " + name);
  for (const std::string& name : request.reservations())
    if (!state.reservations.find(name))
      return fail(ErrorCode::not_found, "there is no reservation " + name);
  for (const std::string& name : request.licenses())
    if (!policy.licenses.contains(name))
      return fail(ErrorCode::not_found, "Invalid license specified: " + name);
  return {};
}

}  // namespace

Result<api::Jobs> list_jobs(const View& view, const Policy& policy, const api::ListJobs& request,
                            Time now, Identity* identity) {
  const ClusterState& state = *view.state;
  const auto filter = JobFilter::make(state, request, now);
  if (!filter) return fail(filter.error());
  const auto from = position_of(request);
  if (!from) return fail(from.error());
  std::vector<api::JobRef> missing;
  const auto ranges = ranges_of(state, request, missing);
  if (!ranges) return fail(ranges.error());
  const bool first_page = !request.has_after();
  if (first_page && !missing.empty() && !request.skip_missing())
    return fail(no_such_job(missing.front()));

  Page page(view, policy, request, now, identity);
  std::optional<Position> next;
  for (std::uint32_t i = *from ? (*from)->range : 0; i < ranges->size() && !next; ++i) {
    if (!(*ranges)[i]) continue;
    const bool resumed = *from && (*from)->range == i;
    next = add_range(state, *filter, *(*ranges)[i], resumed ? *from : std::nullopt, page);
    if (next) next->range = i;
  }
  if (first_page && page.empty())
    if (Status known = check_names(state, policy, request); !known) return fail(known.error());

  api::Jobs out = page.take();
  out.set_now(now.time_since_epoch().count());
  out.set_lsn(state.lsn.value());
  out.set_cluster(policy.cluster_name);
  if (first_page)
    for (api::JobRef& ref : missing) *out.add_missing() = std::move(ref);
  if (next) {
    out.mutable_next()->set_range(next->range);
    proto::to_api(next->record, out.mutable_next()->mutable_record());
    if (next->waiting) out.mutable_next()->set_waiting(*next->waiting);
  }
  return out;
}

Result<std::vector<JobKey>> named_jobs(const ClusterState& state, const api::ListJobs& request) {
  std::vector<JobKey> named;
  for (const auto& ref : request.jobs()) {
    const auto key = proto::from_api(ref);
    if (!key) return fail(key.error());
    const auto range = key->task.is_none() ? range_of(state, *key) : std::nullopt;
    if (!range || range->first.job == key->job)
      named.push_back(*key);
    else
      named.push_back(
          {range->first.job, range->waiting ? TaskIndex{*range->waiting} : range->first.task});
  }
  return named;
}

Status check_users(const api::ListJobs& request, Identity& identity) {
  for (const std::string& name : request.users())
    if (!identity.uid_of(name))
      return fail(ErrorCode::not_found, "Invalid user name specified: " + name);
  return {};
}

}  // namespace ares::aresctld
