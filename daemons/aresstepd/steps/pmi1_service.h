// Pmi1Service: serves PMI-1 (pmi/pmi1_server.h) to the tasks of one step on this node, over a socket for
// each. Owned by TaskGroup; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "aresstepd/steps/mpi_service.h"
#include "aresstepd/steps/reactor.h"
#include "pmi/pmi1_server.h"

namespace ares::stepd {

class Pmi1Service final : public MpiService {
 public:
  // `space` names the step among all of the user. `send` gets frames for the manager.
  static Result<std::unique_ptr<Pmi1Service>> make(pmi::TaskMap map, std::string space,
                                                   Reactor& reactor, Send send);
  ~Pmi1Service() override;

  Result<os::Fd> connect(std::uint32_t local) override;
  void describe(std::uint32_t local, int inherited,
                std::vector<std::string>& environment) const override;
  void gathered(const steps::Gathered& exchange) override;

 private:
  struct Peer {
    std::uint32_t rank = 0;
    os::Fd socket;
    std::string waiting;  // to be written
  };

  Pmi1Service(pmi::TaskMap map, pmi::Pmi1Server server, Reactor& reactor, Send send);
  void ready(std::size_t local, std::uint32_t events);
  void write_waiting(std::size_t local);
  void act(pmi::Outcome outcome);

  pmi::TaskMap map_;
  pmi::Pmi1Server server_;
  Reactor& reactor_;
  Send send_;
  std::vector<Peer> peers_;  // of the tasks, in their order
};

}  // namespace ares::stepd
