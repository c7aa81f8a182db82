#include "aacctmgr/line.h"

#include <algorithm>

#include "base/printable.h"
#include "cli/output/text.h"
#include "config/suggest.h"

namespace ares::aacctmgr {
namespace {

Result<Term> term_of(const std::string& word, std::size_t equals) {
  Term term;
  term.word = word.substr(0, equals);
  if (term.word.ends_with('+')) term.op = Op::add;
  if (term.word.ends_with('-')) term.op = Op::remove;
  if (term.op != Op::set) term.word.pop_back();
  if (term.word.empty()) return invalid(quote(word) + " names nothing before its =");
  term.value = word.substr(equals + 1);
  if (has_control(term.value)) return invalid(term.word + ": the value holds a control character");
  return term;
}

}  // namespace

Result<Line> parse_line(std::span<const std::string> words) {
  Line line;
  for (const std::string& word : words) {
    const std::string plain = cli::lower(word);
    std::vector<Term>& section = line.has_set ? line.set : line.where;
    if (plain == "set" && !line.has_set) {
      line.has_set = true;
    } else if (plain == "where" && !line.has_set) {
      continue;
    } else if (const std::size_t equals = word.find('='); equals != std::string::npos) {
      auto term = term_of(word, equals);
      if (!term) return fail(term.error());
      section.push_back(std::move(*term));
    } else if (line.has_set) {
      if (section.empty())
        return invalid("expected NAME=VALUE behind set instead of " + quote(word));
      section.back().value += " " + word;
    } else {
      if (has_control(word)) return invalid("a name holds a control character");
      for (std::string& name : cli::split(word, ','))
        if (!name.empty()) line.names.push_back(std::move(name));
    }
  }
  return line;
}

Result<std::size_t> match_word(std::string_view typed, const std::vector<Spelling>& words,
                               const std::string& what) {
  const std::string word = cli::lower(typed);
  std::vector<std::size_t> begun;
  std::vector<std::string> candidates;
  for (std::size_t i = 0; i < words.size(); ++i) {
    bool begins = false;
    for (const std::string& name : words[i].names) {
      if (name == word) return i;
      begins = begins || (!word.empty() && name.starts_with(word));
      candidates.push_back(name);
    }
    if (begins) begun.push_back(i);
  }
  if (begun.size() == 1) return begun[0];
  if (begun.empty()) {
    const std::string meant = config::suggestion(word, candidates);
    std::vector<std::string> firsts;
    for (const Spelling& one : words) firsts.push_back(one.names.front());
    return invalid(what + " " + quote(typed) +
                   (meant.empty() ? "; one of " + cli::join(firsts, ", ") : meant));
  }
  std::vector<std::string> could;
  for (const std::size_t i : begun) could.push_back(words[i].names.front());
  return invalid(what + " " + quote(typed) + ": it could be " + cli::join(could, ", "));
}

}  // namespace ares::aacctmgr
