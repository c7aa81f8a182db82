#include "arespmixd/serve.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>
#include <variant>

#include "mpi/pmix/host.h"

namespace ares::pmixd {
namespace {

using mpi::pmix::PmixHost;

struct Obey {
  PmixHost& host;

  Status operator()(pmi::PmixSetup&) const {
    return fail(ErrorCode::invalid_argument, "a second setup of PMIx");
  }
  Status operator()(pmi::PmixFenceResult& result) const {
    host.complete_fence(result.id, std::move(result.data));
    return {};
  }
  Status operator()(pmi::PmixModexResult& result) const {
    host.complete_modex(result.id, std::move(result.data));
    return {};
  }
  Status operator()(pmi::PmixModexAsk& ask) const {
    host.answer_modex(ask.id, ask.rank);
    return {};
  }
  Status operator()(pmi::PmixRankEnded& ended) const {
    host.on_ended(ended.rank);
    return {};
  }
};

Result<pmi::PmixSetup> receive_setup(Channel& channel) {
  while (true) {
    auto command = channel.next();
    if (!command) return fail(command.error());
    if (*command) {
      auto* setup = std::get_if<pmi::PmixSetup>(&**command);
      if (setup && setup->version == pmi::PmixSetup::kVersion) return std::move(*setup);
      return fail(ErrorCode::failed_precondition,
                  "arespmixd is not of the release of the step's daemon; start the step again");
    }
    const auto open = channel.receive();
    if (!open) return fail(open.error());
    if (!*open) return fail(ErrorCode::unavailable, "the step's daemon has gone");
  }
}

Result<std::unique_ptr<PmixHost>> start(Channel& channel, pmi::PmixReady& ready) {
  const auto setup = receive_setup(channel);
  if (!setup) return fail(setup.error());
  auto host = PmixHost::open(*setup, ::getuid(), ::getgid());
  if (!host) return fail(host.error());
  for (const std::uint32_t rank : setup->map.local_ranks()) {
    auto environment = (*host)->environment(rank);
    if (!environment) return fail(environment.error());
    ready.of_local_ranks.push_back(std::move(*environment));
  }
  return host;
}

// What the daemon sent, then what the library asks.
Status exchange(Channel& channel, PmixHost& host) {
  while (true) {
    auto command = channel.next();
    if (!command) return fail(command.error());
    if (!*command) break;
    if (Status obeyed = std::visit(Obey{host}, **command); !obeyed) return obeyed;
  }
  while (const auto event = host.next_event())
    if (Status sent = channel.send(*event); !sent) return sent;
  return {};
}

Status serve_step(Channel& channel) {
  pmi::PmixReady ready;
  const auto host = start(channel, ready);
  if (!host) return fail(host.error());
  if (Status sent = channel.send(ready); !sent) return sent;
  while (true) {
    if (Status done = exchange(channel, **host); !done) return done;
    pollfd polled[] = {{channel.fd(), POLLIN, 0}, {(*host)->event_fd(), POLLIN, 0}};
    if (::poll(polled, 2, -1) < 0 && errno != EINTR)
      return fail(os::errno_error("cannot wait for the step's daemon"));
    if (polled[0].revents == 0) continue;
    const auto open = channel.receive();
    if (!open) return fail(open.error());
    if (!*open) return {};
  }
}

}  // namespace

Status serve(Channel& channel) {
  Status served = serve_step(channel);
  // The daemon may have gone; the error is returned as well.
  if (!served) (void)channel.send(pmi::PmixFailed{served.error().message});
  return served;
}

}  // namespace ares::pmixd
