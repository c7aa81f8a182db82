// What execve(2) and posix_spawn(3) take for arguments and for an environment. Pure; any thread.
#pragma once

#include <string>
#include <vector>

namespace ares::os {

// Pointers to the texts, and a null one behind them; valid while the texts are not changed.
inline std::vector<char*> exec_words(std::vector<std::string>& texts) {
  std::vector<char*> words;
  words.reserve(texts.size() + 1);
  for (std::string& text : texts) words.push_back(text.data());
  words.push_back(nullptr);
  return words;
}

}  // namespace ares::os
