// What --constraint requires of the features of a job's nodes, parsed from the text of the user.
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
  std::string text() const;  // in the syntax of --constraint: "a&(b|c)"
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
  std::vector<FeatureCount> counts;  // a*4: at least that many of the nodes

  // Whether the constraint must be checked on the set of nodes, not only on each node alone.
  bool concerns_the_set() const { return !same.empty() || !counts.empty(); }
  // The number of nodes that the counts need if each node is used for one count only.
  std::uint64_t counted_nodes() const;
  friend bool operator==(const Constraint&, const Constraint&) = default;
};

// These bounds let a set of clauses fit into 32 bits and limit the recursion of the parser.
inline constexpr std::size_t kMaxConstraintBytes = 1024;
inline constexpr std::size_t kMaxConstraintDepth = 16;
inline constexpr std::size_t kMaxConstraintClauses = 32;  // alternatives and counts together

// Syntax; a name is one of the node's `features`:
//   a&b       both on every node        a|b      one of them on every node
//   (a|b)&c   parentheses group         [a|b]    the same one of them on all nodes
//   a*4&b*2   four nodes with a, two with b; brackets are optional: [a*4&b*2]
// & and | may not be mixed without parentheses, because a|b&c is ambiguous.
// Any other text is invalid_argument with "Invalid feature specification: …".
Result<Constraint> parse_constraint(std::string_view text);

// The conjunction of all texts.
Result<Constraint> parse_constraints(std::span<const std::string> texts);

}  // namespace ares
