#include "areport/lines.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "areport/tree.h"
#include "areport/units.h"

namespace ares::areport {
namespace {

using Row = api::Reported::Row;

std::int64_t total(const Row& row) {
  return row.allocated() + row.down() + row.drained() + row.reserved() + row.idle();
}

// The capacity of each TRES.
Amounts capacities(const api::Reported& answer) {
  Amounts amounts;
  for (const Row& row : answer.capacity()) amounts[row.tres()] = total(row);
  return amounts;
}

std::int64_t of(const Amounts& amounts, const std::string& tres) {
  const auto found = amounts.find(tres);
  return found == amounts.end() ? 0 : found->second;
}

Line line_of(const Row& row, const Amounts& capacity) {
  Line line;
  line.account = row.account();
  line.user = row.user();
  line.qos = row.qos();
  line.wckey = row.wckey();
  line.tres = row.tres();
  line.reservation = row.reservation();
  line.nodes = row.nodes();
  line.used = row.allocated();
  line.down = row.down();
  line.drained = row.drained();
  line.reserved = row.reserved();
  line.idle = row.idle();
  line.over = row.over();
  line.consumed = row.used();
  line.jobs = row.jobs();
  line.start = row.start();
  line.end = row.end();
  line.capacity = of(capacity, row.tres());
  return line;
}

}  // namespace

std::vector<Line> plain_lines(const api::Reported& answer, const LineOptions&) {
  std::vector<Line> lines;
  for (const Row& row : answer.rows()) {
    lines.push_back(line_of(row, {}));
    lines.back().capacity = total(row);
  }
  return lines;
}

std::vector<Line> account_lines(const api::Reported& answer, const LineOptions&) {
  const Amounts capacity = capacities(answer);
  std::map<std::string, Amounts> own;
  std::map<std::string, std::vector<const Row*>> rows;
  for (const Row& row : answer.rows()) {
    own[row.account()][row.tres()] += row.allocated();
    rows[row.account()].push_back(&row);
  }
  std::vector<Line> lines;
  if (own.empty()) return lines;
  const Parents parents(answer.parents().begin(), answer.parents().end());
  for (const AccountSum& sum : sum_up(own, parents)) {
    for (const auto& [tres, amount] : sum.amounts) {
      Line line;
      line.account = sum.account;
      line.depth = sum.depth;
      line.tres = tres;
      line.used = amount;
      line.capacity = of(capacity, tres);
      lines.push_back(std::move(line));
    }
    for (const Row* row : rows[sum.account]) {
      lines.push_back(line_of(*row, capacity));
      lines.back().depth = sum.depth;
    }
  }
  return lines;
}

std::vector<Line> user_lines(const api::Reported& answer, const LineOptions&) {
  const Amounts capacity = capacities(answer);
  std::vector<Line> lines;
  for (const Row& row : answer.rows()) lines.push_back(line_of(row, capacity));
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return std::tie(a.user, a.account, a.wckey, a.tres) <
           std::tie(b.user, b.account, b.wckey, b.tres);
  });
  return lines;
}

std::vector<Line> wckey_lines(const api::Reported& answer, const LineOptions&) {
  const Amounts capacity = capacities(answer);
  std::map<std::string, Amounts> sums;
  std::map<std::string, std::vector<const Row*>> rows;
  for (const Row& row : answer.rows()) {
    sums[row.wckey()][row.tres()] += row.allocated();
    rows[row.wckey()].push_back(&row);
  }
  std::vector<Line> lines;
  for (const auto& [wckey, amounts] : sums) {
    for (const auto& [tres, amount] : amounts) {
      Line line;
      line.wckey = wckey;
      line.tres = tres;
      line.used = amount;
      line.capacity = of(capacity, tres);
      lines.push_back(std::move(line));
    }
    for (const Row* row : rows[wckey]) lines.push_back(line_of(*row, capacity));
  }
  return lines;
}

std::vector<Line> top_lines(const api::Reported& answer, const LineOptions& line_options) {
  // One line per TRES for each user, or user and account, which are ordered by one TRES.
  std::map<std::pair<std::string, std::string>, std::vector<Line>> found;
  for (Line& line : user_lines(answer, line_options)) {
    auto& lines = found[{line.user, line_options.group ? "" : line.account}];
    const auto same = std::find_if(lines.begin(), lines.end(),
                                   [&](const Line& other) { return other.tres == line.tres; });
    if (same == lines.end()) {
      lines.push_back(std::move(line));
      continue;
    }
    same->used += line.used;
    if ((',' + same->account + ',').find(',' + line.account + ',') == std::string::npos)
      same->account += ',' + line.account;
  }
  std::vector<const std::vector<Line>*> order;
  for (const auto& [key, lines] : found) order.push_back(&lines);
  // By cpu if it was requested, else by the first TRES.
  const auto weight = [](const std::vector<Line>* lines) {
    for (const Line& line : *lines)
      if (line.tres == "cpu") return line.used;
    return lines->front().used;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto* a, const auto* b) { return weight(a) > weight(b); });
  if (order.size() > line_options.top) order.resize(line_options.top);
  std::vector<Line> lines;
  for (const auto* some : order) lines.insert(lines.end(), some->begin(), some->end());
  return lines;
}

std::vector<Line> cost_lines(const api::Reported& answer, const LineOptions&) {
  std::map<std::string, Amounts> own;  // by account, as one kind of amount
  std::map<std::string, std::map<std::string, std::int64_t>> of_users;  // by account and user
  for (const Row& row : answer.rows()) {
    const auto price = answer.prices().find(row.tres());
    if (price == answer.prices().end()) continue;
    const std::int64_t cost =
        std::llround(static_cast<double>(row.allocated()) /
                     static_cast<double>(unit_scale(row.tres())) / 3600.0 * price->second * 1e6);
    own[row.account()]["cost"] += cost;
    of_users[row.account()][row.user()] += cost;
  }
  std::vector<Line> lines;
  if (own.empty()) return lines;
  const Parents parents(answer.parents().begin(), answer.parents().end());
  for (const AccountSum& sum : sum_up(own, parents)) {
    Line line;
    line.account = sum.account;
    line.depth = sum.depth;
    line.cost = sum.amounts.empty() ? 0 : sum.amounts.begin()->second;
    lines.push_back(line);
    for (const auto& [user, cost] : of_users[sum.account]) {
      if (user.empty()) continue;  // only accounts were requested
      line.user = user;
      line.cost = cost;
      lines.push_back(line);
    }
  }
  return lines;
}

std::vector<Line> size_lines(const api::Reported& answer, const LineOptions& line_options) {
  const Amounts capacity = capacities(answer);
  std::map<std::tuple<std::string, std::string, std::string>, Line> lines;
  for (const Row& row : answer.rows()) {
    Line& line = lines[{row.account(), row.wckey(), row.tres()}];
    if (line.by_size.empty()) {
      line = line_of(row, capacity);
      line.used = 0;
      line.jobs = 0;
      line.by_size.resize(line_options.size_count);
      line.jobs_by_size.resize(line_options.size_count);
    }
    const std::size_t at = std::min<std::size_t>(row.size(), line_options.size_count - 1);
    line.by_size[at] += row.allocated();
    line.jobs_by_size[at] += row.jobs();
    line.used += row.allocated();
    line.jobs += row.jobs();
  }
  std::vector<Line> out;
  for (auto& [key, line] : lines) out.push_back(std::move(line));
  return out;
}

}  // namespace ares::areport
