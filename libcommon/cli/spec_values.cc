#include "cli/spec_values.h"

#include <array>
#include <limits>

#include "base/duration.h"
#include "base/hostlist.h"
#include "base/interval_set.h"
#include "base/timespec.h"
#include "base/units.h"
#include "cli/job_ids.h"
#include "cli/text.h"

namespace ares::cli {
namespace {

constexpr std::uint64_t kMaxCount = 1'000'000'000;

tl::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

tl::unexpected<Error> unbuilt(const std::string& what) {
  return bad(what + " is not supported yet");
}

template <class List>
Status add_gpus(List* list, const std::string& text) {
  for (const std::string& item : cli::split(text, ',')) {
    const std::size_t colon = item.rfind(':');
    const std::string type = colon == std::string::npos ? "" : item.substr(0, colon);
    const std::string digits = colon == std::string::npos ? item : item.substr(colon + 1);
    const auto count = cli::parse_number(digits, 1'000'000);
    if (!count || (colon != std::string::npos && type.empty()) ||
        type.find_first_of(":=") != std::string::npos)
      return bad("\"" + item + "\" is not [TYPE:]COUNT");
    if (*count == 0) continue;
    auto* gpu = list->Add();
    gpu->set_type(type);
    gpu->set_count(static_cast<std::uint32_t>(*count));
  }
  return {};
}

Status set_node_list(google::protobuf::RepeatedPtrField<std::string>* list,
                     const std::string& text) {
  if (text.find('/') != std::string::npos) return unbuilt("a list of nodes in a file");
  const auto names = expand_hostlist(text);
  if (!names) return fail(names.error());
  if (names->empty()) return bad("the list is empty");
  list->Clear();
  for (const std::string& name : *names) *list->Add() = name;
  return {};
}

struct KindName {
  const char* name;
  api::Dependency::Kind kind;
};
constexpr std::array<KindName, 4> kKinds = {{{"after", api::Dependency::AFTER},
                                             {"afterany", api::Dependency::AFTER_ANY},
                                             {"afterok", api::Dependency::AFTER_OK},
                                             {"afternotok", api::Dependency::AFTER_NOT_OK}}};

Status add_dependency(api::JobSpec& spec, const std::string& item) {
  std::vector<std::string> parts = cli::split(item, ':');
  if (parts.empty() || parts[0].empty())
    return bad("Job dependency problem: an empty item in the list");
  api::Dependency::Kind kind = api::Dependency::AFTER_ANY;
  std::size_t first = 0;
  if (!(parts[0][0] >= '0' && parts[0][0] <= '9')) {
    const std::string word = cli::lower(parts[0]);
    const KindName* found = nullptr;
    for (const KindName& row : kKinds)
      if (word == row.name) found = &row;
    if (!found && (word == "singleton" || word == "aftercorr" || word == "afterburstbuffer"))
      return unbuilt("the dependency " + word);
    if (!found)
      return bad("Job dependency problem: unknown kind \"" + parts[0] +
                 "\"; use after, afterany, afterok or afternotok");
    kind = found->kind;
    first = 1;
    if (parts.size() == 1) return bad("Job dependency problem: \"" + item + "\" names no job");
  }
  for (std::size_t i = first; i < parts.size(); ++i) {
    if (parts[i].find('+') != std::string::npos)
      return unbuilt("a delay (+MINUTES) in a dependency");
    const auto keys = cli::parse_job_ids(parts[i]);
    if (!keys) return bad("Job dependency problem: " + keys.error().message);
    for (const JobKey& key : *keys) {
      auto* dependency = spec.add_dependencies();
      dependency->set_kind(kind);
      dependency->mutable_target()->set_job(key.job.value());
      if (!key.task.is_none()) dependency->mutable_target()->set_task(key.task.value);
    }
  }
  return {};
}

}  // namespace

Status set_nodes(api::JobSpec& spec, const std::string& text) {
  if (text.find_first_of(",:") != std::string::npos) return unbuilt("a list of node counts");
  const std::size_t dash = text.find('-');
  const auto low = cli::parse_number(std::string_view(text).substr(0, dash), kMaxCount);
  const auto high = dash == std::string::npos
                        ? low
                        : cli::parse_number(std::string_view(text).substr(dash + 1), kMaxCount);
  if (!low || !high || *low == 0 || *high < *low)
    return bad("Node count specification invalid: \"" + text + "\"; write COUNT or LEAST-MOST");
  spec.set_min_nodes(static_cast<std::uint32_t>(*low));
  spec.set_max_nodes(static_cast<std::uint32_t>(*high));
  return {};
}

Status set_memory_per_node(api::JobSpec& spec, const std::string& text) {
  const auto amount = parse_memory(text);
  if (!amount) return fail(amount.error());
  spec.set_memory_per_node(amount->value());
  return {};
}

Status set_memory_per_cpu(api::JobSpec& spec, const std::string& text) {
  const auto amount = parse_memory(text);
  if (!amount) return fail(amount.error());
  spec.set_memory_per_cpu(amount->value());
  return {};
}

Status set_gpus_total(api::JobSpec& spec, const std::string& text) {
  spec.clear_gpus_total();
  return add_gpus(spec.mutable_gpus_total(), text);
}

Status set_gpus_per_node(api::JobSpec& spec, const std::string& text) {
  spec.clear_gpus_per_node();
  return add_gpus(spec.mutable_gpus_per_node(), text);
}

Status set_gres(api::JobSpec& spec, const std::string& text) {
  spec.clear_gpus_per_node();
  if (cli::lower(text) == "none") return {};
  if (text.empty()) return bad("empty; write gpu:COUNT or gpu:TYPE:COUNT");
  for (std::string item : cli::split(text, ',')) {
    if (item.starts_with("gres/")) item.erase(0, 5);
    const std::size_t colon = item.find(':');
    const std::string name = item.substr(0, colon);
    if (name != "gpu") return unbuilt("the generic resource \"" + name + "\"");
    std::string rest = colon == std::string::npos ? "1" : item.substr(colon + 1);
    // gpu:a100 is one of that type.
    if (const std::size_t last = rest.rfind(':');
        !cli::parse_number(rest.substr(last + 1), kMaxCount))
      rest += ":1";
    if (Status added = add_gpus(spec.mutable_gpus_per_node(), rest); !added)
      return bad("\"" + item + "\" is not gpu[:TYPE][:COUNT]");
  }
  return {};
}

Status set_time_limit(api::JobSpec& spec, const std::string& text) {
  const auto limit = parse_time_limit(text);
  if (!limit) return fail(limit.error());
  spec.set_time_limit(*limit ? (*limit)->count() : 0);
  return {};
}

Status set_array(api::JobSpec& spec, const std::string& text) {
  const std::size_t percent = text.find('%');
  std::uint32_t throttle = 0;
  if (percent != std::string::npos) {
    const auto count = cli::parse_number(std::string_view(text).substr(percent + 1), kMaxCount);
    if (!count)
      return bad("\"" + text.substr(percent) + "\" is no bound on running tasks; write %COUNT");
    throttle = static_cast<std::uint32_t>(*count);
  }
  const auto tasks = parse_interval_set(std::string_view(text).substr(0, percent));
  if (!tasks) return bad("Invalid job array specification: " + tasks.error().message);
  spec.set_array(format_interval_set(*tasks));
  spec.set_array_throttle(throttle);
  return {};
}

Status set_dependencies(api::JobSpec& spec, const std::string& text) {
  spec.clear_dependencies();
  if (text.find('?') != std::string::npos) return unbuilt("\"?\" (any of several dependencies)");
  if (text.empty()) return bad("Job dependency problem: empty");
  for (const std::string& item : cli::split_outside_brackets(text))
    if (Status added = add_dependency(spec, item); !added) return added;
  return {};
}

Status set_begin(api::JobSpec& spec, const std::string& text, Time now) {
  const auto at = parse_timespec(text, now);
  if (!at) return fail(at.error());
  spec.set_begin(at->time_since_epoch().count());
  return {};
}

Status set_constraint(api::JobSpec& spec, const std::string& text) {
  spec.clear_features();
  if (text.find_first_of("|[]()*,!") != std::string::npos)
    return bad("\"" + text +
               "\": only names joined by & are understood; |, [], () and * are not supported yet");
  for (const std::string& name : cli::split(text, '&')) {
    if (cli::trim(name).empty()) return bad("\"" + text + "\" has an empty feature name");
    spec.add_features(std::string(cli::trim(name)));
  }
  return {};
}

Status set_required_nodes(api::JobSpec& spec, const std::string& text) {
  return set_node_list(spec.mutable_required_nodes(), text);
}

Status set_excluded_nodes(api::JobSpec& spec, const std::string& text) {
  return set_node_list(spec.mutable_excluded_nodes(), text);
}

Status set_nice(api::JobSpec& spec, const std::string& text) {
  constexpr std::int64_t kBound = 2'147'483'645;
  if (text.empty()) {
    spec.set_nice(100);
    return {};
  }
  const auto nice = cli::parse_integer(text, -kBound, kBound);
  if (!nice) return fail(nice.error());
  spec.set_nice(static_cast<std::int32_t>(*nice));
  return {};
}

Status set_priority(api::JobSpec& spec, const std::string& text) {
  if (cli::lower(text) == "top") return unbuilt("TOP");
  const auto priority = cli::parse_integer(text, 0, std::numeric_limits<std::uint32_t>::max() - 2);
  if (!priority) return fail(priority.error());
  spec.set_priority(static_cast<std::uint32_t>(*priority));
  return {};
}

Status set_open_mode(api::JobSpec& spec, const std::string& text) {
  const std::string word = cli::lower(text);
  if (word != "append" && word != "a" && word != "truncate" && word != "t")
    return bad("\"" + text + "\" is neither append nor truncate");
  spec.set_append(word[0] == 'a');
  return {};
}

Status set_exclusive(api::JobSpec& spec, const std::string& text) {
  if (!text.empty()) return unbuilt("--exclusive=" + text);
  spec.set_exclusive(true);
  return {};
}

Status set_kill_on_invalid_dependency(api::JobSpec& spec, const std::string& text) {
  const std::string word = cli::lower(text);
  if (word != "yes" && word != "no") return bad("\"" + text + "\" is neither yes nor no");
  spec.set_kill_on_invalid_dependency(word == "yes");
  return {};
}

Status set_partitions(api::JobSpec& spec, const std::string& text) {
  spec.clear_partitions();
  for (const std::string& name : cli::split(text, ',')) {
    if (name.empty())
      return bad("Invalid partition name specified: an empty name in \"" + text + "\"");
    spec.add_partitions(name);
  }
  if (spec.partitions().empty()) return bad("Invalid partition name specified: empty");
  return {};
}

Status set_requeue(api::JobSpec& spec, const std::string& text) {
  if (!text.empty()) return unbuilt("--requeue=" + text);
  spec.set_requeue(true);
  return {};
}

}  // namespace ares::cli
