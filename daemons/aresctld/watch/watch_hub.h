// WatchHub: clients that are told of changes (aqueue --watch, aacct --follow). One thread compares each published view with
// the one before, once for all watchers, and sends every watcher the newest state of what it asked for. A watcher keeps only
// its position: while it takes nothing, changes are not collected for it, and afterwards it gets the newest state.
// Any thread may add; the engine only sets a flag.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "aresctld/config_holder.h"
#include "aresctld/engine/clock.h"
#include "aresctld/engine/view.h"
#include "aresctld/query/query_pool.h"
#include "aresctld/watch/change_log.h"
#include "aresctld/watch/ended_rows.h"
#include "aresctld/watch/job_changes.h"
#include "base/mutex.h"
#include "model/engine/request.h"
#include "proto/gen/api.pb.h"
#include "rpc/server/handlers.h"

namespace ares::aresctld {

class WatchHub {
 public:
  struct Limits {
    std::size_t per_user = 32;
    std::size_t in_all = 8192;
    std::size_t changes = 20'000;  // kept for watchers that are behind
    std::chrono::seconds alive_every{10};
    std::chrono::milliseconds between_parts{20};
    std::chrono::milliseconds after_failure{1000};  // of the database
  };
  struct Parts {
    ViewHolder& views;
    const ConfigHolder& config;
    Clock& clock;
    QueryPool& database;
    // Rows of attempts that ended behind `after`, not behind `upto`. May block on the database.
    std::function<Result<EndedRows>(const api::Accounting&, Lsn after, Lsn upto)> read_ended;
    // For the names of groups, where they are shown: a lookup delays all watchers, and is kept. Null: they are left out.
    Identity* identity = nullptr;
  };

  // Listens to the views from now on.
  WatchHub(Parts parts, Limits limits);
  explicit WatchHub(Parts parts);
  ~WatchHub();  // stop()
  WatchHub(const WatchHub&) = delete;
  WatchHub& operator=(const WatchHub&) = delete;

  void start();
  // Ends all streams: their clients connect again.
  void stop();

  // The request was checked. resource_exhausted is sent to a user who has too many.
  void add(const Principal& caller, const api::Watch& request,
           std::shared_ptr<rpc::Responder> responder);

 private:
  using Steady = std::chrono::steady_clock;
  struct Watcher;
  struct Event {  // for a watcher, from another thread
    std::uint64_t watcher = 0;
    bool taken = false;                        // it has taken its part
    bool gone = false;                         // the caller has
    std::optional<Result<EndedRows>> ended{};  // what was read for it
  };

  void run();
  void post(Event event);
  void take_events(std::deque<Event> events);
  // Any thread: hands it to the hub's own; false: the hub is stopping.
  bool take(std::unique_ptr<Watcher> watcher) ARES_EXCLUDES(mutex_);
  void admit(std::unique_ptr<Watcher> watcher);
  std::size_t drop_abandoned();
  void compare_views();
  void on_change(const Job* before, const Job* after);
  bool serve(Watcher& watcher, Steady::time_point now);
  bool serve_jobs(Watcher& watcher);
  bool send_page(Watcher& watcher);
  bool serve_accounting(Watcher& watcher, Steady::time_point now);
  void read_ended(Watcher& watcher);
  void send(Watcher& watcher, api::Watched part);
  Steady::time_point next_due() const;

  Parts parts_;
  const Limits limits_;

  Mutex mutex_;
  Condition wake_;
  bool changed_ ARES_GUARDED_BY(mutex_) = false;  // a view was published
  bool stopping_ ARES_GUARDED_BY(mutex_) = false;
  std::vector<std::unique_ptr<Watcher>> added_ ARES_GUARDED_BY(mutex_);
  std::deque<Event> events_ ARES_GUARDED_BY(mutex_);

  // The hub's thread only.
  std::map<std::uint64_t, std::unique_ptr<Watcher>> watchers_;
  std::uint64_t last_id_ = 0;
  std::optional<View> view_;  // that the log reaches; none: there are no watchers
  ChangeLog log_;
  std::thread thread_;
};

}  // namespace ares::aresctld
