// JSON as people and scripts write it to commands: one object of plain values, no more.
// Pure functions; any thread.
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
  std::string text;                // of a text, or a number as it was written
  std::vector<std::string> items;  // of a list: texts, and numbers as they were written
  friend bool operator==(const JsonValue&, const JsonValue&) = default;
};

using JsonObject = std::vector<std::pair<std::string, JsonValue>>;  // in the text's order

// invalid_argument, naming the column, for anything that is not one JSON object whose values are null, booleans, numbers, texts
// or lists of texts and numbers; for a key that stands twice; and for \u0000, which no text here may hold.
Result<JsonObject> parse_json_object(std::string_view text);

}  // namespace ares::cli
