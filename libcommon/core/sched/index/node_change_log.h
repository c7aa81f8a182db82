// NodeChangeLog: the nodes that changed, in order, for readers that fetch changes from time to
// time. It keeps only the latest changes; a reader that is too late is notified of that. Owned by
// the object whose changes it records; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ares::core::sched {

class NodeChangeLog {
 public:
  void add(std::uint32_t node) { nodes_.push_back(node); }

  // Number of changes since the log was made.
  std::uint64_t count() const { return forgotten_ + nodes_.size(); }

  // Calls visit(node) for each change after the first `seen`. Returns false, without a call, if
  // some of these are no longer kept.
  template <class Visit>
  bool each_since(std::uint64_t seen, Visit&& visit) const {
    if (seen < forgotten_) return false;
    for (std::uint64_t i = seen - forgotten_; i < nodes_.size(); ++i) visit(nodes_[i]);
    return true;
  }

  // Forgets all changes if more than `most` are kept.
  void trim(std::size_t most) {
    if (nodes_.size() <= most) return;
    forgotten_ += nodes_.size();
    nodes_.clear();
  }

 private:
  std::vector<std::uint32_t> nodes_;
  std::uint64_t forgotten_ = 0;
};

}  // namespace ares::core::sched
