// StepManager: the steps of one attempt. Decides where they run, which wait for CPUs, when their tasks
// begin, and how they end. Owned by the step host on the job's first node; no I/O, no clock; one thread.
//
// Tasks begin in two rounds: every launcher of the step says `ready` before any is told to `go`, so
// that no task runs unless all nodes can run theirs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "steps/account.h"
#include "steps/exchange.h"
#include "steps/frame.h"
#include "steps/placement.h"
#include "steps/request.h"

namespace ares::steps {

// A program that has asked for a step: one connection of arun.
using ClientId = std::uint64_t;
using StepNumber = std::uint32_t;

// What the manager wants done. Nothing here calls back into it.
class StepLinks {
 public:
  virtual ~StepLinks() = default;
  virtual void to_client(ClientId client, const Frame& frame) = 0;
  virtual void close_client(ClientId client) = 0;  // after what was sent has left
  // What a task has written, to a client that only looks on: dropped if that does not read.
  virtual void to_viewer(ClientId viewer, const Frame& frame) = 0;
  // A number that no step of this attempt has had, kept on disk.
  virtual Result<StepNumber> new_number() = 0;
  // A name for it that others cannot guess.
  virtual std::string name_of(StepNumber step) = 0;
  // Connects to the launcher of that node of the job; node_lost() follows if that fails. What is sent
  // meanwhile waits.
  virtual void open_node(StepNumber step, std::uint32_t node) = 0;
  virtual void to_node(StepNumber step, std::uint32_t node, const Frame& frame) = 0;
  // Ends the tasks that the step has there.
  virtual void close_node(StepNumber step, std::uint32_t node) = 0;
  // Accounting of a step whose tasks were told to begin, when something of it has changed.
  virtual void account(const StepAccount&) {}
  // The step was told to end: kill(step) is due after the job's kill_wait.
  virtual void kill_later(StepNumber) {}
  // time_out(step) is due so long after its tasks were told to begin, 0: never. Said when they are, and again when the limit
  // changes.
  virtual void limit_time(StepNumber, Seconds) {}
};

class StepManager {
 public:
  StepManager(std::vector<JobNode> nodes, StepLinks& links);

  // A frame of arun or of aattach. The first one of a client must be `create` or `attach`.
  void from_client(ClientId client, const Frame& frame);
  void client_lost(ClientId client);
  // A frame of the launcher of that node (of the job) for a step.
  void from_node(StepNumber step, std::uint32_t node, const Frame& frame);
  // The connection is closed. Normal once it has said `over`.
  void node_lost(StepNumber step, std::uint32_t node, const std::string& why);

  // Signals the step, or ends it; without effect on one that is not there any more.
  void cancel(const StepCancel& cancel);
  // It has reached its time limit.
  void time_out(StepNumber step);
  // Another time limit, 0 for none. failed_precondition: no such step runs, or it is being ended.
  Status set_limit(StepNumber step, Seconds limit);
  // Its tasks had their time to end.
  void kill(StepNumber step);

  bool idle() const { return steps_.empty() && waiting_.empty(); }
  // The client of a step, for output, which the host passes on by itself; none: it has ended.
  std::optional<ClientId> client_of(StepNumber step) const;
  // Who else gets its output. Valid until the next call.
  const std::set<ClientId>& viewers_of(StepNumber step) const;

 private:
  struct Member {
    std::uint32_t node = 0;  // of the job
    bool ready = false;
    bool over = false;
    TaskEnd running;  // what its running tasks have used, as last told
  };
  struct Exchange {
    std::vector<std::uint32_t> nodes;  // of the step
    std::map<std::uint32_t, std::string> parts;
  };
  struct Step {
    ClientId client = 0;
    StepRequest request;
    StepLayout layout;
    std::vector<Member> members;
    bool went = false;  // the launchers were told to go
    bool killed = false;
    std::uint32_t tasks_left = 0;
    StepAccount account;  // of tasks that have ended
    std::set<ClientId> viewers;
    std::set<std::uint32_t> full;               // ranks that do not read their input
    std::map<std::string, Exchange> exchanges;  // that are going on, by name
  };
  struct Waiting {
    ClientId client = 0;
    StepRequest request;
  };

  void create(ClientId client, StepRequest request);
  bool try_start(ClientId client, const StepRequest& request);
  void refuse(ClientId client, const std::string& why);
  void start_waiting();
  void attach(ClientId client, StepNumber number);
  void from_viewer(StepNumber number, const Frame& frame);
  void pass_input(Step& step, StepNumber number, const Frame& frame);
  void tell_viewers(const Step& step, const Frame& frame);
  void set_ready(StepNumber number, Step& step);
  void task_ended(Step& step, StepNumber number, Member& member, const Frame& frame);
  void account(const Step& step, StepState state);
  void contribute(Step& step, StepNumber number, std::uint32_t from, const Frame& frame);
  void ask(Step& step, StepNumber number, std::uint32_t from, const Frame& frame);
  void answer(Step& step, StepNumber number, const Frame& frame);
  void signal_tasks(const Step& step, StepNumber number, std::int32_t signal);
  void end_gently(const Step& step, StepNumber number);
  void kill_tasks(Step& step, StepNumber number);
  void fail_step(StepNumber number, const std::string& why);
  void end_if_over(StepNumber number);
  // `as`: how accounting calls it; none: as its tasks ended.
  void end(StepNumber number, std::optional<StepState> as = std::nullopt);
  // Its place in the step; none: it has no part in it.
  static std::optional<std::uint32_t> place_of(const Step& step, std::uint32_t node);

  Placement placement_;
  StepLinks& links_;
  std::map<StepNumber, Step> steps_;
  std::map<ClientId, StepNumber> by_client_;
  std::map<ClientId, StepNumber> viewing_;
  std::vector<Waiting> waiting_;  // in the order of their arrival
};

}  // namespace ares::steps
