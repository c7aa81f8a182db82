// Whole files: read, created exclusively, replaced; and RecordDir, a directory of such files with a lock that dies with its holder.
// RecordDir belongs to one thread. Errors carry the path and what the system said.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace ares::os {

Result<std::string> read_file(const std::string& path);

// Replaces the file as a whole; it and its name are on the disk when this returns.
Status replace_file(const std::string& path, std::string_view text);

Status make_directories(const std::string& path, unsigned mode);  // all that are missing

// Names of the entries, without "." and "..", unsorted.
Result<std::vector<std::string>> list_directory(const std::string& path);

// The directory with everything in it. No error if it is not there. Does not follow links.
Status remove_tree(const std::string& path);

// Holds an exclusive lock on the file (created if missing) until destroyed or the process ends.
// already_exists if another process holds it. Not inherited by programs that are started.
Result<Fd> lock_file(const std::string& path);

class RecordDir {
 public:
  static Result<RecordDir> open(const std::string& path);

  // The file appears whole or not at all; already_exists if it is there. With `durable` it and all names that lead to it from the
  // parent directory on are on the disk when this returns.
  Status create(std::string_view name, std::string_view text, bool durable) const;
  Result<std::string> read(std::string_view name) const;
  bool has(std::string_view name) const;
  // Every name that is there, and all that lead to them from the parent directory on, are on the disk when this returns. Not
  // what the files hold: of durable ones that is there before their name is.
  Status sync() const;

  // Sets space aside that create(name) will use, so that it succeeds on a full disk. For texts of up to 4 KiB.
  Status reserve(std::string_view name) const;

  // Takes a record back: it is no longer there, and what held it is what the next create(name) will write into. So a directory
  // that is used again and again makes no files, which is the dearest thing a small job asks of a disk.
  Status set_aside(std::string_view name) const;

  // Takes the lock for as long as this object lives; false if somebody else has it.
  Result<bool> lock(std::string_view name);
  // Whether somebody holds it. Unlike trying to take it, asking never stands in the way of one who wants it.
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
