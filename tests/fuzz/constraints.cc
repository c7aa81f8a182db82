// --constraint, --gpu-topology and --mail-type: printed and read again they are the same. The options that
// bind tasks: what is accepted has a set for each task.
#include <algorithm>

#include "fuzz/target.h"
#include "model/job/binding_options.h"
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

void require_sets(const BindList& list) {
  for (const std::uint64_t task : {0ULL, 1ULL, 77ULL, ~0ULL})
    require(list.items.empty() || !list.of_task(task).empty(), "a task is bound to something");
}

void try_binding(std::string_view input) {
  if (const auto cpus = parse_cpu_bind(input))
    require_sets(cpus->list);
  else
    require_refusal(cpus.error());
  if (const auto memory = parse_mem_bind(input))
    require_sets(memory->list);
  else
    require_refusal(memory.error());
  if (const auto gpus = parse_gpu_bind(input))
    require_sets(gpus->list);
  else
    require_refusal(gpus.error());
  if (const auto hint = parse_hint(input); !hint) require_refusal(hint.error());
  if (const auto order = parse_distribution(input))
    require((order->nodes == "plane") == order->plane_size.has_value(), "a plane has a size");
  else
    require_refusal(order.error());
}

}  // namespace

void try_input(std::string_view input) {
  try_binding(input);
  try_constraint(input);
  try_mail(input);
  try_shape(input);
}

}  // namespace ares::fuzz
