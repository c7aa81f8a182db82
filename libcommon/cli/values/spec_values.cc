#include "cli/values/spec_values.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "base/duration.h"
#include "base/hostlist.h"
#include "base/ids.h"
#include "base/interval_set.h"
#include "base/printable.h"
#include "base/timespec.h"
#include "base/units.h"
#include "cli/output/text.h"
#include "model/job/constraint.h"
#include "model/job/gpu_constraint.h"
#include "model/job/warning_signal.h"
#include "model/policy/request_limits.h"

namespace ares::cli {
namespace {

constexpr std::uint64_t kMaxCount = 1'000'000'000;
constexpr std::uint32_t kMaxNodes = 1'000'000;

tl::unexpected<Error> unsupported(const std::string& what) {
  return invalid(excerpt(what) + " is not supported yet");
}

// Limits are in whole minutes; a partial minute is rounded up.
Seconds in_minutes(Seconds limit) {
  return std::chrono::ceil<std::chrono::minutes>(limit);
}

constexpr std::size_t kMaxNodeFile = 16 << 20;

// Reads the names in a file: names or host lists, separated by commas, blanks or newlines.
Result<std::string> read_node_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxNodeFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  if (!file.eof() || std::filesystem::is_directory(path))
    return invalid("cannot read the list of nodes in the file " + quote(path));
  std::string list;
  for (const char c : text) list += c == '\n' || c == '\r' || c == '\t' || c == ' ' ? ',' : c;
  std::string joined;
  for (const std::string& name : cli::split_outside_brackets(list))
    if (!name.empty()) joined += (joined.empty() ? "" : ",") + name;
  if (joined.empty()) return invalid("the file " + quote(path) + " names no nodes");
  return joined;
}

// Parses a host list, or, if the text contains a slash, the name of a file with one.
Status set_node_list(google::protobuf::RepeatedPtrField<std::string>* list,
                     const std::string& text) {
  Result<std::string> named = text;
  if (text.find('/') != std::string::npos) named = read_node_file(text);
  if (!named) return fail(named.error());
  const auto names = expand_hostlist(*named);
  if (!names) return fail(names.error());
  if (names->empty()) return invalid("the list is empty");
  list->Clear();
  std::set<std::string> seen;
  for (const std::string& name : *names)
    if (seen.insert(name).second) *list->Add() = name;
  return {};
}

// 1-15:4 or 2,4,8: only these node counts are accepted.
Status set_node_counts(api::JobSpec& spec, const std::string& text) {
  const auto counts = parse_interval_set(text, kMaxNodes, kMaxNodeCountRanges);
  if (!counts || counts->front() == 0)
    return invalid("Node count specification invalid: " + quote(text) +
                   (counts ? ": 0 nodes are none" : ": " + counts.error().message));
  spec.set_min_nodes(counts->front());
  spec.set_max_nodes(counts->back());
  spec.set_node_counts(format_interval_set(*counts));
  return {};
}

// Brackets around the list are left out, as in Slurm: [0-4], [0-4]%2.
std::string without_brackets(const std::string& text) {
  const std::size_t end = text.find(']');
  if (!text.starts_with('[') || end == std::string::npos) return text;
  return text.substr(1, end - 1) + text.substr(end + 1);
}

// "1k" are 1024, "1m" are 1024k, as in Slurm.
std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t unit = 1;
  if (text.ends_with('k') || text.ends_with('K')) unit = 1024;
  if (text.ends_with('m') || text.ends_with('M')) unit = 1024 * 1024;
  if (unit > 1) text.remove_suffix(1);
  const auto count = cli::parse_number(text, kMaxCount / unit);
  if (!count) return std::nullopt;
  return *count * unit;
}

}  // namespace

