#include "sim/timeline.h"

#include <algorithm>
#include <utility>

namespace ares::sim {

void Timeline::push(Item item) {
  heap_.push_back(std::move(item));
  std::push_heap(heap_.begin(), heap_.end(), later);
}

bool Timeline::step(Instant end) {
  while (!heap_.empty() && heap_.front().at <= end) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    Item item = std::move(heap_.back());
    heap_.pop_back();
    if (!alive(item.owner)) continue;
    if (paused_until_[item.owner.slot] > item.at) {
      item.at = paused_until_[item.owner.slot];
      push(std::move(item));
      continue;
    }
    now_ = item.at;
    ++steps_;
    item.run();
    return true;
  }
  now_ = end;
  return false;
}

}  // namespace ares::sim
