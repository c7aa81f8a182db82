// Rows of the configuration's tables. A row has a key's name, type, help text, parser and printer.
// The default is the record's own initialiser. Internal to config/; immutable once made.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/printable.h"
#include "base/result.h"
#include "config/suggest.h"
#include "config/yaml_tree.h"

namespace ares::config {

// An error in a file, with its line.
struct Problem {
  int line = 0;
  std::string message;
};
using CheckResult = tl::expected<void, Problem>;

inline tl::unexpected<Problem> problem(int line, std::string message) {
  return tl::unexpected<Problem>(Problem{line, std::move(message)});
}

// Parser and printer of one kind of values; `name` is its name in the manual.
template <class T>
struct Type {
  std::string name;
  std::function<Result<T>(const Value&)> parse;
  std::function<std::string(const T&)> print;
};

template <class Record>
struct Field {
  std::string name;
  std::string type;
  std::string help;
  std::function<CheckResult(Record&, const Value&)> read;
  std::function<std::string(const Record&)> print;  // "" omits the key.
  bool required = false;
};

// `place` is a member pointer or a callable Record& -> T&.
template <class Record, class T, class Place>
Field<Record> field(std::string name, Place place, const Type<T>& type, std::string help) {
  auto read = [place, parse = type.parse](Record& record, const Value& value) -> CheckResult {
    Result<T> parsed = parse(value);
    if (!parsed) return problem(value.line, parsed.error().message);
    std::invoke(place, record) = std::move(*parsed);
    return {};
  };
  auto print = [place, print_value = type.print](const Record& record) {
    // The const_cast is safe because printing does not modify the record; it allows one accessor
    // for reading and printing.
    return print_value(std::invoke(place, const_cast<Record&>(record)));
  };
  return {std::move(name), type.name, std::move(help), std::move(read), std::move(print), false};
}

template <class Record>
Field<Record> required(Field<Record> row) {
  row.required = true;
  return row;
}

// Reads a map by the table. If `only` is not empty, other known keys are accepted but not read.
template <class Record>
CheckResult read_map(const Value& map, Record& record, const std::vector<Field<Record>>& fields,
                     std::span<const std::string> only = {}) {
  if (map.kind == Value::Kind::null) return {};
  if (map.kind != Value::Kind::map) return problem(map.line, "expected \"key: value\" lines here");
  for (const Entry& entry : map.entries) {
    const Field<Record>* found = nullptr;
    for (const auto& row : fields)
      if (row.name == entry.key) found = &row;
    if (!found) {
      std::vector<std::string> names;
      for (const auto& row : fields) names.push_back(row.name);
      return problem(entry.line, "unknown key " + quote(entry.key) + suggestion(entry.key, names));
    }
    bool wanted = only.empty();
    for (const std::string& name : only) wanted = wanted || name == entry.key;
    if (!wanted) continue;
    CheckResult done = found->read(record, entry.value);
    if (!done) {
      const int line = done.error().line > 0 ? done.error().line : entry.line;
      return problem(line, entry.key + ": " + done.error().message);
    }
  }
  if (!only.empty()) return {};
  for (const auto& row : fields) {
    bool given = !row.required;
    for (const Entry& entry : map.entries) given = given || entry.key == row.name;
    if (!given) return problem(map.line, quote(row.name) + " is missing");
  }
  return {};
}

// `{a: 1, b: 2}` on one line.
template <class Record>
std::string print_flow(const Record& record, const std::vector<Field<Record>>& fields) {
  std::string out;
  for (const auto& row : fields) {
    const std::string text = row.print(record);
    if (!text.empty()) out += (out.empty() ? "" : ", ") + row.name + ": " + text;
  }
  return "{" + out + "}";
}

// A record as the value of a key.
template <class Record>
Type<Record> map_type(std::vector<Field<Record>> fields) {
  return {"map",
          [fields](const Value& value) -> Result<Record> {
            Record record;
            CheckResult done = read_map(value, record, fields);
            if (!done) return fail(ErrorCode::invalid_argument, done.error().message);
            return record;
          },
          [fields](const Record& record) { return print_flow(record, fields); }};
}

// A list of such records, which `check` looks at as a whole.
template <class Record>
Type<std::vector<Record>> list_of_maps_type(
    std::string name, std::string example, const std::vector<Field<Record>>& fields,
    std::function<Status(const std::vector<Record>&)> check) {
  return {std::move(name),
          [example = std::move(example), fields,
           check = std::move(check)](const Value& value) -> Result<std::vector<Record>> {
            std::vector<Record> records;
            if (value.kind == Value::Kind::null) return records;
            if (value.kind != Value::Kind::list)
              return fail(ErrorCode::invalid_argument, "expected a list of " + example);
            for (const Value& item : value.items)
              if (CheckResult done = read_map(item, records.emplace_back(), fields); !done)
                return fail(ErrorCode::invalid_argument, done.error().message);
            if (Status good = check(records); !good) return fail(good.error());
            return records;
          },
          [fields](const std::vector<Record>& records) {
            std::string out;
            for (const Record& record : records)
              out += (out.empty() ? "" : ", ") + print_flow(record, fields);
            return out.empty() ? out : "[" + out + "]";
          }};
}

}  // namespace ares::config
