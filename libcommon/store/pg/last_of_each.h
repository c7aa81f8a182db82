// Selects the last row of each key, for statements that must not touch a row twice. Pure.
#pragma once

#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace ares::store {

// Keeps the order. The pointers refer to `items`.
template <class Items, class KeyOf>
auto last_of_each(const Items& items, KeyOf&& key_of) {
  std::vector<const typename Items::value_type*> kept;
  std::set<std::decay_t<std::invoke_result_t<KeyOf, const typename Items::value_type&>>> seen;
  for (auto item = items.rbegin(); item != items.rend(); ++item)
    if (seen.insert(key_of(*item)).second) kept.push_back(&*item);
  std::reverse(kept.begin(), kept.end());
  return kept;
}

}  // namespace ares::store
