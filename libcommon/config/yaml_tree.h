// A YAML file as a tree of texts with line numbers. The only module that uses yaml-cpp, which
// throws exceptions and guesses types. Owned by the reader of a configuration; plain values, any
// thread.
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

// Returns invalid_argument with "NAME:LINE: …" if the text is not YAML or a map has a duplicate
// key.
Result<Value> parse_yaml(const std::string& text, std::string_view name);

// Quotes `text` so that parse_yaml reads the same scalar.
std::string quote_yaml(std::string_view text);

}  // namespace ares::config
