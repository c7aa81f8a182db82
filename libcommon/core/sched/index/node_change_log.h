// NodeChangeLog: which nodes something has happened to, in order, for readers who come now and then and want what is new. Remembers only
// the latest; who comes too late is told so. Owned by what it tells of; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ares::core::sched {

class NodeChangeLog {
 public:
  void add(std::uint32_t node) { nodes_.push_back(node); }

  // How often it has happened, since the log was made.
  std::uint64_t count() const { return forgotten_ + nodes_.size(); }

  // Calls visit(node) for each time behind the first `seen`. False, without a call, if they are too many to remember.
  template <class Visit>
  bool each_since(std::uint64_t seen, Visit&& visit) const {
    if (seen < forgotten_) return false;
    for (std::uint64_t i = seen - forgotten_; i < nodes_.size(); ++i) visit(nodes_[i]);
    return true;
  }

  // Forgets all of it, once it is longer than that.
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
