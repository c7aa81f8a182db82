// The submission described by the command line of asub or of another command that submits a job, filled in
// while its options are parsed. Owned by the command's main thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/options/frame.h"
#include "cli/options/options.h"
#include "proto/gen/api.pb.h"

namespace ares::submission {

struct Submission {
  api::JobSpec spec;
  cli::CommonOptions common;
  std::optional<std::string> wrap;
  std::optional<std::string> from;  // File that describes many jobs.
  bool test_only = false;
  std::string export_list = "ALL";
  std::string export_file;          // path; empty: the variables of the process
  std::uint32_t tasks_per_gpu = 0;  // --ntasks-per-gpu
  std::string request_id;
  std::string submit_line;  // the command line, for accounting (submission/submit_line.h)
  bool parsable = false;
  bool wait = false;
  bool quiet = false;
  bool verbose = false;
  std::uint32_t least_cpus = 0;      // --mincpus
  std::uint32_t tasks_per_core = 0;  // --ntasks-per-core
  // --propagate: which resource limits the job gets; none: all.
  std::optional<std::vector<int>> propagated{};
  std::vector<std::string>
      warnings{};  // what has no effect, or another one than the user may expect
};

// The options, bound to `target`, which must outlive the table. Relative times are relative to
// `now`.
cli::OptionTable options(Submission& target, Time now);

// Writes the warnings to standard error, unless --quiet was given.
void print_warnings(const char* command, const Submission& submission);

// Fills in values that depend on several options: tasks from nodes, absolute folders, the job's
// name. `origin` is the script's name, "" if it came from standard input.
Status complete(Submission& target, const std::string& origin, const std::string& directory);

}  // namespace ares::submission
