#include "core/sched/queue/alternatives.h"

#include <algorithm>
#include <numeric>

namespace ares::core::sched {

std::vector<std::size_t> by_cost(const JobSpec& spec) {
  std::vector<std::size_t> order(spec.gpu_alternatives.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return spec.gpu_alternatives[a].cost < spec.gpu_alternatives[b].cost;
  });
  return order;
}

}  // namespace ares::core::sched
