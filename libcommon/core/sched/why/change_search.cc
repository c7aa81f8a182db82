#include "core/sched/why/change_search.h"

#include <algorithm>

#include "core/job/decide/decision_context.h"

namespace ares::core::sched {
namespace {

// The largest number of pairs of changes that are searched if no single change is enough.
constexpr std::size_t kPairs = 3;

std::string all_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

SuggestedChange ChangeSearch::change(Job job, std::string text) const {
  std::vector<std::string> words = unblocked_.texts;
  if (!text.empty()) words.push_back(std::move(text));
  return {all_of(words), {}, std::move(job)};
}

// A second partition may give the same kind with another step; both are kept. The same text is kept
// once.
void ChangeSearch::keep(std::vector<SuggestedChange>& list, SuggestedChange found) {
  if (std::none_of(list.begin(), list.end(),
                   [&](const SuggestedChange& other) { return other.text == found.text; }))
    list.push_back(std::move(found));
}

std::optional<std::uint64_t> ChangeSearch::smallest(const PassView& view, const Job& job,
                                                    const ChangeKind& kind) {
  const auto does = [&](std::uint64_t step) {
    return what_if_.starts(view, changed(job, kind, step));
  };
  if (!does(kind.steps)) return std::nullopt;
  std::uint64_t low = 1, high = kind.steps;
  while (low < high && !what_if_.exhausted()) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (does(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return high;
}

// For example "it would end before job 17 needs the nodes".
std::string ChangeSearch::note(const PassView& view, const ChangeKind& kind, const Job& job) const {
  if (!kind.shortens) return {};
  const auto limit = what_if_.limit(job, *view.entry.partition);
  const DelayedStart* next = nullptr;
  for (const DelayedStart& planned_start : planned_starts_)
    if (limit && planned_start.start >= now_ + *limit &&
        (!next || planned_start.start < next->start))
      next = &planned_start;
  return next ? "it would end before job " + job_text(next->job) + " needs the nodes" : "";
}

bool ChangeSearch::search(const PassView& view) {
  if (what_if_.starts(view, unblocked_.job)) {
    if (!unblocked_.texts.empty()) keep(singles_, change(unblocked_.job, {}));
    return true;
  }
  const std::vector<ChangeKind> kinds =
      change_kinds_of(unblocked_.job, *view.entry.partition, view.index);
  bool any = false;
  for (const ChangeKind& kind : kinds) {
    const auto step = smallest(view, unblocked_.job, kind);
    if (!step) continue;
    any = true;
    Job job = changed(unblocked_.job, kind, *step);
    SuggestedChange found = change(job, kind.text(job));
    found.note = note(view, kind, job);
    keep(singles_, std::move(found));
  }
  if (!any) search_pairs(view, kinds);
  return false;
}

// The second change is reduced to its smallest step with the first one at its largest; then the
// first one is reduced.
void ChangeSearch::search_pairs(const PassView& view, const std::vector<ChangeKind>& kinds) {
  for (std::size_t i = 0; i < kinds.size(); ++i)
    for (std::size_t j = i + 1; j < kinds.size() && pairs_.size() < kPairs; ++j) {
      const Job least = changed(unblocked_.job, kinds[i], kinds[i].steps);
      const auto second = smallest(view, least, kinds[j]);
      if (!second) continue;
      const Job half = changed(unblocked_.job, kinds[j], *second);
      const auto first = smallest(view, half, kinds[i]);
      if (!first) continue;
      Job job = changed(half, kinds[i], *first);
      SuggestedChange found = change(job, kinds[i].text(job) + " " + kinds[j].text(job));
      found.note = note(view, kinds[kinds[i].shortens ? i : j], job);
      keep(pairs_, std::move(found));
    }
}

void ChangeSearch::search_partition(const PassView& view) {
  Job job = unblocked_.job;
  auto spec = std::make_shared<JobSpec>(*job.spec);
  spec->partitions = {view.entry.partition->name};
  job.spec = std::move(spec);
  if (what_if_.starts(view, job))
    keep(singles_, change(job, "--partition=" + view.entry.partition->name));
}

}  // namespace ares::core::sched
