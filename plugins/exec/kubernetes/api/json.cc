#include "exec/kubernetes/api/json.h"

#include <nlohmann/json.hpp>

namespace ares::kubernetes {

Result<Json> parse_object(std::string_view text, std::string_view what) {
  Json value = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded())
    return fail(ErrorCode::invalid_argument, std::string(what) + " is not JSON");
  if (!value.is_object())
    return fail(ErrorCode::invalid_argument, std::string(what) + " is not a JSON object");
  return value;
}

const Json* find(const Json& value, std::initializer_list<std::string_view> keys) {
  const Json* at = &value;
  for (const std::string_view key : keys) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

const std::string& text_at(const Json& value, std::initializer_list<std::string_view> keys) {
  static const std::string kEmpty;
  const Json* const found = find(value, keys);
  return found && found->is_string() ? found->get_ref<const std::string&>() : kEmpty;
}

std::optional<std::int64_t> number_at(const Json& value,
                                      std::initializer_list<std::string_view> keys) {
  const Json* const found = find(value, keys);
  if (!found || !found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  return found->get<std::int64_t>();
}

}  // namespace ares::kubernetes
