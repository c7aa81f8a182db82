#include "mpi/pmix/host.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "base/printable.h"
#include "mpi/pmix/job_info.h"
#include "mpi/pmix/library.h"

namespace ares::mpi::pmix {
namespace {

// The library passes no pointer of ours to all of its callbacks.
std::atomic<PmixHost*> current{nullptr};

// A request of ours to the library, which completes in its thread. It may outlive the one who waits.
class Completion {
 public:
  // Starts the request by `call(callback, data)`; its status, or that of the callback. kError after
  // half a minute.
  template <class Call>
  static PmixStatus wait(Call call) {
    auto state = std::make_shared<State>();
    auto own = std::make_unique<std::shared_ptr<State>>(state);
    const PmixStatus started = call(&Completion::done, own.get());
    if (started != kSuccess) return started == kOperationSucceeded ? kSuccess : started;
    (void)own.release();  // done() takes it
    Lock lock(state->mutex);
    if (!state->changed.wait_for(lock, std::chrono::seconds(30), [&]() ARES_REQUIRES(state->mutex) {
          return state->status.has_value();
        }))
      return kError;
    return *state->status;
  }

 private:
  struct State {
    Mutex mutex;
    Condition changed;
    std::optional<PmixStatus> status ARES_GUARDED_BY(mutex);
  };

