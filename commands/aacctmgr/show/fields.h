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

// One line of a listing, with pointers to the records it shows.
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
  std::string text;        // A coordinator, a TRES, or a problem text.
  std::size_t indent = 0;  // Indent of the account's name.
  // The terms of the user in the account, else of the account; null if there is neither.
  const Terms* terms() const;
};

struct Field {
  std::string name;    // Name for format=.
  std::string header;  // Printed header.
  int width = 10;      // Minimum width; a negative width aligns to the left.
  std::string help;
  std::function<std::string(const Row&)> text;
};

const std::vector<Field>& fields();
std::vector<std::string> field_texts();  // Descriptions for the manual page.

struct SelectedField {
  const Field* field = nullptr;
  int width = 0;
  bool fixed = false;  // The user gave the width.
};

// Parses "Account%20,User,QOS": names or unambiguous prefixes, ignoring case. Returns
// invalid_argument with a suggestion.
Result<std::vector<SelectedField>> parse_fields(const std::string& list);

// The default fields of an entity.
std::string usual_fields(Entity entity, bool with_associations);

}  // namespace ares::aacctmgr
