#include "model/job/gpu_part.h"

#include <algorithm>

#include "base/printable.h"

namespace ares {
namespace {

tl::unexpected<Error> bad(std::string_view text, std::string why) {
  return fail(ErrorCode::invalid_argument, quote(text) + ": " + std::move(why));
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

bool looks_like_part(std::string_view text) {
  const bool number = std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || c == '.' || c == '-' || c == '+';
  });
  return number && std::any_of(text.begin(), text.end(), is_digit) &&
         !std::all_of(text.begin(), text.end(), is_digit);
}

Result<std::uint32_t> parse_gpu_part(std::string_view text) {
  if (text.starts_with('-')) return bad(text, "a part of a GPU is above 0");
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view decimals =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (whole.empty() || decimals.empty() || !std::all_of(whole.begin(), whole.end(), is_digit) ||
      !std::all_of(decimals.begin(), decimals.end(), is_digit))
    return bad(text, "is no part of a GPU: write it with a point, such as 0.5");
  if (whole.find_first_not_of('0') != std::string_view::npos)
    return bad(text,
               "a job gets a part of one GPU, below 1, or whole ones: ask for the next whole "
               "number, or give the part to a job of its own");
  if (decimals.find_first_not_of('0') == std::string_view::npos)
    return bad(text, "a part of a GPU is above 0");
  if (decimals.size() > 3)
    return bad(text, "a part of a GPU is counted in thousandths: give three decimals at most");
  std::uint32_t part = 0;
  for (std::size_t i = 0; i < 3; ++i)
    part = part * 10 + (i < decimals.size() ? static_cast<std::uint32_t>(decimals[i] - '0') : 0);
  return part;
}

std::string format_thousandths(std::int64_t thousandths) {
  std::string text = std::to_string(thousandths / kWholeGpu);
  if (thousandths % kWholeGpu == 0) return text;
  const std::string part = std::to_string(thousandths % kWholeGpu);
  text += "." + std::string(3 - part.size(), '0') + part;
  return text.substr(0, text.find_last_not_of('0') + 1);
}

const GpuRequest* part_request(const JobSpec& spec) {
  for (const auto* list : {&spec.gpus_per_node, &spec.gpus_total, &spec.gpus_per_task})
    for (const GpuRequest& request : *list)
      if (request.part > 0) return &request;
  return nullptr;
}

}  // namespace ares
