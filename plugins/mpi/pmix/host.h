// The server library of PMIx, hosted for the ranks of one step on one node. Its thread calls back; what
// it asks is queued as events, which the owner takes when event_fd() is readable. All functions here
// are for the owner's thread. A process opens it once in its life, and should have no other purpose
// (arespmixd): the library starts a thread, listens on loopback, and reads what user programs send.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "mpi/pmix/api.h"
#include "os/fd.h"
#include "pmi/pmix_message.h"

namespace ares::mpi::pmix {

class PmixHost {
 public:
  // Connections are taken from processes of this user and group only. The folder exists and is
  // writable. not_found and failed_precondition: the library, see load(); internal: it refuses to start;
  // invalid_argument: the setup.
  static Result<std::unique_ptr<PmixHost>> open(const pmi::PmixSetup& setup, uid_t uid, gid_t gid);
  ~PmixHost();
  PmixHost(const PmixHost&) = delete;
  PmixHost& operator=(const PmixHost&) = delete;

  // What a local rank needs in its environment. Open MPI 4 asks for PMIx only if SLURM_NODELIST,
  // SLURM_JOBID and SLURM_STEP_ID are there as well.
  Result<pmi::Environment> environment(std::uint32_t rank) const;

  int event_fd() const { return event_fd_.get(); }
  // PmixFence, PmixModexRequest, PmixModexData or PmixAbort.
  std::optional<pmi::PmixEvent> next_event();

  // Each answers one event, or is ignored if there is no such event. Nothing: it failed.
  void complete_fence(std::uint64_t id, std::optional<std::string> data);
  void complete_modex(std::uint64_t id, std::optional<std::string> data);
  // Asks for what a local rank published; PmixModexData with the same id follows once it has.
  void answer_modex(std::uint64_t id, std::uint32_t rank);
  // The process of a local rank has ended; PmixAbort follows if it connected and did not finalize.
  void on_ended(std::uint32_t rank);

 private:
  struct Waiting {
    OnData done;
    void* data;
  };
  struct Callbacks;

  PmixHost(Api api, pmi::PmixSetup setup) : api_(api), setup_(std::move(setup)) {}
  Status start(uid_t uid, gid_t gid);
  void push(pmi::PmixEvent event) ARES_REQUIRES(mutex_);
  void complete(std::uint64_t id, std::optional<std::string> data);
  bool is_ours(const Process& process) const;
  bool is_local(std::uint32_t rank) const;
  // The ranks of a fence; nothing if they are not of this step.
  std::optional<std::vector<std::uint32_t>> ranks_of(const Process* processes,
                                                     std::size_t count) const;

  const Api api_;
  const pmi::PmixSetup setup_;
  std::vector<std::uint32_t> node_of_rank_;
  os::Fd event_fd_;
  bool running_ = false;

  Mutex mutex_;
  std::deque<pmi::PmixEvent> events_ ARES_GUARDED_BY(mutex_);
  std::map<std::uint64_t, Waiting> waiting_ ARES_GUARDED_BY(mutex_);
  std::uint64_t next_id_ ARES_GUARDED_BY(mutex_) = 1;
  // Of these ranks so far.
  std::map<std::vector<std::uint32_t>, std::uint64_t> fences_ ARES_GUARDED_BY(mutex_);
  std::vector<bool> connected_ ARES_GUARDED_BY(mutex_);  // by rank, and not finalized
};

}  // namespace ares::mpi::pmix
