#include "base/file_pattern.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace ares {
namespace {

using Value = std::optional<std::string>;

constexpr std::size_t kWidest = 10;

template <class Number>
Value number(const std::optional<Number>& n) {
  return n ? Value(std::to_string(*n)) : Value();
}

// User input must stay one path component, so '/' is replaced.
std::string as_file_name(std::string text) {
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

struct Row {
  PatternLetter about;
  Value (*value)(const PatternValues&);
};

constexpr Row kRows[] = {
    {{'A', true, "number of the array, or of the job if it is not part of one"},
     [](const PatternValues& v) { return number(v.array); }},
    {{'a', true, "index of the array task, 0 if there is none"},
     [](const PatternValues& v) { return number(v.task); }},
    {{'b', true, "index of the array task modulo 10"},
     [](const PatternValues& v) { return v.task ? Value(std::to_string(*v.task % 10)) : Value(); }},
    {{'J', false, "number of the job; in files of a step 12.0, with the step's number"},
     [](const PatternValues& v) { return number(v.job); }},
    {{'j', true, "number of the job; every array task has its own"},
     [](const PatternValues& v) { return number(v.job); }},
    {{'N', false, "short name of the node"},
     [](const PatternValues& v) {
       return v.node ? Value(v.node->substr(0, v.node->find('.'))) : Value();
     }},
    {{'n', true, "number of the node within the job"},
     [](const PatternValues& v) { return number(v.node_rank); }},
    {{'r', true, "how often the job was started again"},
     [](const PatternValues& v) { return number(v.restarts); }},
    {{'s', false, "step: batch"}, [](const PatternValues&) { return Value("batch"); }},
    {{'t', true, "rank of the task: 0"}, [](const PatternValues&) { return Value("0"); }},
    {{'u', false, "name of the user"},
     [](const PatternValues& v) { return Value(as_file_name(v.user)); }},
    {{'x', false, "name of the job"},
     [](const PatternValues& v) { return Value(as_file_name(v.name)); }},
};

constexpr auto kLetters = [] {
  std::array<PatternLetter, std::size(kRows)> letters{};
  for (std::size_t i = 0; i < letters.size(); ++i) letters[i] = kRows[i].about;
  return letters;
}();

}  // namespace

std::span<const PatternLetter> pattern_letters() {
  return kLetters;
}

std::string expand_pattern(std::string_view pattern, const PatternValues& values) {
  std::string result;
  if (pattern.find('\\') != std::string_view::npos) {
    std::copy_if(pattern.begin(), pattern.end(), std::back_inserter(result),
                 [](char c) { return c != '\\'; });
    return result;
  }
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      result += pattern[i];
      continue;
    }
    std::size_t at = i + 1;
    std::size_t width = 0;
    while (at < pattern.size() && std::isdigit(static_cast<unsigned char>(pattern[at])))
      width = std::min(kWidest, width * 10 + static_cast<std::size_t>(pattern[at++] - '0'));
    if (at < pattern.size() && pattern[at] == '%' && at == i + 1) {
      result += '%';
      i = at;
      continue;
    }
    const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) {
      return at < pattern.size() && r.about.letter == pattern[at];
    });
    Value value = row == std::end(kRows) ? Value() : row->value(values);
    if (!value) {
      result += '%';
      continue;
    }
    if (row->about.padded && value->size() < width) value->insert(0, width - value->size(), '0');
    result += *value;
    i = at;
  }
  return result;
}

std::string_view default_output(bool array_task) {
  return array_task ? "ares-%A_%a.out" : "ares-%j.out";
}

}  // namespace ares
