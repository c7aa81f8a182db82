// Prints a job's GPUs in the format that users write. spec_values.h has the parsers. Pure
// functions; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "proto/gen/api.pb.h"

namespace ares::cli {

// The GPUs of one list with its alternatives, each prefixed by `before`:
// "gres/gpu:h100:4|gres/gpu:a100:8@1.5". Empty if there are none.
std::string format_gpu_list(const api::JobSpec& spec, api::GpusPer per, const std::string& before);

// Usage of each of a node's GPUs in thousandths, by index.
std::map<std::uint32_t, std::uint64_t> gpus_in_use(const api::Node& node);

}  // namespace ares::cli
