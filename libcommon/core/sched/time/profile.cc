#include "core/sched/time/profile.h"

#include <algorithm>

namespace ares::core::sched {
namespace {

constexpr auto kHorizon = std::chrono::hours(24 * 365 * 10);
// An attempt that is past its end, or ending, is expected to release its resources after this time.
constexpr auto kMoment = std::chrono::seconds(1);

}  // namespace

NodeProfile::NodeProfile(Time now, const Amounts& free)
    : stride_(free.size()), times_{now}, rows_(free) {}

std::size_t NodeProfile::step_at(Time at) const {
  const auto after = std::upper_bound(times_.begin(), times_.end(), at);
  return after == times_.begin() ? 0 : static_cast<std::size_t>(after - times_.begin()) - 1;
}

std::size_t NodeProfile::split_at(Time at) {
  const std::size_t step = step_at(at);
  if (times_[step] >= at) return step;
  if (step + 1 == times_.size()) {
    times_.push_back(at);
    rows_.resize(rows_.size() + stride_);
    std::copy_n(rows_.end() - static_cast<std::ptrdiff_t>(2 * stride_), stride_,
                rows_.end() - static_cast<std::ptrdiff_t>(stride_));
    return step + 1;
  }
  const auto next = static_cast<std::ptrdiff_t>(step + 1);
  times_.insert(times_.begin() + next, at);
  const std::vector<std::int64_t> row(
      rows_.begin() + static_cast<std::ptrdiff_t>(step * stride_),
      rows_.begin() + static_cast<std::ptrdiff_t>((step + 1) * stride_));
  rows_.insert(rows_.begin() + next * static_cast<std::ptrdiff_t>(stride_), row.begin(), row.end());
  return step + 1;
}

void NodeProfile::release(Time from, std::span<const std::int64_t> amounts) {
  const std::size_t first = split_at(from);
  for (std::size_t at = first * stride_; at < rows_.size(); ++at)
    rows_[at] += amounts[at % stride_];
}

void NodeProfile::take(Time from, std::optional<Time> to, std::span<const std::int64_t> amounts) {
  const std::size_t first = split_at(from);
  const std::size_t last = to ? split_at(*to) : times_.size();
  for (std::size_t step = first; step < last; ++step)
    for (std::size_t column = 0; column < stride_; ++column)
      rows_[step * stride_ + column] -= amounts[column];
}

void NodeProfile::min_free(Time from, std::optional<Time> to, std::span<std::int64_t> out) const {
  std::size_t step = step_at(from);
  std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(step * stride_), stride_, out.begin());
  if (!falls_) return;
  for (++step; step < times_.size() && (!to || times_[step] < *to); ++step)
    for (std::size_t column = 0; column < stride_; ++column)
      out[column] = std::min(out[column], rows_[step * stride_ + column]);
}

Profile::Profile(const ClusterState& state, const ClusterIndex& index, ExpectedReleases& releases,
                 Time now)
    : state_(state),
      index_(index),
      releases_(releases),
      now_(now),
      horizon_(now + kHorizon),
      slots_(index.nodes().size(), 0),
      touched_(index.nodes().size()),
      planned_nodes_(index.nodes().size()) {}

Time Profile::effective_end(Time end) const {
  return end == Time::max() ? horizon_ : std::max(end, now_ + kMoment);
}

NodeProfile& Profile::node_profile(NodeIndex at) const {
  if (NodeProfile* profile = find_node_profile(at)) return *profile;
  NodeProfile& profile = nodes_.emplace_back(now_, index_.nodes()[at].free);
  slots_[at] = static_cast<std::uint32_t>(nodes_.size());
  const ExpectedReleases::NodeReleases& releases = releases_.of(at, state_, index_, now_);
  const std::size_t stride = index_.stride();
  for (std::size_t i = 0; i < releases.ends.size(); ++i)
    profile.release(effective_end(releases.ends[i]),
                    std::span(releases.amounts).subspan(i * stride, stride));
  if (const auto started = started_.find(at); started != started_.end())
    for (const Started& start : started->second) {
      if (start.from)
        profile.take(*start.from, start.end, start.amounts);
      else
        profile.release(start.end, start.amounts);
    }
  return profile;
}

void Profile::min_free(NodeIndex at, Time from, std::optional<Time> to,
                       std::span<std::int64_t> out) const {
  if (touched_.test(at)) return node_profile(at).min_free(from, to, out);
  const Amounts& free = index_.nodes()[at].free;
  std::copy(free.begin(), free.end(), out.begin());
  if (from <= now_) return;
  const ExpectedReleases::NodeReleases& releases = releases_.of(at, state_, index_, now_);
  for (std::size_t i = 0; i < releases.ends.size() && effective_end(releases.ends[i]) <= from; ++i)
    for (std::size_t column = 0; column < out.size(); ++column)
      out[column] += releases.amounts[i * out.size() + column];
}

