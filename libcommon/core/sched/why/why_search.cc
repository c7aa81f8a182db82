#include "core/sched/why/why_search.h"

#include <algorithm>

#include "core/job/decide/deciding.h"

namespace ares::core::sched {
namespace {

// So many pairs of changes are enough where no single one does.
constexpr std::size_t kPairs = 3;

std::string all_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

WhyChange WhySearch::change(Job job, std::string text) const {
  std::vector<std::string> words = freed_.texts;
  if (!text.empty()) words.push_back(std::move(text));
  return {all_of(words), {}, std::move(job)};
}

// A second partition may find the same kind with another step: both are told, the same text once.
void WhySearch::keep(std::vector<WhyChange>& list, WhyChange found) {
  if (std::none_of(list.begin(), list.end(),
                   [&](const WhyChange& other) { return other.text == found.text; }))
    list.push_back(std::move(found));
}

std::optional<std::uint64_t> WhySearch::smallest(const Turn& turn, const Job& job,
                                                 const Alternative& alternative) {
  const auto does = [&](std::uint64_t step) {
    return trial_.starts(turn, changed(job, alternative, step));
  };
  if (!does(alternative.steps)) return std::nullopt;
  std::uint64_t low = 1, high = alternative.steps;
  while (low < high && !trial_.exhausted()) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (does(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return high;
}

// "it would end before job 17 needs the nodes".
std::string WhySearch::note(const Turn& turn, const Alternative& alternative,
                            const Job& job) const {
  if (!alternative.shortens) return {};
  const auto limit = trial_.limit(job, *turn.entry.partition);
  const DelayedStart* next = nullptr;
  for (const DelayedStart& planned_start : planned_starts_)
    if (limit && planned_start.start >= now_ + *limit &&
        (!next || planned_start.start < next->start))
      next = &planned_start;
  return next ? "it would end before job " + job_text(next->job) + " needs the nodes" : "";
}

bool WhySearch::look(const Turn& turn) {
  if (trial_.starts(turn, freed_.job)) {
    if (!freed_.texts.empty()) keep(singles_, change(freed_.job, {}));
    return true;
  }
  const std::vector<Alternative> kinds =
      alternatives_of(freed_.job, *turn.entry.partition, turn.index);
  bool any = false;
  for (const Alternative& kind : kinds) {
    const auto step = smallest(turn, freed_.job, kind);
    if (!step) continue;
    any = true;
    Job job = changed(freed_.job, kind, *step);
    WhyChange found = change(job, kind.text(job));
    found.note = note(turn, kind, job);
    keep(singles_, std::move(found));
  }
  if (!any) look_at_pairs(turn, kinds);
  return false;
}

// Each goes as far as it can, then back as far as the other lets it.
void WhySearch::look_at_pairs(const Turn& turn, const std::vector<Alternative>& kinds) {
  for (std::size_t i = 0; i < kinds.size(); ++i)
    for (std::size_t j = i + 1; j < kinds.size() && pairs_.size() < kPairs; ++j) {
      const Job least = changed(freed_.job, kinds[i], kinds[i].steps);
      const auto second = smallest(turn, least, kinds[j]);
      if (!second) continue;
      const Job half = changed(freed_.job, kinds[j], *second);
      const auto first = smallest(turn, half, kinds[i]);
      if (!first) continue;
      Job job = changed(half, kinds[i], *first);
      WhyChange found = change(job, kinds[i].text(job) + " " + kinds[j].text(job));
      found.note = note(turn, kinds[kinds[i].shortens ? i : j], job);
      keep(pairs_, std::move(found));
    }
}

void WhySearch::look_elsewhere(const Turn& turn) {
  Job job = freed_.job;
  auto spec = std::make_shared<JobSpec>(*job.spec);
  spec->partitions = {turn.entry.partition->name};
  job.spec = std::move(spec);
  if (trial_.starts(turn, job))
    keep(singles_, change(job, "--partition=" + turn.entry.partition->name));
}

}  // namespace ares::core::sched
