#include "kubernetes_scale/simulated/timeline.h"

#include <nlohmann/json.hpp>

namespace ares::kubernetes_scale {
namespace {

constexpr const char* kNames[] = {"created", "bound", "running", "ended", "gone"};

}  // namespace

void Timeline::count(const std::string& space, const std::string& uid, PodState state) {
  const auto index = static_cast<std::size_t>(state);
  std::uint8_t& seen = seen_[uid];
  const auto bit = static_cast<std::uint8_t>(1u << index);
  if (seen & bit) return;
  seen |= bit;
  ++counts_[space][index];
  has_news_ = true;
}

std::string Timeline::line(Time now) {
  has_news_ = false;
  nlohmann::ordered_json line;
  const std::int64_t milliseconds = now.time_since_epoch().count() / 1000;
  line["at"] = static_cast<double>(milliseconds) / 1000.0;
  for (const auto& [space, counts] : counts_)
    for (std::size_t i = 0; i < kStates; ++i) line[space][kNames[i]] = counts[i];
  return line.dump();
}

}  // namespace ares::kubernetes_scale
