#include "core/sched/profile.h"

#include <algorithm>

namespace ares::core::sched {
namespace {

constexpr auto kHorizon = std::chrono::hours(24 * 365 * 10);
// An attempt past its limit is being killed: it counts as gone in a moment, again at every pass.
constexpr auto kOverdue = std::chrono::seconds(1);

// When the attempt behind a charge will let go, as far as the state knows.
std::optional<Time> expected_end(const ClusterState& state, const Charge& charge, Time now) {
  const Job* job = state.jobs.find(charge.attempt.job);
  if (!job || job->attempt != charge.attempt.attempt || !job->allocation) return std::nullopt;
  if (job->ending || job->state == JobState::completing) return now + kOverdue;
  if (!job->allocation->time_limit) return std::nullopt;
  const Time from = job->started ? *job->started : std::max(job->allocation->at, now);
  return std::max(from + *job->allocation->time_limit, now + kOverdue);
}

// A charge as amounts of its node, in the index's columns.
Amounts amounts_of(const ClusterIndex& index, const IndexedNode& node, const Charge& charge) {
  Amounts amounts(index.stride(), 0);
  amounts[kCpus] = charge.cpus;
  amounts[kMemory] = charge.memory.value();
  for (const Gpu& gpu : node.node->inventory.gpus)
    if (std::find(charge.gpus.begin(), charge.gpus.end(), gpu.index) != charge.gpus.end())
      if (const auto column = index.gpu_column(gpu.type)) ++amounts[*column];
  return amounts;
}

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
  const auto next = static_cast<std::ptrdiff_t>(step + 1);
  times_.insert(times_.begin() + next, at);
  const std::vector<std::int64_t> row(
      rows_.begin() + static_cast<std::ptrdiff_t>(step * stride_),
      rows_.begin() + static_cast<std::ptrdiff_t>((step + 1) * stride_));
  rows_.insert(rows_.begin() + next * static_cast<std::ptrdiff_t>(stride_), row.begin(), row.end());
  return step + 1;
}

void NodeProfile::take(Time from, std::optional<Time> to, std::span<const std::int64_t> amounts) {
  const std::size_t first = split_at(from);
  const std::size_t last = to ? split_at(*to) : times_.size();
  for (std::size_t step = first; step < last; ++step)
    for (std::size_t column = 0; column < stride_; ++column)
      rows_[step * stride_ + column] -= amounts[column];
}

void NodeProfile::least(Time from, std::optional<Time> to, std::span<std::int64_t> out) const {
  std::size_t step = step_at(from);
  std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(step * stride_), stride_, out.begin());
  if (!falls_) return;
  for (++step; step < times_.size() && (!to || times_[step] < *to); ++step)
    for (std::size_t column = 0; column < stride_; ++column)
      out[column] = std::min(out[column], rows_[step * stride_ + column]);
}

Profile::Profile(const ClusterState& state, const ClusterIndex& index, Time now)
    : now_(now), horizon_(now + kHorizon) {
  nodes_.reserve(index.nodes().size());
  for (const IndexedNode& node : index.nodes()) {
    NodeProfile& profile = nodes_.emplace_back(now, node.free);
    for (const Charge& charge : node.node->charges) {
      Amounts given_back = amounts_of(index, node, charge);
      for (std::int64_t& amount : given_back) amount = -amount;
      profile.take(expected_end(state, charge, now).value_or(horizon_), std::nullopt, given_back);
    }
    // An over-committed node (it came back smaller) has less free than the charges give back.
    Amounts row(index.stride());
    profile.least(horizon_, std::nullopt, row);
    for (std::size_t column = 0; column < row.size(); ++column)
      row[column] = std::max<std::int64_t>(row[column] - node.total[column], 0);
    if (std::any_of(row.begin(), row.end(), [](std::int64_t amount) { return amount > 0; }))
      profile = NodeProfile(now, node.free);
  }
}

std::optional<Time> Profile::end_of(Time from, std::optional<Seconds> limit) {
  if (!limit) return std::nullopt;
  return from + *limit;
}

// Once it runs, a job without a limit counts like all that do: up to the horizon.
void Profile::start(const Placement& placement, std::optional<Seconds> limit) {
  for (const PlacedShare& share : placement)
    nodes_[share.node].take(now_, end_of(now_, limit).value_or(horizon_), share.amounts);
}

void Profile::reserve(const Placement& placement, Time from, std::optional<Seconds> limit) {
  for (const PlacedShare& share : placement) {
    nodes_[share.node].take(from, end_of(from, limit), share.amounts);
    nodes_[share.node].set_falls();
  }
}

}  // namespace ares::core::sched
