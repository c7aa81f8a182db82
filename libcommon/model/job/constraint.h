// What --constraint asks of the features of a job's nodes, parsed from the text that the user wrote.
// A plain value made from a specification; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares {

// A condition on the features of one node.
struct FeatureTest {
  enum class Kind : std::uint8_t { name, all, any };
  Kind kind = Kind::all;  // an empty `all` holds for every node
  std::string name;
  std::vector<FeatureTest> parts;

  bool holds(std::span<const std::string> features) const;
  std::string text() const;  // as it would be written: "a&(b|c)"
  friend bool operator==(const FeatureTest&, const FeatureTest&) = default;
};

struct FeatureCount {
  FeatureTest test;
  std::uint32_t nodes = 0;
  friend bool operator==(const FeatureCount&, const FeatureCount&) = default;
};

struct Constraint {
  FeatureTest every;                 // of each node
  std::vector<FeatureTest> same;     // [a|b]: one of these, the same for all nodes
  std::vector<FeatureCount> counts;  // a*4: at least so many of the nodes

  // Whether one node can be told from another only together with the rest of the job.
  bool concerns_the_set() const { return !same.empty() || !counts.empty(); }
  // How many nodes the counts need if no node counts twice.
  std::uint64_t counted_nodes() const;
  friend bool operator==(const Constraint&, const Constraint&) = default;
};

// So that what nodes meet fits into the bits of a number, and no text can exhaust the stack.
inline constexpr std::size_t kMaxConstraintBytes = 1024;
inline constexpr std::size_t kMaxConstraintDepth = 16;
inline constexpr std::size_t kMaxConstraintClauses = 32;  // alternatives and counts together

// Forms, in which a name is what a node's `features` say:
//   a&b       both on every node        a|b      one of them on every node
//   (a|b)&c   parentheses group         [a|b]    the same one of them on all nodes
//   a*4&b*2   four nodes with a, two with b; brackets may stand around: [a*4&b*2]
// & and | may not stand side by side without parentheses: what a|b&c means is anybody's guess.
// invalid_argument with "Invalid feature specification: …" for anything else.
Result<Constraint> parse_constraint(std::string_view text);

// All of the texts must hold.
Result<Constraint> parse_constraints(std::span<const std::string> texts);

}  // namespace ares
