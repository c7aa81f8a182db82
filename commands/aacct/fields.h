// The fields of aacct, one row each: name, width, help, what of a row it needs, and its text.
// Immutable; any thread.
#pragma once

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
  Time now{};  // the controller's clock
  const std::string* cluster = nullptr;
  Units units;
};

struct Field {
  std::string name;
  int width = 10;  // at least; negative: aligned to the left
  std::string help;
  std::vector<int> needs;  // numbers of fields of AccountingRow
  std::function<std::string(const Row&)> text;
  bool never_cut = false;  // never cut
};

const std::vector<Field>& fields();

// Fields of other batch systems that nothing is recorded for yet: refused by name.
const std::vector<std::string>& unsupported_fields();

struct SelectedField {
  const Field* field = nullptr;
  int width = 0;       // at least, unless it is fixed; negative: aligned to the left
  bool fixed = false;  // the user named it
};

// "JobID,State%20,NodeList%-30"; names in any case. invalid_argument for an unknown field, with a suggestion.
Result<std::vector<SelectedField>> parse_fields(const std::string& list);

// "12", "12_3", "12_[3-9]".
std::string id_text(const api::AccountingRow& row);

}  // namespace ares::aacct
