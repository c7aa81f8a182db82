// Parses gang options: name, size, minimum size and timeout.
#include "base/duration.h"
#include "cli/output/text.h"
#include "cli/values/spec_values.h"
#include "model/policy/request_limits.h"

namespace ares::cli {
namespace {

Result<std::uint32_t> members(const std::string& text) {
  const auto count = parse_integer(text, 1, kMaxGangSize);
  if (!count) return fail(count.error());
  return static_cast<std::uint32_t>(*count);
}

}  // namespace

Status set_gang(api::JobSpec& spec, const std::string& text) {
  if (text.empty()) return invalid("a gang needs a name");
  spec.mutable_gang()->set_name(text);
  return {};
}

Status set_gang_size(api::JobSpec& spec, const std::string& text) {
  const auto count = members(text);
  if (!count) return fail(count.error());
  spec.mutable_gang()->set_size(*count);
  return {};
}

Status set_gang_min(api::JobSpec& spec, const std::string& text) {
  const auto count = members(text);
  if (!count) return fail(count.error());
  spec.mutable_gang()->set_min(*count);
  return {};
}

Status set_gang_timeout(api::JobSpec& spec, const std::string& text) {
  const auto timeout = parse_time_limit(text);
  if (!timeout) return fail(timeout.error());
  if (*timeout)
    spec.mutable_gang()->set_timeout((*timeout)->count());
  else
    spec.mutable_gang()->clear_timeout();
  return {};
}

}  // namespace ares::cli
