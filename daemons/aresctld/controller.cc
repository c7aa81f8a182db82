#include "aresctld/controller.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>

#include "aresctld/accounting.h"
#include "aresctld/engine_loop.h"
#include "aresctld/ingress.h"
#include "aresctld/node_hub.h"
#include "aresctld/query_pool.h"
#include "aresctld/scheduler_loop.h"
#include "aresctld/state_dir.h"
#include "aresctld/view.h"
#include "aresctld/wait_room.h"
#include "rpc/server.h"
#include "store/pg_journal.h"

namespace ares::aresctld {
namespace {

constexpr std::size_t kAccountingThreads = 2;
constexpr std::size_t kAccountingQueue = 256;

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

store::PgOptions pg_options(const config::Config& config) {
  store::PgOptions options;
  options.host = config.database.host;
  options.port = config.database.port;
  options.database = config.database.name;
  options.user = config.database.user;
  options.password_file = config.database.password_file;
  options.accept_data_loss = config.database.accept_data_loss;
  options.cluster = config.policy.cluster;
  options.cluster_name = config.policy.cluster_name;
  options.controller_host = host_name();
  return options;
}

// Waits for the database as long as it takes. Empty: a stop signal came first.
Result<std::optional<store::Opened>> open_when_there(store::Journal& journal,
                                                     const sigset_t& stop_signals) {
  std::string said;
  for (;;) {
    auto opened = journal.open();
    if (opened) return std::optional(std::move(*opened));
    if (opened.error().code != ErrorCode::unavailable) return fail(opened.error());
    if (opened.error().message != said) {
      said = opened.error().message;
      spdlog::warn("waiting for the database: {}", said);
    }
    const timespec pause{0, 200'000'000};
    if (sigtimedwait(&stop_signals, nullptr, &pause) > 0) return std::optional<store::Opened>();
  }
}

ApplyConfig to_command(const config::Config& config) {
  ApplyConfig apply;
  apply.hash = config.policy.config_hash;
  apply.partitions = config.partitions;
  for (const auto& node : config.nodes) apply.nodes.emplace_back(node.name, node.inventory);
  return apply;
}

}  // namespace

struct Controller::Parts {
  explicit Parts(std::shared_ptr<const config::Config> c, bool rollback)
      : config(std::move(c)), accept_rollback(rollback) {}

  std::shared_ptr<const config::Config> config;
  bool accept_rollback;

  std::mutex database_mutex;
  std::string database_state = "active";
};

Controller::Controller(std::shared_ptr<const config::Config> config, bool accept_rollback)
    : parts_(std::make_unique<Parts>(std::move(config), accept_rollback)) {}

Controller::~Controller() = default;

Status Controller::run() {
  const auto& config = parts_->config;
  const auto policy = std::make_shared<const Policy>(config->policy);

  // Before any thread exists, so that all of them leave these to the wait below.
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGTERM);
  sigaddset(&stop_signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);
  signal(SIGPIPE, SIG_IGN);

  auto state_dir = StateDir::take(config->controller.state_dir);
  if (!state_dir) return fail(state_dir.error());

  const auto seen = state_dir->seen();
  if (!seen) return fail(seen.error());
  store::PgOptions database = pg_options(*config);
  database.seen = *seen;
  database.accept_rollback = parts_->accept_rollback;
  store::PgJournal journal(database);
  auto opened = open_when_there(journal, stop_signals);
  if (!opened) return fail(opened.error());
  if (!*opened) return {};  // told to stop while waiting
  store::Opened recovered = std::move(**opened);
  const std::string system = recovered.system;
  spdlog::info("recovered {} jobs and {} nodes at lsn {}, epoch {}", recovered.state.jobs.size(),
               recovered.state.nodes.size(), recovered.state.lsn.value(), recovered.epoch.value());

  const Epoch epoch = recovered.epoch;
  recovered.state.epoch = epoch;
  recovered.state.cluster = policy->cluster;

  Clock clock;
  ViewBoard views;
  NodeHub nodes(journal, views, clock);
  WaitRoom waits(views, clock);
  AccountingReader accounting(pg_options(*config));
  QueryPool pool(kAccountingThreads, kAccountingQueue);

  EngineLoop::Sinks sinks;
  sinks.publish = [&](std::shared_ptr<const ClusterState> state) {
    views.publish_state(std::move(state));
  };
  sinks.send = [&](Effects effects) { nodes.send(std::move(effects)); };
  sinks.durable = [&](const Committed& to) {
    state_dir->remember({system, to.epoch, to.lsn, to.next_job_id, to.next_node_id});
  };
  sinks.fatal = [](const Error& error) {
    // Proposed state dies unseen: no destructor, no thread may let anything of it out.
    spdlog::critical("stopping: {}", error.message);
    spdlog::shutdown();
    _exit(3);
  };
  sinks.database = [&](bool waiting, const std::string& why) {
    std::lock_guard lock(parts_->database_mutex);
    const std::string now = waiting ? "waiting for the database: " + why : "active";
    if (now != parts_->database_state) spdlog::warn("{}", now);
    parts_->database_state = now;
  };

  EngineLoop engine(journal, std::move(recovered.state), policy, clock, std::move(sinks));
  SchedulerLoop scheduler(views, engine, clock, policy);
  engine.start();
  engine.post(Command{Activate{epoch, host_name()}});
  engine.post(Command{to_command(*config)});
  nodes.start(engine);
  waits.start();
  scheduler.start();

  Identity identity;
  Ingress ingress(
      {engine, clock, views, nodes, waits, pool, config,
       [&](const api::Accounting& query, Time now) { return accounting.read(query, now); },
       [] { kill(getpid(), SIGTERM); },
       [&] {
         std::lock_guard lock(parts_->database_mutex);
         return parts_->database_state;
       }},
      identity);
  rpc::ServerOptions listening;
  listening.listen = config->controller.listen;
  listening.munge_socket = config->auth.munge_socket;
  listening.user_name = [&](UserId uid) { return identity.name_of(uid); };
  rpc::Server server(
      std::move(listening),
      [&](Principal who, api::Request request, std::shared_ptr<rpc::Responder> responder) {
        ingress.handle(std::move(who), std::move(request), std::move(responder));
      },
      &nodes);
  Status listened = server.start();
  if (listened) {
    for (const auto& address : server.addresses()) spdlog::info("listening on {}", address);
    int received = 0;
    sigwait(&stop_signals, &received);
    spdlog::info("stopping on {}; running jobs run on", received == SIGTERM ? "SIGTERM" : "SIGINT");
  }
  // From the inside out: every caller that still waits is answered before the server goes.
  engine.stop();
  views.stop();
  scheduler.stop();
  waits.stop();
  server.stop();
  nodes.stop();
  pool.stop();
  return listened;
}

}  // namespace ares::aresctld
