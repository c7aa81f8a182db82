// ClusterState: all that is true. A value; a copy is a cheap immutable snapshot that shares every record.
// The live one is owned by the engine thread and changed only by apply(); copies may be read by any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/cow_map.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/job.h"
#include "model/node.h"
#include "model/request.h"

namespace ares {

struct ClusterState {
  ClusterId cluster;
  Epoch epoch;
  Lsn lsn;             // of the last event applied
  Time now{};          // of the last event applied; decisions never see an earlier one
  Time activated_at{}; // when the current epoch's controller became active
  JobId next_job_id{1};
  NodeId next_node_id{1};
  std::uint64_t config_hash = 0;

  CowMap<JobKey, Job> jobs;                      // all in memory: live ones and recently finished
  CowMap<JobKey, Lsn> pending;                   // index: pending records (an array counts while tasks wait)
  CowMap<JobId, std::vector<JobKey>> dependents; // index: target job -> records that wait for it
  CowMap<NodeId, Node> nodes;
  CowMap<std::string, NodeId> node_ids;
  CowMap<std::string, Partition> partitions;
  CowMap<std::string, TresId> tres;
  CowMap<RequestKey, Request> requests;

  friend bool operator==(const ClusterState&, const ClusterState&) = default;
};

}  // namespace ares
