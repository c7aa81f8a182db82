// ChangeLog: what changed between the views that were published, for all watchers together. It has the changes behind the
// position of the slowest watcher, but not more than a bound: a watcher that is further behind is sent the whole listing again.
// Owned by the watch hub; its thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "aresctld/engine/view.h"

namespace ares::aresctld {

struct JobChange {
  JobKey key;
  std::shared_ptr<const Job> before;  // null: there was no record, or it has not changed
  bool record = false;                // its record changed, began or ended
  bool reason = false;                // why it is pending did
  bool start = false;                 // when or where it is expected to start did
  bool contact = false;               // a node that it uses became silent, or answers again
};

class ChangeLog {
 public:
  explicit ChangeLog(std::size_t most) : most_(most) {}

  // Appends what differs. `after`: of each job whose record changed; null: it is not known any more.
  using Visit = std::function<void(const Job* before, const Job* after)>;
  void add(const View& before, const View& after, const Visit& visit);

  std::uint64_t end() const { return first_ + changes_.size(); }  // the next one's position
  bool has(std::uint64_t position) const { return position >= first_; }

  // Precondition: has(position).
  template <class Take>
  void for_each_from(std::uint64_t position, Take&& take) const {
    for (std::size_t i = position - first_; i < changes_.size(); ++i) take(changes_[i]);
  }

  void drop_before(std::uint64_t position);

 private:
  const std::size_t most_;
  std::uint64_t first_ = 0;  // position of the oldest
  std::deque<JobChange> changes_;
};

}  // namespace ares::aresctld
