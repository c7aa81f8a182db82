#include "core/topology/network.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace ares::core::topology {
namespace {

// Depth-first walk over the switches from the top, in file order; numbers the leaves.
class Walk {
 public:
  explicit Walk(const NetworkSpec& spec) : spec_(spec) {
    for (std::size_t i = 0; i < spec.domains.size(); ++i) places_.emplace(spec.domains[i].name, i);
    std::vector<bool> below(spec.domains.size(), false);
    for (const NetworkDomain& domain : spec.domains)
      for (const std::string& name : domain.switches)
        if (const auto found = places_.find(name); found != places_.end())
          below[found->second] = true;
    seen_.resize(spec.domains.size(), false);
    for (std::size_t i = 0; i < below.size(); ++i)
      if (!below[i]) top_ = std::max(top_, visit(i));
    const auto leaves = static_cast<std::uint32_t>(leaf_specs.size());
    domains.push_back({0, leaves, top_ + 1});
    drop_repeats();
  }

  std::vector<const NetworkDomain*> leaf_specs;
  std::vector<Network::Domain> domains;

 private:
  // Returns the height. Specifications were checked when read; `seen_` bounds the walk anyway.
  std::uint32_t visit(std::size_t place) {
    const NetworkDomain& spec = spec_.domains[place];
    if (seen_[place]) return 0;
    seen_[place] = true;
    Network::Domain domain{static_cast<std::uint32_t>(leaf_specs.size()), 0, 0};
    if (spec.switches.empty()) leaf_specs.push_back(&spec);
    for (const std::string& name : spec.switches)
      if (const auto found = places_.find(name); found != places_.end())
        domain.height = std::max(domain.height, visit(found->second) + 1);
    domain.end = static_cast<std::uint32_t>(leaf_specs.size());
    domains.push_back(domain);
    return domain.height;
  }

  // Of domains with the same leaves keeps the lowest one.
  void drop_repeats() {
    const auto key = [](const Network::Domain& d) { return std::tuple(d.first, d.end, d.height); };
    std::sort(domains.begin(), domains.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
    const auto last = std::unique(domains.begin(), domains.end(), [](const auto& a, const auto& b) {
      return a.first == b.first && a.end == b.end;
    });
    domains.erase(last, domains.end());
    std::sort(domains.begin(), domains.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.height, a.first, a.end) < std::tuple(b.height, b.first, b.end);
    });
  }

  const NetworkSpec& spec_;
  std::map<std::string, std::size_t> places_;
  std::vector<bool> seen_;
  std::uint32_t top_ = 0;
};

// The leaves with their candidate nodes; the last entry is for nodes that are in no leaf.
class Packing {
 public:
  Packing(const Network& network, std::span<const NodeCandidate> offers, std::uint32_t count,
          PackLimits limits)
      : network_(network), offers_(offers), count_(count), limits_(limits) {
    leaves_.resize(network.leaves() + 1);
    for (std::uint32_t i = 0; i < offers.size(); ++i) {
      Leaf& leaf = leaves_[place_of(offers[i].node)];
      ++leaf.offers;
      leaf.required += offers[i].required ? 1 : 0;
      required_ += offers[i].required ? 1 : 0;
    }
    if (limits.max_leaves > 0 || limits.segment > 1) leaves_.back().offers = 0;
    for (Leaf& leaf : leaves_) {
      leaf.usable = leaf.offers - leaf.offers % limits.segment;
      leaf.needed = (leaf.required + limits.segment - 1) / limits.segment * limits.segment;
    }
  }

  std::optional<std::vector<std::uint32_t>> run() {
    if (count_ == 0 || count_ % limits_.segment != 0) return std::nullopt;
    const std::vector<Ranked> ranked = candidates();
    std::optional<Ranked> best;
    std::size_t fewest = 0;
    for (const Ranked& candidate : ranked) {
      if (best &&
          std::tie(candidate.height, candidate.offers) > std::tie(best->height, best->offers))
        break;
      const std::size_t leaves = choose(candidate.domain);
      if (leaves == 0 || (best && leaves >= fewest)) continue;
      best = candidate;
      fewest = leaves;
    }
    if (!best) return std::nullopt;
    choose(best->domain);
    return taken();
  }

 private:
  struct Leaf {
    std::uint32_t offers = 0, required = 0;
    std::uint32_t usable = 0, needed = 0;  // rounded to multiples of the segment
    std::uint32_t take = 0;
  };

  std::uint32_t place_of(Network::Node node) const {
    return std::min(network_.leaf_of(node), network_.leaves());
  }

  std::uint32_t sum(const Network::Domain& domain, std::uint32_t Leaf::*member) const {
    std::uint32_t out = 0;
    for (std::uint32_t i = domain.first; i < domain.end; ++i) out += leaves_[i].*member;
    return out;
  }

