#include "aresctld/controller.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "aresctld/accounting/accounting.h"
#include "aresctld/accounting/archiver.h"
#include "aresctld/accounting/maintenance.h"
#include "aresctld/accounting/purge_worker.h"
#include "aresctld/accounting/report_reader.h"
#include "aresctld/accounting/rollup_worker.h"
#include "aresctld/accounting/usage_rebuild.h"
#include "aresctld/engine/engine_loop.h"
#include "aresctld/engine/job_waiters.h"
#include "aresctld/engine/mark_keeper.h"
#include "aresctld/engine/scheduler_loop.h"
#include "aresctld/engine/state_dir.h"
#include "aresctld/engine/view.h"
#include "aresctld/identity.h"
#include "aresctld/ingress.h"
#include "aresctld/node_hub.h"
#include "aresctld/notify/notifier.h"
#include "aresctld/plugins/scheduler_plugins.h"
#include "aresctld/query/query_pool.h"
#include "aresctld/reconfigurer.h"
#include "aresctld/submit_hook/submit_hooks.h"
#include "aresctld/watch/watch_hub.h"
#include "base/mutex.h"
#include "cli/output/config_change.h"
#include "log/log.h"
#include "os/descriptors.h"
#include "rpc/server/server.h"
#include "store/pg/pg_journal.h"

namespace ares::aresctld {
namespace {

// Also the number of database connections; one user may use at most half of them.
constexpr std::size_t kAccountingThreads = 4;
constexpr QueryPool::Bounds kAccountingBounds{
    .waiting = 256, .waiting_per_user = 16, .running_per_user = kAccountingThreads / 2};

// Answers that take CPU time, such as why a job waits. One user's leave threads to others.
constexpr std::size_t kQueryThreads = 2;
constexpr QueryPool::Bounds kQueryBounds{
    .waiting = 256, .waiting_per_user = 16, .running_per_user = kQueryThreads / 2};

// Calls of submit hooks. One user's slow ones leave threads to others.
constexpr std::size_t kHookThreads = 4;
constexpr QueryPool::Bounds kHookBounds{
    .waiting = 1024, .waiting_per_user = 128, .running_per_user = kHookThreads / 2};

constexpr std::size_t kFewDescriptors = 8192;

// While the database is waited for, other reasons are logged this often.
constexpr std::chrono::minutes kSameTrouble{1};

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

// The path of a program that is installed with this one.
std::string program_beside(const char* name) {
  std::error_code unknown;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", unknown);
  return (own.parent_path() / name).string();
}

SenderSite sender_site(const std::string& cluster, Epoch epoch, Time now) {
  const auto seconds = std::chrono::floor<Seconds>(now).time_since_epoch().count();
  return {program_beside("ares-notify"), host_name(),
          cluster + "-" + std::to_string(epoch.value()) + "-" + std::to_string(seconds)};
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

// Every connection takes a descriptor, and the usual limit of 1024 is less than a large cluster has nodes.
void raise_descriptors() {
  const auto limit = os::raise_descriptor_limit();
  if (!limit) return spdlog::warn("{}", limit.error().message);
  spdlog::info("at most {} descriptors may be open (the limit was {})", limit->now, limit->before);
  if (limit->now < kFewDescriptors)
    spdlog::warn(
        "with {} descriptors few users and nodes can be connected at once; raise the hard limit "
        "(LimitNOFILE of the service, ulimit -Hn)",
        limit->now);
}

void reopen_log_file() {
  if (auto reopened = reopen_log(); !reopened) spdlog::error("{}", reopened.error().message);
}

store::HighWaterMark mark_of(const store::Opened& opened) {
  const ClusterState& state = opened.state;
  store::HighWaterMark mark;
  mark.system = opened.system;
  mark.position = {state.history, opened.epoch, opened.holder, state.lsn, state.next_job_id};
  mark.next_node_id = state.next_node_id;
  return mark;
}

// Waits until the database is available. Empty: a stop signal arrived before that.
Result<std::optional<store::Opened>> open_when_there(store::Journal& journal,
                                                     const sigset_t& signals) {
  std::string last_error;
  for (;;) {
    auto opened = journal.open();
    if (opened) return std::optional(std::move(*opened));
    if (opened.error().code != ErrorCode::unavailable) return fail(opened.error());
    if (opened.error().message != last_error) {
      last_error = opened.error().message;
      spdlog::warn("waiting for the database: {}", last_error);
    }
    const timespec pause{0, 200'000'000};
    const int received = sigtimedwait(&signals, nullptr, &pause);
    if (received == SIGHUP)
      spdlog::info("SIGHUP is of no use yet: the configuration was just read");
    else if (received == SIGUSR1)
      reopen_log_file();
    else if (received > 0)
      return std::optional<store::Opened>();
  }
}

// Call before any thread exists: all threads inherit the mask, and the main thread gets these.
sigset_t block_signals() {
  sigset_t all;
  sigemptyset(&all);
  for (const int one : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&all, one);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return all;
}

// The user of this process, recorded as the sender of signals.
Principal own_principal(const config::Config& config) {
  return {config.controller.uid, GroupId{getgid()}, config.controller.user, host_name()};
}

// A unique request id: the time differs between controllers, the count between signals.
std::string signal_request_id(Time now, unsigned count) {
  return "sighup-" + std::to_string(now.time_since_epoch().count()) + "-" + std::to_string(count);
}

void log_reconfiguration(const Result<api::Reconfigured>& result) {
  if (!result) return spdlog::error("not reconfigured: {}", result.error().message);
  spdlog::info("reconfigured from {}: {} changes", result->path(), result->changes().size());
  for (const api::ConfigChange& change : result->changes())
    spdlog::info("  {}", cli::change_text(change));
}

}  // namespace

struct Controller::Parts {
  explicit Parts(std::shared_ptr<const config::Config> c, bool rollback)
      : config(std::move(c)), accept_rollback(rollback) {}

