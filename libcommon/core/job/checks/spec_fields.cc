#include "core/job/checks/spec_fields.h"

#include <algorithm>
#include <iterator>

#include "model/job/spec_table.h"

namespace ares::core {
namespace {

// Requests to change a field name it as api.proto does, all but one.
constexpr std::string_view name_in_requests(std::string_view api_name) {
  return api_name == "warning_signal" ? "warning" : api_name;
}

constexpr bool may_change(FieldChange change) {
  return change != FieldChange::ambient && change != FieldChange::fixed;
}

constexpr bool is_label(FieldChange change) {
  return change == FieldChange::label || change == FieldChange::pending_label;
}

constexpr SpecField::Touches touched_by(FieldChange change) {
  if (change == FieldChange::shape) return SpecField::shape;
  return change == FieldChange::times ? SpecField::times : SpecField::nothing;
}

struct Row {
  SpecField field;
  bool may_change;
};
constexpr Row kRows[] = {
#define ARES_SPEC_FIELD(member, api_name, storage_name, text, title, change, line) \
  {{name_in_requests(#api_name), title, FieldChange::change == FieldChange::label, \
    touched_by(FieldChange::change),                                               \
    [](const JobSpec& from, JobSpec& to) { to.member = from.member; }},            \
   may_change(FieldChange::change)},
#include "model/job/spec_fields.def"
};

}  // namespace

const SpecField* find_spec_field(std::string_view name) {
  const auto* found = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) {
    return row.may_change && row.field.name == name;
  });
  return found == std::end(kRows) ? nullptr : &found->field;
}

bool asks_alike(const JobSpec& a, JobSpec b) {
#define ARES_SPEC_FIELD(member, api_name, storage_name, text, title, change, line) \
  if constexpr (is_label(FieldChange::change)) b.member = a.member;
#include "model/job/spec_fields.def"
  return a == b;
}

}  // namespace ares::core
