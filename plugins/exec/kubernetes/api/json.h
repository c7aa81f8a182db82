// Reading JSON that an API server or a credential program wrote. nlohmann-json throws exceptions; these functions do not. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::kubernetes {

using Json = nlohmann::json;

// invalid_argument: it is not JSON, or not an object; the message begins with `what`.
Result<Json> parse_object(std::string_view text, std::string_view what);

// The value below these keys, or null. Parts of the way that are not objects have no keys.
const Json* find(const Json& value, std::initializer_list<std::string_view> keys);

// The text there; empty if there is none.
const std::string& text_at(const Json& value, std::initializer_list<std::string_view> keys);

std::optional<std::int64_t> number_at(const Json& value,
                                      std::initializer_list<std::string_view> keys);

}  // namespace ares::kubernetes
