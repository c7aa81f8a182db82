// Arguments `--name=value` of the programs of this benchmark. A value; any thread.
#pragma once

#include <charconv>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::kubernetes_scale {

class Arguments {
 public:
  // invalid_argument: one of them is not of that form.
  static Result<Arguments> read(int count, const char* const* words) {
    Arguments read;
    for (int i = 1; i < count; ++i) {
      const std::string_view word(words[i]);
      const std::size_t equals = word.find('=');
      if (!word.starts_with("--") || equals == std::string_view::npos)
        return fail(ErrorCode::invalid_argument,
                    "\"" + std::string(word) + "\" is not of the form --name=value");
      read.values_[std::string(word.substr(2, equals - 2))] = word.substr(equals + 1);
    }
    return read;
  }

  std::string text(const std::string& name, const std::string& otherwise) const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : found->second;
  }
  // Zero if the value is not a whole number.
  std::size_t number(const std::string& name, std::size_t otherwise) const {
    const auto found = values_.find(name);
    if (found == values_.end()) return otherwise;
    std::size_t value = 0;
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
    return value;
  }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace ares::kubernetes_scale
