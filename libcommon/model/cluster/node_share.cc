#include "model/cluster/node_share.h"

#include <algorithm>

namespace ares {

NodeShares::NodeShares(std::vector<NodeShare> shares) : size_(shares.size()) {
  parts_.reserve((size_ + kPart - 1) / kPart);
  for (std::size_t from = 0; from < size_; from += kPart) {
    const auto begin = std::make_move_iterator(shares.begin()) + static_cast<std::ptrdiff_t>(from);
    const auto count = static_cast<std::ptrdiff_t>(std::min(kPart, size_ - from));
    parts_.push_back(std::make_shared<const Part>(begin, begin + count));
  }
}

void NodeShares::push_back(NodeShare share) {
  auto part =
      size_ % kPart == 0 ? std::make_shared<Part>() : std::make_shared<Part>(*parts_.back());
  part->push_back(std::move(share));
  if (size_ % kPart == 0)
    parts_.push_back(std::move(part));
  else
    parts_.back() = std::move(part);
  ++size_;
}

bool operator==(const NodeShares& a, const NodeShares& b) {
  if (a.size_ != b.size_) return false;
  return std::equal(
      a.parts_.begin(), a.parts_.end(), b.parts_.begin(),
      [](const auto& one, const auto& other) { return one == other || *one == *other; });
}

}  // namespace ares
