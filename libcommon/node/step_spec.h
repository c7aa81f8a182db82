// StepSpec: everything aresstepd needs to know about its attempt, and its text form (the record
// `spec`). Made by the node agent from a LaunchSpec, read once by aresstepd. A value; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/engine/node_message.h"
#include "node/binding.h"

namespace ares::node {

// A user as the node's name service knows it. aresd does the lookup, because a lookup can block
// and aresstepd is statically linked.
struct UserIdentity {
  std::string name;
  GroupId gid;
  std::vector<GroupId> groups;  // supplementary, gid included
  std::string home;
  std::string shell;
  friend bool operator==(const UserIdentity&, const UserIdentity&) = default;
};

class Users {
 public:
  virtual ~Users() = default;
  virtual Result<UserIdentity> find(
      UserId uid, GroupId gid) = 0;  // not_found: the user does not exist here, the job's fault
};

// A program that the site runs around an attempt.
struct SiteProgram {
  std::string path;  // absolute
  Seconds timeout{};
  friend bool operator==(const SiteProgram&, const SiteProgram&) = default;
};

struct StepSpec {
  LaunchSpec launch;
  UserIdentity user;
  bool node_has_gpus = false;  // then CUDA_VISIBLE_DEVICES is "" for jobs without GPUs
  // At most this on the node. None in specs of releases that limited the share's memory only.
  std::optional<Bytes> memory_limit{};
  std::uint64_t max_processes = 0;            // with threads; 0 = no limit
  std::vector<std::string> denied_devices{};  // of GPUs of others: "c 195:0"
  StepBinding binding{};                      // none in specs of release 0.1.0
  // For CUDA_VISIBLE_DEVICES, in the order of the share's GPUs; empty = their indices.
  std::vector<std::string> visible_gpus{};
  std::vector<IntervalSet>
      gpu_cpus{};          // nearest to each of the share's GPUs; empty sets: not known
  CpuLayout cpu_layout{};  // of the machine; empty: not known
  std::optional<SiteProgram> prolog{}, epilog{};
  std::string task_prolog{};  // program that the job's user runs before the script; empty = none
  std::optional<SiteProgram> task_epilog{};  // likewise after the script
  std::string pam_service{};                 // of the PAM session around the job; empty = none
  // Directory of the job on the node that it sees as /tmp and /var/tmp; empty: those of the machine.
  std::string private_tmp{};
  // How long an interactive allocation lasts without its command.
  Seconds allocation_timeout{60};
  bool slurm_variables = true;  // SLURM_JOB_ID beside ARES_JOB_ID, and the others alike
};

std::string encode(const StepSpec& spec);
Result<StepSpec> decode_step_spec(std::string_view text);

}  // namespace ares::node
