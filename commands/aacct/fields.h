// The fields of aacct, one row each: name, width, help, the fields of AccountingRow it reads, and
// its text. Immutable; any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "aacct/values.h"
#include "base/result.h"
#include "base/time.h"
#include "proto/gen/api.pb.h"

namespace ares::aacct {

struct Row {
  const api::AccountingRow* job = nullptr;
  Time now{};  // The controller's clock.
  const std::string* cluster = nullptr;
  Units units;
  const api::AccountingStep* step =
      nullptr;                   // Of a step's line, in whose row `job` has its values.
  std::size_t longest_list = 0;  // Of array indices; 0 = all.
};

struct Field {
  std::string name;
  int width = 10;  // Minimum width; negative: aligned to the left.
  std::string help;
  std::vector<int> needs;  // Numbers of the fields of AccountingRow that it reads.
  std::function<std::string(const Row&)> text;
  bool never_cut = false;
  bool is_state = false;  // It may be coloured.
};

const std::vector<Field>& fields();

// A field of other batch systems that has no value here. It is refused by name, with the reason.
struct RefusedField {
  std::string name, why;
};
const std::vector<RefusedField>& refused_fields();
std::string describe_refused_fields();  // for the manual page

struct SelectedField {
  const Field* field = nullptr;
  int width = 0;  // Minimum width, or the exact width if `fixed`; negative: aligned to the left.
  bool fixed = false;  // The user gave the width.
};

// Parses "JobID,State%20,NodeList%-30"; names ignore case. Returns invalid_argument for an unknown
// field, with a suggestion.
Result<std::vector<SelectedField>> parse_fields(const std::string& list);

// "12", "12_3", "12_[3-9]"; at most so many characters of the indices, 0 = all.
std::string id_text(const api::AccountingRow& row, std::size_t longest_list = 0);

// The field's text; empty where a step's line has none.
std::string text_of(const Field& field, const Row& row);

}  // namespace ares::aacct
