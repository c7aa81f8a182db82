// Parts of a GPU: --gres=gpu:0.5. They are counted in thousandths and asked for below one GPU only: a job has a part of one device, or
// whole ones. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job/job.h"
#include "model/job/whole_gpu.h"

namespace ares {

// Whether it is meant as a number that is not whole, or below zero, be it a good one or not: "0.5", "1.5", "-1", ".5".
bool looks_like_part(std::string_view text);
// "0.25" is 250. invalid_argument unless it is above 0 and below 1 and has no more than three decimals.
Result<std::uint32_t> parse_gpu_part(std::string_view text);

// Thousandths as people write them: 250 is "0.25", 2500 "2.5", 2000 "2".
std::string format_thousandths(std::int64_t thousandths);

// How much it asks for, in thousandths, of any number of GPUs.
constexpr std::int64_t thousandths_of(const GpuRequest& request) {
  return std::int64_t{request.count} * kWholeGpu + request.part;
}
// Of how many devices it asks for something: a part is of one.
constexpr std::uint32_t devices_of(const GpuRequest& request) {
  return request.count + (request.part > 0 ? 1 : 0);
}
// What is held of each of a share's, or a charge's, devices.
constexpr std::uint32_t held_of_each(std::uint32_t gpu_part) {
  return gpu_part > 0 ? gpu_part : kWholeGpu;
}

// The request of a job for a part; null if it asks for whole GPUs, or none. Of a job with alternatives that of the one that its lists name.
const GpuRequest* part_request(const JobSpec& spec);

}  // namespace ares
