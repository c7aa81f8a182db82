// The fields of job_desc and job_rec: the names that scripts for Slurm's job_submit/lua know, each with how it is read from a job's
// specification and how it is set. Values are parsed as options of asub are. Immutable; pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "proto/gen/api.pb.h"
#include "submit/fields/field_value.h"

namespace ares::submit {

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

}  // namespace ares::submit
