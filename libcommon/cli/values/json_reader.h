// Parses JSON input of commands: one object of plain values. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ares::cli {

struct JsonValue {
  enum class Kind { null, boolean, number, text, list };
  Kind kind = Kind::null;
  bool boolean = false;
  std::string text;                // The text of a string, or of a number as written.
  std::vector<std::string> items;  // The items of a list: strings, and numbers as written.
  friend bool operator==(const JsonValue&, const JsonValue&) = default;
};

using JsonObject = std::vector<std::pair<std::string, JsonValue>>;  // In the order of the text.

// Returns invalid_argument, naming the column, unless the text is one JSON object whose values are
// null, booleans, numbers, strings or lists of strings and numbers. Duplicate keys and \u0000 are
// refused too.
Result<JsonObject> parse_json_object(std::string_view text);

}  // namespace ares::cli
