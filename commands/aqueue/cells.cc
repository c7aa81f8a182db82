#include "aqueue/cells.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>

#include "base/duration.h"
#include "base/hostlist.h"
#include "base/timespec.h"
#include "base/units.h"
#include "cli/output/index_list.h"
#include "cli/values/gpu_values.h"
#include "cli/values/spec_values.h"

namespace ares::aqueue {
namespace {

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kSecond = 1'000'000;

}  // namespace

JobState state_of(const api::Job& job) {
  return parse_job_state(job.state()).value_or(JobState::pending);
}

std::int64_t elapsed(const Row& row) {
  if (row.job.started() == 0) return 0;
  const std::int64_t end = row.job.ended()          ? row.job.ended()
                           : row.job.suspended_at() ? row.job.suspended_at()
                                                    : row.now.time_since_epoch().count();
  return std::max<std::int64_t>(0, (end - row.job.started() - row.job.suspended()) / kSecond);
}

std::int64_t waited(const Row& row) {
  if (row.job.submitted() == 0) return 0;
  std::int64_t end = row.job.started();
  if (end == 0) end = row.job.ended();
  if (end == 0) end = row.now.time_since_epoch().count();
  return std::max<std::int64_t>(0, (end - row.job.submitted()) / kSecond);
}

std::int64_t time_limit(const Row& row) {
  return row.job.has_time_limit() && row.job.time_limit() > 0 ? row.job.time_limit() : kUnknown;
}

std::int64_t time_left(const Row& row) {
  const std::int64_t limit = time_limit(row);
  return limit == kUnknown ? kUnknown : std::max<std::int64_t>(0, limit - elapsed(row));
}

std::int64_t start_time(const Row& row) {
  const std::int64_t start = row.job.started() ? row.job.started() : row.job.expected_start();
  return start ? start : kUnknown;
}

std::int64_t end_time(const Row& row) {
  if (row.job.ended()) return row.job.ended();
  const std::int64_t start = start_time(row), limit = time_limit(row);
  if (start == kUnknown || limit == kUnknown || row.job.suspended_at()) return kUnknown;
  return start + row.job.suspended() + limit * kSecond;
}

void put_number(std::uint64_t number, std::string& out) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void put_text(std::string_view text, std::string& out) {
  out += text.empty() ? "N/A" : text;
}

void put_length(std::int64_t seconds, std::string& out) {
  if (seconds == 0)
    out += "0:00";
  else if (seconds == kUnknown)
    out += "UNLIMITED";
  else
    out += format_duration_short(Seconds(seconds));
}

void put_moment(std::int64_t micros, std::string& out) {
  put_time(micros == kUnknown ? 0 : micros, out);
}

void put_time(std::int64_t micros, std::string& out) {
  if (micros == 0)
    out += "N/A";
  else
    out += format_local_time(Time(Duration(micros)));
}

void put_id(const api::Job& job, std::string& out, std::size_t longest_list) {
  put_number(job.key().job(), out);
  if (!job.key().has_task() && job.array_tasks().empty()) return;
  out += '_';
  put_tasks(job, out, longest_list);
}

void put_tasks(const api::Job& job, std::string& out, std::size_t longest_list) {
  if (job.key().has_task()) return put_number(job.key().task(), out);
  if (job.array_tasks().empty()) return put_text("", out);
  out += '[';
  out += cli::shortened_indices(job.array_tasks(), longest_list);
  if (job.array_throttle() != 0) {
    out += '%';
    put_number(job.array_throttle(), out);
  }
  out += ']';
}

// Both for a job that holds nodes and cannot end because one of them does not answer.
void put_nodes_or_reason(const api::Job& job, std::string& out) {
  const JobState state = state_of(job);
  const bool explained = !job.reason().empty() && job.reason() != "None";
  const bool has_nodes = state != JobState::pending && !(is_terminal(state) && explained);
  if (has_nodes) out += job.node_list();
  if (has_nodes && !explained) return;
  out += '(';
  out += job.reason();
  out += ')';
}

void put_memory(const api::Job& job, std::string& out) {
  if (job.spec().has_memory_per_node())
    out += format_memory(Bytes(job.spec().memory_per_node()));
  else if (job.spec().has_memory_per_cpu())
    out += format_memory(Bytes(job.spec().memory_per_cpu()));
  else if (job.spec().has_memory_per_gpu())
    out += format_memory(Bytes(job.spec().memory_per_gpu()));
  else
    out += '0';
}

void put_memory_per_gpu(const api::Job& job, std::string& out) {
  put_text(job.spec().has_memory_per_gpu()
               ? "gres/gpu:" + format_memory(Bytes(job.spec().memory_per_gpu()))
               : "",
           out);
}

void put_licenses(const google::protobuf::RepeatedPtrField<api::LicenseRequest>& licenses, bool any,
                  std::string& out) {
  if (licenses.empty()) out += "(null)";
  bool first = true;
  for (const api::LicenseRequest& license : licenses) {
    if (!first) out += any ? '|' : ',';
    first = false;
    out += license.name();
    out += ':';
    put_number(license.count(), out);
  }
}

void put_shortest(const api::Job& job, std::string& out) {
  put_text(job.spec().has_time_min() ? format_duration_short(Seconds(job.spec().time_min())) : "",
           out);
}

const char* sharing(const api::Job& job, const char* alone, const char* with_own,
                    const char* shares) {
  if (job.spec().exclusive()) return alone;
  return job.spec().exclusive_user() ? with_own : shares;
}

void put_gpus(const api::JobSpec& spec, api::GpusPer per, std::string& out) {
  const std::string text = cli::format_gpu_list(spec, per, "gres/gpu:");
  out += text.empty() ? "N/A" : text;
}

void put_first_host(const api::Job& job, std::string& out) {
  const auto names = expand_hostlist(job.node_list());
  out += names && !names->empty() ? names->front() : "n/a";
}

void put_dependencies(const api::Job& job, std::string& out) {
  const std::string text = cli::format_dependencies(job.waiting_for());
  out += text.empty() ? "(null)" : text;
}

void put_fraction(std::uint32_t priority, std::string& out) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.14f", priority / 4294967296.0);
  out += buffer;
}

void put_file(const api::Job& job, std::string_view pattern, std::string& out) {
  if (!pattern.starts_with('/')) {
    out += job.spec().work_dir();
    out += '/';
  }
  out += pattern;
}

std::string_view output_pattern(const api::Job& job) {
  if (!job.spec().std_out().empty()) return job.spec().std_out();
  return job.spec().array().empty() ? "ares-%j.out" : "ares-%A_%a.out";
}

std::string_view error_pattern(const api::Job& job) {
  return job.spec().std_err().empty() ? output_pattern(job)
                                      : std::string_view(job.spec().std_err());
}

}  // namespace ares::aqueue
