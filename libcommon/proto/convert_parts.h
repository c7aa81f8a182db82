// Common parts of messages to and from nodes: the attempt key and GPU indices.
// Pure functions; any thread. Private to proto/.
#pragma once

#include <vector>

#include "base/ids.h"
#include "model/engine/journal_position.h"
#include "proto/api_reader.h"
#include "proto/convert.h"

namespace ares::proto {

template <class Body, class Out>
void put_attempt(const Body& body, Out* out) {
  to_api(body.attempt, out->mutable_attempt());
  out->set_fence(body.fence.value());
}

template <class In>
void read_attempt(Reader& read, const In& in, AttemptKey& attempt, Fence& fence) {
  read.part("attempt", from_api(in.attempt()), attempt);
  fence = Fence(in.fence());
  if (in.fence() == 0) read.reject("fence", "is missing");
}

template <class Out>
void put_position(const JournalPosition& position, Out* out) {
  out->set_history(position.history);
  out->set_epoch(position.epoch.value());
  out->set_holder(position.holder);
  out->set_lsn(position.lsn.value());
  out->set_next_job_id(position.next_job_id.value());
}

template <class In>
void read_position(Reader& read, const In& in, JournalPosition& out) {
  read.text("history", in.history(), TextKind::name, out.history);
  out.epoch = Epoch(in.epoch());
  read.text("holder", in.holder(), TextKind::name, out.holder);
  out.lsn = Lsn(in.lsn());
  out.next_job_id = JobId(in.next_job_id());
}

// More than a job may keep are none of its checkpoints.
template <class In>
void read_checkpoints(Reader& read, const In& in, std::vector<Checkpoint>& out) {
  if (in.size() > static_cast<int>(kMostCheckpointsKept))
    return read.reject("checkpoints", "are more than a job may keep");
  for (const auto& one : in) read.part("checkpoints", from_api(one), out.emplace_back());
}

inline void read_gpu_index(Reader& read, std::uint32_t in, GpuIndex& out) {
  GpuIndex::rep index = 0;
  read.number("gpu index", in, index);
  out = GpuIndex(index);
}

}  // namespace ares::proto
