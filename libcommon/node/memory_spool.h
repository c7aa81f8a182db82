// MemorySpool: a spool in memory, for simulated nodes and for tests. Nothing survives the
// process. Used by one thread. Directories handed out share their content with the spool and keep
// the lock as long as they exist.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/records.h"

namespace ares::node {

class MemorySpool final : public Spool {
 public:
  Result<std::vector<AttemptKey>> list() const override;
  Result<std::unique_ptr<AttemptDir>> create(const AttemptKey& key) override;
  std::unique_ptr<AttemptDir> open(const AttemptKey& key) const override;
  bool locked(const AttemptKey& key) const override;
  Status remove(const AttemptKey& key) override;
  Result<std::string> read_identity() const override;
  Status write_identity(std::string_view text) override;
  Status remember_forgotten(const AttemptKey& key, Fence fence) override;
  Result<std::vector<std::pair<AttemptKey, Fence>>> forgotten() const override;

  // The content of one directory. A test may read it or remove records.
  struct Content {
    std::map<Record, std::string> records;
    bool locked = false;
    std::size_t synced = 0;  // number of records at the last AttemptDir::sync()
  };
  std::shared_ptr<Content> content(const AttemptKey& key) const;

 private:
  std::map<AttemptKey, std::shared_ptr<Content>> directories_;
  std::optional<std::string> identity_;
  std::vector<std::pair<AttemptKey, Fence>> forgotten_;
};

}  // namespace ares::node
