#include "cli/values/job_ids.h"

#include "base/interval_set.h"
#include "base/printable.h"
#include "cli/output/text.h"

namespace ares::cli {
namespace {

constexpr std::size_t kMaxKeys = 100'000;

tl::unexpected<Error> bad(const std::string& item, std::string_view why) {
  return fail(ErrorCode::invalid_argument,
              "invalid job id " + quote(item) + ": " + std::string(why));
}

Status add_item(const std::string& item, std::vector<JobKey>& keys) {
  constexpr std::string_view kExpected = "write 12, 12_3 or 12_[1-4]";
  const std::size_t end = item.find_first_not_of("0123456789");
  const auto job = parse_number(std::string_view(item).substr(0, end), UINT64_MAX - 1);
  if (!job || *job == 0) return bad(item, kExpected);
  if (end == std::string::npos) {
    keys.push_back({JobId(*job), {}});
    return {};
  }
  if (item[end] == '.') return bad(item, "job steps are not supported yet");
  if (item[end] == '+') return bad(item, "heterogeneous jobs are not supported yet");
  if (item[end] != '_') return bad(item, kExpected);

  std::string tasks = item.substr(end + 1);
  if (tasks.starts_with('[') && tasks.ends_with(']')) {
    tasks = tasks.substr(1, tasks.size() - 2);
    if (const std::size_t throttle = tasks.find('%'); throttle != std::string::npos)
      tasks.resize(throttle);
  } else if (!parse_number(tasks, TaskIndex::kNone - 1)) {
    return bad(item, kExpected);
  }
  const auto set = parse_interval_set(tasks);
  if (!set) return bad(item, set.error().message);
  if (set->count() + keys.size() > kMaxKeys)
    return bad(item, "more than 100000 tasks; name the array instead");
  for (const std::uint32_t task : *set) keys.push_back({JobId(*job), TaskIndex{task}});
  return {};
}

}  // namespace

Result<std::vector<JobKey>> parse_job_ids(std::string_view text) {
  std::vector<JobKey> keys;
  for (const std::string& item : split_outside_brackets(text))
    if (Status added = add_item(item, keys); !added) return fail(added.error());
  if (keys.empty()) return bad(std::string(text), "write 12, 12_3 or 12_[1-4]");
  return keys;
}

std::string format_job_id(const JobKey& key) {
  const std::string job = std::to_string(key.job.value());
  return key.task.is_none() ? job : job + "_" + std::to_string(key.task.value);
}

}  // namespace ares::cli