Time Profile::last_release(NodeIndex at, Time until) const {
  const ExpectedReleases::NodeReleases& releases = releases_.of(at, state_, index_, now_);
  const std::size_t stride = index_.stride();
  auto end = std::upper_bound(releases.ends.begin(), releases.ends.end(), until,
                              [&](Time a, Time b) { return a < effective_end(b); });
  while (end != releases.ends.begin()) {
    --end;
    const auto row = releases.amounts.begin() +
                     (end - releases.ends.begin()) * static_cast<std::ptrdiff_t>(stride);
    if (std::any_of(row, row + static_cast<std::ptrdiff_t>(stride),
                    [](std::int64_t amount) { return amount != 0; }))
      return effective_end(*end);
  }
  return now_;
}

std::optional<Time> Profile::end_of(Time from, std::optional<Seconds> limit) {
  if (!limit) return std::nullopt;
  return from + *limit;
}

// A running job without a time limit counts until the horizon, as all such jobs do.
void Profile::start(const Placement& placement, std::optional<Seconds> limit, const JobSpec& spec) {
  const Time end = end_of(now_, limit).value_or(horizon_);
  any_exclusive_user_ = any_exclusive_user_ || spec.exclusive_user;
  for (const PlacedShare& share : placement) {
    arrived_[share.node].push_back({end, spec.uid, spec.exclusive_user});
    touched_.set(share.node);
    if (NodeProfile* made = find_node_profile(share.node))
      made->take(now_, end, share.amounts);
    else
      started_[share.node].push_back({end, share.amounts});
    if (share.part && share.part->gpu) record_sharer(share, end);
  }
}

// A job that joins a device uses it alone from the end of the other sharers until its own end.
void Profile::record_sharer(const PlacedShare& share, Time end) {
  const PlacedPart& part = *share.part;
  const auto until = part.joins ? shared_until(share.node, *part.gpu) : std::nullopt;
  sharers_[share.node].push_back({*part.gpu, end});
  if (!until || end <= *until) return;
  Amounts one(index_.stride(), 0);
  one[part.column] = 1;
  if (NodeProfile* made = find_node_profile(share.node))
    made->take(*until, end, one);
  else
    started_[share.node].push_back({end, one, *until});
}

std::optional<Time> Profile::shared_until(NodeIndex at, GpuIndex gpu) const {
  std::optional<Time> until;
  for (const auto& [shared, end] : releases_.of(at, state_, index_, now_).shared)
    if (shared == gpu) until = effective_end(end);
  if (const auto here = sharers_.find(at); here != sharers_.end())
    for (const Sharer& one : here->second)
      if (one.gpu == gpu) until = std::max(until.value_or(one.end), one.end);
  return until;
}

bool Profile::admits(NodeIndex at, const AccessRequest& access, Time from, std::optional<Time> to,
                     const std::set<AttemptKey>* gone) const {
  if (!index_.reservations().admits(at, access, from, to)) return false;
  if (!access.exclusive_user && index_.admits(at, access)) return true;
  const NodeTenants& tenants = index_.nodes()[at].tenants;
  if (access.exclusive_user && has_planned_start(at)) return false;
  if (from <= now_ || tenants.admits(access)) return tenants.admits(access);
  for (const Charge& charge : index_.nodes()[at].node->charges)
    if (conflicts(access, charge.user, charge.exclusive_user) &&
        !(gone && gone->contains(charge.attempt)) &&
        expected_end(state_, charge, now_).value_or(horizon_) > from)
      return false;
  const auto arrived = arrived_.find(at);
  if (arrived == arrived_.end()) return true;
  for (const Arrival& one : arrived->second)
    if ((access.exclusive_user ? one.user != access.user : one.exclusive) && one.end > from)
      return false;
  return true;
}

void Profile::release_early(NodeIndex at, Time from, std::optional<Time> end,
                            const Amounts& amounts) {
  const Time until = effective_end(end.value_or(Time::max()));
  if (until <= from) return;
  Amounts back = amounts;
  for (std::int64_t& amount : back) amount = -amount;
  node_profile(at).take(from, until, back);
  touched_.set(at);
}

void Profile::add_planned_start_until(const Placement& placement, Time from,
                                      std::optional<Time> to) {
  for (const PlacedShare& share : placement) {
    NodeProfile& node = node_profile(share.node);
    node.take(from, to, share.amounts);
    node.set_falls();
    touched_.set(share.node);
    planned_nodes_.set(share.node);
  }
  any_planned_start_ = any_planned_start_ || !placement.empty();
}

}  // namespace ares::core::sched
