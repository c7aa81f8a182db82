// From the controller's answer to the lines of a report: who comes when, sums above their parts, the few that used most.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/gen/api.pb.h"

namespace ares::areport {

struct Line {
  std::string account, user, qos, wckey, tres, reservation, nodes;
  unsigned depth = 0;     // of an account below the root
  std::int64_t used = 0;  // TRES-seconds that were held
  std::int64_t down = 0, drained = 0, reserved = 0, idle = 0, over = 0;
  std::int64_t capacity = 0;  // that there were
  std::int64_t consumed = 0;  // of `used`, by processes
  std::int64_t cost = 0;      // in millionths
  std::uint64_t jobs = 0;
  std::int64_t start = 0, end = 0;    // microseconds
  std::vector<std::int64_t> by_size;  // of reports of sizes, TRES-seconds
  std::vector<std::uint64_t> jobs_by_size;
};

struct LineOptions {
  std::size_t top = 10;        // users
  bool group = false;          // one line for each user, whatever the accounts
  std::size_t size_count = 0;  // ranges of job sizes
};

using MakeLines = std::vector<Line> (*)(const api::Reported& answer,
                                        const LineOptions& line_options);

// One line for each row: cluster utilization, reservations, efficiency.
std::vector<Line> plain_lines(const api::Reported& answer, const LineOptions& line_options);
// Each account with the sum of all below it, followed by its own users or qualities of service.
std::vector<Line> account_lines(const api::Reported& answer, const LineOptions& line_options);
// Users one after the other, their accounts or wckeys within.
std::vector<Line> user_lines(const api::Reported& answer, const LineOptions& line_options);
// Each wckey with the sum of what it was used for, followed by its users.
std::vector<Line> wckey_lines(const api::Reported& answer, const LineOptions& line_options);
// Users by what they used, most first.
std::vector<Line> top_lines(const api::Reported& answer, const LineOptions& line_options);
// What accounts and their users held at the configured prices, all TRES together, in the order of account_lines.
std::vector<Line> cost_lines(const api::Reported& answer, const LineOptions& line_options);
// A line for each account, wckey and TRES with the ranges of sizes beside each other.
std::vector<Line> size_lines(const api::Reported& answer, const LineOptions& line_options);

}  // namespace ares::areport
