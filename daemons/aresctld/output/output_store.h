// OutputStore: stores what nodes send of the output of their jobs, and lets clients wait for more of it. A part is answered when it is
// stored; the node sends again what is not answered, so a part may be dropped at any time. Threads: as each function says.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "aresctld/config_holder.h"
#include "aresctld/engine/view.h"
#include "base/ids.h"
#include "base/mutex.h"
#include "proto/gen/node.pb.h"
#include "store/output/job_output.h"

namespace ares::aresctld {

class OutputStore {
 public:
  OutputStore(store::PgOptions options, const ViewHolder& views, const ConfigHolder& config)
      : writer_(std::move(options)), views_(views), config_(config) {}
  ~OutputStore() { stop(); }
  OutputStore(const OutputStore&) = delete;
  OutputStore& operator=(const OutputStore&) = delete;

  void start();
  void stop();  // calls those that wait

  // Whether output is stored, by the configuration in force. Any thread.
  bool is_on() const { return config_.read()->retention.job_output_limit > Bytes(0); }

  // Any thread. `answer` is called on the store's thread, if the part is stored or not wanted.
  using Answer = std::function<void(const api::OutputStored&)>;
  void add(const std::string& node, api::OutputPart part, Answer answer);

  // Calls `more` once, on the store's thread: when something of the job is stored, or after `most`. Any thread.
  using Ticket = std::uint64_t;
  Ticket await(JobKey job, std::chrono::seconds most, std::function<void()> more);
  // False: it was called, or will be.
  bool cancel(Ticket ticket);

 private:
  using Steady = std::chrono::steady_clock;
  struct Waiting {
    std::string node;
    api::OutputPart part;
    Answer answer;
  };
  struct Waiter {
    JobKey job;
    Steady::time_point until;
    std::function<void()> more;
  };

  void run();
  void store(const Waiting& waiting);
  void call(const std::function<bool(const Waiter&)>& which);

  store::OutputWriter writer_;
  const ViewHolder& views_;
  const ConfigHolder& config_;
  Mutex mutex_;
  Condition wake_;
  std::deque<Waiting> parts_ ARES_GUARDED_BY(mutex_);
  std::size_t bytes_ ARES_GUARDED_BY(mutex_) = 0;  // of them
  std::map<Ticket, Waiter> waiters_ ARES_GUARDED_BY(mutex_);
  Ticket last_ticket_ ARES_GUARDED_BY(mutex_) = 0;
  bool stopping_ ARES_GUARDED_BY(mutex_) = false;
  std::string last_warning_;  // of the store's thread
  std::thread thread_;
};

}  // namespace ares::aresctld
