#include "node/idle_gpus.h"

#include <algorithm>

namespace ares::node {
namespace {

// The driver takes back the memory of a process some time after its end.
constexpr Duration kTimeToClear = std::chrono::seconds(5);
constexpr Duration kPauseMeanwhile = std::chrono::seconds(1);
constexpr Duration kPauseOfFaulty = std::chrono::seconds(10);
// What was seen longer ago is looked at again before a job gets the GPU.
constexpr Duration kFresh = std::chrono::seconds(60);

}  // namespace

IdleGpus::IdleGpus(const std::vector<GpuIndex>& all, BootTime now) : looked_at_(now) {
  for (const GpuIndex index : all) gpus_[index].freed_at = now;
}

void IdleGpus::set_taken(const std::set<GpuIndex>& taken, BootTime now) {
  for (auto& [index, gpu] : gpus_) {
    const bool is_taken = taken.contains(index);
    if (is_taken == gpu.taken) continue;
    gpu = {.taken = is_taken,
           .freed = is_taken ? gpu.freed : ++events_,
           .freed_at = now,
           .clean_at = {},
           .unclean = {},
           .faulty = false};
  }
}

IdleGpus::Verdict IdleGpus::of(const std::vector<GpuIndex>& gpus, BootTime now) {
  Verdict verdict = Verdict::clean;
  for (const GpuIndex index : gpus) {
    const auto found = gpus_.find(index);
    if (found == gpus_.end() || found->second.taken) continue;
    Gpu& gpu = found->second;
    if (gpu.faulty) return Verdict::unclean;
    if (gpu.clean_at && now - *gpu.clean_at <= kFresh) continue;
    gpu.clean_at.reset();
    verdict = Verdict::unknown;
  }
  return verdict;
}

std::optional<BootTime> IdleGpus::due(const Gpu& gpu) const {
  if (gpu.taken || gpu.clean_at) return std::nullopt;
  if (gpu.unclean.empty()) return BootTime();
  return looked_at_ + (gpu.faulty ? kPauseOfFaulty : kPauseMeanwhile);
}

std::optional<BootTime> IdleGpus::next_deadline() const {
  if (looking_) return std::nullopt;
  std::optional<BootTime> earliest;
  for (const auto& [index, gpu] : gpus_)
    if (const auto at = due(gpu); at && (!earliest || *at < *earliest)) earliest = at;
  return earliest;
}

bool IdleGpus::start_look(BootTime now) {
  const std::optional<BootTime> at = next_deadline();
  if (!at || *at > now) return false;
  looking_ = true;
  looks_from_ = events_;
  return true;
}

void IdleGpus::looked(const GpuLook& look, BootTime now) {
  looking_ = false;
  looked_at_ = now;
  cannot_look_ = look ? std::string() : look.error().message;
  for (auto& [index, gpu] : gpus_) {
    if (gpu.taken || gpu.freed > looks_from_) continue;
    gpu.clean_at.reset();
    gpu.unclean = cannot_look_;
    if (look)
      if (const auto found = look->find(index); found != look->end()) gpu.unclean = found->second;
    if (gpu.unclean.empty()) gpu.clean_at = now;
    gpu.faulty = !gpu.unclean.empty() && now - gpu.freed_at >= kTimeToClear;
  }
}

std::string IdleGpus::fault() const {
  std::string text;
  for (const auto& [index, gpu] : gpus_) {
    if (!gpu.faulty) continue;
    if (!cannot_look_.empty()) return "the state of its GPUs cannot be read: " + cannot_look_;
    text += (text.empty() ? "GPU " : "; GPU ") + std::to_string(index.value()) +
            " is not clean: " + gpu.unclean;
  }
  return text;
}

}  // namespace ares::node