  std::shared_ptr<const config::Config> config;
  bool accept_rollback;

  Mutex database_mutex;
  std::string database_state ARES_GUARDED_BY(database_mutex) = "active";
  std::string objection ARES_GUARDED_BY(database_mutex);  // empty: none
  // Before anything is acknowledged.
  std::size_t awaited_nodes ARES_GUARDED_BY(database_mutex) = 0;

  // Of the database.
  std::chrono::steady_clock::time_point waiting_since ARES_GUARDED_BY(database_mutex);
  std::chrono::steady_clock::time_point told_at ARES_GUARDED_BY(database_mutex);

  // `why` null: no longer. Each try may have a reason of its own, as the files of a full disk differ.
  void wait_for_database(const Error* why) {
    const auto now = std::chrono::steady_clock::now();
    const Lock lock(database_mutex);
    const bool waited = database_state != "active";
    if (!why) {
      database_state = "active";
      spdlog::warn("active again after {} s of waiting for the database",
                   std::chrono::duration_cast<Seconds>(now - waiting_since).count());
      return;
    }
    if (!waited) waiting_since = now;
    const bool is_new = database_state != "waiting for the database: " + why->message;
    database_state = "waiting for the database: " + why->message;
    if (waited && (!is_new || now - told_at < kSameTrouble)) return;
    told_at = now;
    if (why->code == ErrorCode::resource_exhausted)
      spdlog::error("{}; queries are answered, nothing else happens until then", database_state);
    else
      spdlog::warn("{}", database_state);
  }

