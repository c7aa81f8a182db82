// CowMap: an ordered copy-on-write map. Copies share their leaves, so a snapshot of the whole
// cluster costs a few pointers. A copy is an independent value. A CowMap object belongs to one
// thread; its copies may belong to other threads. Values are immutable: a change replaces the
// pointer to the value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace ares {

// Two levels: a shared root (vector of leaves) and leaves of at most kLeaf sorted entries. A writer
// modifies in place only nodes that it created since it was last copied. An owner mark identifies
// them; reference counts would race with readers that release a copy. With 100,000 entries the root
// has about 2,500 pointers.
template <class Key, class Value>
class CowMap {
 public:
  CowMap() = default;
  CowMap(CowMap&&) noexcept = default;
  CowMap& operator=(CowMap&&) noexcept = default;
  ~CowMap() = default;

  // After a copy neither side owns any node: each copies a node before it changes it. May be assigned to itself.
  CowMap(const CowMap& other) : root_(other.root_), size_(other.size_) { other.disown(); }
  CowMap& operator=(const CowMap& other) {  // NOLINT(bugprone-unhandled-self-assignment)
    other.disown();
    disown();
    root_ = other.root_;
    size_ = other.size_;
    return *this;
  }

  using Pointer = std::shared_ptr<const Value>;
  using Entry = std::pair<Key, Pointer>;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // The value under `key`, or null. Valid as long as this map, or a copy that still has the entry,
  // exists.
  const Value* find(const Key& key) const {
    const Pointer* found = slot(key);
    return found ? found->get() : nullptr;
  }

  // Shares ownership: the value stays valid after later changes of the map.
  Pointer share(const Key& key) const {
    const Pointer* found = slot(key);
    return found ? *found : nullptr;
  }

  void set(const Key& key, Value value) {
    set(key, std::make_shared<const Value>(std::move(value)));
  }

  void set(const Key& key, Pointer value) {
    Leaves& root = own_root();
    if (root.empty()) {
      root.push_back(std::make_shared<Leaf>(Leaf{{Entry{key, std::move(value)}}, mark()}));
      ++size_;
      return;
    }
    const std::size_t at = leaf_index(root, key);
    Entries& leaf = own_leaf(root[at]);
    auto entry = lower(leaf, key);
    if (entry != leaf.end() && entry->first == key) {
      entry->second = std::move(value);
      return;
    }
    leaf.insert(entry, Entry{key, std::move(value)});
    ++size_;
    if (leaf.size() > kLeaf) split(root, at);
  }

  bool erase(const Key& key) {
    if (!slot(key)) return false;
    Leaves& root = own_root();
    const std::size_t at = leaf_index(root, key);
    Entries& leaf = own_leaf(root[at]);
    leaf.erase(lower(leaf, key));
    if (leaf.empty()) root.erase(root.begin() + static_cast<std::ptrdiff_t>(at));
    --size_;
    return true;
  }

  // Visits every entry in key order: visit(const Key&, const Value&).
  template <class Visit>
  void for_each(Visit&& visit) const {
    if (!root_) return;
    for (const auto& leaf : root_->leaves)
      for (const auto& [key, value] : leaf->entries) visit(key, *value);
  }

  // Visits the entries with key >= first, in order, while visit(key, value) returns true.
  template <class Visit>
  void for_each_from(const Key& first, Visit&& visit) const {
    if (!root_ || root_->leaves.empty()) return;
    for (std::size_t at = leaf_index(root_->leaves, first); at < root_->leaves.size(); ++at) {
      const Entries& leaf = root_->leaves[at]->entries;
      for (auto entry = lower(leaf, first); entry != leaf.end(); ++entry)
        if (!visit(entry->first, *entry->second)) return;
    }
  }

  // Whether both share one root, so one is an unchanged copy of the other.
  bool shares_all_with(const CowMap& other) const { return root_ == other.root_; }

  // Calls visit(key, before, after) in key order for each difference between two maps with a common
  // origin; a missing entry is null. The cost is about one pointer comparison a leaf, and more only where
  // leaves differ. An entry whose value was replaced counts as different even if the values are equal.
  template <class Visit>
  static void diff(const CowMap& before, const CowMap& after, Visit&& visit) {
    if (before.root_ == after.root_) return;
    std::vector<const Leaf*> old_leaves, new_leaves;
    differing_leaves(before, after, old_leaves, new_leaves);
    std::vector<const Entry*> old_entries, new_entries;
    for (const Leaf* leaf : new_leaves)
      for (const Entry& entry : leaf->entries) new_entries.push_back(&entry);
    for (const Leaf* leaf : old_leaves)
      for (const Entry& entry : leaf->entries) old_entries.push_back(&entry);
    auto a = old_entries.begin();
    auto b = new_entries.begin();
    while (a != old_entries.end() || b != new_entries.end()) {
      if (b == new_entries.end() || (a != old_entries.end() && (*a)->first < (*b)->first)) {
        visit((*a)->first, (*a)->second.get(), static_cast<const Value*>(nullptr));
        ++a;
      } else if (a == old_entries.end() || (*b)->first < (*a)->first) {
        visit((*b)->first, static_cast<const Value*>(nullptr), (*b)->second.get());
        ++b;
      } else {
        if ((*a)->second != (*b)->second)
          visit((*a)->first, (*a)->second.get(), (*b)->second.get());
        ++a, ++b;
      }
    }
  }

  // Finds keys that are close to each other faster than find(): it remembers the leaf of the last
  // key. Valid until the map is changed or destroyed.
  class NearbyLookup {
   public:
    explicit NearbyLookup(const CowMap& map) : map_(&map) {}

