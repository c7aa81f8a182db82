#include "arun/multi_prog.h"

#include "base/printable.h"
#include "cli/options/directives.h"

namespace ares::arun {
namespace {

constexpr std::uint32_t kMostRank = 999'999;
constexpr std::size_t kMostPrograms = 10'000;
constexpr std::size_t kMostIntervals = 10'000;  // of a line

Result<IntervalSet> read_ranks(const std::string& text) {
  if (text == "*") return IntervalSet();
  Result<IntervalSet> ranks = parse_interval_set(text, kMostRank, kMostIntervals);
  if (ranks && ranks->empty())
    return fail(ErrorCode::invalid_argument, "a line begins with ranks, such as 0-3 or *");
  return ranks;
}

bool overlap(const IntervalSet& a, const IntervalSet& b) {
  for (const IntervalSet::Interval& left : a.intervals())
    for (const IntervalSet::Interval& right : b.intervals())
      if (left.first <= right.last && right.first <= left.last) return true;
  return false;
}

}  // namespace

Result<std::vector<steps::Program>> read_multi_prog(std::string_view text,
                                                    const std::string& name) {
  std::vector<steps::Program> programs;
  IntervalSet named;
  std::size_t number = 0;
  const auto wrong = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, name + ":" + std::to_string(number) + ": " + why);
  };
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    const Result<std::vector<std::string>> words = cli::cut_words(line);
    if (!words) return wrong(words.error().message);
    if (words->empty()) continue;
    Result<IntervalSet> ranks = read_ranks(words->front());
    if (!ranks) return wrong(ranks.error().message);
    if (words->size() < 2) return wrong("after the ranks comes a program");
    if (!programs.empty() && programs.back().ranks.empty())
      return wrong("a line with * is the last one");
    if (overlap(*ranks, named)) return wrong(quote(words->front()) + " names a task again");
    if (programs.size() == kMostPrograms)
      return wrong("there are more than " + std::to_string(kMostPrograms) + " programs");
    for (const IntervalSet::Interval& part : ranks->intervals())
      named.insert(part.first, part.last);
    programs.push_back({std::move(*ranks), {words->begin() + 1, words->end()}});
  }
  if (programs.empty()) return fail(ErrorCode::invalid_argument, name + " names no program");
  return programs;
}

}  // namespace ares::arun