  struct Ranked {
    std::uint32_t height = 0, offers = 0;
    Network::Domain domain;
  };

  // The domains with enough candidates, best first; last all nodes, also those in no leaf.
  std::vector<Ranked> candidates() const {
    std::vector<Ranked> out;
    for (const Network::Domain& domain : network_.domains())
      if (sum(domain, &Leaf::usable) >= count_ && sum(domain, &Leaf::required) == required_)
        out.push_back({domain.height, sum(domain, &Leaf::offers), domain});
    std::stable_sort(out.begin(), out.end(), [](const Ranked& a, const Ranked& b) {
      return std::tie(a.height, a.offers) < std::tie(b.height, b.offers);
    });
    out.push_back({~std::uint32_t{0}, 0, {0, network_.leaves() + 1, 0}});
    return out;
  }

  // Selects the fewest leaves: those with required nodes, then the largest; the last one is the
  // smallest that suffices. Returns their number; 0 if the limits do not allow enough nodes.
  std::size_t choose(const Network::Domain& domain) {
    std::vector<std::uint32_t> picked, others;
    std::uint32_t have = 0, needed = 0;
    for (Leaf& leaf : leaves_) leaf.take = 0;
    for (std::uint32_t i = domain.first; i < domain.end; ++i) {
      if (leaves_[i].needed > leaves_[i].usable) return 0;
      needed += leaves_[i].needed;
      if (leaves_[i].needed > 0) {
        picked.push_back(i);
        have += leaves_[i].usable;
      } else if (leaves_[i].usable > 0) {
        others.push_back(i);
      }
    }
    if (needed > count_ || sum(domain, &Leaf::required) != required_) return 0;
    std::sort(others.begin(), others.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(-std::int64_t{leaves_[a].usable}, a) <
             std::tuple(-std::int64_t{leaves_[b].usable}, b);
    });
    auto next = others.begin();
    while (have < count_ && next != others.end()) {
      const std::uint32_t short_of = count_ - have;
      if (leaves_[*next].usable >= short_of) {
        while (next + 1 != others.end() && leaves_[*(next + 1)].usable >= short_of) ++next;
        while (next != others.begin() && leaves_[*(next - 1)].usable == leaves_[*next].usable &&
               std::find(picked.begin(), picked.end(), *(next - 1)) == picked.end())
          --next;  // the first one of equal leaves
      }
      picked.push_back(*next);
      have += leaves_[*next].usable;
      ++next;
    }
    if (have < count_ || (limits_.max_leaves > 0 && picked.size() > limits_.max_leaves)) return 0;
    share_out(picked, needed);
    return picked.size();
  }

  // Required nodes first; the others leaf by leaf, so that unneeded nodes remain in the last leaf.
  void share_out(std::span<const std::uint32_t> picked, std::uint32_t needed) {
    std::uint32_t left = count_ - needed;
    for (const std::uint32_t i : picked) {
      Leaf& leaf = leaves_[i];
      const std::uint32_t more = std::min(left, leaf.usable - leaf.needed);
      leaf.take = leaf.needed + more;
      left -= more;
    }
  }

  std::vector<std::uint32_t> taken() {
    std::vector<std::uint32_t> out;
    for (const bool required : {true, false})
      for (std::uint32_t i = 0; i < offers_.size(); ++i) {
        Leaf& leaf = leaves_[place_of(offers_[i].node)];
        if (offers_[i].required != required || leaf.take == 0) continue;
        --leaf.take;
        out.push_back(i);
      }
    std::sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(place_of(offers_[a].node), offers_[a].node) <
             std::tuple(place_of(offers_[b].node), offers_[b].node);
    });
    return out;
  }

  const Network& network_;
  std::span<const NodeCandidate> offers_;
  std::uint32_t count_;
  PackLimits limits_;
  std::uint32_t required_ = 0;
  std::vector<Leaf> leaves_;
};

}  // namespace

Network::Network(const NetworkSpec& spec,
                 const std::function<std::optional<Node>(const std::string&)>& number_of) {
  const Walk walk(spec);
  domains_ = walk.domains;
  leaves_ = static_cast<std::uint32_t>(walk.leaf_specs.size());
  for (std::uint32_t leaf = 0; leaf < leaves_; ++leaf)
    for (const std::string& name : walk.leaf_specs[leaf]->nodes)
      if (const auto node = number_of(name)) {
        if (*node >= leaf_of_.size()) leaf_of_.resize(*node + 1, kNoLeaf);
        leaf_of_[*node] = leaf;
      }
}

std::optional<std::vector<std::uint32_t>> pack(const Network& network,
                                               std::span<const NodeCandidate> offers,
                                               std::uint32_t count, PackLimits limits) {
  limits.segment = std::max(limits.segment, 1u);
  return Packing(network, offers, count, limits).run();
}

}  // namespace ares::core::topology