  static void done(PmixStatus status, void* data) {
    const std::unique_ptr<std::shared_ptr<State>> own(static_cast<std::shared_ptr<State>*>(data));
    const Lock lock((*own)->mutex);
    (*own)->status = status;
    (*own)->changed.notify_all();
  }
};

Process process_of(const std::string& space, std::uint32_t rank) {
  Process process{};
  space.copy(process.space, kSpaceBytes - 1);
  process.rank = rank;
  return process;
}

// "0-3,7".
std::string ranges(const std::vector<std::uint32_t>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(ranks[i]);
    if (last > i) text += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace

// In the library's thread.
struct PmixHost::Callbacks {
  static PmixStatus client_connected(const Process* process, void*, OnDone, void*) {
    return set_connected(*process, true);
  }
  static PmixStatus client_finalized(const Process* process, void*, OnDone, void*) {
    return set_connected(*process, false);
  }
  static PmixStatus set_connected(const Process& process, bool connected) {
    PmixHost* host = current;
    if (!host || !host->is_ours(process)) return kNotFound;
    const Lock lock(host->mutex_);
    host->connected_[process.rank] = connected;
    return kOperationSucceeded;
  }

  static PmixStatus abort(const Process* process, void*, int status, const char* message, Process*,
                          std::size_t, OnDone, void*) {
    PmixHost* host = current;
    if (!host || !host->is_ours(*process)) return kNotFound;
    std::string text = "rank " + std::to_string(process->rank) + " called MPI_Abort with code " +
                       std::to_string(status);
    if (message && *message) text += ": " + excerpt(message);
    const Lock lock(host->mutex_);
    host->push(pmi::PmixAbort{process->rank, status, std::move(text)});
    return kOperationSucceeded;
  }

  static PmixStatus fence(const Process* processes, std::size_t count, const Info*, std::size_t,
                          char* bytes, std::size_t size, OnData done, void* data) {
    PmixHost* host = current;
    if (!host) return kError;
    const auto ranks = host->ranks_of(processes, count);
    if (!ranks) return kNotSupported;
    pmi::PmixFence event;
    if (ranks->empty()) {
      for (std::uint32_t i = 0; i < host->setup_.hostnames.size(); ++i) event.nodes.push_back(i);
    } else {
      for (const std::uint32_t rank : *ranks) event.nodes.push_back(host->node_of_rank_[rank]);
      std::sort(event.nodes.begin(), event.nodes.end());
      event.nodes.erase(std::unique(event.nodes.begin(), event.nodes.end()), event.nodes.end());
    }
    if (bytes) event.data.assign(bytes, size);
    const Lock lock(host->mutex_);
    event.id = host->next_id_++;
    event.name =
        (ranks->empty() ? "all" : ranges(*ranks)) + " " + std::to_string(host->fences_[*ranks]++);
    host->waiting_[event.id] = {done, data};
    host->push(std::move(event));
    return kSuccess;
  }

  static PmixStatus direct_modex(const Process* process, const Info*, std::size_t, OnData done,
                                 void* data) {
    PmixHost* host = current;
    if (!host || !host->is_ours(*process)) return kNotFound;
    const Lock lock(host->mutex_);
    const std::uint64_t id = host->next_id_++;
    host->waiting_[id] = {done, data};
    host->push(pmi::PmixModexRequest{id, process->rank});
    return kSuccess;
  }

  static void modex_found(PmixStatus status, char* bytes, std::size_t size, void* data) {
    const std::unique_ptr<std::uint64_t> id(static_cast<std::uint64_t*>(data));
    PmixHost* host = current;
    if (!host) return;
    pmi::PmixModexData event{*id, std::nullopt};
    if (status == kSuccess) event.data = bytes ? std::string(bytes, size) : std::string();
    const Lock lock(host->mutex_);
    host->push(std::move(event));
  }

  static void release(void* data) {
    const std::unique_ptr<std::string> released(static_cast<std::string*>(data));
  }
};

Result<std::unique_ptr<PmixHost>> PmixHost::open(const pmi::PmixSetup& setup, uid_t uid,
                                                 gid_t gid) {
  const auto wrong = [](std::string what) {
    return fail(ErrorCode::invalid_argument, "setup of PMIx: " + std::move(what));
  };
  if (Status right = pmi::check(setup.map); !right) return fail(right.error());
  if (setup.hostnames.size() != setup.map.ranks_by_node.size())
    return wrong(std::to_string(setup.hostnames.size()) + " names of hosts");
  for (const std::string& name : setup.hostnames)
    if (name.empty() || name.find_first_of(",;") != name.npos || has_control(name))
      return wrong("name of host " + quote(name));
  if (setup.space.empty() || setup.space.size() >= kSpaceBytes)
    return wrong("name of step " + quote(setup.space));
  if (setup.map.local_ranks().size() > UINT16_MAX) return wrong("too many ranks on one node");
  if (current) return fail(ErrorCode::failed_precondition, "this process hosts PMIx already");
  auto api = load(setup.library);
  if (!api) return fail(api.error());
  std::unique_ptr<PmixHost> host(new PmixHost(*api, setup));
  if (Status started = host->start(uid, gid); !started) return fail(started.error());
  return host;
}

Status PmixHost::start(uid_t uid, gid_t gid) {
  event_fd_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event_fd_) return fail(os::errno_error("cannot make an event descriptor"));
  node_of_rank_ = pmi::nodes_of_ranks(setup_.map);
  {
    const Lock lock(mutex_);
    connected_.assign(setup_.map.size, false);
  }
  const auto failed = [&](const std::string& what, PmixStatus status) {
    return fail(ErrorCode::internal, "PMIx: cannot " + what + ": " + describe(api_, status));
  };

  static Module module{.client_connected = &Callbacks::client_connected,
                       .client_finalized = &Callbacks::client_finalized,
                       .abort = &Callbacks::abort,
                       .fence = &Callbacks::fence,
                       .direct_modex = &Callbacks::direct_modex,
                       .unsupported = {}};
  InfoList server = describe_server(setup_.map, setup_.hostnames, setup_.directory);
  PmixStatus status = api_.server_init(&module, server.data(), server.size());
  if (status != kSuccess) return failed("start its server in " + setup_.directory, status);
  running_ = true;
  current = this;

  InfoList step = describe_step(setup_.map, setup_.space, setup_.hostnames, setup_.directory);
  const auto& local = setup_.map.local_ranks();
  status = Completion::wait([&](OnDone done, void* data) {
    return api_.server_register_nspace(setup_.space.c_str(), static_cast<int>(local.size()),
                                       step.data(), step.size(), done, data);
  });
  if (status != kSuccess) return failed("register the step", status);
  for (const std::uint32_t rank : local) {
    const Process process = process_of(setup_.space, rank);
    status = Completion::wait([&](OnDone done, void* data) {
      return api_.server_register_client(&process, uid, gid, nullptr, done, data);
    });
    if (status != kSuccess) return failed("register rank " + std::to_string(rank), status);
  }
  return {};
}

PmixHost::~PmixHost() {
  if (!running_) return;
  (void)api_.server_finalize();
  current = nullptr;
}

Result<pmi::Environment> PmixHost::environment(std::uint32_t rank) const {
  if (!is_local(rank))
    return fail(ErrorCode::invalid_argument,
                "rank " + std::to_string(rank) + " does not run on this node");
  const Process process = process_of(setup_.space, rank);
  // An array that the library extends, and we release.
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory)
  char** variables = static_cast<char**>(std::calloc(1, sizeof(char*)));
  const PmixStatus status = api_.server_setup_fork(&process, &variables);
  pmi::Environment environment;
  for (char** one = variables; one && *one; ++one) {
    const std::string_view variable = *one;
    const std::size_t equals = std::min(variable.find('='), variable.size());
    environment.emplace_back(variable.substr(0, equals),
                             variable.substr(std::min(equals + 1, variable.size())));
    std::free(*one);
  }
  std::free(variables);
  if (status != kSuccess)
    return fail(ErrorCode::internal, "PMIx: no environment of rank " + std::to_string(rank) + ": " +
                                         describe(api_, status));
  return environment;
}

void PmixHost::push(pmi::PmixEvent event) {
  events_.push_back(std::move(event));
  (void)::eventfd_write(event_fd_.get(), 1);
}

std::optional<pmi::PmixEvent> PmixHost::next_event() {
  const Lock lock(mutex_);
  if (events_.empty()) {
    eventfd_t count = 0;
    (void)::eventfd_read(event_fd_.get(), &count);
    return std::nullopt;
  }
  pmi::PmixEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void PmixHost::complete(std::uint64_t id, std::optional<std::string> data) {
  Waiting waiting;
  {
    const Lock lock(mutex_);
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return;
    waiting = found->second;
    waiting_.erase(found);
  }
  if (!data) return waiting.done(kError, nullptr, 0, waiting.data, nullptr, nullptr);
  auto kept = std::make_unique<std::string>(std::move(*data));
  const std::string& text = *kept;
  // The library releases it.
  waiting.done(kSuccess, text.data(), text.size(), waiting.data, &Callbacks::release,
               kept.release());
}

void PmixHost::complete_fence(std::uint64_t id, std::optional<std::string> data) {
  complete(id, std::move(data));
}

void PmixHost::complete_modex(std::uint64_t id, std::optional<std::string> data) {
  complete(id, std::move(data));
}

void PmixHost::answer_modex(std::uint64_t id, std::uint32_t rank) {
  if (is_local(rank)) {
    const Process process = process_of(setup_.space, rank);
    auto own = std::make_unique<std::uint64_t>(id);
    if (api_.server_dmodex_request(&process, &Callbacks::modex_found, own.get()) == kSuccess) {
      (void)own.release();
      return;
    }
  }
  const Lock lock(mutex_);
  push(pmi::PmixModexData{id, std::nullopt});
}

void PmixHost::on_ended(std::uint32_t rank) {
  if (!is_local(rank)) return;
  const Lock lock(mutex_);
  if (!connected_[rank]) return;
  connected_[rank] = false;
  push(pmi::PmixAbort{rank, 1, "rank " + std::to_string(rank) + " ended without MPI_Finalize"});
}

bool PmixHost::is_ours(const Process& process) const {
  return std::string_view(process.space) == setup_.space && process.rank < setup_.map.size;
}

bool PmixHost::is_local(std::uint32_t rank) const {
  return rank < setup_.map.size && node_of_rank_[rank] == setup_.map.this_node;
}

std::optional<std::vector<std::uint32_t>> PmixHost::ranks_of(const Process* processes,
                                                             std::size_t count) const {
  std::vector<std::uint32_t> ranks;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::string_view(processes[i].space) != setup_.space) return std::nullopt;
    if (processes[i].rank == kEveryRank) return std::vector<std::uint32_t>();
    if (!is_ours(processes[i])) return std::nullopt;
    ranks.push_back(processes[i].rank);
  }
  if (ranks.empty()) return std::nullopt;
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (ranks.size() == setup_.map.size) ranks.clear();  // all of them have one name
  return ranks;
}

}  // namespace ares::mpi::pmix
