#include "exec/kubernetes/settings/object_name.h"

#include <algorithm>

namespace ares::kubernetes {

bool is_object_name(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  const auto is_word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  char before = '.';  // each part between points begins and ends with a letter or digit
  for (const char c : text) {
    if (!is_word(c) && c != '-' && c != '.') return false;
    if (c == '.' && !is_word(before)) return false;
    if (c == '-' && before == '.') return false;
    before = c;
  }
  return is_word(before);
}

}  // namespace ares::kubernetes