Status set_nodes(api::JobSpec& spec, const std::string& text) {
  spec.clear_node_counts();
  if (text.find_first_of(",:") != std::string::npos) return set_node_counts(spec, text);
  const std::size_t dash = text.find('-');
  const auto low = parse_count(std::string_view(text).substr(0, dash));
  const auto high =
      dash == std::string::npos ? low : parse_count(std::string_view(text).substr(dash + 1));
  if (!low || !high || *low == 0 || *high < *low)
    return invalid("Node count specification invalid: " + quote(text) +
                   "; write COUNT or LEAST-MOST");
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

Status set_memory_per_gpu(api::JobSpec& spec, const std::string& text) {
  const auto amount = parse_memory(text);
  if (!amount) return fail(amount.error());
  if (amount->value() == 0) return invalid("\"0\": give the memory that comes with each GPU");
  spec.set_memory_per_gpu(amount->value());
  return {};
}

Status set_tmp_disk(api::JobSpec& spec, const std::string& text) {
  const auto amount = parse_memory(text);
  if (!amount) return fail(amount.error());
  spec.set_tmp_disk(amount->value());
  return {};
}

Status set_time_limit(api::JobSpec& spec, const std::string& text) {
  const auto limit = parse_time_limit(text);
  if (!limit) return fail(limit.error());
  spec.set_time_limit(*limit ? in_minutes(**limit).count() : 0);
  return {};
}

Status set_time_min(api::JobSpec& spec, const std::string& text) {
  const auto limit = parse_time_limit(text);
  if (!limit) return fail(limit.error());
  if (!*limit) return invalid(quote(text) + ": the least time must be a minute or more");
  spec.set_time_min(in_minutes(**limit).count());
  return {};
}

Status set_array(api::JobSpec& spec, const std::string& given) {
  const std::string text = without_brackets(given);
  const std::size_t percent = text.find('%');
  std::uint32_t throttle = 0;
  if (percent != std::string::npos) {
    const auto count = cli::parse_number(std::string_view(text).substr(percent + 1), kMaxCount);
    if (!count)
      return invalid(quote(text.substr(percent)) + " is no bound on running tasks; write %COUNT");
    throttle = static_cast<std::uint32_t>(*count);
  }
  const auto tasks = parse_interval_set(std::string_view(text).substr(0, percent),
                                        TaskIndex::kNone - 1, kMaxArrayRanges);
  if (!tasks) return invalid("Invalid job array specification: " + tasks.error().message);
  spec.set_array(format_interval_set(*tasks));
  spec.set_array_throttle(throttle);
  return {};
}

Status set_begin(api::JobSpec& spec, const std::string& text, Time now) {
  const auto at = parse_timespec(text, now);
  if (!at) return fail(at.error());
  spec.set_begin(at->time_since_epoch().count());
  return {};
}

Status set_deadline(api::JobSpec& spec, const std::string& text, Time now) {
  const auto at = parse_timespec(text, now);
  if (!at) return fail(at.error());
  spec.set_deadline(at->time_since_epoch().count());
  return {};
}

Status set_licenses(api::JobSpec& spec, const std::string& text) {
  const bool any = text.find('|') != std::string::npos;
  if (any && text.find(',') != std::string::npos)
    return invalid(
        "Invalid license specification: \",\" (all of them) and \"|\" (any) cannot be mixed");
  spec.clear_licenses();
  for (const std::string& item : split(text, any ? '|' : ',')) {
    if (item.find('@') != std::string::npos) return unsupported("a licence of another server (@)");
    const std::size_t colon = item.find(':');
    const std::string name(trim(item.substr(0, colon)));
    const std::optional<std::uint64_t> count =
        colon == std::string::npos ? 1 : parse_number(item.substr(colon + 1), kMaxCount);
    if (name.empty() || !count || *count == 0)
      return invalid("Invalid license specification: " + quote(item) +
                     " is not NAME or NAME:COUNT");
    auto* license = spec.add_licenses();
    license->set_name(name);
    license->set_count(static_cast<std::uint32_t>(*count));
  }
  spec.set_any_license(any);
  return {};
}

Status set_constraint(api::JobSpec& spec, const std::string& given) {
  std::string text = given;
  std::replace(text.begin(), text.end(), ',', '&');  // as Slurm does; a common error
  const auto constraint = parse_constraint(text);
  if (!constraint) return fail(constraint.error());
  spec.clear_features();
  spec.add_features(std::string(cli::trim(text)));
  return {};
}

Status set_prefer(api::JobSpec& spec, const std::string& text) {
  const auto constraint = parse_constraint(text);
  if (!constraint) return fail(constraint.error());
  spec.set_prefer(std::string(cli::trim(text)));
  return {};
}

Status set_reservations(api::JobSpec& spec, const std::string& text) {
  spec.clear_reservations();
  for (const std::string& name : cli::split(text, ','))
    if (!name.empty()) spec.add_reservations(name);
  if (spec.reservations().empty()) return invalid("name a reservation");
  return {};
}

Status set_switches(api::JobSpec& spec, const std::string& text) {
  const std::size_t at = text.find('@');
  const auto count = cli::parse_number(std::string_view(text).substr(0, at), kMaxNodes);
  if (!count) return invalid(quote(text) + " is not COUNT or COUNT@TIME");
  spec.set_switches(static_cast<std::uint32_t>(*count));
  spec.clear_switches_wait();
  if (at == std::string::npos) return {};
  const auto wait = parse_time_limit(text.substr(at + 1));
  if (!wait) return fail(wait.error());
  if (!*wait)
    return invalid(quote(text) +
                   ": after @ stands a minute or more; without it the job waits as "
                   "long as it takes");
  spec.set_switches_wait((*wait)->count());
  return {};
}

Status set_segment(api::JobSpec& spec, const std::string& text) {
  const auto count = cli::parse_number(text, kMaxNodes);
  if (!count) return invalid(quote(text) + " is not a number of nodes");
  spec.set_segment(static_cast<std::uint32_t>(*count));
  return {};
}

Status set_gpu_topology(api::JobSpec& spec, const std::string& text) {
  const auto shape = parse_gpu_shape(text);
  if (!shape) return fail(shape.error());
  spec.set_gpu_topology(*shape == GpuShape::any ? "" : text);
  return {};
}

Status set_min_nvlink(api::JobSpec& spec, const std::string& text) {
  const auto count = cli::parse_number(text, kMaxNvlinks);
  if (!count)
    return invalid(quote(text) + " is not a number of NVLinks from 0 to " +
                   std::to_string(kMaxNvlinks));
  spec.set_min_nvlink(static_cast<std::uint32_t>(*count));
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
  if (cli::lower(text) == "top") return unsupported("TOP");
  const auto priority = cli::parse_integer(text, 0, std::numeric_limits<std::uint32_t>::max() - 2);
  if (!priority) return fail(priority.error());
  spec.set_priority(static_cast<std::uint32_t>(*priority));
  return {};
}

Status set_warning_signal(api::JobSpec& spec, const std::string& text) {
  const Result<WarningSignal> warning = parse_warning_signal(text);
  if (!warning) return fail(warning.error());
  spec.set_warning_signal(format_warning_signal(*warning));
  return {};
}

Status set_open_mode(api::JobSpec& spec, const std::string& text) {
  const std::string word = cli::lower(text);
  if (word != "append" && word != "a" && word != "truncate" && word != "t")
    return invalid(quote(text) + " is neither append nor truncate");
  spec.set_append(word[0] == 'a');
  return {};
}

Status set_exclusive(api::JobSpec& spec, const std::string& text) {
  if (text == "mcs" || text == "topo") return unsupported("--exclusive=" + text);
  if (!text.empty() && text != "user") return invalid(quote(text) + ": write user, or nothing");
  spec.set_exclusive(text.empty());
  spec.set_exclusive_user(!text.empty());
  return {};
}

Status set_kill_on_invalid_dependency(api::JobSpec& spec, const std::string& text) {
  const std::string word = cli::lower(text);
  if (word != "yes" && word != "no") return invalid(quote(text) + " is neither yes nor no");
  spec.set_kill_on_invalid_dependency(word == "yes");
  return {};
}

Status set_partitions(api::JobSpec& spec, const std::string& text) {
  spec.clear_partitions();
  for (const std::string& name : cli::split(text, ',')) {
    if (name.empty())
      return invalid("Invalid partition name specified: an empty name in " + quote(text));
    spec.add_partitions(name);
  }
  if (spec.partitions().empty()) return invalid("Invalid partition name specified: empty");
  return {};
}

Status set_requeue(api::JobSpec& spec, const std::string& text) {
  const std::string kind = lower(text);
  if (!kind.empty() && kind != "expedite") return invalid(quote(text) + " is not \"expedite\"");
  spec.set_requeue(true);
  spec.set_expedite(!kind.empty());
  return {};
}

}  // namespace ares::cli
