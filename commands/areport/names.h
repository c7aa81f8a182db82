// Names in any case and abbreviated, as administrators type them: "cl util", "u top".
// Pure; any thread.
#pragma once

#include <iterator>
#include <string>
#include <string_view>

#include "base/printable.h"
#include "base/result.h"
#include "cli/output/text.h"

namespace ares::areport {

// The item with that name, or the only one with that prefix. Errors list the names of each `what`.
template <class Items, class NameOf>
auto find_name(const std::string& text, const Items& items, NameOf&& name_of,
               const std::string& what) -> Result<decltype(&*std::begin(items))> {
  const std::string wanted = cli::lower(text);
  decltype(&*std::begin(items)) found = nullptr;
  std::string all, several;
  for (const auto& item : items) {
    const std::string name(name_of(item));
    all += (all.empty() ? "" : ", ") + name;
    if (wanted.empty() || !cli::lower(name).starts_with(wanted)) continue;
    if (name.size() == text.size()) return &item;
    several += (several.empty() ? "" : " or ") + name;
    found = found ? found : &item;
  }
  if (found && several.find(" or ") == std::string::npos) return found;
  if (found)
    return fail(ErrorCode::invalid_argument, what + " " + quote(text) + " may be " + several);
  return fail(ErrorCode::invalid_argument,
              "unknown " + what + " " + quote(text) + ": there is " + all);
}

}  // namespace ares::areport
