// What one watcher of jobs is told: the newest state of each job of its listing that changed. Pure; the hub's thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "aresctld/engine/view.h"
#include "aresctld/identity.h"
#include "aresctld/watch/change_log.h"
#include "base/result.h"
#include "model/policy/policy.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// The jobs that a request names by id; all if it names none.
class NamedJobs {
 public:
  static Result<NamedJobs> make(const ClusterState& state, const api::ListJobs& request);

  // An array's record is included if one of its tasks is.
  bool has(const JobKey& key) const;
  // The tasks of this array that are named; null: all of them.
  const std::set<std::uint32_t>* tasks_of(JobId job) const;

 private:
  bool all_ = true;
  std::map<JobId, std::set<std::uint32_t>> jobs_;  // empty set: all tasks
};

// More jobs, or rows of them, than this in one part: the whole listing is sent in its place, by pages.
inline constexpr std::size_t kMostChanges = 5000;

// The part for a watcher that was told everything up to `position` of the log, which the log has. A job that ended is in it
// even if the request leaves out jobs that have ended, once. None: too many changed. `identity`: for the names of groups, which
// are left out without it.
Result<std::optional<api::Watched>> changes_since(const View& view, const Policy& policy,
                                                  const api::ListJobs& request,
                                                  const NamedJobs& named, const ChangeLog& log,
                                                  std::uint64_t position, Time now,
                                                  Identity* identity = nullptr);

}  // namespace ares::aresctld
