// The fields of job_desc and job_rec: the names that scripts for Slurm's job_submit/lua know, each with how it is read from a job's
// specification and how it is set. Values are parsed as options of asub are. Immutable; pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "proto/gen/api.pb.h"
#include "submit/message/hook_message.h"

namespace ares::submit {

// What a number has that is not set: Slurm's NO_VAL of the field's size.
inline constexpr double kNoVal16 = 65534;
inline constexpr double kNoVal = 4294967294.0;
inline constexpr double kNoVal64 = 18446744073709551614.0;
inline constexpr double kInfinite = 4294967295.0;

struct JobField {
  std::string name;
  std::string help;
  FieldValue (*get)(const api::JobSpec&);
  // Nothing, or NO_VAL of the field, takes the value back. nullptr: scripts cannot set it.
  Status (*set)(api::JobSpec&, const FieldValue&) = nullptr;
  // Fields of api::JobSpec that it changes, as api::JobAction names them; empty: it cannot be set by a change of a job.
  std::vector<std::string> changes{};
};

const std::vector<JobField>& job_fields();

// As an option of asub would have it: a number without a fraction that is not there; nothing is "".
std::string text_of(const FieldValue& value);

}  // namespace ares::submit
