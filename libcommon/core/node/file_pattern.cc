#include "core/node/file_pattern.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace ares::node {
namespace {

constexpr std::size_t kWidest = 10;

std::string own_id(const StepSpec& s) {
  return std::to_string(s.launch.own_id.value());
}

std::uint32_t array_index(const StepSpec& s) {
  const TaskIndex task = s.launch.attempt.job.task;
  return task.is_none() ? 0 : task.value;
}

// A name is one part of a path, whatever the user put into it.
std::string as_file_name(std::string text) {
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

std::string short_name(const std::string& host) {
  return host.substr(0, host.find('.'));
}

struct Row {
  PatternLetter about;
  std::string (*value)(const StepSpec&);
};

constexpr Row kRows[] = {
    {{'A', true, "number of the array, or of the job if it is not part of one"},
     [](const StepSpec& s) { return std::to_string(s.launch.attempt.job.job.value()); }},
    {{'a', true, "index of the array task, 0 if there is none"},
     [](const StepSpec& s) { return std::to_string(array_index(s)); }},
    {{'b', true, "index of the array task modulo 10"},
     [](const StepSpec& s) { return std::to_string(array_index(s) % 10); }},
    {{'J', false, "number of the job and the step: 12.batch"},
     [](const StepSpec& s) { return own_id(s) + ".batch"; }},
    {{'j', true, "number of the job; every array task has its own"}, own_id},
    {{'N', false, "short name of the node"},
     [](const StepSpec& s) { return short_name(s.launch.node_name); }},
    {{'n', true, "number of the node within the job"},
     [](const StepSpec& s) { return std::to_string(s.launch.rank); }},
    {{'r', true, "how often the job was started again"},
     [](const StepSpec& s) { return std::to_string(s.launch.restarts); }},
    {{'s', false, "step: batch"}, [](const StepSpec&) { return std::string("batch"); }},
    {{'t', true, "rank of the task: 0"}, [](const StepSpec&) { return std::string("0"); }},
    {{'u', false, "name of the user"},
     [](const StepSpec& s) {
       return as_file_name(s.user.name.empty() ? s.launch.spec->user : s.user.name);
     }},
    {{'x', false, "name of the job"},
     [](const StepSpec& s) { return as_file_name(s.launch.spec->name); }},
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

std::string expand_pattern(std::string_view pattern, const StepSpec& spec) {
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
    if (row == std::end(kRows)) {
      result += '%';
      continue;
    }
    std::string value = row->value(spec);
    if (row->about.padded && value.size() < width) value.insert(0, width - value.size(), '0');
    result += value;
    i = at;
  }
  return result;
}

std::string_view default_output(const StepSpec& spec) {
  return spec.launch.attempt.job.task.is_none() ? "ares-%j.out" : "ares-%A_%a.out";
}

}  // namespace ares::node
