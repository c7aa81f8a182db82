// The fields of `aacctmgr show`, one row each: name, header, width, help and text.
// Immutable; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "aacctmgr/edit/records.h"
#include "aacctmgr/selection.h"
#include "base/result.h"
#include "proto/gen/api.pb.h"

namespace ares::aacctmgr {

// A line of a listing: whatever records it is of.
struct Row {
  const Snapshot* snapshot = nullptr;
  const Account* account = nullptr;
  const Association* association = nullptr;
  const User* user = nullptr;
  const Qos* qos = nullptr;
  const Wckey* wckey = nullptr;
  const api::Transactions::Row* change = nullptr;
  const api::RunawayJobs::Row* runaway = nullptr;
  const api::Archived::File* file = nullptr;
  std::string text;        // a coordinator, a TRES, or what is wrong
  std::size_t indent = 0;  // of the account's name
  // Of the user in the account, or the account; null: neither.
  const Terms* terms() const;
};

struct Field {
  std::string name;    // for format=
  std::string header;  // as it is printed
  int width = 10;      // at least; negative: aligned to the left
  std::string help;
  std::function<std::string(const Row&)> text;
};

const std::vector<Field>& fields();
std::vector<std::string> field_texts();  // for the manual

struct SelectedField {
  const Field* field = nullptr;
  int width = 0;
  bool fixed = false;  // the user named it
};

// "Account%20,User,QOS": names or how they begin, in any case. invalid_argument, with a suggestion.
Result<std::vector<SelectedField>> parse_fields(const std::string& list);

// The usual ones.
std::string usual_fields(Entity entity, bool with_associations);

}  // namespace ares::aacctmgr
