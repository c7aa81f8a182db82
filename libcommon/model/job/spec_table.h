// What the rows of model/job/spec_fields.def say of a field of JobSpec. Constant data; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/job/text_kind.h"

namespace ares {

// When `actl update` may change a field, and what has to be checked again.
enum class FieldChange : std::uint8_t {
  ambient,        // never: it comes from where the job was submitted, the user did not write it
  fixed,          // never
  label,          // at any time: no launched process and no decision of the scheduler depends on it
  pending_label,  // while the job is pending; otherwise as label
  pending,        // while the job is pending
  shape,          // the same; where the job may run is checked again
  times,          // the same; its times are checked again
};

// The line that a field has for itself in `actl show job`, where it is set.
struct SpecLine {
  enum class Place : std::uint8_t { nowhere, counts, nodes, files, notes } place = Place::nowhere;
  std::string_view key{};  // "Comment", of `actl update` too
};

// The words of the column `line`; each is a place.
namespace spec_line {
inline constexpr SpecLine none{};
constexpr SpecLine counts(std::string_view key) {  // behind the number of nodes and CPUs
  return {SpecLine::Place::counts, key};
}
constexpr SpecLine nodes(std::string_view key) {  // behind what it asks of its nodes
  return {SpecLine::Place::nodes, key};
}
constexpr SpecLine files(std::string_view key) {  // behind its command
  return {SpecLine::Place::files, key};
}
constexpr SpecLine notes(std::string_view key) {  // behind its files
  return {SpecLine::Place::notes, key};
}
}  // namespace spec_line

}  // namespace ares
