// ObjectWatch: follows all objects of one kind that a selector names, through an ApiClient, until it is destroyed. What it does when is
// decided by its Reflector. Owned by the plugin; one thread, that of the client, which must outlive it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/time.h"
#include "exec/kubernetes/api/client.h"
#include "exec/kubernetes/api/reflector.h"

namespace ares::kubernetes {

struct WatchScope {
  Call list;            // list_pods with
  Call watch;           // watch_pods
  std::string space{};  // empty: all namespaces
  std::string label_selector{};
  std::string field_selector{};
};

struct WatchSettings {
  ReflectorSettings reflector{};
  std::size_t most_of_page = std::size_t{64} << 20;
  // Without a byte from the server, a watch is taken for dead. Servers send bookmarks about once a minute.
  Seconds idle_timeout{150};
};

class ObjectWatch {
 public:
  // `seed`: for delays and durations. The observer is called in ApiClient::dispatch(), and must not destroy the watch.
  ObjectWatch(ApiClient& client, WatchScope scope, const WatchSettings& settings,
              std::uint64_t seed, Reflector::Observer observer, std::function<BootTime()> now);
  ~ObjectWatch();
  ObjectWatch(const ObjectWatch&) = delete;
  ObjectWatch& operator=(const ObjectWatch&) = delete;

  bool is_synced() const { return reflector_.is_synced(); }
  const std::string& problem() const { return reflector_.problem(); }

  std::optional<BootTime> next_deadline() const { return at_; }
  // To be called when the deadline has passed, besides ApiClient::dispatch().
  void dispatch();

 private:
  void plan(Reflector::Step step);
  void plan_later(Reflector::Step step, Duration at_least);
  void perform();
  void list(const Reflector::ListStep& step);
  void watch(const Reflector::WatchStep& step);
  ApiRequest request_of(Call call) const;

  ApiClient& client_;
  WatchScope scope_;
  WatchSettings settings_;
  Reflector reflector_;
  std::function<BootTime()> now_;
  std::optional<Reflector::Step> next_;
  std::optional<BootTime> at_;  // when to perform it
  ApiClient::Id call_ = 0;      // in flight
  BootTime began_{};            // the watch
};

}  // namespace ares::kubernetes
