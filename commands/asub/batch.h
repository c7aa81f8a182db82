// Packs many jobs into few requests (asub --from). Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proto/gen/api.pb.h"
#include "submission/prepare.h"

namespace ares::asub {

// Limits of one request by jobs and by bytes. A single job may exceed the limit of bytes.
inline constexpr std::size_t kMostJobs = 500;
inline constexpr std::size_t kMostBytes = 1 << 20;

// Jobs as requests, in order. Identical scripts and environments are stored once per request. The
// requests' ids are derived from `id`, so that repeated tries with the same jobs and id submit them
// only once.
struct Batch {
  api::Request request;
  std::size_t first_line = 0, last_line = 0;
};
std::vector<Batch> make_batches(const std::vector<submission::PreparedJob>& jobs,
                                const std::string& id);

}  // namespace ares::asub
