// Many jobs as few requests (asub --from). Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "asub/prepare.h"
#include "proto/gen/api.pb.h"

namespace ares::asub {

// Bounds of one request: so many jobs, or so many bytes, whichever comes first; one job may be larger.
inline constexpr std::size_t kMostJobs = 500;
inline constexpr std::size_t kMostBytes = 1 << 20;

// Jobs as requests, in their order. Scripts and environments that are the same are in a request once. The requests' ids are
// derived from `id`, so that the same jobs under the same id are submitted once however often it is tried.
struct Batch {
  api::Request request;
  std::size_t first_line = 0, last_line = 0;
};
std::vector<Batch> make_batches(const std::vector<PreparedJob>& jobs, const std::string& id);

}  // namespace ares::asub
