// PmixService: serves PMIx to the tasks of one step on this node by an arespmixd, which hosts the
// library of PMIx. Owned by TaskGroup; one thread.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aresstepd/steps/mpi_service.h"
#include "aresstepd/steps/reactor.h"
#include "pmi/pmix_message.h"

namespace ares::stepd {

class PmixService final : public MpiService {
 public:
  // Starts `program`, which is told the setup.
  static Result<std::unique_ptr<PmixService>> make(const std::string& program, pmi::PmixSetup setup,
                                                   Reactor& reactor, Send send, Ready ready);
  ~PmixService() override;

  Result<os::Fd> connect(std::uint32_t local) override;
  void describe(std::uint32_t local, int inherited,
                std::vector<std::string>& environment) const override;
  void gathered(const steps::Gathered& exchange) override;
  void asked(const steps::Question& question) override;
  void answered(const steps::Answer& answer) override;
  void task_ended(std::uint32_t rank) override;

 private:
  PmixService(os::Fd socket, pmi::TaskMap map, Reactor& reactor, Send send, Ready ready);
  void socket_ready(std::uint32_t events);
  void write_waiting();
  void tell(const pmi::PmixCommand& command);
  void hear(const std::string& body);
  void handle(const pmi::PmixReady& event);
  void handle(const pmi::PmixFailed& event);
  void handle(const pmi::PmixFence& event);
  void handle(const pmi::PmixModexRequest& event);
  void handle(const pmi::PmixModexData& event);
  void handle(const pmi::PmixAbort& event);
  void settle(Status status);
  void lose(const std::string& why);

  os::Fd socket_;
  Reactor& reactor_;
  Send send_;
  Ready ready_;
  bool settled_ = false;
  pmi::TaskMap map_;
  pmi::PmixFrames frames_{pmi::kMostPmixEvent};
  std::string waiting_;  // to be written
  std::vector<pmi::Environment> variables_;
  std::map<std::string, std::uint64_t> fences_;  // that wait for the other nodes, by name
  // Of other nodes, by the number under which arespmixd was asked.
  std::map<std::uint64_t, steps::Question> questions_;
  std::uint64_t next_question_ = 1;
};

}  // namespace ares::stepd
