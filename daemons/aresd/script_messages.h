// ScriptMessages: passes lines of the controller for the standard error of batch scripts on to the step hosts of their attempts, one at a
// time, and tells what became of each. A thread of its own, which waits for the hosts. Owned by main().
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "aresd/chosen_plugin.h"
#include "base/mutex.h"
#include "base/result.h"
#include "config/config.h"
#include "model/engine/node_message.h"
#include "os/fd.h"

namespace ares::aresd {

class ScriptMessages {
 public:
  struct Message {
    std::string node;
    AttemptKey attempt;
    std::uint64_t id = 0;
    std::string line;
  };
  // The spool of a node; an error: why its scripts get no messages.
  using SpoolOf = std::function<Result<std::string>(const std::string& node)>;
  using Answer = std::function<void(const Message&, const Status&)>;

  explicit ScriptMessages(SpoolOf spool_of);
  ~ScriptMessages();
  ScriptMessages(const ScriptMessages&) = delete;
  ScriptMessages& operator=(const ScriptMessages&) = delete;

  // Any thread. Before start() it is kept, after stop() dropped.
  void put(Message message);
  // `answer` is called on the thread of this, never after stop().
  Status start(Answer answer);
  void stop();

 private:
  void run();

  const SpoolOf spool_of_;
  Answer answer_;
  Mutex mutex_;
  Condition wake_;
  std::deque<Message> waiting_ ARES_GUARDED_BY(mutex_);
  bool stopping_ ARES_GUARDED_BY(mutex_) = false;
  os::Fd stop_;  // readable when it stops
  std::thread thread_;
};

ScriptMessages::SpoolOf spools_of(const config::Config& config, const Plugin& plugin);

// Waits for the step host of the attempt in that directory, until it has written the line or `stop` is readable. failed_precondition: it
// has not written it; unavailable: it does not answer.
Status tell_script(const std::string& directory, const std::string& line, int stop);

}  // namespace ares::aresd
