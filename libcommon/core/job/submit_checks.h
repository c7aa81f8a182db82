// What a specification is checked for when it is submitted, and again when a pending job is changed: one place for both.
// Internal to core/job; pure, engine thread. Every refusal is invalid_argument unless it says otherwise.
#pragma once

#include <string>
#include <vector>

#include "core/job/deciding.h"

namespace ares::core {

// The numbers asked for, by themselves.
Status check_counts(const JobSpec& spec);

// The partitions meant, without repeats; the default one where none is named.
Result<std::vector<std::string>> partitions_of(const ClusterState& state, const JobSpec& spec);

// One of the partitions must be able to run it one day; the text is about the first.
Status check_partitions(const ClusterState& state, const JobSpec& spec,
                        const std::vector<std::string>& names);

// How its dependencies stand now. What can never be met any more is both waited for and failed.
struct Awaited {
  std::vector<Dependency> waiting;
  std::vector<Dependency> failed;
};
Result<Awaited> check_dependencies(const Question& q, const Principal& who, const JobSpec& spec);

}  // namespace ares::core
