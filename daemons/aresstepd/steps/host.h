// StepHost: runs the steps of one attempt on one node, as the job's user and within its control groups
// and namespace. On the job's first node it also creates them (steps/manager.h). A process of its own,
// which the supervisor starts at the first connection; one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aresstepd/steps/dialer.h"
#include "aresstepd/steps/link.h"
#include "aresstepd/steps/reactor.h"
#include "aresstepd/steps/step_ledger.h"
#include "aresstepd/steps/step_records.h"
#include "aresstepd/steps/task_group.h"
#include "os/fd.h"
#include "steps/hold.h"
#include "steps/manager.h"

namespace ares::stepd {

class StepHost final : private steps::StepLinks {
 public:
  // `listener` is a listening Unix socket, which the supervisor keeps open, too.
  static Result<std::unique_ptr<StepHost>> make(HostFacts facts, StepRecords records,
                                                os::Fd listener, StepLedger ledger = {});
  ~StepHost() override;

  // Returns when there has been nothing to do for a while; the next connection starts another host.
  Status run();

 private:
  // Who has connected: arun, or the host of another node. The first frame tells.
  struct Connection {
    std::unique_ptr<FrameLink> link;
    std::unique_ptr<TaskGroup> group;   // of a step whose manager is on the other side
    std::unique_ptr<Dialer> dialer;     // of arun on another node than the first: to that one
    std::unique_ptr<FrameLink> onward;  // when that is connected
    std::vector<steps::Frame> waiting;  // for it
    bool relayed = false;
    bool of_daemon = false;    // it speaks for other users, too
    std::uint64_t missed = 0;  // bytes of output that it was too slow for
  };
  // A step on a node, seen from the manager.
  struct Member {
    std::unique_ptr<TaskGroup> here;
    std::unique_ptr<Dialer> dialer;
    std::unique_ptr<FrameLink> there;
    std::vector<steps::Frame> waiting;
  };
  using MemberKey = std::pair<steps::StepNumber, std::uint32_t>;  // step and node of the job

  StepHost(HostFacts facts, StepRecords records, os::Fd listener, StepLedger ledger,
           std::unique_ptr<Reactor> reactor);
  Status prepare();
  void accept_one();
  void meet(int socket);
  void add_connection(os::Fd socket, std::string_view received, bool of_daemon);
  void received(steps::ClientId id, const steps::Frame& frame);
  void relay(steps::ClientId id, const steps::Frame& frame);
  void relay_connected(steps::ClientId id, Result<os::Fd> socket);
  void close_connection(steps::ClientId id);
  // Tells a viewer how much it was too slow for.
  static void tell_missed(Connection& viewer);
  Status tell_script(const std::string& line) const;
  Status change_limit(const steps::Frame& frame);
  // Whether the frame is about the job itself, not about a step.
  bool about_job(steps::ClientId id, const steps::Frame& frame);
  void release_if_due();
  bool runs_tasks() const;
  std::unique_ptr<Dialer> dial(std::uint32_t node, Dialer::Done done);
  void member_connected(const MemberKey& key, Result<os::Fd> socket);
  void member_lost(const MemberKey& key, const std::string& why);
  void collect_children();
  void pause_sources(steps::StepNumber step, bool pause);
  bool is_idle() const;
  // What is due by now; how long until something is, in milliseconds, -1: nothing will be.
  int do_what_is_due(BootTime now);

  void to_client(steps::ClientId client, const steps::Frame& frame) override;
  void close_client(steps::ClientId client) override;
  void to_viewer(steps::ClientId viewer, const steps::Frame& frame) override;
  Result<steps::StepNumber> new_number() override;
  std::string name_of(steps::StepNumber step) override;
  void open_node(steps::StepNumber step, std::uint32_t node) override;
  void to_node(steps::StepNumber step, std::uint32_t node, const steps::Frame& frame) override;
  void close_node(steps::StepNumber step, std::uint32_t node) override;
  void account(const steps::StepAccount& account) override;
  void kill_later(steps::StepNumber step) override;
  void limit_time(steps::StepNumber step, Seconds limit) override;

  HostFacts facts_;
  StepRecords records_;
  os::Fd listener_;
  std::unique_ptr<Reactor> reactor_;
  os::Fd signals_;
  std::unique_ptr<steps::StepManager> manager_;  // on the first node only
  steps::AllocationHold hold_;
  struct Stranger {
    os::Fd socket;
    uid_t uid = 0;
  };
  std::map<int, Stranger> strangers_;  // that have sent nothing yet
  std::map<steps::ClientId, Connection> clients_;
  std::map<MemberKey, Member> members_;
  steps::ClientId next_client_ = 1;
  bool ending_ = false;  // the attempt was told to end
  StepLedger ledger_;
  std::map<steps::StepNumber, BootTime> kills_;   // of steps that were told to end
  std::map<steps::StepNumber, BootTime> begun_;   // when tasks were told to begin
  std::map<steps::StepNumber, BootTime> limits_;  // when those with a time limit reach it
  BootTime tell_usage_at_{};
};

// Becomes the job's user and runs the host; returns the exit status of its process. `directory` is the
// attempt's.
int run_step_host(const std::string& directory, int listener);

}  // namespace ares::stepd
