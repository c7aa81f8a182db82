// A node's spool in memory: a disk that loses what was not synced, and calls in which the process that made them
// may be killed. Owned by one test; one thread.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/records.h"

namespace ares::node {

// Thrown by a process that is killed in the middle of a call, so that nothing after that call happens.
struct Died {};

// Counts the calls with a durable effect and kills the process at the chosen one: before the effect or right after.
class Fate {
 public:
  void die_at(std::size_t call, bool after) {
    at_ = call;
    after_ = after;
    count_ = 0;
  }
  void never() { at_ = 0; }
  std::size_t count() const { return count_; }
  template <class Call>
  auto around(Call call) {
    ++count_;
    const bool now = at_ != 0 && count_ == at_;
    if (now && !after_) throw Died{};
    auto result = call();
    if (now) throw Died{};
    return result;
  }

 private:
  std::size_t at_ = 0, count_ = 0;
  bool after_ = false;
};

struct Disk {
  struct Directory {
    std::map<Record, std::string> records;
    std::set<Record> synced;
    int lock_holder = 0;  // virtual pid
  };
  std::map<AttemptKey, std::shared_ptr<Directory>> directories;
  std::string identity;
  std::vector<std::pair<AttemptKey, Fence>> forgotten;
  bool full = false;
  bool no_identity = false;  // its replacement finds no space

  // Keeps only what a power loss leaves.
  void lose_power() {
    for (auto it = directories.begin(); it != directories.end();) {
      Directory& d = *it->second;
      std::erase_if(d.records, [&](const auto& r) { return !d.synced.contains(r.first); });
      d.lock_holder = 0;
      it = d.records.empty() ? directories.erase(it) : std::next(it);
    }
    forgotten.clear();
  }
};

class VirtualDir final : public AttemptDir {
  template <class Call>
  auto around(Call call) {
    return fate_ ? fate_->around(call) : call();
  }

 public:
  VirtualDir(std::shared_ptr<Disk::Directory> dir, Disk& disk, int pid, Fate* fate)
      : dir_(std::move(dir)), disk_(disk), pid_(pid), fate_(fate) {}

  Status create(Record record, std::string_view text) override {
    return around([&]() -> Status {
      if (disk_.full && record != Record::exit)
        return fail(ErrorCode::resource_exhausted, "No space left on device");
      if (!dir_->records.emplace(record, text).second)
        return fail(ErrorCode::already_exists, "it exists");
      if (is_durable(record)) dir_->synced.insert(record);
      return {};
    });
  }
  Result<std::string> read(Record record) const override {
    auto it = dir_->records.find(record);
    if (it == dir_->records.end()) return fail(ErrorCode::not_found, "no record");
    return it->second;
  }
  bool has(Record record) const override { return dir_->records.contains(record); }
  Status sync() const override {
    for (const auto& [record, text] : dir_->records) dir_->synced.insert(record);
    return {};
  }
  Result<bool> lock() override {
    return around([&]() -> Result<bool> {
      if (dir_->lock_holder != 0) return dir_->lock_holder == pid_;
      dir_->lock_holder = pid_;
      return true;
    });
  }
  Status reserve_exit() override { return {}; }

 private:
  std::shared_ptr<Disk::Directory> dir_;
  Disk& disk_;
  int pid_;
  Fate* fate_;
};

class VirtualSpool final : public Spool {
 public:
  VirtualSpool(Disk& disk, Fate* fate) : disk_(disk), fate_(fate) {}

  Result<std::vector<AttemptKey>> list() const override {
    std::vector<AttemptKey> keys;
    for (const auto& [key, dir] : disk_.directories) keys.push_back(key);
    return keys;
  }
  Result<std::unique_ptr<AttemptDir>> create(const AttemptKey& key) override {
    if (disk_.full) return fail(ErrorCode::resource_exhausted, "No space left on device");
    return fate_->around([&]() -> Result<std::unique_ptr<AttemptDir>> {
      auto& dir = disk_.directories[key];
      if (!dir) dir = std::make_shared<Disk::Directory>();
      return std::make_unique<VirtualDir>(dir, disk_, 1, fate_);
    });
  }
  std::unique_ptr<AttemptDir> open(const AttemptKey& key) const override {
    auto it = disk_.directories.find(key);
    if (it == disk_.directories.end()) return nullptr;
    return std::make_unique<VirtualDir>(it->second, disk_, 1, fate_);
  }
  bool locked(const AttemptKey& key) const override {
    auto it = disk_.directories.find(key);
    return it != disk_.directories.end() && it->second->lock_holder != 0;
  }
  Status remove(const AttemptKey& key) override {
    return fate_->around([&]() -> Status {
      disk_.directories.erase(key);
      return {};
    });
  }
  Result<std::string> read_identity() const override {
    if (disk_.identity.empty()) return fail(ErrorCode::not_found, "new");
    return disk_.identity;
  }
  Status write_identity(std::string_view text) override {
    if (disk_.no_identity) return fail(ErrorCode::resource_exhausted, "No space left on device");
    return fate_->around([&]() -> Status {
      disk_.identity = text;
      return {};
    });
  }
  Status remember_forgotten(const AttemptKey& key, Fence fence) override {
    if (disk_.full) return fail(ErrorCode::resource_exhausted, "No space left on device");
    return fate_->around([&]() -> Status {
      disk_.forgotten.emplace_back(key, fence);
      return {};
    });
  }
  Result<std::vector<std::pair<AttemptKey, Fence>>> forgotten() const override {
    return disk_.forgotten;
  }

 private:
  Disk& disk_;
  Fate* fate_;
};

}  // namespace ares::node