  std::string state() {
    const Lock lock(database_mutex);
    if (!objection.empty()) return "acknowledges nothing: " + objection;
    if (awaited_nodes == 0) return database_state;
    return "acknowledges nothing until it has heard its nodes, " + std::to_string(awaited_nodes) +
           " at its start";
  }
};

Controller::Controller(std::shared_ptr<const config::Config> config, bool accept_rollback)
    : parts_(std::make_unique<Parts>(std::move(config), accept_rollback)) {}

Controller::~Controller() = default;

Status Controller::run() {
  const sigset_t signals = block_signals();
  raise_descriptors();

  auto state_dir = StateDir::take(parts_->config->controller.state_dir);
  if (!state_dir) return fail(state_dir.error());

  SchedulerPlugins plugins(parts_->config->controller.state_dir + "/plugins-set-aside");
  auto loaded = plugins.load(*parts_->config);
  if (!loaded) return fail(loaded.error());
  auto with_plugins = std::make_shared<config::Config>(*parts_->config);
  with_plugins->policy.plugins = *std::move(loaded);
  parts_->config = std::move(with_plugins);
  const auto& config = parts_->config;
  const auto policy = std::make_shared<const Policy>(config->policy);

  const auto seen = state_dir->seen();
  if (!seen) return fail(seen.error());
  store::PgOptions database = pg_options(*config);
  database.seen = *seen;
  database.accept_rollback = parts_->accept_rollback;
  store::PgJournal journal(database);
  auto opened = open_when_there(journal, signals);
  if (!opened) return fail(opened.error());
  if (!*opened) return {};  // stop signal while waiting
  store::Opened recovered = std::move(**opened);
  const std::string system = recovered.system;
  spdlog::info("recovered {} jobs and {} nodes at lsn {}, epoch {}", recovered.state.jobs.size(),
               recovered.state.nodes.size(), recovered.state.lsn.value(), recovered.epoch.value());

  if (parts_->accept_rollback)
    spdlog::warn("a rollback was accepted: history {} begins after event {}",
                 recovered.state.history, recovered.state.lsn.value());

  const Epoch epoch = recovered.epoch;
  recovered.state.epoch = epoch;
  recovered.state.cluster = policy->cluster;
  // The mark ends where another controller took over. Whether the database is the newest one, only the
  // nodes can tell then. After a rollback they know of jobs that the database has as pending, and that
  // must not start while they run.
  const bool mark_is_newest = *seen && (*seen)->position.epoch.next() == epoch;
  const bool hears_nodes_first = !mark_is_newest || parts_->accept_rollback;
  MarkKeeper mark(state_dir->high_water());
  if (hears_nodes_first && !parts_->accept_rollback)
    mark.await_nodes(mark_of(recovered));
  else if (auto begun = mark.begin(mark_of(recovered)); !begun)
    return fail(begun.error());

  Clock clock(recovered.state.now, [](const std::string& text) { spdlog::warn("{}", text); });
  ViewHolder views;
  ConfigHolder config_holder(config);
  OutputStore output(pg_options(*config), views, config_holder);
  NodeHub nodes(journal, views, clock, output, recovered.holder,
                [&config_holder] { return config_holder.policy()->max_clock_offset; });
  JobWaiters job_waiters(views, clock);
  Identity identity;
  store::PgOptions for_reports = pg_options(*config);
  for_reports.replica = config->database.reports;
  for_reports.replica_system = system;
  for_reports.on_replica_change = [](const std::string& text) { spdlog::warn("{}", text); };
  AccountingReader accounting(for_reports, kAccountingThreads, views, config_holder, identity,
                              [&nodes](const std::string& node, const AttemptKey& attempt) {
                                const auto heard = nodes.use_of(node, attempt);
                                return heard ? heard->use.steps : std::vector<StepRecord>();
                              });
  RollupWorker rollup_worker(pg_options(*config), clock);
  QueryPool database_queries(kAccountingThreads, kAccountingBounds);
  QueryPool queries(kQueryThreads, kQueryBounds);
  WatchHub watches({views, config_holder, clock, database_queries,
                    [&](const api::Accounting& query, Lsn after, Lsn upto) {
                      return accounting.read_ended(query, after, upto, clock.now());
                    },
                    &identity});
  ReportReader reports(for_reports, kAccountingThreads, views, config_holder);
  store::OutputReader stored_output(pg_options(*config), kAccountingThreads);
  Archiver archiver(pg_options(*config), config_holder, clock);
  std::atomic<Epoch::rep> commits_under{epoch.value()};
  const auto current_epoch = [&] { return Epoch(commits_under.load()); };
  PurgeWorker purge_worker(pg_options(*config), config_holder, clock, current_epoch);
  AccountingMaintenance maintenance(pg_options(*config), for_reports, kAccountingThreads,
                                    current_epoch, rollup_worker, archiver);
  Notifier notifier([&] { return config_holder.read(); },
                    sender_site(config->policy.cluster_name, epoch, clock.now()));

  EngineLoop::Sinks sinks;
  sinks.publish = [&](std::shared_ptr<const ClusterState> state) {
    views.publish_state(std::move(state));
  };
  sinks.send = [&](Effects effects) { nodes.send(std::move(effects)); };
  sinks.notify = [&](std::vector<core::Notice> notices) { notifier.post(std::move(notices)); };
  sinks.durable = [&](const Committed& to) {
    commits_under = to.epoch.value();
    mark.committed(to.epoch, to.lsn, to.next_job_id, to.next_node_id);
  };
  sinks.object = [&](const core::Objection& objection) {
    spdlog::critical("acknowledging nothing more: {}", objection.why);
    mark.object(objection.heard);
    const Lock lock(parts_->database_mutex);
    parts_->objection = objection.why;
  };
  const auto confirm = [&] {
    if (auto confirmed = mark.confirm(); !confirmed) spdlog::error("{}", confirmed.error().message);
    const Lock lock(parts_->database_mutex);
    parts_->awaited_nodes = 0;
  };
  sinks.nodes_heard = confirm;
  sinks.fatal = [](const Error& error) {
    // End without destructors or threads: none of the uncommitted state may become visible.
    spdlog::critical("stopping: {}", error.message);
    spdlog::shutdown();
    _exit(3);
  };
  sinks.database = [&](const Error* why) { parts_->wait_for_database(why); };

  EngineLoop engine(journal, std::move(recovered.state), policy, clock, std::move(sinks));
  if (hears_nodes_first) {
    const std::size_t awaited = engine.hear_nodes_first();
    {
      const Lock lock(parts_->database_mutex);
      parts_->awaited_nodes = awaited;
    }
    if (awaited == 0)
      confirm();
    else
      spdlog::warn(
          "{}: waiting for {} nodes, at most {} s, before anything is acknowledged",
          parts_->accept_rollback
              ? "nodes may run jobs that the database has as pending"
              : config->controller.state_dir +
                    " has no record of the last position, or another controller has gone on since",
          awaited, std::chrono::duration_cast<Seconds>(core::kRollCallPatience).count());
  }
  Reconfigurer reconfigurer(config_holder, engine, views, &plugins);
  UsageRebuilder usage(pg_options(*config), views, engine, clock);
  SchedulerLoop scheduler(views, engine, clock, config_holder);
  engine.start();
  engine.post(Command{Activate{epoch, host_name()}});
  ApplyConfig first = to_command(*config);
  first.keep_changes = true;
  engine.post(Command{std::move(first)});
  output.start();
  nodes.start(engine);
  job_waiters.start();
  watches.start();
  scheduler.start();
  notifier.start();
  rollup_worker.start();
  archiver.start();
  purge_worker.start();

  ViewDumps dumps;
  QueryPool hook_calls(kHookThreads, kHookBounds);
  SubmitHooks submit_hooks(program_beside("ares-submit-hook"));
  Ingress ingress(
      {engine,
       clock,
       views,
       nodes,
       job_waiters,
       queries,
       database_queries,
       hook_calls,
       submit_hooks,
       config_holder,
       reconfigurer,
       dumps,
       plugins,
       journal,
       [&](const api::Accounting& query, Time now) { return accounting.read(query, now); },
       reports,
       rollup_worker,
       maintenance,
       usage,
       output,
       stored_output,
       [] { kill(getpid(), SIGTERM); },
       [&] { return parts_->state(); },
       watches},
      identity);
  rpc::ServerOptions listening;
  listening.listen = config->controller.listen;
  listening.munge_socket = config->auth.munge_socket;
  listening.user_name = [&](UserId uid) { return identity.name_of(uid); };
  listening.on_problem = [](const std::string& text) { spdlog::warn("{}", text); };
  rpc::Server server(
      std::move(listening),
      [&](Principal caller, api::Request request, std::shared_ptr<rpc::Responder> responder) {
        ingress.handle(std::move(caller), std::move(request), std::move(responder));
      },
      &nodes);
  Status listened = server.start();
  if (listened) {
    for (const auto& address : server.addresses()) spdlog::info("listening on {}", address);
    int received = 0;
    for (unsigned count = 0; sigwait(&signals, &received) == 0; ++count) {
      if (received == SIGUSR1) {
        reopen_log_file();
        continue;
      }
      if (received != SIGHUP) break;
      spdlog::info("SIGHUP: reading {} again", config->path);
      reconfigurer.apply(own_principal(*config), signal_request_id(clock.now(), count), Digest{},
                         log_reconfiguration);
    }
    spdlog::info("stopping on {}; running jobs run on", received == SIGTERM ? "SIGTERM" : "SIGINT");
  }
  // Inner parts first, so that every waiting caller gets an answer before the server stops.
  engine.stop();
  views.stop();
  scheduler.stop();
  job_waiters.stop();
  watches.stop();
  output.stop();
  server.stop();
  nodes.stop();
  queries.stop();
  database_queries.stop();
  hook_calls.stop();
  rollup_worker.stop();
  archiver.stop();
  purge_worker.stop();
  notifier.stop();
  return listened;
}

}  // namespace ares::aresctld
