#include "config/yaml_tree.h"

#include <yaml-cpp/yaml.h>

#include <set>

namespace ares::config {
namespace {

// Deep enough for every configuration, shallow enough that no file can exhaust the stack.
constexpr int kMaxDepth = 32;

struct ParseError {
  int line;
  std::string message;
};

tl::expected<Value, ParseError> convert(const YAML::Node& node, int depth) {
  Value value;
  value.line = node.Mark().line + 1;
  if (depth > kMaxDepth) return tl::unexpected(ParseError{value.line, "nested too deeply"});
  switch (node.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null: return value;
    case YAML::NodeType::Scalar:
      value.kind = Value::Kind::scalar;
      value.text = node.Scalar();
      return value;
    case YAML::NodeType::Sequence:
      value.kind = Value::Kind::list;
      for (const YAML::Node& item : node) {
        auto converted = convert(item, depth + 1);
        if (!converted) return converted;
        value.items.push_back(std::move(*converted));
      }
      return value;
    case YAML::NodeType::Map: break;
  }
  value.kind = Value::Kind::map;
  std::set<std::string> seen;
  for (const auto& pair : node) {
    const int line = pair.first.Mark().line + 1;
    if (!pair.first.IsScalar())
      return tl::unexpected(ParseError{line, "a key must be a plain word"});
    const std::string& key = pair.first.Scalar();
    if (!seen.insert(key).second)
      return tl::unexpected(ParseError{line, "key \"" + key + "\" stands here a second time"});
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
    auto value = convert(YAML::Load(text), 0);
    if (!value) return at(name, value.error().line, value.error().message);
    return std::move(*value);
  } catch (const YAML::ParserException& error) {
    return at(name, error.mark.line + 1, "not YAML: " + error.msg);
  } catch (const YAML::Exception& error) {
    return at(name, error.mark.is_null() ? 1 : error.mark.line + 1, error.msg);
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
