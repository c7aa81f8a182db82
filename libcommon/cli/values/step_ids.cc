#include "cli/values/step_ids.h"

#include <algorithm>
#include <optional>

#include "base/printable.h"
#include "cli/output/text.h"
#include "cli/values/job_ids.h"
#include "model/job/step_record.h"

namespace ares::cli {
namespace {

constexpr std::size_t kMostIds = 100'000;

// Splits at commas outside of brackets.
std::vector<std::string> items_of(std::string_view text) {
  std::vector<std::string> items(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c == ',' && depth == 0)
      items.emplace_back();
    else
      items.back() += c;
  }
  std::erase(items, "");
  return items;
}

std::optional<std::int64_t> step_number(const std::string& text) {
  if (text == "batch") return kBatchStep;
  if (text == "others") return kOtherSteps;
  const auto number = parse_number(text, UINT32_MAX);
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

}  // namespace

std::vector<JobKey> JobOrStepIds::jobs() const {
  std::vector<JobKey> all = whole;
  for (const StepId& id : steps) all.push_back(id.job);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Result<JobOrStepIds> parse_step_ids(std::string_view text) {
  JobOrStepIds ids;
  for (const std::string& item : items_of(text)) {
    const std::size_t dot = item.find('.');
    const auto jobs = parse_job_ids(std::string_view(item).substr(0, dot));
    if (!jobs) return fail(jobs.error());
    if (ids.whole.size() + ids.steps.size() + jobs->size() > kMostIds)
      return fail(ErrorCode::invalid_argument,
                  excerpt(text) + " names more than 100000 tasks; name the arrays instead");
    if (dot == std::string::npos) {
      ids.whole.insert(ids.whole.end(), jobs->begin(), jobs->end());
      continue;
    }
    const auto step = step_number(lower(item.substr(dot + 1)));
    if (!step)
      return fail(ErrorCode::invalid_argument,
                  quote(item) + ": a step is JOB.NUMBER or JOB.batch, such as 12.0");
    for (const JobKey& job : *jobs) ids.steps.push_back({job, *step});
  }
  if (ids.whole.empty() && ids.steps.empty()) {
    const auto none = parse_job_ids(text);  // for its message
    if (!none) return fail(none.error());
  }
  return ids;
}

std::string format_step(std::int64_t step) {
  if (step == kBatchStep) return "batch";
  return step == kOtherSteps ? "others" : std::to_string(step);
}

}  // namespace ares::cli
