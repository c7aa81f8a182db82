#include "aacctmgr/edit/preview.h"

#include <algorithm>
#include <array>

#include "aacctmgr/edit/properties.h"
#include "base/printable.h"
#include "cli/output/table.h"

namespace ares::aacctmgr {
namespace {

std::string value_text(const Property& property, const std::string& value) {
  if (!value.empty()) return printable(value);
  return property.usual.empty() ? "(none)" : property.usual;
}

void add_properties(const Change& change, std::string& out) {
  const AccountingRecord blank = blank_record(change.key);
  const AccountingRecord& before = change.before ? *change.before : blank;
  for (const Property& property : properties(change.key.kind)) {
    const std::string was = property.get(before), is = property.get(*change.after);
    if (was == is) continue;
    out += "    " + property.name + ": ";
    if (change.before) out += value_text(property, was) + " -> ";
    out += value_text(property, is) + "\n";
  }
}

std::string_view word(Change::Verb verb) {
  switch (verb) {
    case Change::Verb::add: return "add";
    case Change::Verb::modify: return "modify";
    case Change::Verb::remove: return "remove";
  }
  return "";
}

bool is_for_jobs(RecordKind kind) {
  return kind == RecordKind::account || kind == RecordKind::association || kind == RecordKind::qos;
}

}  // namespace

std::string preview(const std::vector<Change>& changes, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < changes.size() && i < most; ++i) {
    const Change& change = changes[i];
    out += "  " + std::string(word(change.verb)) + " " + printable(describe(change.key)) + "\n";
    if (change.verb != Change::Verb::remove) add_properties(change, out);
  }
  if (changes.size() > most)
    out += "  and " + std::to_string(changes.size() - most) + " more records\n";
  const bool ends = std::any_of(changes.begin(), changes.end(), [](const Change& change) {
    return change.verb == Change::Verb::remove && is_for_jobs(change.key.kind);
  });
  if (ends)
    out +=
        "Running jobs that use a removed record finish; waiting ones keep waiting, with the reason "
        "InvalidAccount or InvalidQOS, until they are changed or cancelled.\n";
  return out;
}

std::string count_text(const std::vector<Change>& changes) {
  std::array<std::size_t, 3> counts{};
  for (const Change& change : changes) ++counts[static_cast<std::size_t>(change.verb)];
  constexpr std::array<const char*, 3> kWords = {"added", "modified", "removed"};
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0)
      text += (text.empty() ? "" : ", ") + std::to_string(counts[i]) + " " + kWords[i];
  return text.empty() ? "nothing changed" : text;
}

}  // namespace ares::aacctmgr
