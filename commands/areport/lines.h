// Converts the controller's response to the lines of a report: order, subtotals, and the top users.
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
  std::int64_t used = 0;  // Allocated TRES-seconds.
  std::int64_t down = 0, drained = 0, reserved = 0, idle = 0, over = 0;
  std::int64_t capacity = 0;  // Available TRES-seconds.
  std::int64_t consumed = 0;  // The part of `used` that processes consumed.
  std::int64_t cost = 0;      // in millionths
  std::uint64_t jobs = 0;
  std::int64_t start = 0, end = 0;    // microseconds
  std::vector<std::int64_t> by_size;  // of reports of sizes, TRES-seconds
  std::vector<std::uint64_t> jobs_by_size;
};

struct LineOptions {
  std::size_t top = 10;        // users
  bool group = false;          // One line per user, over all accounts.
  std::size_t size_count = 0;  // ranges of job sizes
};

using MakeLines = std::vector<Line> (*)(const api::Reported& answer,
                                        const LineOptions& line_options);

// One line for each row: cluster utilization, reservations, efficiency.
std::vector<Line> plain_lines(const api::Reported& answer, const LineOptions& line_options);
// Each account with the sum of all below it, followed by its own users or qualities of service.
std::vector<Line> account_lines(const api::Reported& answer, const LineOptions& line_options);
// Users one after the other, each with its accounts or wckeys.
std::vector<Line> user_lines(const api::Reported& answer, const LineOptions& line_options);
// Each wckey with its total, followed by its users.
std::vector<Line> wckey_lines(const api::Reported& answer, const LineOptions& line_options);
// Users by usage, largest first.
std::vector<Line> top_lines(const api::Reported& answer, const LineOptions& line_options);
// Costs of the allocations of accounts and their users at the configured prices, summed over all
// TRES, in the order of account_lines.
std::vector<Line> cost_lines(const api::Reported& answer, const LineOptions& line_options);
// One line per account, wckey and TRES with one value per range of sizes.
std::vector<Line> size_lines(const api::Reported& answer, const LineOptions& line_options);

}  // namespace ares::areport
