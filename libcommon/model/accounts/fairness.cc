#include "model/accounts/fairness.h"

#include <set>
#include <unordered_map>
#include <utility>

#include "base/printable.h"

namespace ares {
namespace {

using Parents = std::unordered_map<std::string, const AccountRow*>;

// Whether the parents of the account lead to the root. `good` caches accounts for which they do.
bool reaches_root(const AccountRow& row, const Parents& accounts, std::set<std::string>& good) {
  std::set<std::string> way;
  const AccountRow* at = &row;
  while (!at->parent.empty() && !good.contains(at->account)) {
    if (!way.insert(at->account).second) return false;
    at = accounts.find(at->parent)->second;
  }
  way.insert(at->account);
  good.merge(way);
  return true;
}

}  // namespace

std::optional<TreeProblem> problem_of(const std::vector<AccountRow>& tree) {
  Parents accounts;
  std::set<std::pair<std::string, std::string>> users;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const AccountRow& row = tree[i];
    if (row.user.empty()) {
      if (row.account.empty()) return TreeProblem{i, "name an account, a user, or both"};
      if (!accounts.emplace(row.account, &row).second)
        return TreeProblem{i, "account " + quote(row.account) + " is described a second time"};
      if (!row.usage.empty())
        return TreeProblem{i, "usage belongs to users; an account's is the sum of theirs"};
      if (row.priority != 0)
        return TreeProblem{i, "priority belongs to users; no job runs under an account alone"};
    } else {
      if (!row.parent.empty())
        return TreeProblem{i, "parent: a user lies in an account; write account: " + row.parent};
      if (!users.emplace(row.account, row.user).second)
        return TreeProblem{i, "user " + quote(row.user) +
                                  " is described a second time in account " + quote(row.account)};
    }
  }
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const std::string& above = tree[i].user.empty() ? tree[i].parent : tree[i].account;
    if (!above.empty() && !accounts.contains(above))
      return TreeProblem{i, "there is no account " + quote(above)};
  }
  std::set<std::string> good;
  for (std::size_t i = 0; i < tree.size(); ++i)
    if (tree[i].user.empty() && !reaches_root(tree[i], accounts, good))
      return TreeProblem{i, "account " + quote(tree[i].account) + " lies below itself"};
  return std::nullopt;
}

}  // namespace ares
