// --constraint, --gpu-topology and --mail-type: printed and read again they are the same.
#include <algorithm>

#include "fuzz/target.h"
#include "model/job/constraint.h"
#include "model/job/gpu_constraint.h"
#include "model/job/mail.h"

namespace ares::fuzz {

const Allowance kAllowance{64 << 10, 2048};

namespace {

std::size_t depth_of(const FeatureTest& test) {
  std::size_t below = 0;
  for (const FeatureTest& part : test.parts) below = std::max(below, depth_of(part));
  return 1 + below;
}

std::string grouped(const FeatureTest& test) {
  return test.parts.size() > 1 ? "(" + test.text() + ")" : test.text();
}

// In the syntax of --constraint, each part in parentheses.
std::string text_of(const Constraint& constraint) {
  std::string text;
  const auto add = [&](const std::string& term) { text += (text.empty() ? "" : "&") + term; };
  for (const FeatureTest& test : constraint.every.parts) add(grouped(test));
  std::string same;
  for (const FeatureTest& test : constraint.same) same += (same.empty() ? "" : "|") + grouped(test);
  if (!same.empty()) add("[" + same + "]");
  for (const FeatureCount& count : constraint.counts)
    add(grouped(count.test) + "*" + std::to_string(count.nodes));
  return text;
}

void try_constraint(std::string_view input) {
  const auto constraint = parse_constraint(input);
  if (!constraint) return require_refusal(constraint.error());
  const std::string text = text_of(*constraint);
  std::size_t depth = 0;
  for (const FeatureTest& test : constraint->every.parts) depth = std::max(depth, depth_of(test));
  // The parentheses of the printed text may be too many.
  if (text.size() > kMaxConstraintBytes || depth >= kMaxConstraintDepth) return;
  const auto again = parse_constraint(text);
  require(again.has_value(), "a printed constraint is a constraint: " + text);
  require(*again == *constraint, "a constraint survives printing: " + text);
  require(constraint->counted_nodes() >= constraint->counts.size(), "a count is positive");
  (void)constraint->every.holds(std::vector<std::string>{"a", "b"});
}

void try_mail(std::string_view input) {
  if (const auto types = parse_mail_types(input); !types) {
    require_refusal(types.error());
  } else if (*types != 0) {
    const auto again = parse_mail_types(format_mail_types(*types));
    require(again && *again == *types, "types of mail survive printing");
  }
  const Status address = check_mail_user(input);
  if (!address) return require_refusal(address.error());
  require(input.find_first_of(" \t\n\r\"'`$;&|<>()\\/!") == std::string_view::npos,
          "no program takes a mail address for anything else");
}

void try_shape(std::string_view input) {
  const auto shape = parse_gpu_shape(input);
  if (!shape) return require_refusal(shape.error());
  require(to_string(*shape) == input, "a shape survives printing");
}

}  // namespace

void try_input(std::string_view input) {
  try_constraint(input);
  try_mail(input);
  try_shape(input);
}

}  // namespace ares::fuzz
