// aqueue --watch: the listing, kept up to date by a stream of changes. Called on aqueue's main thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aqueue/query.h"
#include "aqueue/report.h"
#include "base/ids.h"
#include "base/result.h"

namespace ares::aqueue {

Result<int> watch(const Query& query);

// The jobs that a watcher knows, and what of them has to be shown. Without connection or output; one thread.
class WatchedJobs {
 public:
  using Texts = std::function<std::string(const api::Job&)>;  // what is shown of a job
  explicit WatchedJobs(Texts texts) : texts_(std::move(texts)) {}

  struct Change {
    api::Job job;
    bool left = false;  // it is not listed any more
  };
  // Takes a part. Adds what differs from what is shown to `changes`, in order. After the last page of a listing
  // `vanished` has the jobs that were listed before and are in none of its pages.
  Status take(const api::Watched& part, std::vector<Change>& changes,
              std::vector<api::JobRef>& vanished);

  // The last state of a job that vanished; or there is none.
  void end(const api::Job& job, std::vector<Change>& changes);
  void drop(const api::JobRef& ref);

  // Listed ones by key, an array's record before its tasks.
  struct Key {
    std::uint64_t job = 0;
    std::int64_t task = -1;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  static Key key_of(const api::JobRef& ref);
  struct Shown {
    api::Job job;
    std::string texts;
  };
  const std::map<Key, Shown>& listed() const { return listed_; }

 private:
  void put(const api::Job& job, std::vector<Change>& changes);

  const Texts texts_;
  std::map<Key, Shown> listed_;
  std::set<Key> seen_;  // in the pages of the listing that arrives
};

}  // namespace ares::aqueue
