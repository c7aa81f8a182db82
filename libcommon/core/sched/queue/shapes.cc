#include "core/sched/queue/shapes.h"

#include <algorithm>

#include "core/sched/place/plugged.h"
#include "core/sched/queue/reason_text.h"
#include "model/job/gpu_alternatives.h"

namespace ares::core::sched {
namespace {

// Above so many shapes the table starts anew: they are found again at the cost of one look at the partition's nodes each.
constexpr std::size_t kMostShapes = 10'000;

}  // namespace

bool Shapes::begin_pass() {
  ++pass_;
  if (shapes_.size() <= kMostShapes) return false;
  clear();
  return true;
}

void Shapes::clear() {
  candidates_.clear();
  shapes_.clear();
  by_hash_.clear();
}

Shape& Shapes::of(const QueueEntry& entry, ClusterIndex& index, bool relaxed) {
  const bool by_user = index.by_user();
  const Plugged* plugged = index.plugged();
  const std::size_t hash = shape_hash(*entry.job, by_user) ^
                           std::hash<const void*>{}(entry.partition) ^ (relaxed ? 1 : 0) ^
                           (plugged ? plugged->class_hash(*entry.job, *entry.partition) : 0);
  std::vector<Shape*>& same_hash = by_hash_[hash];
  for (Shape* shape : same_hash)
    if (shape->partition == entry.partition && shape->relaxed == relaxed &&
        same_shape(shape->example, *entry.job, by_user) &&
        index.lifts_max_nodes(*shape->example.spec) == index.lifts_max_nodes(*entry.job->spec) &&
        (!plugged || plugged->same_class(shape->example, *entry.job, *entry.partition)))
      return again(*shape, index);

  Shape& shape = shapes_.emplace_back();
  shape.example.spec = entry.job->spec;
  shape.example.excluded = entry.job->excluded;
  shape.example.key = entry.job->key;  // as plugins may be told, with the next
  shape.example.time_limit = entry.job->time_limit;
  shape.partition = entry.partition;
  shape.relaxed = relaxed;
  same_hash.push_back(&shape);
  learn_alternatives(shape, entry, index);
  return again(shape, index);
}

void Shapes::learn_alternatives(Shape& shape, const QueueEntry& entry, ClusterIndex& index) {
  for (std::size_t i = 0; i < shape.example.spec->gpu_alternatives.size(); ++i) {
    Job one = shape.example;
    one.spec = std::make_shared<const JobSpec>(with_alternative(*shape.example.spec, i));
    shape.alternatives.push_back(&of({&one, entry.partition, entry.choice}, index, shape.relaxed));
  }
}

// Most shapes ask nothing of a node's name and features, and share one answer.
const Candidates& Shapes::candidates_of(const Shape& shape, ClusterIndex& index) {
  if (generation_ != index.generation()) candidates_.clear();
  generation_ = index.generation();
  const JobSpec& spec = *shape.example.spec;
  FilterKey key{shape.partition,     spec.features,     spec.excluded_nodes,
                spec.required_nodes, spec.reservations, shape.example.excluded};
  const auto found = candidates_.find(key);
  if (found != candidates_.end()) return found->second;
  return candidates_.emplace(std::move(key), filter(shape.example, *shape.partition, index))
      .first->second;
}

Shape& Shapes::again(Shape& shape, ClusterIndex& index) {
  for (Shape* alternative : shape.alternatives) again(*alternative, index);
  if (shape.generation_ != index.generation()) {
    shape.generation_ = index.generation();
    shape.demand = make_demand(*shape.example.spec, *shape.partition, index, shape.relaxed);
    if (const Plugged* plugged = index.plugged())
      shape.demand.plugged = plugged->class_of(shape.example, *shape.partition);
    shape.candidates = candidates_of(shape, index);
    shape.possible_.reset();
    shape.impossible.reset();
    shape.lack_ = {};
    // Nodes that failed to launch the job are avoided only as long as it can run without them.
    Work unpaid = Work::unbounded();
    shape.use_fallback_ = false;
    shape.use_fallback_ = !shape.example.excluded.empty() &&
                          !fit_on(shape.demand, shape.nodes(), index, Against::totals, unpaid);
  }
  if (shape.pass_ != pass_) {
    shape.pass_ = pass_;
    shape.blocked = shape.blocked_by_planned_start = shape.kept_out = shape.plugged_out = false;
    shape.reserved = shape.plugged = nullptr;
    shape.blocked_limit.reset();
    shape.planned_at_.reset();
    if (shape.impossible && !shape.impossible->detail.empty()) shape.impossible.reset();
    shape.turn.reset();
    shape.first.reset();
  }
  return shape;
}

// All of the alternatives are impossible; one that waits for nodes to come up may be had one day.
PendingPtr Shapes::none_possible(Shape& shape, const ClusterIndex& index, bool details) {
  PendingInfo info;
  for (Shape* alternative : shape.alternatives) {
    const PendingPtr why = impossible(*alternative, index, details);
    if (!why) return nullptr;
    if (info.reason != Reason::req_node_not_avail) info.reason = why->reason;
    if (!why->detail.empty()) info.detail += (info.detail.empty() ? "" : "; or ") + why->detail;
  }
  if (!shape.impossible || *shape.impossible != info)
    shape.impossible = std::make_shared<const PendingInfo>(std::move(info));
  return shape.impossible;
}

PendingPtr Shapes::impossible(Shape& shape, const ClusterIndex& index, bool details) {
  if (!shape.alternatives.empty()) return none_possible(shape, index, details);
  if (!shape.possible_) {
    Work unpaid = Work::unbounded();
    Demand one_day = shape.demand;
    if (shape.example.spec->switches_wait) one_day.limits.max_leaves = 0;
    const auto fits = [&](NodeSet set) {
      return shape.candidates.problem.empty() &&
             fit_on(one_day, set, index, Against::totals, unpaid).has_value();
    };
    shape.possible_ =
        (shape.candidates.problem.empty() && fits_empty(one_day, shape.nodes(), index)) ||
        fits(shape.nodes());
    shape.if_up_ = !*shape.possible_ && fits({shape.candidates.members, shape.candidates.required});
    shape.refused_for_ever_ = !*shape.possible_ && !shape.if_up_ && shape.demand.plugged &&
                              shape.candidates.problem.empty() &&
                              shape.fits_unplugged(index, Against::totals);
  }
  if (*shape.possible_) return nullptr;
  if (!shape.impossible || (details && shape.impossible->detail.empty())) {
    PendingInfo info = explain_impossible(shape, index, shape.if_up_);
    if (!details) info.detail.clear();
    shape.impossible = std::make_shared<const PendingInfo>(std::move(info));
  }
  return shape.impossible;
}

}  // namespace ares::core::sched
