// Disk: a node's spool. Everything written is visible to all processes of the machine; only what
// was synced survives a power loss. Owned by its Machine; one thread.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "node/records.h"
#include "sim/crash.h"

namespace ares::sim {

struct Directory {
  struct Written {
    std::string text;
    bool synced = false;
  };
  std::array<std::optional<Written>, node::kRecordCount> records;
  bool synced = false;         // its directory entry
  std::optional<Life> holder;  // of the lock
};

struct Disk {
  std::map<AttemptKey, std::shared_ptr<Directory>> directories;
  std::map<AttemptKey, std::shared_ptr<Directory>> removed;  // not synced: may come back
  std::optional<std::string> identity;
  std::vector<std::pair<AttemptKey, Fence>> forgotten;
  bool full = false;
  bool forgets_to_sync = false;  // planted bug: durable records are not synced
  bool syncs_late = false;       // planted bug: only by sync(), not when they are created

  void lose_unsynced(Random& random);
};

// The process that uses the disk: boundaries are counted for it.
struct DiskClient {
  Boundaries* boundaries = nullptr;
  Actor actor = Actor::aresd;
  Life process;
  std::uint32_t machine = 0;

  void boundary() const { boundaries->at(actor, process, machine); }
};

class VirtualDir final : public node::AttemptDir {
 public:
  VirtualDir(Disk& disk, std::shared_ptr<Directory> directory, DiskClient disk_client)
      : disk_(disk), directory_(std::move(directory)), disk_client_(disk_client) {}

  Status create(node::Record record, std::string_view text) override;
  Result<std::string> read(node::Record record) const override;
  bool has(node::Record record) const override;
  Status sync() const override;
  Result<bool> lock() override;
  Status reserve_exit() override;

 private:
  Disk& disk_;
  std::shared_ptr<Directory> directory_;
  DiskClient disk_client_;
  bool reserved_ = false;
};

class VirtualSpool final : public node::Spool {
 public:
  VirtualSpool(Disk& disk, DiskClient disk_client, const Timeline& timeline)
      : disk_(disk), disk_client_(disk_client), timeline_(timeline) {}

  Result<std::vector<AttemptKey>> list() const override;
  Result<std::unique_ptr<node::AttemptDir>> create(const AttemptKey& key) override;
  std::unique_ptr<node::AttemptDir> open(const AttemptKey& key) const override;
  bool locked(const AttemptKey& key) const override;
  Status remove(const AttemptKey& key) override;
  Result<std::string> read_identity() const override;
  Status write_identity(std::string_view text) override;
  Status remember_forgotten(const AttemptKey& key, Fence fence) override;
  Result<std::vector<std::pair<AttemptKey, Fence>>> forgotten() const override;

 private:
  Disk& disk_;
  DiskClient disk_client_;
  const Timeline& timeline_;
};

}  // namespace ares::sim
