// A command's documentation: --help, the manual page and completion, generated from its option
// table and some hand-written parts. Owned by the command; plain values and pure functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/options/options.h"

namespace ares::cli {

struct Manual {
  std::string name;                      // "asub"
  std::string summary;                   // "submit a batch script"
  std::vector<std::string> synopsis;     // Text after the name, one form each.
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

// All option words, one per line, for shell completion.
std::string completion_words(const OptionTable& table);

// Escapes text for the man macro language: backslashes, leading dots and hyphens are preserved.
std::string man_escape(std::string_view text);

}  // namespace ares::cli
