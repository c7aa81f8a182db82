#include "actl/assign.h"

#include "base/printable.h"
#include "cli/output/text.h"

namespace ares::actl {

Result<std::vector<Assignment>> assignments(const Words& words) {
  std::vector<Assignment> all;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const bool text_before =
        !all.empty() && (all.back().key == "reason" || all.back().key == "comment");
    if (equals != std::string::npos && equals > 0) {
      if (word[equals - 1] == '+' || word[equals - 1] == '-')
        return invalid(quote(word) + ": += and -= are not supported yet");
      all.push_back({cli::lower(word.substr(0, equals)), word.substr(equals + 1)});
    } else if (text_before) {
      all.back().value += " " + word;
    } else {
      return invalid("expected NAME=VALUE instead of " + quote(word));
    }
  }
  return all;
}

Words join_subject(Words words) {
  const auto plain = [](const std::string& word) { return word.find('=') == std::string::npos; };
  if (words.size() >= 2 && plain(words[0]) && plain(words[1])) {
    words[0] += "=" + words[1];
    words.erase(words.begin() + 1);
  }
  return words;
}

}  // namespace ares::actl
