// A job's GPUs as its user would write them. The other way round is in spec_values.h. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "proto/gen/api.pb.h"

namespace ares::cli {

// Those of one list with its alternatives, `before` in front of each: "gres/gpu:h100:4|gres/gpu:a100:8@1.5". Empty for none.
std::string format_gpu_list(const api::JobSpec& spec, api::GpusPer per, const std::string& before);

// What is used of each of a node's GPUs, in thousandths, by its number.
std::map<std::uint32_t, std::uint64_t> gpus_in_use(const api::Node& node);

}  // namespace ares::cli
