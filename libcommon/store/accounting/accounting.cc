#include "store/accounting/accounting.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/hostlist.h"
#include "base/interval_set.h"
#include "store/accounting/accounting_sql.h"
#include "store/accounting/accounting_steps.h"
#include "store/pg/pg_pool.h"

namespace ares::store {
namespace {

using Row = api::AccountingRow;

// Whether a host list contains one of the requested nodes. Results are cached because lists repeat.
class NodeTest {
 public:
  explicit NodeTest(const std::vector<std::string>& nodes) : wanted_(nodes.begin(), nodes.end()) {}

  bool passes(const std::string& list) {
    if (wanted_.empty()) return true;
    const auto known = known_.find(list);
    if (known != known_.end()) return known->second;
    const auto names = expand_hostlist(list);
    const bool found = names && std::any_of(names->begin(), names->end(),
                                            [&](auto& name) { return wanted_.contains(name); });
    if (known_.size() < 10'000) known_.emplace(list, found);
    return found;
  }

 private:
  std::set<std::string> wanted_;
  std::unordered_map<std::string, bool> known_;
};

// If single tasks are requested, an array's row is reduced to those of them that it stands for.
class TaskTest {
 public:
  explicit TaskTest(const std::vector<JobKey>& jobs) {
    for (const JobKey& key : jobs)
      if (!key.task.is_none()) tasks_[key.job].insert(key.task.value);
    for (const JobKey& key : jobs)
      if (key.task.is_none()) tasks_.erase(key.job);
  }

  bool narrow(Row& row) const {
    if (tasks_.empty() || row.key().has_task()) return true;
    const auto asked = tasks_.find(JobId(row.key().job()));
    if (asked == tasks_.end()) return true;
    const auto held = parse_interval_set(row.array_tasks());
    if (!held) return false;
    IntervalSet shown;
    for (const std::uint32_t task : asked->second)
      if (held->contains(task)) shown.insert(task);
    row.set_array_tasks(format_interval_set(shown));
    return !shown.empty();
  }

 private:
  std::unordered_map<JobId, IntervalSet> tasks_;
};

bool row_order(const Row& a, const Row& b) {
  const auto number = [](const Row& row) {
    return row.key().has_task() ? std::int64_t{row.key().task()} : -1;
  };
  if (a.key().job() != b.key().job()) return a.key().job() < b.key().job();
  if (number(a) != number(b)) return number(a) < number(b);
  if (a.attempt() != b.attempt()) return a.attempt() < b.attempt();
  // An attempt that was cancelled while pending and run later after all has two rows.
  return a.ended() != 0 && (b.ended() == 0 || a.ended() < b.ended());
}

}  // namespace

Accounting::Accounting(PgOptions options, std::size_t connections)
    : pool_(std::make_unique<PgPool>(std::move(options), connections)) {}
Accounting::~Accounting() = default;

Result<api::AccountingRows> Accounting::query(const AccountingFilter& filter) {
  const AccountingStatement statement = accounting_statement(filter);
  auto rows = pool_->query(statement.sql, statement.params);
  if (!rows) return fail(rows.error());

  api::AccountingRows out;
  out.mutable_rows()->Reserve(rows->size());
  NodeTest nodes(filter.nodes);
  const TaskTest tasks(filter.jobs);
  for (int at = 0; at < rows->size(); ++at) {
    Row& row = *out.add_rows();
    for (std::size_t i = 0; i < statement.columns.size(); ++i)
      statement.columns[i]->fill(*rows, at, static_cast<int>(i), row);
    out.set_more(static_cast<std::uint32_t>(at) + 1 >= statement.limit);
    if (out.more()) *out.mutable_last() = row.key();
    if (!nodes.passes(row.node_list()) || !tasks.narrow(row)) out.mutable_rows()->RemoveLast();
  }
  // The database sorts by job and task only; a job has few attempts.
  if (filter.all_attempts)
    std::stable_sort(out.mutable_rows()->pointer_begin(), out.mutable_rows()->pointer_end(),
                     [](const Row* a, const Row* b) { return row_order(*a, *b); });
  if (filter.steps && !out.rows().empty()) {
    const StepStatement read = step_statement(out);
    auto steps = pool_->query(read.sql, read.params);
    if (!steps) return fail(steps.error());
    add_steps(*steps, out);
  }
  return out;
}

}  // namespace ares::store
