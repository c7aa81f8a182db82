// StateDir: the controller's own directory: its lock, and how far the database had come when this machine last saw it.
// Made by the main thread before anything else; remember() is the journal thread's.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/ids.h"
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
  Result<std::optional<store::HighWaterMark>> seen() const { return high_water_.load(); }

  // Writes at most one mark a second, and the last one in the end: acceptance of a rollback leaves a margin for what the file does not
  // know after a crash.
  void remember(const store::HighWaterMark& mark);

 private:
  StateDir(int lock, std::string path) : lock_(lock), high_water_(std::move(path)) {}

  int lock_;
  store::HighWater high_water_;
  std::chrono::steady_clock::time_point written_{};
  std::optional<store::HighWaterMark> unwritten_;
};

}  // namespace ares::aresctld
