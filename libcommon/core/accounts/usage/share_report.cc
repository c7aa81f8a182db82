#include "core/accounts/usage/share_report.h"

#include <algorithm>
#include <cmath>

#include "core/accounts/usage/charge.h"
#include "core/accounts/usage/shares.h"
#include "core/accounts/usage/usage.h"
#include "core/fairness/classic.h"
#include "core/fairness/fair_tree.h"
#include "core/fairness/tree.h"

namespace ares::core {
namespace {

using fairness::AccountTree;
using fairness::Amount;
using fairness::TreeIndex;

std::string_view name_in_tree(const std::string& account) {
  return account == kRootAccount ? std::string_view() : std::string_view(account);
}

// In 1/1024 TRES-seconds, as ranks compare them.
std::uint64_t comparable(Amount amount) {
  constexpr fairness::U128 kMost = INT64_MAX;
  return static_cast<std::uint64_t>(std::min(amount.units >> 22, kMost));
}

Amount configured(const AccountRow& row, const Fairness& rules, Time now) {
  const auto billed = row.usage.find("billing");
  Amount sum;
  if (billed != row.usage.end()) {
    sum = fairness::amount_of(billed->second);
  } else {
    for (const auto& [name, weight] : rules.billing_weights)
      if (const auto found = row.usage.find(name); found != row.usage.end())
        sum = sum + Amount{fairness::scaled_product(fairness::amount_of(found->second).units,
                                                    weight, kTresWeightBits)};
  }
  if (rules.usage_time == Seconds{0}) return sum;
  return fairness::decayed(sum,
                           fairness::decay_factor(now - Time(rules.usage_time), rules.half_life));
}

// Usage by tree node, without the nodes below.
std::vector<Amount> usage_of(const ClusterState& state, const Policy& policy, const Fairness& rules,
                             const AccountTree& tree, Time now) {
  std::vector<Amount> usage(tree.nodes().size());
  for (TreeIndex at = 1; at < usage.size(); ++at)
    if (tree.nodes()[at].user) usage[at] = configured(rules.tree[tree.nodes()[at].row], rules, now);
  state.accounting.for_each([&](const RecordKey&, const AccountingRecord& record) {
    const auto add = [&](AssociationId id, std::optional<TreeIndex> at) {
      const AssociationUsage* used = at ? state.usage.find(id) : nullptr;
      if (used)
        usage[*at] = usage[*at] +
                     all_usage_at(*used, "billing", now, rules.half_life, counted_from(state, id));
    };
    if (const auto* one = std::get_if<Association>(&record))
      add(one->id, tree.find_in(name_in_tree(one->key.account), one->key.user));
    if (const auto* account = std::get_if<Account>(&record))
      add(usage_id(*account), account->parent.empty()
                                  ? std::optional<TreeIndex>(0)
                                  : tree.find_in(name_in_tree(account->name), {}));
  });
  state.jobs.for_each([&](const JobKey&, const Job& job) {
    if (!job.allocation || !holds_resources(job.state)) return;
    const auto at = tree.find_in(name_in_tree(job.spec->account), job.spec->user);
    if (!at) return;
    const Association* one = find_association(state.accounting, job.spec->account, job.spec->user,
                                              job.allocation->partition);
    const Time since = one ? counted_from(state, one->id) : state.usage_since;
    usage[*at] = usage[*at] + billed_so_far(state, policy, job, now, since);
  });
  return usage;
}

double part(std::uint64_t of, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(of) / static_cast<double>(all);
}

// Data that all lines share.
struct Tables {
  const Fairness& rules;
  const AccountTree& tree;
  std::vector<std::uint64_t> usage;  // including the nodes below
  std::vector<std::uint64_t> shares;
  std::vector<std::uint64_t> siblings;  // shares of all children together
  std::vector<std::uint32_t> ranks;
  std::vector<fairness::ClassicNode> classic;
};

void add_lines(const Tables& t, TreeIndex at, std::uint32_t depth, std::vector<ShareLine>& out) {
  const AccountTree::Node& node = t.tree.nodes()[at];
  ShareLine line;
  const AccountRow* row = at == 0 ? nullptr : &t.rules.tree[node.row];
  line.account = row && !row->account.empty() ? row->account : std::string(kRootAccount);
  if (row) line.user = row->user;
  line.depth = depth;
  line.shares = at == 0 ? std::optional<std::uint32_t>(1) : node.shares;
  line.norm_shares = std::ldexp(static_cast<double>(t.shares[at]), -48);
  line.usage = static_cast<double>(t.usage[at]) / 1024;
  line.norm_usage = part(t.usage[at], t.usage[0]);
  if (t.rules.flags.no_fair_tree) {
    line.effective_usage = t.classic[at].effective_usage;
    if (node.user) line.factor = t.classic[at].factor;
  } else if (at != 0) {
    line.effective_usage = part(t.usage[at], t.usage[node.parent]);
    const double share = part(node.shares.value_or(0), t.siblings[node.parent]);
    line.endless = !node.shares || (share > 0 && line.effective_usage == 0);
    if (!line.endless) line.level = share == 0 ? 0 : share / line.effective_usage;
    if (node.user) line.factor = part(t.ranks[at], std::max(t.tree.users(), 1u));
  }
  out.push_back(std::move(line));
  // Users of an account come before the accounts below it.
  for (const bool users : {true, false})
    for (TreeIndex i = node.first; i < node.first + node.count; ++i)
      if (t.tree.nodes()[i].user == users) add_lines(t, i, depth + 1, out);
}

}  // namespace

std::vector<ShareLine> share_report(const ClusterState& state, const Policy& policy, Time now) {
  const auto base =
      policy.fairness.value ? policy.fairness.value : std::make_shared<const Fairness>();
  const auto rules = with_records(base, state.accounting);
  const AccountTree tree(rules->tree);
  const std::vector<Amount> amounts = usage_of(state, policy, *rules, tree, now);
  Tables tables{*rules,
                tree,
                std::vector<std::uint64_t>(amounts.size()),
                {},
                std::vector<std::uint64_t>(amounts.size()),
                {},
                {}};
  std::transform(amounts.begin(), amounts.end(), tables.usage.begin(), comparable);
  tree.sum_up(tables.usage);
  tables.shares = fairness::normalised_shares(tree);
  for (TreeIndex at = 1; at < amounts.size(); ++at)
    tables.siblings[tree.nodes()[at].parent] += tree.nodes()[at].shares.value_or(0);
  tables.ranks = fairness::fair_tree(tree, tables.usage);
  if (rules->flags.no_fair_tree)
    tables.classic = fairness::classic_fair_share(tree, tables.usage, rules->dampening);
  std::vector<ShareLine> lines;
  lines.reserve(tree.nodes().size());
  add_lines(tables, 0, 0, lines);
  return lines;
}

}  // namespace ares::core
