#include "core/topology/machines.h"

#include "core/topology/matrix/matrix.h"

namespace ares::core::topology {

namespace {

// Above this size the cache is cleared. An 8-GPU machine has 256 sets of free GPUs; few occur.
constexpr std::size_t kMaxChoices = 65'536;

void mix(std::size_t& seed, std::size_t value) {
  seed ^= value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2);
}

}  // namespace

const Machines::Machine* Machines::of(const GpuTopology& told) {
  if (told.empty()) return nullptr;
  const auto known = machines_.find(told.text());
  if (known != machines_.end()) return known->second.get();
  Result<Matrix> matrix = parse_matrix(told.text());
  auto machine = matrix ? std::make_unique<const Machine>(*std::move(matrix)) : nullptr;
  return machines_.emplace(told.text(), std::move(machine)).first->second.get();
}

std::size_t Machines::Hash::operator()(const ChoiceKey& key) const {
  std::size_t seed = std::hash<const void*>{}(key.machine);
  mix(seed, std::hash<std::uint64_t>{}(key.free));
  mix(seed, key.request.count);
  mix(seed, static_cast<std::size_t>(key.request.constraint.shape));
  mix(seed, key.request.constraint.min_nvlinks);
  return seed;
}

std::optional<GpuSet> Machines::choose(const Machine& machine, GpuSet free,
                                       const GpuRequest& request) {
  const ChoiceKey key{&machine, free.bits(), request};
  if (const auto known = choices_.find(key); known != choices_.end()) return known->second;
  const auto choice = choose_gpus(machine, free, request);
  if (choices_.size() == kMaxChoices) choices_.clear();
  return choices_.emplace(key, choice ? std::optional(choice->gpus) : std::nullopt).first->second;
}

unsigned Machines::most_together(const Machine* machine, GpuSet free,
                                 const GpuConstraint& constraint) {
  if (!machine) return free.empty() ? 0 : 1;
  free = free & machine->gpus();
  if (free.empty() || constraint.none()) return free.count();
  // Binary search: if k GPUs fulfil the constraint, so do some k - 1.
  unsigned good = 1;
  unsigned bad = free.count() + 1;
  while (bad - good > 1) {
    const unsigned middle = (good + bad) / 2;
    (choose(*machine, free, {middle, constraint}) ? good : bad) = middle;
  }
  return good;
}

}  // namespace ares::core::topology
