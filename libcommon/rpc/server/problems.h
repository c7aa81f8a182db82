// Problems that callers can cause as often as they like, told to the server's owner: each at most once a minute.
// Owned by the server; any thread. Private to rpc/.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/mutex.h"

namespace ares::rpc {

class Problems {
 public:
  using Report = std::function<void(const std::string&)>;

  explicit Problems(Report report) : report_(std::move(report)) {}

  // `kind` names the problem; the text of one that is not told now is dropped.
  void report(const char* kind, const std::string& text) {
    if (!report_) return;
    const auto now = std::chrono::steady_clock::now();
    {
      const Lock lock(mutex_);
      const auto [entry, fresh] = told_.try_emplace(kind, now);
      if (!fresh && now - entry->second < kPause) return;
      entry->second = now;
    }
    report_(text);
  }

 private:
  static constexpr std::chrono::seconds kPause{60};

  const Report report_;
  Mutex mutex_;
  std::map<std::string, std::chrono::steady_clock::time_point> told_ ARES_GUARDED_BY(mutex_);
};

}  // namespace ares::rpc
