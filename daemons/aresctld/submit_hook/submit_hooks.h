// SubmitHooks: asks the site's script about submissions and changes of jobs, and makes the changes that it wants. The script runs in processes
// of its own, of which some are kept. Owned by the composition root; any thread.
//
// A request that was accepted before must not be asked about again: its answer is the one that it got.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "aresctld/engine/view.h"
#include "base/mutex.h"
#include "base/result.h"
#include "config/values.h"
#include "model/engine/command.h"
#include "proto/gen/api.pb.h"
#include "submit/message/hook_message.h"
#include "submit/process/hook_process.h"

namespace ares::aresctld {

class SubmitHooks {
 public:
  // `program`: the path of ares-submit-hook.
  explicit SubmitHooks(std::string program) : program_(std::move(program)) {}

  // Whether a script may have a say in the request: submit, submit many, update job, test submit.
  static bool concerns(const api::Request& request);

  struct World {
    const config::SubmitHookConfig& hook;
    const View& view;
    const Policy& policy;
    Time now;
    std::function<bool()> is_abandoned;  // its caller has gone
  };
  // Blocks for the calls of all jobs of the request, at most kLongestRequest and one call; jobs that are equal are one call. Returns what the
  // script tells the user. permission_denied: it refused, with its message. failed_precondition: it failed, or cannot be run, or set a
  // field wrongly. not_found: a job that is to be changed. resource_exhausted: the request has too many jobs. Then the request may have
  // been changed in part.
  Result<std::string> run(const Principal& caller, api::Request& request, const World& world);

 private:
  struct Job {
    api::JobSpec* spec;
    const std::string* script;
    std::string* environment;
  };
  Result<submit::HookAnswer> call(const submit::HookCall& call);
  // The answer of an accepting script. Errors as of run().
  Result<submit::HookAnswer> ask(const submit::HookCall& call);
  Result<std::string> submit_one(submit::HookCall call, const Job& job);
  Result<std::string> submit_many(const submit::HookCall& call, api::SubmitMany& many,
                                  const World& world);
  Result<std::string> modify(submit::HookCall call, api::JobAction& action, const World& world);

  const std::string program_;
  Mutex mutex_;
  std::vector<submit::HookProcess> idle_ ARES_GUARDED_BY(mutex_);
};

}  // namespace ares::aresctld
