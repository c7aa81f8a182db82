#include "cli/options/manual.h"

#include <algorithm>
#include <map>

#include "cli/output/text.h"

namespace ares::cli {
namespace {

constexpr std::size_t kHelpColumn = 30;
constexpr std::size_t kHelpWidth = 96;

std::string spelling(const Option& option) {
  std::string out;
  if (option.letter) out += std::string("-") + option.letter;
  if (!option.name.empty()) {
    if (!out.empty()) out += ", ";
    out += "--" + option.name;
  }
  if (option.argument.empty()) return out;
  const bool optional = option.argument.starts_with('[');
  const std::string argument = optional ? "[=" + option.argument.substr(1)
                                        : (option.name.empty() ? " " : "=") + option.argument;
  return out + argument;
}

// Wraps `text` into lines that begin at `column`; the first line continues at the caller's
// position.
std::string fill(const std::string& text, std::size_t column) {
  std::string out;
  std::size_t at = column;
  for (const std::string& word : split(text, ' ')) {
    if (at > column && at + 1 + word.size() > kHelpWidth) {
      out += "\n" + std::string(column, ' ');
      at = column;
    } else if (at > column) {
      out += ' ';
      ++at;
    }
    out += word;
    at += word.size();
  }
  return out;
}

std::string paragraphs(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts)
    out += (out.empty() ? "" : ".PP\n") + man_escape(text) + "\n";
  return out;
}

std::string option_notes(const OptionTable& table, const Option& option) {
  std::string notes;
  if (!option.excludes.empty())
    notes += " Not together with --" + join(option.excludes, ", --") + ".";
  if (!option.aliases.empty()) notes += " Also spelled --" + join(option.aliases, ", --") + ".";
  if (!table.environment_prefix.empty() && option.environment && !option.name.empty())
    notes += " Environment: " + environment_name(table, option) + ".";
  return notes;
}

}  // namespace

std::string help_text(const Manual& manual, const OptionTable& table) {
  std::string out;
  for (const std::string& form : manual.synopsis)
    out += (out.empty() ? "Usage: " : "       ") + manual.name + (form.empty() ? "" : " " + form) +
           "\n";
  out += "\n" + upper(manual.summary.substr(0, 1)) + manual.summary.substr(1) + ".\n\nOptions:\n";
  for (const Option& option : table.options) {
    std::string line = "  " + std::string(option.letter ? "" : "    ") + spelling(option);
    line += line.size() + 2 > kHelpColumn ? "\n" + std::string(kHelpColumn, ' ')
                                          : std::string(kHelpColumn - line.size(), ' ');
    out += line + fill(option.help, kHelpColumn) + "\n";
  }
  out += "\nThe manual page " + manual.name + "(1) says more.\n";
  return out;
}

std::string man_escape(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_start = c == '\n';
  }
  return out;
}

namespace {

// The argument of a macro such as .B, where a quotation mark would group words.
std::string man_argument(std::string_view text) {
  std::string out;
  for (const char c : man_escape(text))
    if (c == '"')
      out += "\\(dq";
    else
      out += c;
  return out;
}

}  // namespace

std::string man_page(const Manual& manual, const OptionTable& table) {
  std::string out = ".\\\" Generated from the command's own tables; edit those.\n";
  out += ".TH " + upper(manual.name) + " 1 \"\" \"Ares " ARES_VERSION "\" \"User Commands\"\n";
  out += ".SH NAME\n" + manual.name + " \\- " + man_escape(manual.summary) + "\n.SH SYNOPSIS\n";
  bool first = true;
  for (const std::string& form : manual.synopsis) {
    out +=
        (first ? "" : ".br\n") + std::string(".B ") + manual.name + "\n" + man_escape(form) + "\n";
    first = false;
  }
  out += ".SH DESCRIPTION\n" + paragraphs(manual.description) + ".SH OPTIONS\n";
  for (const Option& option : table.options)
    out += ".TP\n.B " + man_argument(spelling(option)) + "\n" +
           man_escape(option.help + option_notes(table, option)) + "\n";
  for (const auto& [title, texts] : manual.sections)
    out += ".SH " + upper(title) + "\n" + paragraphs(texts);
  if (!table.unsupported.empty()) {
    std::vector<std::string> names;
    std::map<std::string, std::vector<std::string>> others;  // by the reason
    for (const Unsupported& row : table.unsupported) {
      std::vector<std::string>& list = row.why.empty() ? names : others[row.why];
      list.push_back(row.name.empty() ? std::string("-") + row.letter : "--" + row.name);
    }
    if (!names.empty())
      out += ".SH NOT SUPPORTED YET\nThese options of other batch systems are refused by name: " +
             man_escape(join(names, ", ")) + ".\n";
    if (!others.empty()) out += ".SH NOT SUPPORTED\n";
    for (const auto& [why, list] : others)
      out += ".TP\n.B " + man_argument(join(list, ", ")) + "\n" + man_escape(why) + ".\n";
  }
  out += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : manual.exit_status)
    out += ".TP\n.B " + code + "\n" + man_escape(meaning) + "\n";
  if (!manual.examples.empty()) {
    out += ".SH EXAMPLES\n";
    for (const auto& [line, meaning] : manual.examples)
      out += ".TP\n.B " + man_argument(line) + "\n" + man_escape(meaning) + "\n";
  }
  out +=
      ".SH FILES\n.TP\n.I /etc/ares/ares.yaml\nThe configuration, unless --config or ARES_CONF "
      "names another; see\n"
      ".BR ares.yaml (5).\n";
  if (!manual.see_also.empty())
    out += ".SH SEE ALSO\n" + man_escape(join(manual.see_also, ", ")) + "\n";
  return out;
}

std::string completion_words(const OptionTable& table) {
  std::string out;
  for (const Option& option : table.options)
    if (!option.name.empty())
      out += "--" + option.name +
             (option.argument.empty() || option.argument.starts_with('[') ? "" : "=") + "\n";
  return out;
}

}  // namespace ares::cli
