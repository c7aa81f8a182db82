// FileSpool: the spool as directories and files on a node's disk. FileAttemptDir is one attempt's directory, also used
// by its supervisor. Owned by aresd's agent thread; aresstepd owns the FileAttemptDir of its attempt. Not thread-safe.
//
//   SPOOL/lock        held by the aresd that uses this spool
//   SPOOL/identity    incarnation of the node
//   SPOOL/forgotten   attempts that must not be accepted again
//   SPOOL/jobs/12.1/  records of attempt 1 of job 12, its supervisor's lock, socket and log
//   SPOOL/free/       directories of finished attempts, for reuse
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/records.h"
#include "os/file.h"

namespace ares::exec {

class FileAttemptDir final : public node::AttemptDir {
 public:
  explicit FileAttemptDir(os::RecordDir dir) : dir_(std::move(dir)) {}

  Status create(node::Record record, std::string_view text) override;
  Result<std::string> read(node::Record record) const override;
  bool has(node::Record record) const override;
  Status sync() const override;
  Result<bool> lock() override;
  Status reserve_exit() override;

  bool locked() const;
  const std::string& path() const { return dir_.path(); }

 private:
  os::RecordDir dir_;
};

class FileSpool final : public node::Spool {
 public:
  // Creates what is missing. already_exists when another aresd uses this spool.
  static Result<std::unique_ptr<FileSpool>> open(const std::string& path);
  // For code that only reads and adds records while another object of this process holds the lock.
  static std::unique_ptr<FileSpool> share(const std::string& path);

  Result<std::vector<AttemptKey>> list() const override;
  Result<std::unique_ptr<node::AttemptDir>> create(const AttemptKey& key) override;
  std::unique_ptr<node::AttemptDir> open(const AttemptKey& key) const override;
  bool locked(const AttemptKey& key) const override;
  Status remove(const AttemptKey& key) override;
  std::string fault() const override;
  Result<std::string> read_identity() const override;
  Status write_identity(std::string_view text) override;
  Status remember_forgotten(const AttemptKey& key, Fence fence) override;
  Result<std::vector<std::pair<AttemptKey, Fence>>> forgotten() const override;

  std::string directory(const AttemptKey& key) const;

 private:
  FileSpool(std::string path, os::Fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  Status mend_forgotten();  // at the start: drops an incomplete last line and old entries
  Status shorten_forgotten();
  bool recycle(const AttemptKey& key);
  bool reuse(const std::string& path);

  std::string path_;
  std::vector<std::string> free_;  // names in SPOOL/free
  os::Fd lock_;
  os::Fd forgotten_;  // open for appending
};

}  // namespace ares::exec
