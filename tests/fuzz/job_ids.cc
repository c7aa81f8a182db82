// Ids of jobs, of tasks of arrays and of steps, and the tasks of an array: printed and read again they are the same.
#include "cli/values/job_ids.h"

#include "cli/output/text.h"
#include "cli/values/spec_values.h"
#include "cli/values/step_ids.h"
#include "fuzz/target.h"

namespace ares::fuzz {

// A few bytes may name 100,000 tasks.
const Allowance kAllowance{64 << 20, 4096};

namespace {

constexpr std::size_t kMostKeys = 100'000;
constexpr std::size_t kMostPrinted = 1000;

void try_jobs(std::string_view input) {
  const auto keys = cli::parse_job_ids(input);
  if (!keys) return require_refusal(keys.error());
  require(!keys->empty() && keys->size() <= kMostKeys, "a list has 1 to 100,000 jobs");
  if (keys->size() > kMostPrinted) return;
  std::vector<std::string> texts;
  for (const JobKey& key : *keys) texts.push_back(cli::format_job_id(key));
  const auto again = cli::parse_job_ids(cli::join(texts, ","));
  require(again && *again == *keys, "ids of jobs survive printing");
}

void try_steps(std::string_view input) {
  const auto ids = cli::parse_step_ids(input);
  if (!ids) return require_refusal(ids.error());
  require(ids->whole.size() + ids->steps.size() <= kMostKeys, "a list has at most 100,000 ids");
  if (ids->whole.size() + ids->steps.size() > kMostPrinted) return;
  std::vector<std::string> texts;
  for (const JobKey& key : ids->whole) texts.push_back(cli::format_job_id(key));
  for (const cli::StepId& id : ids->steps)
    texts.push_back(cli::format_job_id(id.job) + "." + cli::format_step(id.step));
  const auto again = cli::parse_step_ids(cli::join(texts, ","));
  require(again && again->whole == ids->whole && again->steps == ids->steps,
          "ids of steps survive printing");
  require(again->jobs() == ids->jobs(), "so do their jobs");
}

void try_array(std::string_view input) {
  api::JobSpec spec;
  if (Status set = cli::set_array(spec, std::string(input)); !set)
    return require_refusal(set.error());
  const std::string text =
      spec.array() + (spec.array_throttle() > 0 ? "%" + std::to_string(spec.array_throttle()) : "");
  api::JobSpec again;
  require(cli::set_array(again, text).has_value(), "what was printed is an array: " + text);
  require(again.array() == spec.array() && again.array_throttle() == spec.array_throttle(),
          "an array survives printing: " + text);
}

}  // namespace

void try_input(std::string_view input) {
  try_jobs(input);
  try_steps(input);
  try_array(input);
}

}  // namespace ares::fuzz
