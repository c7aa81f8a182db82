// Parts of a GPU: --gres=gpu:0.5, in thousandths. Only parts below one GPU can be requested: a job
// holds a part of one device, or whole devices. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job/job.h"
#include "model/job/whole_gpu.h"

namespace ares {

// Whether the text is a signed or decimal number, valid as a part or not: "0.5", "1.5", "-1", ".5".
bool looks_like_part(std::string_view text);
// "0.25" is 250. invalid_argument unless it is above 0 and below 1 and has no more than three decimals.
Result<std::uint32_t> parse_gpu_part(std::string_view text);

// Formats thousandths as a decimal number: 250 is "0.25", 2500 "2.5", 2000 "2".
std::string format_thousandths(std::int64_t thousandths);

// The requested amount in thousandths of a GPU.
constexpr std::int64_t thousandths_of(const GpuRequest& request) {
  return std::int64_t{request.count} * kWholeGpu + request.part;
}
// The number of devices that the request touches. A part touches one device.
constexpr std::uint32_t devices_of(const GpuRequest& request) {
  return request.count + (request.part > 0 ? 1 : 0);
}
// Thousandths held of each device of a share or charge.
constexpr std::uint32_t held_of_each(std::uint32_t gpu_part) {
  return gpu_part > 0 ? gpu_part : kWholeGpu;
}

// The request for a part of a GPU; null if none. Only the lists count, not gpu_alternatives.
const GpuRequest* part_request(const JobSpec& spec);

}  // namespace ares