    const Value* find(const Key& key) {
      if (!map_->root_ || map_->root_->leaves.empty()) return nullptr;
      if (!leaf_ || key < leaf_->front().first || leaf_->back().first < key)
        leaf_ = &map_->root_->leaves[leaf_index(map_->root_->leaves, key)]->entries;
      const auto entry = lower(*leaf_, key);
      return entry != leaf_->end() && entry->first == key ? entry->second.get() : nullptr;
    }

   private:
    const CowMap* map_;
    const std::vector<Entry>* leaf_ = nullptr;
  };

  // The entry with the highest key < `key`, or null. Valid as long as find()'s result.
  const Entry* last_below(const Key& key) const {
    if (!root_ || root_->leaves.empty()) return nullptr;
    std::size_t at = leaf_index(root_->leaves, key);
    const Entries& leaf = root_->leaves[at]->entries;
    const auto entry = lower(leaf, key);
    if (entry != leaf.begin()) return &*(entry - 1);
    // Leaves are never empty, and the previous leaf ends below this one's first key.
    return at == 0 ? nullptr : &root_->leaves[at - 1]->entries.back();
  }

  friend bool operator==(const CowMap& a, const CowMap& b) {
    if (a.root_ == b.root_) return true;
    if (a.size_ != b.size_) return false;
    std::vector<const Entry*> mine, theirs;
    for (const auto* map : {&a, &b}) {
      auto& out = map == &a ? mine : theirs;
      out.reserve(map->size_);
      if (map->root_)
        for (const auto& leaf : map->root_->leaves)
          for (const auto& entry : leaf->entries) out.push_back(&entry);
    }
    return std::equal(
        mine.begin(), mine.end(), theirs.begin(), theirs.end(), [](const Entry* x, const Entry* y) {
          return x->first == y->first && (x->second == y->second || *x->second == *y->second);
        });
  }

 private:
  static constexpr std::size_t kLeaf = 48;
  struct Mark {};
  using Owner = std::shared_ptr<const Mark>;
  using Entries = std::vector<Entry>;
  struct Leaf {
    Entries entries;
    Owner owner;
  };
  using Leaves = std::vector<std::shared_ptr<Leaf>>;
  struct Root {
    Leaves leaves;
    Owner owner;
  };

  // Collects the leaves that only one side has. The leaves of a side are in key order and disjoint.
  // If two leaves differ, the one with the lower last key cannot occur in the rest of the other side.
  static void differing_leaves(const CowMap& before, const CowMap& after,
                               std::vector<const Leaf*>& old_leaves,
                               std::vector<const Leaf*>& new_leaves) {
    static const Leaves none;
    const Leaves& a = before.root_ ? before.root_->leaves : none;
    const Leaves& b = after.root_ ? after.root_->leaves : none;
    auto old = a.begin(), young = b.begin();
    while (old != a.end() || young != b.end()) {
      if (old != a.end() && young != b.end() && *old == *young)
        ++old, ++young;
      else if (young == b.end() ||
               (old != a.end() && (*old)->entries.back().first < (*young)->entries.back().first))
        old_leaves.push_back((old++)->get());
      else
        new_leaves.push_back((young++)->get());
    }
  }

  template <class L>
  static auto lower(L& leaf, const Key& key) {
    return std::lower_bound(leaf.begin(), leaf.end(), key,
                            [](const Entry& e, const Key& k) { return e.first < k; });
  }

  // The last leaf whose first key is not above `key` (the first leaf for a key below all).
  static std::size_t leaf_index(const Leaves& leaves, const Key& key) {
    auto after = std::upper_bound(
        leaves.begin(), leaves.end(), key,
        [](const Key& k, const std::shared_ptr<Leaf>& l) { return k < l->entries.front().first; });
    return after == leaves.begin() ? 0 : static_cast<std::size_t>(after - leaves.begin()) - 1;
  }

  const Pointer* slot(const Key& key) const {
    if (!root_ || root_->leaves.empty()) return nullptr;
    const Entries& leaf = root_->leaves[leaf_index(root_->leaves, key)]->entries;
    auto entry = lower(leaf, key);
    return entry != leaf.end() && entry->first == key ? &entry->second : nullptr;
  }

  // Resets the mark only if it is set: copying a map that has no mark then writes nothing, so it is
  // safe from any thread.
  void disown() const {
    if (mark_) mark_.reset();
  }

  const Owner& mark() {
    if (!mark_) mark_ = std::make_shared<const Mark>();
    return mark_;
  }

  Leaves& own_root() {
    if (!root_)
      root_ = std::make_shared<Root>(Root{{}, mark()});
    else if (root_->owner != mark())
      root_ = std::make_shared<Root>(Root{root_->leaves, mark()});
    return root_->leaves;
  }

  Entries& own_leaf(std::shared_ptr<Leaf>& leaf) {
    if (leaf->owner != mark()) leaf = std::make_shared<Leaf>(Leaf{leaf->entries, mark()});
    return leaf->entries;
  }

  // The last leaf splits off only its last entry: ids grow, so a leaf split in halves would remain
  // half empty. Other leaves are split in halves.
  void split(Leaves& leaves, std::size_t at) {
    Entries& left = leaves[at]->entries;
    const bool edge = at + 1 == leaves.size();
    const auto cut = static_cast<std::ptrdiff_t>(edge ? left.size() - 1 : left.size() / 2);
    auto right = std::make_shared<Leaf>(Leaf{
        Entries(std::make_move_iterator(left.begin() + cut), std::make_move_iterator(left.end())),
        mark()});
    left.erase(left.begin() + cut, left.end());
    leaves.insert(leaves.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(right));
  }

  std::shared_ptr<Root> root_;
  std::size_t size_ = 0;
  mutable Owner mark_;
};

}  // namespace ares
