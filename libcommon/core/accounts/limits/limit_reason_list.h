// All reasons of jobs that a limit of an account, a user or a QOS keeps waiting, with what each means.
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ares::core {

struct LimitReason {
  std::string name;     // "AssocGrpCpuLimit"
  std::string meaning;  // continues "Job 12": "waits because ..."
};
// By the order of the kinds of limits, each name once.
const std::vector<LimitReason>& limit_reasons();
// The meaning; empty: no limit gives that reason.
std::string_view meaning_of_limit(std::string_view reason);

}  // namespace ares::core
