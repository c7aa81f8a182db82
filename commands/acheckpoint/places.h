// Places: the plugin for each kind of place that checkpoints are kept in. Owned by the caller; one thread.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "checkpoint/backend.h"

namespace ares::acheckpoint {

// An open plugin.
class Place {
 public:
  // Of the URI's scheme, with the site's settings from the configuration file, `config` or the default one. A path needs
  // neither that file nor a shared object.
  static Result<Place> of(const std::string& uri, const std::string& config);
  Place(Place&&) noexcept;
  ~Place();

  checkpoint::Backend& operator*() const { return *backend_; }
  checkpoint::Backend* operator->() const { return backend_.get(); }
  bool moves() const { return moves_; }  // publish() takes the directory away

 private:
  Place();
  struct Library;
  std::unique_ptr<Library> library_;  // outlives what it made
  std::unique_ptr<checkpoint::Backend> backend_;
  bool moves_ = false;
};

// The options of the plugin `s3` as `key value` lines, from the text of a configuration file.
Result<std::string> s3_options(const std::string& config_path);

}  // namespace ares::acheckpoint
