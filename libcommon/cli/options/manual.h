// What a command says about itself: --help, the manual page and completion, made from its option table and a few hand-written parts.
// Owned by the command; plain values and pure functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/options/options.h"

namespace ares::cli {

struct Manual {
  std::string name;                      // "asub"
  std::string summary;                   // "submit a batch script"
  std::vector<std::string> synopsis;     // what follows the name, one form each
  std::vector<std::string> description;  // paragraphs
  std::vector<std::pair<std::string, std::vector<std::string>>> sections{};  // title and paragraphs
  std::vector<std::pair<std::string, std::string>> examples{};  // command line and what it does
  std::vector<std::pair<std::string, std::string>> exit_status{
      {"0", "Done."},
      {"1", "Refused or failed; a line on standard error says why."},
      {"75", "The controller could not be reached for as long as the command retries."}};
  std::vector<std::string> see_also{};  // "aqueue(1)"
};

std::string help_text(const Manual& manual, const OptionTable& table);

// Source of the manual page in the man macro language.
std::string man_page(const Manual& manual, const OptionTable& table);

// Every option word, one a line: what the shell's completion offers.
std::string completion_words(const OptionTable& table);

// Text for the man macro language: backslashes, leading dots and hyphens kept as they are.
std::string man_escape(std::string_view text);

}  // namespace ares::cli
