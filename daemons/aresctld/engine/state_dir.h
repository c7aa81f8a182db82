// StateDir: the controller's directory: its lock file, and the highest database position seen.
// Created by the main thread before anything else; the journal thread calls remember().
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
  // Creates the directory if necessary and locks it. failed_precondition: it is in use.
  static Result<StateDir> take(const std::string& path);

  StateDir(StateDir&& other) noexcept;
  StateDir& operator=(StateDir&&) = delete;
  ~StateDir();

  // data_loss if the file is damaged.
  Result<std::optional<store::HighWaterMark>> seen() const { return high_water_.load(); }

  // Writes at most one mark a second, and the last one on destruction. After a crash the file may
  // be behind; the margin for accepted rollbacks covers this.
  void remember(const store::HighWaterMark& mark);

 private:
  StateDir(int lock, std::string path) : lock_(lock), high_water_(std::move(path)) {}

  int lock_;
  store::HighWater high_water_;
  std::chrono::steady_clock::time_point written_{};
  std::optional<store::HighWaterMark> unwritten_;
};

}  // namespace ares::aresctld
