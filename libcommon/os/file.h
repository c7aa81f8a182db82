// Whole files: read, created exclusively, replaced; and RecordDir, a directory of such files with a lock that its
// process's end releases. RecordDir belongs to one thread. Errors contain the path and the text of the system's error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace ares::os {

Result<std::string> read_file(const std::string& path);

// Replaces the file atomically; content and name are durable when this returns.
Status replace_file(const std::string& path, std::string_view text);

// The same, but not durable: for what only living processes read.
Status publish_file(const std::string& path, std::string_view text, unsigned mode);

Status make_directories(const std::string& path, unsigned mode);  // and all missing parents

// Names of the entries, without "." and "..", unsorted.
Result<std::vector<std::string>> list_directory(const std::string& path);

// Removes the directory with its content. No error if it does not exist. Does not follow links.
Status remove_tree(const std::string& path);

// Holds an exclusive lock on the file (created if missing) until destroyed or the process ends.
// already_exists if another process holds it. Started programs do not inherit it.
Result<Fd> lock_file(const std::string& path);

class RecordDir {
 public:
  static Result<RecordDir> open(const std::string& path);

  // Creates the file atomically; already_exists if the name exists. With `durable` its content, its
  // name and the name of this directory are on disk when this returns.
  Status create(std::string_view name, std::string_view text, bool durable) const;
  Result<std::string> read(std::string_view name) const;
  bool has(std::string_view name) const;
  // When this returns, the names of all files here and of this directory are on disk. File contents
  // are not synced: create() with `durable` does that before it gives the file its name.
  Status sync() const;

  // Reserves space for create(name), so that it succeeds on a full disk. For texts up to 4 KiB.
  Status reserve(std::string_view name) const;

  // Removes a record but keeps its file: the next create(name) overwrites that file. A directory that is
  // reused thus creates no new files, which would be the most expensive disk operation of a small job.
  Status set_aside(std::string_view name) const;

  // Takes the lock for the lifetime of this object; false if another process holds it.
  Result<bool> lock(std::string_view name);
  // Whether the lock is held. Unlike lock(), the query cannot make another process's lock() fail.
  bool locked(std::string_view name) const;

  int fd() const { return dir_.get(); }
  const std::string& path() const { return path_; }

 private:
  RecordDir(Fd dir, std::string path) : dir_(std::move(dir)), path_(std::move(path)) {}
  std::string name_of(std::string_view name) const;

  Fd dir_;
  Fd lock_;
  std::string path_;
};

}  // namespace ares::os
