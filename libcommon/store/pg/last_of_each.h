// Of rows to write with one statement, which may not touch a row twice: of each key the last. Pure; any thread.
#pragma once

#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace ares::store {

// In their order. They point into `items`.
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
