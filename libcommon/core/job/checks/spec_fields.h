// The fields of a specification that may be changed after submission, as model/job/spec_fields.def says.
// Constant data; any thread. Internal to core/job.
#pragma once

#include <string_view>

#include "model/job/job.h"

namespace ares::core {

struct SpecField {
  std::string_view name;   // in api.proto's JobSpec
  std::string_view title;  // for messages: "time to begin"
  bool alive = false;      // also while the job holds resources: no launched process depends on it
  enum Touches { nothing, shape, times } touches = nothing;  // what must be checked again
  void (*copy)(const JobSpec& from, JobSpec& to) = nullptr;
};

// Null if the field does not exist or cannot be changed.
const SpecField* find_spec_field(std::string_view name);

// Whether two specifications are equal except for labels, such as name and comment: they ask for the same.
bool asks_alike(const JobSpec& a, JobSpec b);

}  // namespace ares::core
