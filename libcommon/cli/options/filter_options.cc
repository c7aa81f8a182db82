#include "cli/options/filter_options.h"

#include <algorithm>

#include "base/hostlist.h"
#include "base/printable.h"
#include "cli/output/text.h"
#include "cli/values/job_ids.h"

namespace ares::cli {

std::function<Status(const std::string&)> set_names(
    google::protobuf::RepeatedPtrField<std::string>* list) {
  return [list](const std::string& value) -> Status {
    list->Clear();
    for (std::string& item : split(value, ',')) {
      if (item.empty())
        return fail(ErrorCode::invalid_argument, quote(value) + " has an empty item");
      *list->Add() = std::move(item);
    }
    if (list->empty()) return fail(ErrorCode::invalid_argument, "empty; name at least one");
    return {};
  };
}

std::function<Status(const std::string&)> set_hosts(
    google::protobuf::RepeatedPtrField<std::string>* list) {
  return [list](const std::string& value) -> Status {
    auto names = expand_hostlist(value);
    if (!names) return fail(names.error());
    list->Clear();
    for (std::string& name : *names) *list->Add() = std::move(name);
    return {};
  };
}

std::function<Status(const std::string&)> set_job_ids(
    google::protobuf::RepeatedPtrField<api::JobRef>* list) {
  return [list](const std::string& value) -> Status {
    auto keys = parse_job_ids(value);
    if (!keys) return fail(keys.error());
    std::sort(keys->begin(), keys->end());
    keys->erase(std::unique(keys->begin(), keys->end()), keys->end());
    list->Clear();
    add_refs(list, *keys);
    return {};
  };
}

}  // namespace ares::cli
