#include "config/yaml_tree.h"

#include <yaml-cpp/yaml.h>

#include <set>

#include "base/printable.h"

namespace ares::config {
namespace {

// Deep enough for every configuration, shallow enough that no file can exhaust the stack.
constexpr int kMaxDepth = 32;

struct ParseError {
  int line;
  std::string message;
};

// Aliases let a few bytes stand for millions of values. What a text without aliases converts to is bounded by its length: each
// value and each byte of a scalar counts 1, and an escape is at least half as long as what it stands for.
class Converter {
 public:
  explicit Converter(std::size_t text_size) : left_(kAlwaysAllowed + 4 * text_size) {}

  tl::expected<Value, ParseError> convert(const YAML::Node& node, int depth = 0);

 private:
  static constexpr std::size_t kAlwaysAllowed = 100'000;

  bool spend(std::size_t amount) {
    if (amount > left_) return false;
    left_ -= amount;
    return true;
  }
  tl::expected<Value, ParseError> convert_list(const YAML::Node& node, int depth);
  tl::expected<Value, ParseError> convert_map(const YAML::Node& node, int depth);

  std::size_t left_;
};

int line_of(const YAML::Node& node) {
  return node.Mark().line + 1;
}

tl::expected<Value, ParseError> Converter::convert(const YAML::Node& node, int depth) {
  const int line = line_of(node);
  if (depth > kMaxDepth) return tl::unexpected(ParseError{line, "nested too deeply"});
  if (!spend(1 + (node.IsScalar() ? node.Scalar().size() : 0)))
    return tl::unexpected(ParseError{line, "aliases repeat too much here; write the values out"});
  Value value;
  value.line = line;
  switch (node.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null: return value;
    case YAML::NodeType::Scalar:
      value.kind = Value::Kind::scalar;
      value.text = node.Scalar();
      return value;
    case YAML::NodeType::Sequence: return convert_list(node, depth);
    case YAML::NodeType::Map: break;
  }
  return convert_map(node, depth);
}

tl::expected<Value, ParseError> Converter::convert_list(const YAML::Node& node, int depth) {
  Value value;
  value.kind = Value::Kind::list;
  value.line = line_of(node);
  for (const YAML::Node& item : node) {
    auto converted = convert(item, depth + 1);
    if (!converted) return converted;
    value.items.push_back(std::move(*converted));
  }
  return value;
}

tl::expected<Value, ParseError> Converter::convert_map(const YAML::Node& node, int depth) {
  Value value;
  value.kind = Value::Kind::map;
  value.line = line_of(node);
  std::set<std::string> seen;
  for (const auto& pair : node) {
    const int line = line_of(pair.first);
    if (!pair.first.IsScalar())
      return tl::unexpected(ParseError{line, "a key must be a plain word"});
    const std::string& key = pair.first.Scalar();
    if (!is_utf8(key) || has_control(key))
      return tl::unexpected(
          ParseError{line, "key " + quote(key) + " has a control character or is not UTF-8"});
    if (!seen.insert(key).second)
      return tl::unexpected(ParseError{line, "key " + quote(key) + " appears a second time"});
    if (!spend(key.size()))
      return tl::unexpected(ParseError{line, "aliases repeat too much here; write the values out"});
    auto converted = convert(pair.second, depth + 1);
    if (!converted) return converted;
    value.entries.push_back({key, line, std::move(*converted)});
  }
  return value;
}

tl::unexpected<Error> at(std::string_view name, int line, const std::string& message) {
  return fail(ErrorCode::invalid_argument,
              std::string(name) + ":" + std::to_string(line) + ": " + message);
}

}  // namespace

Result<Value> parse_yaml(const std::string& text, std::string_view name) {
  try {
    auto value = Converter(text.size()).convert(YAML::Load(text));
    if (!value) return at(name, value.error().line, value.error().message);
    return std::move(*value);
  } catch (const YAML::ParserException& error) {
    return at(name, error.mark.line + 1, "not YAML: " + excerpt(error.msg));
  } catch (const YAML::Exception& error) {
    return at(name, error.mark.is_null() ? 1 : error.mark.line + 1, excerpt(error.msg));
  }
}

std::string quote_yaml(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace ares::config
