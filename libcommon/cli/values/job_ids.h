// Job ids in the format of the command line: "12", "12_3", "12_[1-4,7]". Pure functions; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace ares::cli {

// Parses a comma-separated list. A throttle as printed by listings ("12_[3-9%2]") is ignored.
// Returns invalid_argument for other text and for more than 100,000 tasks.
Result<std::vector<JobKey>> parse_job_ids(std::string_view text);

// "12", "12_3".
std::string format_job_id(const JobKey& key);

// Into a list of api::JobRef.
template <class List>
void add_refs(List* list, std::span<const JobKey> keys) {
  for (const JobKey& key : keys) {
    auto* ref = list->Add();
    ref->set_job(key.job.value());
    if (!key.task.is_none()) ref->set_task(key.task.value);
  }
}

// From an api::JobRef.
template <class Ref>
JobKey key_of(const Ref& ref) {
  return {JobId(ref.job()), ref.has_task() ? TaskIndex{ref.task()} : TaskIndex{}};
}

}  // namespace ares::cli
