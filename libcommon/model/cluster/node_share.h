// Resources that nodes give to an attempt, and the attempt's phase on each node.
// Owned by the attempt's allocation; values. Any thread may read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "base/units.h"
#include "model/cluster/resources.h"

namespace ares {

// Resource usage of one attempt on one node, as measured by its supervisor.
struct Usage {
  Duration user_cpu{};
  Duration system_cpu{};
  Bytes max_rss{};
  Bytes disk_read{};  // from storage, not from the page cache
  Bytes disk_written{};
  friend bool operator==(const Usage&, const Usage&) = default;
};

enum class SharePhase : std::uint8_t {
  preparing,  // the controller sends Prepare
  ready,      // the node reported Ready: gate closed, no user code has run
  running,    // the node reported Go
  released,   // the node reported that nothing of the attempt is left
  fenced,     // the lease has certainly expired; charged until the node registers without it
};

// Resources that one node gives to one attempt.
struct NodeShare {
  NodeId node;
  std::uint32_t cpus = 0;
  std::vector<std::uint32_t> cpu_ids;  // empty = any
  Bytes memory{};
  std::vector<GpuIndex> gpus;  // ascending
  std::uint32_t tasks = 0;
  std::uint64_t incarnation = 0;  // of the node at allocation; earlier ones never run the attempt
  SharePhase phase = SharePhase::preparing;
  Usage usage;
  // Fixed at the allocation, even if the node's capability changes later.
  bool leased = false;  // requeueable, and frozen by its supervisor when the node's lease ends
  // Thousandths of the one GPU that it shares with others; 0 = it has whole GPUs.
  std::uint32_t gpu_part = 0;
  // Thousandths of CPUs, if they are no whole number, on a node that counts them so; `cpus` is then this
  // amount rounded up. 0 = `cpus` whole CPUs.
  std::uint32_t cpu_thousandths = 0;
  friend bool operator==(const NodeShare&, const NodeShare&) = default;
};

// The shares of all nodes in rank order, copy-on-write in parts of kPart shares: each node message
// makes a new job record, and the copy shares unchanged parts. Shared parts are never modified.
class NodeShares {
  static constexpr std::size_t kPart = 16;
  using Part = std::vector<NodeShare>;  // kPart shares; the last part may have fewer

 public:
  class const_iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = NodeShare;
    using difference_type = std::ptrdiff_t;
    using pointer = const NodeShare*;
    using reference = const NodeShare&;

    const_iterator() = default;
    const_iterator(const NodeShares* of, std::size_t at) : of_(of), at_(at) {}
    reference operator*() const { return (*of_)[at_]; }
    pointer operator->() const { return &(*of_)[at_]; }
    reference operator[](difference_type by) const { return *(*this + by); }
    const_iterator& operator+=(difference_type by) {
      at_ += static_cast<std::size_t>(by);
      return *this;
    }
    const_iterator& operator-=(difference_type by) { return *this += -by; }
    const_iterator& operator++() { return *this += 1; }
    const_iterator& operator--() { return *this -= 1; }
    const_iterator operator++(int) { return std::exchange(*this, *this + 1); }
    const_iterator operator--(int) { return std::exchange(*this, *this - 1); }
    friend const_iterator operator+(const_iterator a, difference_type by) { return a += by; }
    friend const_iterator operator+(difference_type by, const_iterator a) { return a += by; }
    friend const_iterator operator-(const_iterator a, difference_type by) { return a -= by; }
    friend difference_type operator-(const const_iterator& a, const const_iterator& b) {
      return static_cast<difference_type>(a.at_) - static_cast<difference_type>(b.at_);
    }
    friend bool operator==(const const_iterator& a, const const_iterator& b) {
      return a.at_ == b.at_;
    }
    friend auto operator<=>(const const_iterator& a, const const_iterator& b) {
      return a.at_ <=> b.at_;
    }

   private:
    const NodeShares* of_ = nullptr;
    std::size_t at_ = 0;
  };
  using value_type = NodeShare;
  using iterator = const_iterator;

  NodeShares() = default;
  NodeShares(std::initializer_list<NodeShare> shares) : NodeShares(std::vector(shares)) {}
  explicit NodeShares(std::vector<NodeShare> shares);
  NodeShares(const NodeShares&) = default;
  NodeShares& operator=(const NodeShares&) = default;
  NodeShares(NodeShares&& from) noexcept  // leaves `from` empty
      : parts_(std::exchange(from.parts_, {})), size_(std::exchange(from.size_, 0)) {}
  NodeShares& operator=(NodeShares&& from) noexcept {
    parts_ = std::exchange(from.parts_, {});
    size_ = std::exchange(from.size_, 0);
    return *this;
  }
  ~NodeShares() = default;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const NodeShare& operator[](std::size_t at) const { return (*parts_[at / kPart])[at % kPart]; }
  const NodeShare& front() const { return (*this)[0]; }
  const NodeShare& back() const { return (*this)[size_ - 1]; }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size_}; }

  // Calls change(share) for one share, or for each.
  template <class Change>
  void change(std::size_t at, Change&& change) {
    auto part = std::make_shared<Part>(*parts_[at / kPart]);
    change((*part)[at % kPart]);
    parts_[at / kPart] = std::move(part);
  }
  template <class Change>
  void change_each(Change&& change) {
    for (auto& shared : parts_) {
      auto part = std::make_shared<Part>(*shared);
      for (NodeShare& share : *part) change(share);
      shared = std::move(part);
    }
  }
  void push_back(NodeShare share);  // copies the last part; to add many, build a vector

  friend bool operator==(const NodeShares& a, const NodeShares& b);

 private:
  std::vector<std::shared_ptr<const Part>> parts_;
  std::size_t size_ = 0;
};

}  // namespace ares
