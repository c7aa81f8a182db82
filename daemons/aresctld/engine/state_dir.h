// StateDir: the controller's own directory: its lock, and where it remembers how far the database had come.
// Made by the main thread before anything else.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "store/journal/high_water.h"

namespace ares::aresctld {

class StateDir {
 public:
  // Creates the directory if need be and takes its lock. failed_precondition: another controller runs on it.
  static Result<StateDir> take(const std::string& path);

  StateDir(StateDir&& other) noexcept;
  StateDir& operator=(StateDir&&) = delete;
  ~StateDir();

  // data_loss for a damaged file.
  Result<std::optional<store::HighWaterMark>> seen() const {
    return store::HighWater(high_water_).load();
  }
  const std::string& high_water() const { return high_water_; }

 private:
  StateDir(int lock, std::string high_water) : lock_(lock), high_water_(std::move(high_water)) {}

  int lock_;
  std::string high_water_;
};

}  // namespace ares::aresctld
