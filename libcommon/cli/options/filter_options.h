// Apply functions for options that fill the filters of requests: api::ListJobs, api::Accounting.
// Owned by a command's main thread.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "proto/gen/api.pb.h"

namespace ares::cli {

// Names between commas. invalid_argument: none, or an empty one.
std::function<Status(const std::string&)> set_names(
    google::protobuf::RepeatedPtrField<std::string>* list);

// A hostlist, as single names.
std::function<Status(const std::string&)> set_hosts(
    google::protobuf::RepeatedPtrField<std::string>* list);

// "12,12_3,12_[1-4]": ascending, each once.
std::function<Status(const std::string&)> set_job_ids(
    google::protobuf::RepeatedPtrField<api::JobRef>* list);

}  // namespace ares::cli
