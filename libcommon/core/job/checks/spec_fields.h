// What of a specification may be changed after submission: one row a field.
// Constant data; any thread. Internal to core/job.
#pragma once

#include <string_view>

#include "model/job/job.h"

namespace ares::core {

struct SpecField {
  std::string_view name;   // in api.proto's JobSpec
  std::string_view title;  // for people: "time to begin"
  bool alive = false;      // also once it holds resources: nothing that was launched depends on it
  enum Touches { nothing, shape, times } touches = nothing;  // what must be looked at again
  void (*copy)(const JobSpec& from, JobSpec& to) = nullptr;
};

// Null for what cannot be changed.
const SpecField* find_spec_field(std::string_view name);

}  // namespace ares::core
