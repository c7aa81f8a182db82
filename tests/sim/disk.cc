#include "sim/disk.h"

#include <utility>

namespace ares::sim {
namespace {

Status disk_full() {
  return fail(ErrorCode::resource_exhausted, "no space left on the spool");
}

std::size_t index(node::Record record) {
  return static_cast<std::size_t>(record);
}

}  // namespace

// What was not synced may have reached the disk or not, independently for each record.
void Disk::lose_unsynced(Random& random) {
  for (auto& [key, directory] : removed)
    if (!directories.contains(key) && random.percent(50)) directories[key] = directory;
  removed.clear();
  for (auto it = directories.begin(); it != directories.end();) {
    Directory& directory = *it->second;
    directory.holder.reset();
    for (auto& record : directory.records)
      if (record && !record->synced && random.percent(50)) record.reset();
    it = !directory.synced && random.percent(50) ? directories.erase(it) : std::next(it);
  }
  if (random.percent(50)) forgotten.clear();
  // What remains has been read from the disk.
  for (auto& [key, directory] : directories) {
    directory->synced = true;
    for (auto& record : directory->records)
      if (record) record->synced = true;
  }
}

Status VirtualDir::create(node::Record record, std::string_view text) {
  disk_client_.boundary();
  auto& slot = directory_->records[index(record)];
  if (slot) return fail(ErrorCode::already_exists, "the record exists");
  if (disk_.full && !(record == node::Record::exit && reserved_)) return disk_full();
  slot = Directory::Written{std::string(text), false};
  if (node::is_durable(record)) {
    disk_client_.boundary();  // visible, not yet durable
    if (!disk_.forgets_to_sync && !disk_.syncs_late) slot->synced = directory_->synced = true;
  }
  if (record == node::Record::exit) disk_client_.boundaries->exit_written();
  disk_client_.boundary();
  return {};
}

Result<std::string> VirtualDir::read(node::Record record) const {
  const auto& slot = directory_->records[index(record)];
  if (!slot) return fail(ErrorCode::not_found, "no such record");
  return slot->text;
}

bool VirtualDir::has(node::Record record) const {
  return directory_->records[index(record)].has_value();
}

Status VirtualDir::sync() const {
  if (disk_.forgets_to_sync) return {};
  for (auto& record : directory_->records)
    if (record) record->synced = true;
  directory_->synced = true;
  return {};
}

Result<bool> VirtualDir::lock() {
  disk_client_.boundary();
  if (directory_->holder && *directory_->holder != disk_client_.process) return false;
  directory_->holder = disk_client_.process;
  return true;
}

Status VirtualDir::reserve_exit() {
  if (disk_.full) return disk_full();
  reserved_ = true;
  return {};
}

Result<std::vector<AttemptKey>> VirtualSpool::list() const {
  std::vector<AttemptKey> keys;
  for (const auto& [key, directory] : disk_.directories) keys.push_back(key);
  return keys;
}

Result<std::unique_ptr<node::AttemptDir>> VirtualSpool::create(const AttemptKey& key) {
  disk_client_.boundary();
  auto found = disk_.directories.find(key);
  if (found == disk_.directories.end()) {
    if (disk_.full) return fail(disk_full().error());
    found = disk_.directories.emplace(key, std::make_shared<Directory>()).first;
  }
  disk_client_.boundary();
  return std::make_unique<VirtualDir>(disk_, found->second, disk_client_);
}

std::unique_ptr<node::AttemptDir> VirtualSpool::open(const AttemptKey& key) const {
  const auto found = disk_.directories.find(key);
  if (found == disk_.directories.end()) return nullptr;
  return std::make_unique<VirtualDir>(disk_, found->second, disk_client_);
}

bool VirtualSpool::locked(const AttemptKey& key) const {
  const auto found = disk_.directories.find(key);
  return found != disk_.directories.end() && found->second->holder &&
         timeline_.alive(*found->second->holder);
}

Status VirtualSpool::remove(const AttemptKey& key) {
  disk_client_.boundary();
  const auto found = disk_.directories.find(key);
  if (found == disk_.directories.end()) return {};
  disk_.removed[key] = found->second;
  disk_.directories.erase(found);
  disk_client_.boundary();
  return {};
}

Result<std::string> VirtualSpool::read_identity() const {
  if (!disk_.identity) return fail(ErrorCode::not_found, "a new spool");
  return *disk_.identity;
}

Status VirtualSpool::write_identity(std::string_view text) {
  disk_client_.boundary();
  if (disk_.full) return disk_full();
  disk_.identity = std::string(text);
  disk_client_.boundary();
  return {};
}

Status VirtualSpool::remember_forgotten(const AttemptKey& key, Fence fence) {
  disk_client_.boundary();
  if (disk_.full) return disk_full();
  disk_.forgotten.emplace_back(key, fence);
  disk_client_.boundary();
  return {};
}

Result<std::vector<std::pair<AttemptKey, Fence>>> VirtualSpool::forgotten() const {
  return disk_.forgotten;
}

}  // namespace ares::sim
