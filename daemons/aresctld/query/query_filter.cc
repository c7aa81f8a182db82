#include "aresctld/query/query_filter.h"

#include <algorithm>
#include <charconv>

#include "base/printable.h"
#include "core/state/timers.h"

namespace ares::aresctld {

void Users::add_numbers() {
  for (const std::string& name : names_.words()) {
    std::uint32_t uid = 0;
    const char* end = name.data() + name.size();
    if (const auto [rest, error] = std::from_chars(name.data(), end, uid);
        error == std::errc{} && rest == end)
      uids_.insert(uid);
  }
}

JobFilter::JobFilter(const api::ListJobs& from)
    : users_(from.users()),
      not_users_(from.not_users()),
      partitions_(from.partitions()),
      names_(from.names()),
      accounts_(from.accounts()),
      qos_(from.qos()),
      wckeys_(from.wckeys()),
      licenses_(from.licenses()),
      reservations_(from.reservations()) {}

Result<JobFilter> JobFilter::make(const ClusterState& state, const api::ListJobs& request,
                                  Time now) {
  JobFilter filter(request);
  filter.now_ = now;
  for (const auto& name : request.states()) {
    if (name == kSpecialExit) {
      filter.special_exit_ = true;
      continue;
    }
    const auto known = parse_job_state(name);
    if (!known) return fail(ErrorCode::invalid_argument, "unknown job state " + quote(name));
    filter.states_ |= 1u << static_cast<unsigned>(*known);
  }
  for (const auto& name : request.nodes()) {
    const NodeId* node = state.node_ids.find(name);
    if (!node) return fail(ErrorCode::not_found, "Invalid node name specified: " + name);
    filter.nodes_.insert(*node);
  }
  if (request.has_running_over()) filter.over_ = Seconds(request.running_over());
  if (request.has_running_under()) filter.under_ = Seconds(request.running_under());
  return filter;
}

bool JobFilter::passes_state(const Job& job) const {
  if (states_ == 0 && !special_exit_) return true;
  if (special_exit_ && job.state == JobState::pending && job.hold == Hold::special_exit)
    return true;
  return (states_ >> static_cast<unsigned>(job.state) & 1) != 0;
}

bool JobFilter::passes(const Job& job) const {
  const JobSpec& spec = *job.spec;
  if (!passes_state(job)) return false;
  if (!users_.empty() && !users_.has(spec)) return false;
  if (!not_users_.empty() && not_users_.has(spec)) return false;
  return names_.passes(spec.name) && accounts_.passes(spec.account) && qos_.passes(spec.qos) &&
         wckeys_.passes(spec.wckey) && passes_partition(job) && passes_nodes(job) &&
         passes_licenses(job) && passes_run_time(job) &&
         (reservations_.empty() ||
          std::any_of(spec.reservations.begin(), spec.reservations.end(),
                      [&](const std::string& name) { return reservations_.has(name); }));
}

// The allocated partition, or any of the requested ones.
bool JobFilter::passes_partition(const Job& job) const {
  if (partitions_.empty()) return true;
  if (job.allocation) return partitions_.has(job.allocation->partition);
  const auto& asked = job.spec->partitions;
  return std::any_of(asked.begin(), asked.end(),
                     [&](const std::string& name) { return partitions_.has(name); });
}

bool JobFilter::passes_nodes(const Job& job) const {
  if (nodes_.empty()) return true;
  return job.allocation &&
         std::any_of(job.allocation->nodes.begin(), job.allocation->nodes.end(),
                     [&](const NodeShare& share) { return nodes_.contains(share.node); });
}

// An allocated license, or any of the requested ones.
bool JobFilter::passes_licenses(const Job& job) const {
  if (licenses_.empty()) return true;
  const auto& own = job.allocation ? job.allocation->licenses : job.spec->licenses.get();
  return std::any_of(own.begin(), own.end(),
                     [&](const LicenseRequest& r) { return licenses_.has(r.name); });
}

bool JobFilter::passes_run_time(const Job& job) const {
  if (!over_ && !under_) return true;
  if (!job.started || job.ended) return false;
  const auto run = now_ - *job.started - suspended_for(job, now_);
  return (!over_ || run >= *over_) && (!under_ || run <= *under_);
}

}  // namespace ares::aresctld
