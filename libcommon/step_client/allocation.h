// Allocation: the job of aalloc, or of arun outside of a job, from its submission to its release. Its
// batch script waits on the first node (steps/hold.h) while this holds a connection to it. Owned by the
// command's main thread.
#pragma once

#include <signal.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "os/fd.h"
#include "proto/gen/api.pb.h"
#include "rpc/client/client.h"

namespace ares::step_client {

enum class Bell { never, after_a_wait, always };  // of the terminal, when it is granted

struct AllocationWishes {
  std::string program;    // for messages
  std::string refused{};  // precedes what the controller says when it refuses the job
  bool quiet = false;     // no messages but errors
  bool announce = false;  // also that the allocation was granted and given up, as salloc
  Bell bell = Bell::never;
  std::optional<Seconds> immediate{};  // give up when it has not started after this
  bool held = true;  // false: it lasts until it is cancelled or reaches its time limit
};

// The script of the job that waits, and the directories in which to look for its program beside those of
// the user's PATH. `held` as above.
std::string holding_script(bool held);
std::string holding_environment(const std::string& path);

class Allocation {
 public:
  // Submits the job and waits until it has started. `open` makes the client, whose threads take no signal:
  // it is called when all signals of interest are blocked. SIGINT, SIGTERM, SIGHUP and SIGQUIT cancel it while it
  // asks and waits; they stay blocked when this returns. failed_precondition: it was given up or ended first.
  static Result<Allocation> obtain(const std::function<Result<rpc::Client>()>& open,
                                   api::Request submit, AllocationWishes wishes);
  Allocation(Allocation&&) = default;
  Allocation& operator=(Allocation&&) = default;

  const JobKey& job() const { return job_; }
  const std::string& program() const { return wishes_.program; }
  rpc::Client& client() { return client_; }
  // NAME=value of the job, for a program outside of it.
  const std::vector<std::string>& variables() const { return variables_; }

  // Becomes readable when a signal has come that ends commands.
  int interrupt() const { return signals_.get(); }

  // To wait for: it becomes readable when the connection is lost. -1: it is lost, call hold() again.
  int connection() const { return held_by_ ? held_by_.get() : -1; }
  // Connects again if the connection is lost. failed_precondition or not_found: the job has ended, and the
  // allocation is gone. unavailable: try again later.
  // Nothing that it waits for takes longer than until `interrupt` is readable.
  Status hold(int interrupt);

  // Ends the job with that exit code. If its node cannot be reached it is cancelled instead. A signal that
  // ends commands makes it give up; then the job ends by itself.
  void release(int code);

 private:
  Allocation(rpc::Client client, AllocationWishes wishes)
      : client_(std::move(client)), wishes_(std::move(wishes)) {}
  Status submit(const api::Request& request);
  bool signalled() const;
  Status wait_for_start();
  Result<bool> has_started(const Result<api::Response>& response, bool waited);
  Status give_up(const std::string& why);
  Status connect(int interrupt);
  Status cancel();
  Status ask_to_release(int code);
  void say(const std::string& text) const;

  rpc::Client client_;
  AllocationWishes wishes_;
  JobKey job_;
  std::string name_;  // of the job, for messages
  bool told_away_ = false;
  std::vector<std::string> variables_;
  os::Fd held_by_;
  os::Fd signals_;
};

// Signals that end a command; all are blocked.
sigset_t ending_signals();

}  // namespace ares::step_client
