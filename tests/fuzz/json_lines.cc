// Lines of asub --from: a JSON object that was read, printed and read again is the same.
#include "asub/job_line.h"
#include "base/printable.h"
#include "cli/output/json.h"
#include "cli/values/json_reader.h"
#include "fuzz/target.h"

namespace ares::fuzz {

const Allowance kAllowance{64 << 10, 1024};

namespace {

using Kind = cli::JsonValue::Kind;

void put(const cli::JsonValue& value, std::string& out) {
  switch (value.kind) {
    case Kind::null: out += "null"; return;
    case Kind::boolean: out += value.boolean ? "true" : "false"; return;
    case Kind::number: out += value.text; return;
    case Kind::text: cli::put_json_text(value.text, out); return;
    case Kind::list: break;
  }
  out += '[';
  for (const std::string& item : value.items) {
    if (&item != &value.items.front()) out += ',';
    cli::put_json_text(item, out);  // numbers of a list become texts, which are kept alike
  }
  out += ']';
}

std::string text_of(const cli::JsonObject& object) {
  std::string out = "{";
  for (const auto& [name, value] : object) {
    if (out.size() > 1) out += ',';
    cli::put_json_text(name, out);
    out += ':';
    put(value, out);
  }
  return out + "}";
}

void try_line(std::string_view line) {
  if (const auto read = asub::read_line(line); !read) require_refusal(read.error());
  const auto object = cli::parse_json_object(line);
  if (!object) return require_refusal(object.error());
  if (!is_utf8(line)) return;  // printed with U+FFFD
  const auto again = cli::parse_json_object(text_of(*object));
  require(again.has_value(), "a printed object is an object");
  require(*again == *object, "an object survives printing");
}

}  // namespace

void try_input(std::string_view input) {
  std::size_t last = 0;
  for (const auto& [number, line] : asub::lines_of(input)) {
    require(number > last, "lines are in order");
    last = number;
    try_line(line);
  }
}

}  // namespace ares::fuzz
