// The cells of aqueue's columns: each function appends the text for one job or returns its sort
// key. Pure functions except for the process's time zone; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "aqueue/row.h"
#include "model/job/job.h"

namespace ares::aqueue {

// "12", "12_3", "12_[3-9%2]"; at most so many characters of the indices, 0 = all.
void put_id(const api::Job& job, std::string& out, std::size_t longest_list = 0);

// "2030-03-17T17:46:40", or "N/A".
void put_time(std::int64_t micros, std::string& out);

JobState state_of(const api::Job& job);

std::int64_t elapsed(const Row& row);     // seconds it has run
std::int64_t waited(const Row& row);      // seconds from submission to its start, or till now
std::int64_t time_limit(const Row& row);  // seconds; INT64_MAX = none
std::int64_t time_left(const Row& row);   // likewise
std::int64_t start_time(const Row& row);  // when it started, or is expected to; INT64_MAX = unknown
std::int64_t end_time(const Row& row);    // when it ended, or has to; likewise

void put_number(std::uint64_t number, std::string& out);
void put_text(std::string_view text, std::string& out);   // "N/A" for none
void put_length(std::int64_t seconds, std::string& out);  // "1:02:03"; "UNLIMITED"
void put_moment(std::int64_t micros, std::string& out);   // as put_time; INT64_MAX = unknown
// "3", "[3-9%2]", "N/A"; likewise.
void put_tasks(const api::Job& job, std::string& out, std::size_t longest_list = 0);
void put_nodes_or_reason(const api::Job& job, std::string& out);
void put_memory(const api::Job& job, std::string& out);  // asked for, each node or CPU
void put_gpus(const api::JobSpec& spec, api::GpusPer per, std::string& out);
void put_memory_per_gpu(const api::Job& job, std::string& out);
void put_licenses(const google::protobuf::RepeatedPtrField<api::LicenseRequest>& licenses, bool any,
                  std::string& out);
void put_shortest(const api::Job& job, std::string& out);  // --time-min.
// Returns the word that describes how the job shares its nodes.
const char* sharing(const api::Job& job, const char* alone, const char* with_own,
                    const char* shares);
void put_first_host(const api::Job& job, std::string& out);
void put_dependencies(const api::Job& job, std::string& out);
void put_fraction(std::uint32_t priority, std::string& out);
void put_file(const api::Job& job, std::string_view pattern, std::string& out);  // in its folder
std::string_view output_pattern(const api::Job& job);
std::string_view error_pattern(const api::Job& job);

template <class List>
void put_list(const List& list, std::string& out) {
  if (list.empty()) out += "(null)";
  bool first = true;
  for (const auto& word : list) {
    if (!first) out += ',';
    first = false;
    out += word;
  }
}

}  // namespace ares::aqueue
