#include "steps/program.h"

#include <algorithm>

namespace ares::steps {
namespace {

std::string replaced(const std::string& word, std::uint32_t rank, std::uint64_t place) {
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char letter = word[i] == '%' && i + 1 < word.size() ? word[i + 1] : '\0';
    if (letter != 't' && letter != 'o') {
      text += word[i];
      continue;
    }
    text += std::to_string(letter == 't' ? rank : place);
    ++i;
  }
  return text;
}

std::uint64_t count_below(const IntervalSet& ranks, std::uint32_t rank) {
  std::uint64_t count = 0;
  for (const IntervalSet::Interval& part : ranks.intervals())
    if (part.first < rank) count += std::min(part.last, rank - 1) - part.first + std::uint64_t{1};
  return count;
}

}  // namespace

Result<std::vector<std::string>> arguments_of(const TaskSettings& settings, std::uint32_t rank) {
  if (settings.programs.empty()) return settings.arguments;
  const auto program =
      std::find_if(settings.programs.begin(), settings.programs.end(),
                   [&](const Program& p) { return p.ranks.empty() || p.ranks.contains(rank); });
  if (program == settings.programs.end())
    return fail(ErrorCode::not_found,
                "the file of --multi-prog has no program for task " + std::to_string(rank));
  std::uint64_t place = count_below(program->ranks, rank);
  if (program->ranks.empty()) {
    // Those that no program before it has.
    IntervalSet others;
    for (auto before = settings.programs.begin(); before != program; ++before)
      for (const IntervalSet::Interval& part : before->ranks.intervals())
        others.insert(part.first, part.last);
    place = rank - count_below(others, rank);
  }
  std::vector<std::string> words{program->arguments.front()};
  for (std::size_t i = 1; i < program->arguments.size(); ++i)
    words.push_back(replaced(program->arguments[i], rank, place));
  return words;
}

}  // namespace ares::steps
