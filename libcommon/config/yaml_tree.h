// A YAML file as a tree of texts with line numbers: the only door to yaml-cpp, which throws and
// types values by guessing. Owned by the reader of a configuration; plain values, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares::config {

struct Entry;

struct Value {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  int line = 0;                // 1-based
  std::string text;            // of a scalar
  std::vector<Value> items;    // of a list
  std::vector<Entry> entries;  // of a map, in the file's order
};

struct Entry {
  std::string key;
  int line = 0;
  Value value;
};

// invalid_argument with "NAME:LINE: …" when it is not YAML, or when a key stands twice in one map.
Result<Value> parse_yaml(const std::string& text, std::string_view name);

// `text` written so that parse_yaml reads the same scalar.
std::string quote_yaml(std::string_view text);

}  // namespace ares::config
