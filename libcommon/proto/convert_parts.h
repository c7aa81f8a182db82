// Common parts of messages to and from nodes: the attempt key and GPU indices.
// Pure functions; any thread. Private to proto/.
#pragma once

#include <vector>

#include "base/ids.h"
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

inline void read_gpu_index(Reader& read, std::uint32_t in, GpuIndex& out) {
  GpuIndex::rep index = 0;
  read.number("gpu index", in, index);
  out = GpuIndex(index);
}

}  // namespace ares::proto
