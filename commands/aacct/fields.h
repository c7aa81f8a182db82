// The fields of aacct, one row each: name, width, help and text.
// Immutable; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "proto/gen/api.pb.h"

namespace ares::aacct {

struct Row {
  const api::AccountingRow* job = nullptr;
  Time now{};  // the controller's clock
};

struct Field {
  std::string name;
  int width = 10;  // negative: aligned to the left
  std::string help;
  std::function<std::string(const Row&)> text;
  bool whole = false;  // never cut
};

const std::vector<Field>& fields();

struct Chosen {
  const Field* field = nullptr;
  int width = 0;
};

// "JobID,State%20,NodeList%-30"; names in any case. invalid_argument for an unknown field, with a suggestion.
Result<std::vector<Chosen>> parse_fields(const std::string& list);

// "12", "12_3".
std::string id_text(const api::AccountingRow& row);

}  // namespace ares::aacct
