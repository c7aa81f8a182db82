// Parses dependencies: afterok:12:13,after:14+5 or afterok:12?afterok:13.
#include <algorithm>
#include <array>

#include "base/printable.h"
#include "cli/output/text.h"
#include "cli/values/job_ids.h"
#include "cli/values/spec_values.h"

namespace ares::cli {
namespace {

struct KindName {
  const char* name;
  api::Dependency::Kind kind;
};
constexpr std::array<KindName, 6> kKinds = {{{"after", api::Dependency::AFTER},
                                             {"afterany", api::Dependency::AFTER_ANY},
                                             {"afterok", api::Dependency::AFTER_OK},
                                             {"afternotok", api::Dependency::AFTER_NOT_OK},
                                             {"aftercorr", api::Dependency::AFTER_CORR},
                                             {"singleton", api::Dependency::SINGLETON}}};

// Upper bound of a delay: one year.
constexpr std::uint64_t kMaxDelayMinutes = 60 * 24 * 365;

tl::unexpected<Error> bad(const std::string& message) {
  return fail(ErrorCode::invalid_argument, "Job dependency problem: " + message);
}

// The kind at the start of an item; a bare job id is afterany.
Result<api::Dependency::Kind> kind_of(const std::string& first) {
  if (first[0] >= '0' && first[0] <= '9') return api::Dependency::AFTER_ANY;
  const std::string word = lower(first);
  for (const KindName& row : kKinds)
    if (word == row.name) return row.kind;
  if (word == "afterburstbuffer" || word == "expand")
    return fail(ErrorCode::invalid_argument,
                "the dependency " + excerpt(word) + " is not supported yet");
  return bad("unknown kind " + quote(first) +
             "; use after, afterany, afterok, afternotok, aftercorr or singleton");
}

// 12, 12_3, and after `after` also 12+5.
Status add_target(api::JobSpec& spec, api::Dependency::Kind kind, const std::string& text) {
  const std::size_t plus = text.find('+');
  std::uint64_t minutes = 0;
  if (plus != std::string::npos) {
    const auto given = parse_number(std::string_view(text).substr(plus + 1), kMaxDelayMinutes);
    if (!given) return bad(quote(text.substr(plus)) + " is no delay; write +MINUTES");
    if (kind != api::Dependency::AFTER)
      return bad("a delay (+MINUTES) goes with after only, not in " + quote(text));
    minutes = *given;
  }
  const auto keys = parse_job_ids(text.substr(0, plus));
  if (!keys) return bad(keys.error().message);
  for (const JobKey& key : *keys) {
    auto* dependency = spec.add_dependencies();
    dependency->set_kind(kind);
    dependency->mutable_target()->set_job(key.job.value());
    if (!key.task.is_none()) dependency->mutable_target()->set_task(key.task.value);
    dependency->set_delay(static_cast<std::int64_t>(minutes * 60));
  }
  return {};
}

Status add_item(api::JobSpec& spec, const std::string& item) {
  const std::vector<std::string> parts = split(item, ':');
  if (parts.empty() || parts[0].empty()) return bad("an empty item in the list");
  const auto kind = kind_of(parts[0]);
  if (!kind) return fail(kind.error());
  const bool named = !(parts[0][0] >= '0' && parts[0][0] <= '9');
  if (*kind == api::Dependency::SINGLETON) {
    if (parts.size() > 1) return bad("singleton names no job");
    spec.add_dependencies()->set_kind(*kind);
    return {};
  }
  if (named && parts.size() == 1) return bad(quote(item) + " names no job");
  for (std::size_t i = named ? 1 : 0; i < parts.size(); ++i)
    if (Status added = add_target(spec, *kind, parts[i]); !added) return added;
  return {};
}

}  // namespace

Status set_dependencies(api::JobSpec& spec, const std::string& text) {
  spec.clear_dependencies();
  if (text.empty()) return bad("empty");
  std::vector<std::string> items = split_outside_brackets(text);
  const bool any = text.find('?') != std::string::npos;
  if (any && items.size() > 1) return bad("\",\" (all of them) and \"?\" (any) cannot be mixed");
  if (any) items = split(text, '?');
  for (const std::string& item : items)
    if (Status added = add_item(spec, item); !added) return added;
  spec.set_any_dependency(any);
  return {};
}

std::string format_dependencies(const google::protobuf::RepeatedPtrField<api::Dependency>& list) {
  std::string out;
  for (const api::Dependency& one : list) {
    if (!out.empty()) out += one.any() ? "?" : ",";
    const auto same = [&](const KindName& row) { return row.kind == one.kind(); };
    const auto row = std::find_if(kKinds.begin(), kKinds.end(), same);
    out += row == kKinds.end() ? "afterany" : row->name;
    if (one.kind() == api::Dependency::SINGLETON) continue;
    out += ":" + format_job_id(key_of(one.target()));
    if (one.delay() > 0) out += "+" + std::to_string(one.delay() / 60);
  }
  return out;
}

}  // namespace ares::cli
