#include "core/sched/shapes.h"

#include <algorithm>

#include "core/sched/explain.h"

namespace ares::core::sched {

NodeSet Shape::nodes() const {
  return {use_fallback_ ? candidates.fallback : candidates.usable, candidates.required};
}

bool Shape::known_blocked(std::optional<Seconds> limit) const {
  if (blocked) return true;
  if (!blocked_by_promise) return false;
  return !limit || (blocked_limit && *limit >= *blocked_limit);
}

void Shape::note_promise(std::optional<Seconds> limit) {
  if (!blocked_by_promise || !blocked_limit || (limit && *limit < *blocked_limit))
    blocked_limit = limit;
  blocked_by_promise = true;
}

Shape& Shapes::of(const QueueEntry& entry, Work& work) {
  const std::size_t hash = shape_hash(*entry.job) ^ std::hash<const void*>{}(entry.partition);
  std::vector<Shape*>& same_hash = by_hash_[hash];
  for (Shape* shape : same_hash)
    if (shape->partition == entry.partition && same_shape(*shape->example, *entry.job))
      return *shape;

  Shape& shape = shapes_.emplace_back();
  shape.example = entry.job;
  shape.partition = entry.partition;
  shape.demand = make_demand(*entry.job->spec, *entry.partition, index_);
  shape.candidates = filter(*entry.job, *entry.partition, index_);
  // Nodes that failed to launch the job are avoided only as long as it can run without them.
  if (!entry.job->excluded.empty() &&
      !fit_on(shape.demand, shape.nodes(), index_, Against::totals, work))
    shape.use_fallback_ = true;
  same_hash.push_back(&shape);
  return shape;
}

bool Shapes::possible(Shape& shape, Work& work) {
  if (shape.possible) return *shape.possible;
  shape.possible = shape.candidates.problem.empty() &&
                   fit_on(shape.demand, shape.nodes(), index_, Against::totals, work).has_value();
  if (!*shape.possible) {
    const NodeSet members{shape.candidates.members, shape.candidates.required};
    const bool if_up = shape.candidates.problem.empty() &&
                       fit_on(shape.demand, members, index_, Against::totals, work).has_value();
    shape.impossible = explain_impossible(shape, index_, if_up);
  }
  return *shape.possible;
}

}  // namespace ares::core::sched
