#include "cli/options/directives.h"

#include <array>
#include <optional>

#include "base/printable.h"
#include "cli/output/text.h"

namespace ares::cli {
namespace {

constexpr std::array<std::string_view, 2> kPrefixes = {"#ARES", "#SBATCH"};

// Returns the text after the prefix if the line is a directive.
std::optional<std::string_view> directive_text(std::string_view line) {
  for (const std::string_view prefix : kPrefixes) {
    if (!line.starts_with(prefix)) continue;
    const std::string_view rest = line.substr(prefix.size());
    if (rest.empty() || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '-') return rest;
  }
  return std::nullopt;
}

struct Words {
  std::vector<std::string> words;
  bool closed = true;
};

// `anywhere`: a # also begins a comment within a word, as in Slurm's directives.
Words cut(std::string_view text, bool anywhere) {
  Words out;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == ' ' || c == '\t')) {
      if (in_word) out.words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else if (quote == 0 && c == '#' && (anywhere || !in_word)) {
      break;
    } else if (quote != '\'' && c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
      in_word = true;
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) out.words.push_back(std::move(word));
  out.closed = quote == 0;
  return out;
}

}  // namespace

Result<std::vector<DirectiveLine>> find_directives(std::string_view script,
                                                   const std::string& name) {
  std::vector<DirectiveLine> found;
  int number = 0;
  while (!script.empty()) {
    const std::size_t end = script.find('\n');
    const std::string_view line = script.substr(0, end);
    script.remove_prefix(end == std::string_view::npos ? script.size() : end + 1);
    ++number;
    const std::string_view content = trim(line);
    if (!content.empty() && content[0] != '#') break;
    const auto text = directive_text(line);
    if (!text) continue;
    Words words = cut(trim(*text), true);
    if (!words.closed)
      return fail(ErrorCode::invalid_argument,
                  name + ":" + std::to_string(number) + ": a quote is not closed");
    const std::string first = words.words.empty() ? "" : lower(words.words.front());
    if (first == "hetjob" || first == "packjob")
      return fail(ErrorCode::invalid_argument,
                  name + ":" + std::to_string(number) + ": heterogeneous jobs (" + first +
                      ") are not supported; submit the parts as a gang of jobs, see --gang");
    if (!words.words.empty()) found.push_back({number, std::move(words.words)});
  }
  return found;
}

Result<std::vector<std::string>> cut_words(std::string_view line) {
  Words words = cut(trim(line), false);
  if (!words.closed) return fail(ErrorCode::invalid_argument, "a quote is not closed");
  return std::move(words.words);
}

Result<std::vector<GivenOption>> options_from_script(const OptionTable& table,
                                                     std::string_view script,
                                                     const std::string& name) {
  const auto lines = find_directives(script, name);
  if (!lines) return fail(lines.error());
  std::vector<GivenOption> all;
  for (const DirectiveLine& line : *lines) {
    const std::string where = name + ":" + std::to_string(line.line) + ": ";
    auto parsed = parse_options(table, line.words, Source::directive, where);
    if (!parsed) return fail(parsed.error());
    if (!parsed->operands.empty())
      return fail(ErrorCode::invalid_argument, where + quote(parsed->operands.front()) +
                                                   " is not an option; comments begin with #");
    all.insert(all.end(), parsed->given.begin(), parsed->given.end());
  }
  return all;
}

}  // namespace ares::cli
