// JSON text as YAML 1.2, which readers of YAML 1.1 understand in the same way. Belongs to one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ares::cli {

// Converts one JSON value that arrives in parts of any size. Memory is bounded by the longest string
// and the depth. Precondition: the parts together are JSON; other text gives some text.
class YamlStream {
 public:
  // The YAML of what can be told by now.
  std::string put(std::string_view json);
  // The rest, once all parts were put.
  std::string finish();

 private:
  enum class Kind { map, sequence };
  struct Level {
    Kind kind;
    std::size_t indent;    // of its lines
    bool begun = false;    // It has a line.
    bool on_line = false;  // Its first line continues that of the sequence that it is an item of.
    bool has_key = false;  // The key of the next value of the map has been written.
  };

  std::size_t token_size(std::string_view text, bool last) const;
  std::string take(std::string_view json, bool last);
  void token(std::string_view text, std::string& out);
  void open(Kind kind, std::string& out);
  void close(std::string& out);
  void scalar(std::string_view text, std::string& out);
  void before_value(std::string& out);
  void begin_line(Level& level, std::string& out);

  std::string rest_;  // of the parts: the beginning of a token
  std::vector<Level> levels_;
  bool opened_ = false;  // The last level has begun, and nothing of it has been written.
};

std::string to_yaml(std::string_view json);

// `text` as a scalar: plain if every reader takes that for this string, otherwise in double quotes.
std::string yaml_scalar(std::string_view text);

}  // namespace ares::cli
