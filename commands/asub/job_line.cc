#include "asub/job_line.h"

#include <algorithm>
#include <optional>

#include "base/printable.h"
#include "cli/output/text.h"
#include "cli/values/json_reader.h"

namespace ares::asub {
namespace {

using Kind = cli::JsonValue::Kind;

Status add_option(const std::string& name, const cli::JsonValue& value, Line& line) {
  switch (value.kind) {
    case Kind::null: return {};
    case Kind::boolean:
      if (value.boolean) line.words.push_back("--" + name);
      return {};
    case Kind::number:
    case Kind::text: line.words.push_back("--" + name + "=" + value.text); return {};
    case Kind::list: return invalid(quote(name) + " takes one value, not a list");
  }
  return {};
}

Result<Line> read_object(std::string_view text) {
  const auto object = cli::parse_json_object(text);
  if (!object) return fail(object.error());
  Line line;
  std::vector<std::string> arguments;
  std::optional<std::string> script, wrap;
  for (const auto& [name, value] : *object) {
    if (name == "script" || name == "wrap") {
      if (value.kind != Kind::text) return invalid(quote(name) + " must be a text");
      (name == "script" ? script : wrap) = value.text;
    } else if (name == "args") {
      if (value.kind != Kind::list) return invalid("\"args\" must be a list of texts");
      arguments = value.items;
    } else if (Status added = add_option(name, value, line); !added) {
      return fail(added.error());
    }
  }
  if (script.has_value() == wrap.has_value())
    return invalid("give either \"script\" or \"wrap\", to say what the job runs");
  if (wrap && !arguments.empty()) return invalid("\"args\" are a script's; \"wrap\" has none");
  if (wrap) {
    line.words.push_back("--wrap=" + *wrap);
    return line;
  }
  if (script->empty() || *script == "-") return invalid("\"script\" must name a file");
  line.operands.push_back(*script);
  line.operands.insert(line.operands.end(), arguments.begin(), arguments.end());
  return line;
}

}  // namespace

Result<Line> read_line(std::string_view text) {
  text = cli::trim(text);
  if (text.starts_with('{')) return read_object(text);
  Line line;
  line.operands.emplace_back(text);
  return line;
}

std::vector<std::pair<std::size_t, std::string_view>> lines_of(std::string_view text) {
  std::vector<std::pair<std::size_t, std::string_view>> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = cli::trim(text.substr(0, end));
    if (!line.empty() && line.front() != '#') lines.emplace_back(number, line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace ares::asub
