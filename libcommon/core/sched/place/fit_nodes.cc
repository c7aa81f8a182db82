#include "core/sched/place/fit_nodes.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

namespace ares::core::sched {
namespace {

std::uint64_t tag_of(const Demand& demand, const Candidate& c) {
  return demand.tags ? demand.tags->of_node[c.offer->node] : 0;
}

std::uint64_t count_bit(const Demand& demand, std::size_t count) {
  return std::uint64_t{1} << (demand.tags->alternatives + count);
}

bool meets_counts(const Demand& demand, std::span<const Candidate> chosen) {
  if (!demand.tags) return true;
  for (std::size_t i = 0; i < demand.tags->counts.size(); ++i) {
    const auto meeting = std::count_if(chosen.begin(), chosen.end(), [&](const Candidate& c) {
      return (tag_of(demand, c) & count_bit(demand, i)) != 0;
    });
    if (static_cast<std::uint64_t>(meeting) < demand.tags->counts[i]) return false;
  }
  return true;
}

// Moves the first candidates that the count clauses need to the front, in their order, after the
// required ones. A node that meets several unmet counts comes before one that meets fewer. Exact if
// no node meets two counts; otherwise the usual greedy cover. Returns the number of candidates at
// the front.
std::size_t counted_first(const Demand& demand, std::vector<Candidate>& all) {
  if (!demand.tags || demand.tags->counts.empty()) return 0;
  std::vector<std::int64_t> missing(demand.tags->counts.begin(), demand.tags->counts.end());
  const auto useful = [&](const Candidate& c) {
    int meets = 0;
    for (std::size_t i = 0; i < missing.size(); ++i)
      meets += missing[i] > 0 && (tag_of(demand, c) & count_bit(demand, i)) ? 1 : 0;
    return meets;
  };
  const auto chosen = [&](const Candidate& c) {
    for (std::size_t i = 0; i < missing.size(); ++i)
      missing[i] -= tag_of(demand, c) & count_bit(demand, i) ? 1 : 0;
  };
  std::size_t front = 0;
  while (front < all.size() && all[front].offer->required) chosen(all[front++]);
  for (; front < all.size(); ++front) {
    auto best = all.end();
    int most = 0;
    for (auto c = all.begin() + static_cast<std::ptrdiff_t>(front); c != all.end(); ++c) {
      if (const int meets = useful(*c); meets > most) {
        most = meets;
        best = c;
      }
      if (most == static_cast<int>(missing.size())) break;
    }
    if (best == all.end()) return front;
    chosen(*best);
    std::rotate(all.begin() + static_cast<std::ptrdiff_t>(front), best, best + 1);
  }
  return front;
}

bool covers(const TypedDemand& typed, std::span<const Candidate> chosen) {
  std::int64_t tasks = 0;
  for (const Candidate& c : chosen) tasks += c.tasks;
  if (tasks < typed.demand.tasks || !meets_counts(typed.demand, chosen)) return false;
  for (std::size_t column = kFirstGpu; column < typed.total.size(); ++column) {
    std::int64_t left = typed.total[column];
    for (const Candidate& c : chosen)
      left -= std::min(left, c.offer->free[column] - typed.per_node[column]);
    if (left > 0) return false;
  }
  return true;
}

// Order of candidates when only feasibility matters: by GPUs, by tasks, by the scarcer of the two,
// as many by GPUs as provide enough GPUs and the rest by tasks; or, for several types of GPUs in
// total, first those that give most of what is missing, of all types or of one type.
enum class LargestBy : std::uint8_t { gpus, tasks, both, enough_gpus, missing, missing_type };

std::size_t types_in_total(const TypedDemand& typed) {
  return static_cast<std::size_t>(
      std::count_if(typed.total.begin(), typed.total.end(), [](auto count) { return count > 0; }));
}

// Moves the candidates that together have the GPUs of all types in total to the front, behind the
// required ones: the usual greedy cover. Exact if every node has one of the types.
void types_first(const TypedDemand& typed, std::vector<Candidate>& all, bool of_one_type) {
  Amounts missing(typed.total.begin(), typed.total.end());
  const auto given = [&](const Candidate& c, std::size_t column) {
    return std::min(missing[column], c.offer->free[column] - typed.per_node[column]);
  };
  const auto useful = [&](const Candidate& c) {
    std::int64_t sum = 0, most = 0;
    for (std::size_t column = kFirstGpu; column < missing.size(); ++column) {
      sum += given(c, column);
      most = std::max(most, given(c, column));
    }
    return of_one_type ? most : sum;
  };
  const auto chosen = [&](const Candidate& c) {
    for (std::size_t column = kFirstGpu; column < missing.size(); ++column)
      missing[column] -= given(c, column);
  };
  auto front = all.begin();
  while (front != all.end() && front->offer->required) chosen(*front++);
  for (; front != all.end(); ++front) {
    auto best = all.end();
    std::int64_t most = 0;
    for (auto c = front; c != all.end(); ++c)
      if (const std::int64_t gives = useful(*c); gives > most) {
        most = gives;
        best = c;
      }
    if (best == all.end()) return;
    chosen(*best);
    std::rotate(front, best, best + 1);
  }
}

// The number of candidates that must be sorted if only `looked_at` of them are used. All of them if
// counts choose among the rest.
std::ptrdiff_t in_order(const Demand& demand, std::size_t all, std::size_t looked_at) {
  return static_cast<std::ptrdiff_t>(demand.tags ? all : std::min(all, looked_at));
}

// Sorts the first `high` candidates.
void sort_largest_first(const TypedDemand& typed, std::vector<Candidate>& all, LargestBy by,
                        std::size_t high) {
  const auto rank = [&](const Candidate& c) {
    const std::int64_t gpus = c.gpus * std::int64_t{typed.demand.tasks};
    const std::int64_t tasks = c.tasks * std::max<std::int64_t>(typed.total_count, 1);
    switch (by) {
      case LargestBy::enough_gpus:
      case LargestBy::missing:
      case LargestBy::missing_type:
      case LargestBy::gpus: return std::tuple(!c.offer->required, -gpus, -tasks, c.offer->node);
      case LargestBy::tasks: return std::tuple(!c.offer->required, -tasks, -gpus, c.offer->node);
      case LargestBy::both: break;
    }
    return std::tuple(!c.offer->required, -std::min(gpus, tasks), -std::max(gpus, tasks),
                      c.offer->node);
  };
  const auto before = [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); };
  const bool by_type = by == LargestBy::missing || by == LargestBy::missing_type;
  if (by == LargestBy::enough_gpus || by_type)
    std::sort(all.begin(), all.end(), before);
  else
    std::partial_sort(all.begin(), all.begin() + in_order(typed.demand, all.size(), high),
                      all.end(), before);
  if (by == LargestBy::enough_gpus) {
    std::int64_t gpus = 0;
    auto rest = all.begin();
    while (rest != all.end() && (rest->offer->required || gpus < typed.total_count))
      gpus += (rest++)->gpus;
    by = LargestBy::tasks;
    std::sort(rest, all.end(), before);
  }
  if (by_type) types_first(typed, all, by == LargestBy::missing_type);
  counted_first(typed.demand, all);
}

// The permitted numbers of nodes, best first. If no limit restricts which nodes can be combined,
// any feasible number works, so the first one is enough.
std::vector<std::size_t> sizes(const Demand& demand, std::size_t low, std::size_t high) {
  const std::size_t segment = demand.limits.segment;
  std::vector<std::size_t> out;
  if (demand.node_counts.empty()) {
    const std::size_t most = high - high % segment;
    if (demand.as_many_nodes && !demand.limited()) return {high};
    for (std::size_t n = low + (segment - low % segment) % segment; n <= most; n += segment)
      out.push_back(n);
    if (demand.as_many_nodes) std::reverse(out.begin(), out.end());
    return out;
  }
  for (const std::uint32_t n : demand.node_counts)
    if (n >= low && n <= high && n % segment == 0) out.push_back(n);
  std::reverse(out.begin(), out.end());
  return out;
}

// Number of nodes to take: the fewest that hold the demand; the most if one task on each node is
// enough; the largest feasible one of given numbers. Considers the largest nodes first, because
// only feasibility matters here. Exact unless GPUs are requested in total over several nodes, which
// is a knapsack problem; four orders are tried for it, and two more for several types.
std::optional<std::size_t> how_many(const TypedDemand& typed, std::vector<Candidate>& all,
                                    std::span<const std::size_t> counts, std::size_t high) {
  for (const LargestBy by : {LargestBy::tasks, LargestBy::gpus, LargestBy::both,
                             LargestBy::enough_gpus, LargestBy::missing, LargestBy::missing_type}) {
    if (by == LargestBy::missing && types_in_total(typed) < 2) break;
    sort_largest_first(typed, all, by, high);
    // More of them hold no less: of ascending numbers the first that suffices, of descending ones the first or none.
    const auto is_too_few = [&](std::size_t n) { return !covers(typed, std::span(all).first(n)); };
    if (!counts.empty() && !is_too_few(high)) {
      if (counts.front() < counts.back()) {
        const auto found = std::partition_point(counts.begin(), counts.end(), is_too_few);
        if (found != counts.end()) return *found;
      } else if (!is_too_few(counts.front())) {
        return counts.front();
      }
    }
    if (typed.total_count == 0) break;
  }
  return std::nullopt;
}

// Whether the candidate can hold an even share of `n` nodes, also of the GPUs of each type.
bool takes_even(const TypedDemand& typed, const Candidate& c, std::int64_t n) {
  if (c.tasks < (typed.demand.tasks + n - 1) / n) return false;
  for (std::size_t column = kFirstGpu; column < typed.total.size(); ++column)
    if (c.offer->free[column] - typed.per_node[column] < (typed.total[column] + n - 1) / n)
      return false;
  return true;
}

// The candidates that can take an even share of `n` nodes, and the required ones, best first. If
// the demand has limits, every required node must be able to, or the result is empty. Then any `n`
// of the result hold the demand, and more free nodes never reduce the choices.
std::vector<Candidate> even_takers(const TypedDemand& typed, std::span<const Candidate> all,
                                   std::size_t n) {
  const auto count = static_cast<std::int64_t>(n);
  const std::int64_t tasks = (typed.demand.tasks + count - 1) / count;
  const std::int64_t gpus = (typed.total_count + count - 1) / count;
  struct Scored {
    bool optional;
    Score score;
    const Candidate* candidate;
  };
  std::vector<Scored> good;
  Amounts take(all.empty() ? 0 : all.front().offer->total.size(), 0);
  const std::size_t shared = typed.demand.gpu_part > 0 ? part_column(typed) : 0;
  for (const Candidate& c : all) {
    if (typed.demand.limited() && !takes_even(typed, c, count)) {
      if (c.offer->required) return {};
      continue;
    }
    if (!c.offer->required && (c.tasks < tasks || c.gpus < gpus)) continue;
    if (looks_at_take(typed.demand.strategy)) {
      charge(typed, *c.offer, tasks, take);
      for (std::size_t column = kFirstGpu; column < typed.total.size(); ++column)
        take[column] = std::min(take[column] + (typed.total[column] + count - 1) / count,
                                c.offer->free[column]);
    }
    good.push_back({!c.offer->required,
                    score(typed.demand, {c.offer, c.tasks, c.spare_gpus, take, shared}), &c});
  }
  const auto better = [](const Scored& a, const Scored& b) {
    return std::tie(a.optional, a.score) < std::tie(b.optional, b.score);
  };
  // Later steps that use more than the first `n` need all of them sorted.
  const bool all_in_order = typed.demand.tags || typed.demand.network;
  const auto end =
      all_in_order || good.size() <= n ? good.end() : good.begin() + static_cast<std::ptrdiff_t>(n);
  std::partial_sort(good.begin(), end, good.end(), better);
  std::vector<Candidate> out;
  for (auto scored = good.begin(); scored != end; ++scored) out.push_back(*scored->candidate);
  return out;
}

// The best choice of `n` nodes, if a choice with an even share on each exists.
std::optional<std::vector<Candidate>> best_even(const TypedDemand& typed,
                                                std::span<const Candidate> all, std::size_t n) {
  std::vector<Candidate> good = even_takers(typed, all, n);
  if (good.size() < n) return std::nullopt;
  counted_first(typed.demand, good);
  good.resize(n);
  if (!covers(typed, good)) return std::nullopt;
  return good;
}

// Like best_even(), but close together in the network and within the demand's limits. Nodes that
// count clauses need are treated as required.
std::optional<std::vector<Candidate>> best_packed(const TypedDemand& typed,
                                                  std::span<const Candidate> all, std::size_t n) {
  std::vector<Candidate> good = even_takers(typed, all, n);
  const std::size_t counted = counted_first(typed.demand, good);
  std::vector<topology::NodeCandidate> offers;
  for (std::size_t i = 0; i < good.size(); ++i)
    offers.push_back({good[i].offer->node, good[i].offer->required || i < counted});
  const auto packed = topology::pack(*typed.demand.network, offers, static_cast<std::uint32_t>(n),
                                     typed.demand.limits);
  if (!packed) return std::nullopt;
  std::vector<Candidate> chosen;
  for (const std::uint32_t i : *packed) chosen.push_back(good[i]);
  if (!covers(typed, chosen)) return std::nullopt;
  return chosen;
}

// The largest number of candidates that the demand's limits let be used together; larger numbers
// need not be tried. Without a network no distances are known, so at most one node can be used.
std::size_t most_together(const Demand& demand, std::span<const Candidate> all) {
  if (!demand.limited()) return all.size();
  const std::size_t alone = demand.limits.segment > 1 ? 0 : std::min<std::size_t>(all.size(), 1);
  if (!demand.network) return alone;
  std::vector<std::size_t> leaves(demand.network->leaves(), 0);
  for (const Candidate& c : all)
    if (const auto leaf = demand.network->leaf_of(c.offer->node); leaf < leaves.size())
      ++leaves[leaf];
  for (std::size_t& nodes : leaves) nodes -= nodes % demand.limits.segment;
  std::sort(leaves.begin(), leaves.end(), std::greater<>{});
  if (demand.limits.max_leaves > 0 && demand.limits.max_leaves < leaves.size())
    leaves.resize(demand.limits.max_leaves);
  return std::max(alone, std::accumulate(leaves.begin(), leaves.end(), std::size_t{0}));
}

// Makes nodes that are neighbours in the network neighbours by rank.
void sort_by_rank(const Demand& demand, std::vector<Candidate>& chosen) {
  const auto key = [&](const Candidate& c) {
    const NodeIndex node = c.offer->node;
    return std::tuple(demand.network ? demand.network->leaf_of(node) : 0, node);
  };
  std::sort(chosen.begin(), chosen.end(),
            [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
}

}  // namespace

std::optional<std::vector<Candidate>> choose_nodes(const TypedDemand& typed,
                                                   std::vector<Candidate> candidates,
                                                   std::size_t required) {
  const Demand& demand = typed.demand;
  const std::size_t low = std::max<std::size_t>(demand.min_nodes, required);
  const std::size_t high =
      std::min<std::size_t>(demand.max_nodes, most_together(demand, candidates));
  if (low > high) return std::nullopt;
  const std::vector<std::size_t> counts = sizes(demand, low, high);
  if (demand.limited()) {
    for (const std::size_t n : counts)
      if (auto chosen = n > 1 ? best_packed(typed, candidates, n) : best_even(typed, candidates, n))
        return chosen;
    return std::nullopt;
  }
  const auto count = how_many(typed, candidates, counts, high);
  if (!count) return std::nullopt;
  if (demand.network && *count > 1)
    if (auto chosen = best_packed(typed, candidates, *count)) return chosen;
  auto chosen = best_even(typed, candidates, *count);
  if (!chosen) {
    candidates.resize(*count);
    chosen = std::move(candidates);
  }
  sort_by_rank(demand, *chosen);
  return chosen;
}

}  // namespace ares::core::sched
