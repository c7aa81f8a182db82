// What scripts see of jobs, changes of jobs and partitions, and what they set. Pure; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "proto/gen/api.pb.h"
#include "submit/message/hook_message.h"

namespace ares::submit {

// All fields, and the names of those that cannot be set.
FieldValues values_of(const api::JobSpec& spec);
std::vector<std::string> read_only_fields();

// Sets them. invalid_argument: names the field, and says what is wrong with its value.
Status apply(api::JobSpec& spec, const FieldValues& changes);

// The same for a change of a job: only its fields have values.
FieldValues values_of(const api::JobAction& action);
std::vector<std::string> read_only_fields_of_changes();
Status apply(api::JobAction& action, const FieldValues& changes);

// NUL-separated NAME=value, as a submission carries it.
Variables variables_of(const std::string& environment);
// With what a script set and removed. invalid_argument: a name that is none.
Result<std::string> changed_environment(const std::string& environment,
                                        const std::map<std::string, FieldValue>& changes);

// A partition as scripts see it.
FieldValues values_of(const api::Partition& partition);

}  // namespace ares::submit
