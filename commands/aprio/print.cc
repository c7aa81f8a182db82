#include "aprio/print.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "cli/values/job_ids.h"

namespace ares::aprio {
namespace {

using Cells = std::vector<std::vector<std::string>>;

std::string points(double value, bool normalised) {
  char text[64];
  std::snprintf(text, sizeof text, normalised ? "%.7f" : "%.0f",
                value + 0.0);  // without the sign of -0
  return text;
}

bool is_shown(const Query& query, const api::Priorities& all, int factor) {
  return query.wide || all.factors(factor) != "NICE";
}

std::vector<std::string> headings(const Query& query, const api::Priorities& all) {
  std::vector<std::string> row{"JOBID", "PARTITION"};
  if (query.wide) row.insert(row.end(), {"USER", "ACCOUNT", "QOS"});
  row.emplace_back("PRIORITY");
  for (int i = 0; i < all.factors_size(); ++i)
    if (is_shown(query, all, i)) row.push_back(all.factors(i));
  return row;
}

std::vector<std::string> cells(const Query& query, const api::Priorities& all,
                               const api::Priorities::Line& line) {
  std::vector<std::string> row{cli::format_job_id(cli::key_of(line.job())), line.partition()};
  if (query.wide) row.insert(row.end(), {line.user(), line.account(), line.qos()});
  row.push_back(std::to_string(line.value()));
  const auto& values = query.normalised ? line.normalised() : line.weighted();
  for (int i = 0; i < values.size(); ++i)
    if (is_shown(query, all, i)) row.push_back(points(values[i], query.normalised));
  return row;
}

std::vector<std::string> weights(const Query& query, const api::Priorities& all) {
  std::vector<std::string> row{"Weights", ""};
  if (query.wide) row.insert(row.end(), {"", "", ""});
  row.emplace_back();
  for (int i = 0; i < all.weights_size(); ++i)
    if (is_shown(query, all, i)) row.push_back(points(all.weights(i), false));
  return row;
}

}  // namespace

std::string print(const Query& query, const api::Priorities& priorities) {
  Cells rows{headings(query, priorities)};
  if (query.weights)
    rows.push_back(weights(query, priorities));
  else
    for (const auto& line : priorities.lines()) rows.push_back(cells(query, priorities, line));
  std::vector<std::size_t> widths(rows.front().size());
  const std::size_t first = query.no_header ? 1 : 0;
  for (std::size_t r = first; r < rows.size(); ++r)
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], rows[r][i].size());
  std::string text;
  for (std::size_t r = first; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < widths.size(); ++i)
      text += (i == 0 ? "" : " ") + std::string(widths[i] - rows[r][i].size(), ' ') + rows[r][i];
    text += "\n";
  }
  return text;
}

}  // namespace ares::aprio
