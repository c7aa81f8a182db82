#include "aqueue/watch.h"
#include "proto/table.h"

namespace ares::aqueue {

WatchedJobs::Key WatchedJobs::key_of(const api::JobRef& ref) {
  return {ref.job(), ref.has_task() ? std::int64_t{ref.task()} : -1};
}

void WatchedJobs::put(const api::Job& job, std::vector<Change>& changes) {
  std::string texts = texts_(job);
  Shown& shown = listed_[key_of(job.key())];
  const bool differs = shown.texts != texts;
  shown = {job, std::move(texts)};
  if (differs) changes.push_back({job, false});
}

void WatchedJobs::drop(const api::JobRef& ref) {
  listed_.erase(key_of(ref));
}

void WatchedJobs::end(const api::Job& job, std::vector<Change>& changes) {
  const auto found = listed_.find(key_of(job.key()));
  if (found == listed_.end() || found->second.texts != texts_(job)) changes.push_back({job, true});
  if (found != listed_.end()) listed_.erase(found);
}

Status WatchedJobs::take(const api::Watched& part, std::vector<Change>& changes,
                         std::vector<api::JobRef>& vanished) {
  if (part.kind() == api::Watched::ALIVE) return {};
  const bool lists = part.kind() != api::Watched::CHANGES;
  if (lists && part.first()) seen_.clear();
  std::set<Key> left;
  for (const api::JobRef& ref : part.left()) left.insert(key_of(ref));
  Status read = proto::read_rows(part.jobs().jobs(), part.jobs().table(), [&](const api::Job& job) {
    const Key key = key_of(job.key());
    if (lists) seen_.insert(key);
    if (left.contains(key))
      end(job, changes);
    else
      put(job, changes);
  });
  if (!read) return read;
  for (const Key& key : left) listed_.erase(key);
  if (part.kind() != api::Watched::LISTED) return {};
  for (const auto& [key, shown] : listed_)
    if (!seen_.contains(key)) vanished.push_back(shown.job.key());
  seen_.clear();
  return {};
}

}  // namespace ares::aqueue
