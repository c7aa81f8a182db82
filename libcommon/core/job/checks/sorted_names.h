// Names in a long list, for many lookups. Pure; any thread.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace ares::core {

// The list must outlive it.
class SortedNames {
 public:
  explicit SortedNames(const std::vector<std::string>& list) : sorted_(list.begin(), list.end()) {
    std::sort(sorted_.begin(), sorted_.end());
  }
  bool hold(std::string_view name) const {
    return std::binary_search(sorted_.begin(), sorted_.end(), name);
  }

 private:
  std::vector<std::string_view> sorted_;
};

// The first of `wanted` that is not in `there`, which may be much longer; null if all are.
inline const std::string* first_missing(const std::vector<std::string>& wanted,
                                        const std::vector<std::string>& there) {
  if (wanted.empty()) return nullptr;
  const SortedNames requested(wanted);
  std::vector<std::string> common;
  std::copy_if(there.begin(), there.end(), std::back_inserter(common),
               [&](const std::string& name) { return requested.hold(name); });
  const SortedNames found(common);
  const auto missing = std::find_if_not(wanted.begin(), wanted.end(),
                                        [&](const std::string& name) { return found.hold(name); });
  return missing == wanted.end() ? nullptr : &*missing;
}

}  // namespace ares::core
