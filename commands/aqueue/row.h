// Row: one job of a listing, and the other data that its columns need. A plain value; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/time.h"
#include "proto/gen/api.pb.h"

namespace ares::aqueue {

struct Row {
  const api::Job& job;
  Time now{};  // the controller's clock
  const std::string& cluster;
  std::int64_t tier = 0;         // The tier of its partition, if rows are sorted by it.
  std::size_t longest_list = 0;  // Of array indices; 0 = all.
};

}  // namespace ares::aqueue
