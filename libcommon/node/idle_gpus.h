// IdleGpus: whether the GPUs that no attempt has are clean, so that the next job may have them: no
// process uses them and little of their memory is in use. Says when they have to be looked at.
// Owned by NodeAgent, used on its thread. Pure: who looks, and how, is AgentSetup::look_at_gpus.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

namespace ares::node {

// Why GPUs are not clean, without their numbers: "process 4711 (python3) uses it". GPUs that are
// not named are clean. An error: the state of the GPUs cannot be found out.
using GpuLook = Result<std::map<GpuIndex, std::string>>;

class IdleGpus {
 public:
  // None has been looked at.
  IdleGpus(const std::vector<GpuIndex>& all, BootTime now);

  // Which GPUs attempts have. One that no attempt has any more has to be looked at.
  void set_taken(const std::set<GpuIndex>& taken, BootTime now);

  enum class Verdict : std::uint8_t {
    clean,  // also of GPUs that other attempts have already: whose processes they run is not known
    unknown,  // a look is due or under way
    unclean,
  };
  // For a job that is to get these GPUs. What was seen long ago is looked at again.
  Verdict of(const std::vector<GpuIndex>& gpus, BootTime now);

  // Whether a look has to start now; it then counts as started. looked() follows.
  bool start_look(BootTime now);
  void looked(const GpuLook& look, BootTime now);
  // When start_look() has to be asked again.
  std::optional<BootTime> next_deadline() const;

  // Why no job should start here; empty: there is no reason.
  std::string fault() const;

 private:
  struct Gpu {
    bool taken = false;
    std::uint64_t freed = 0;  // number of the event; see events_
    BootTime freed_at;
    std::optional<BootTime> clean_at;
    std::string unclean;
    bool faulty = false;  // it had time to become clean
  };
  std::optional<BootTime> due(const Gpu& gpu) const;

  std::map<GpuIndex, Gpu> gpus_;
  std::uint64_t events_ = 0;      // how often GPUs were freed
  std::uint64_t looks_from_ = 0;  // events_ when the look started: later events it did not see
  bool looking_ = false;
  BootTime looked_at_;
  std::string cannot_look_;
};

}  // namespace ares::node
