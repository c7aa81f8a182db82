// NodeHub: the sessions of node daemons. Converts their messages to commands and sends effects to
// nodes. gRPC threads call it with messages, the engine thread with effects. A separate thread
// sends, because a launch may have to read its script from the database first.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "aresctld/engine/engine_loop.h"
#include "aresctld/engine/view.h"
#include "aresctld/output/output_store.h"
#include "aresctld/script_messages.h"
#include "base/mutex.h"
#include "model/engine/effect.h"
#include "proto/gen/api.pb.h"
#include "rpc/server/server.h"
#include "store/journal/journal.h"

namespace ares::aresctld {

class NodeHub : public rpc::AttachHandler {
 public:
  // `holder` names this controller process to the nodes.
  // `max_clock_offset`: of the configuration in force; any thread may call it.
  NodeHub(store::Journal& journal, const ViewHolder& views, Clock& clock, OutputStore& output,
          std::string holder, std::function<Seconds()> max_clock_offset);
  ~NodeHub() override;

  void start(EngineLoop& engine);
  void stop();

  // Any thread. Effects for nodes without a session are dropped: pending ones are sent again after
  // the node has connected.
  void send(Effects effects);

  // When the last message of the node arrived, by this controller's clock; none since its start.
  std::optional<Time> last_heard(const std::string& node) const;
  bool connected(const std::string& node) const;
  // Attempts on the node of which it told last that an operator has to do something, and what.
  std::vector<std::string> remarks(const std::string& node) const;

  // How busy the node's machine was when that told last; nothing if it has not since the controller started.
  MachineLoad load(const std::string& node) const;

  struct HeardUse {
    AttemptUse use;
    Time at{};
  };
  // What the attempt used on the node when that told last; none if it has not since the controller started.
  std::optional<HeardUse> use_of(const std::string& node, const AttemptKey& attempt) const;

  // Lets a user reach the steps of a job that runs for a short time. The caller of this has checked
  // that they may, and gives the layout of the attempt. May read the journal. failed_precondition: the
  // node takes no connections; unavailable: it has not registered with this controller yet.
  Result<api::StepTicket> step_ticket(const Job& job, const NodeLayout& layout, UserId caller);

  // Has the node write a line to the standard error of the batch script of an attempt. `done` is called once, on any thread, when the node
  // has answered or does not.
  void tell_script(const std::string& node, const AttemptKey& attempt, const std::string& line,
                   ScriptMessages::Done done);

  void attached(std::shared_ptr<rpc::NodeSession> session) override;
  void received(std::shared_ptr<rpc::NodeSession> session, api::NodeUp message) override;
  void detached(std::shared_ptr<rpc::NodeSession> session) override;

 private:
  struct Peer {
    std::shared_ptr<rpc::NodeSession> session;
    Time last_message_at{};
    std::vector<std::string> remarks;
    std::map<AttemptKey, AttemptUse> used;
    Time used_at{};
    MachineLoad load{};
    Duration clock_ahead{};  // of this machine's clock, when it told last
    // Where the node takes steps of other nodes, "HOST:PORT"; empty: nowhere. None: it has not said since
    // the controller started.
    std::optional<std::string> step_address{};
  };

  // Why the node's clock is wrong; empty: it is not, or this machine's probably is.
  std::string clock_fault(Duration ahead) const ARES_REQUIRES(mutex_);

  void store_output(const std::shared_ptr<rpc::NodeSession>& session, api::NodeUp message);
  // Whether the session has registered that node; it is heard from now.
  bool heard(const std::shared_ptr<rpc::NodeSession>& session, const std::string& node);
  void run();
  void refuse(const std::shared_ptr<rpc::NodeSession>& session, const std::string& name,
              const Error& error);
  void accept(const std::shared_ptr<rpc::NodeSession>& session, const std::string& name);
  void deliver(Effect effect);
  Result<std::shared_ptr<const std::string>> blob(const BlobId& id);
  Status add_step_access(LaunchSpec& launch);
  Result<std::string> secret();
  bool takes_steps(const std::string& node) const;

  store::Journal& journal_;
  const ViewHolder& views_;
  Clock& clock_;
  OutputStore& output_;
  ScriptMessages script_messages_;
  const std::string holder_;
  const std::function<Seconds()> max_clock_offset_;
  EngineLoop* engine_ = nullptr;

  mutable Mutex mutex_;
  Condition wake_;
  std::map<std::string, Peer> peers_ ARES_GUARDED_BY(mutex_);
  std::deque<Effect> queue_ ARES_GUARDED_BY(mutex_);
  bool stopping_ ARES_GUARDED_BY(mutex_) = false;
  std::thread thread_;

  // Scripts of arrays and of large jobs are sent often. Sender thread only; least recently used
  // at the end.
  using Cached = std::list<std::pair<BlobId, std::shared_ptr<const std::string>>>;
  Cached cache_;  // most recently used first
  std::map<BlobId, Cached::iterator> cached_;
  std::size_t cached_bytes_ = 0;
  Mutex secret_mutex_;
  std::string secret_ ARES_GUARDED_BY(secret_mutex_);  // of the cluster; empty: not read yet
};

}  // namespace ares::aresctld
