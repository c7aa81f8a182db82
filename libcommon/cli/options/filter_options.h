// Apply functions for options that fill the filters of requests: api::ListJobs, api::Accounting.
// Owned by a command's main thread.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "proto/gen/api.pb.h"

namespace ares::cli {

// Parses comma-separated names. Returns invalid_argument for an empty list or an empty name.
std::function<Status(const std::string&)> set_names(
    google::protobuf::RepeatedPtrField<std::string>* list);

// Parses a hostlist into single names.
std::function<Status(const std::string&)> set_hosts(
    google::protobuf::RepeatedPtrField<std::string>* list);

// Parses "12,12_3,12_[1-4]" into an ascending list without duplicates.
std::function<Status(const std::string&)> set_job_ids(
    google::protobuf::RepeatedPtrField<api::JobRef>* list);

}  // namespace ares::cli
