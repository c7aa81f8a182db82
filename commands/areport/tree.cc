#include "areport/tree.h"

#include <set>

namespace ares::areport {
namespace {

using Children = std::map<std::string, std::set<std::string>>;

// The accounts from one up to the root, each once.
std::vector<std::string> path_to_root(const std::string& account, const Parents& parents) {
  std::vector<std::string> path;
  std::set<std::string> seen{kRoot};
  for (std::string at = account; seen.insert(at).second;) {
    path.push_back(at);
    const auto parent = parents.find(at);
    if (parent == parents.end()) break;
    at = parent->second;
  }
  return path;
}

void walk(const std::string& account, unsigned depth, const Children& children,
          const std::map<std::string, Amounts>& sums, std::vector<AccountSum>& out) {
  const auto found = sums.find(account);
  out.push_back({account, depth, found == sums.end() ? Amounts{} : found->second});
  const auto below = children.find(account);
  if (below == children.end()) return;
  for (const std::string& child : below->second) walk(child, depth + 1, children, sums, out);
}

}  // namespace

std::vector<AccountSum> sum_up(const std::map<std::string, Amounts>& own, const Parents& parents) {
  Children children;
  std::map<std::string, Amounts> sums;
  // The end of the path of one account in a cycle is used for all of them, so that each has one
  // parent.
  std::map<std::string, std::string> above;
  for (const auto& [account, amounts] : own) {
    if (account == kRoot) continue;
    const auto path = path_to_root(account, parents);
    for (std::size_t i = 0; i < path.size(); ++i)
      if (!above.emplace(path[i], i + 1 < path.size() ? path[i + 1] : kRoot).second) break;
  }
  for (const auto& [account, parent] : above) children[parent].insert(account);
  for (const auto& [account, amounts] : own) {
    for (std::string at = account;;) {
      for (const auto& [tres, amount] : amounts) sums[at][tres] += amount;
      if (at == kRoot) break;
      at = above.at(at);
    }
  }
  std::vector<AccountSum> out;
  walk(kRoot, 0, children, sums, out);
  return out;
}

}  // namespace ares::areport
