// Ingress: converts requests of authenticated clients to engine commands, or answers them. The table
// kinds() says of each kind of request which callers may make it, which threads answer it, and which
// function. handle() is called on gRPC threads and never waits for the engine or the database.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "aresctld/accounting/maintenance.h"
#include "aresctld/accounting/report_reader.h"
#include "aresctld/accounting/rollup_worker.h"
#include "aresctld/accounting/usage_rebuild.h"
#include "aresctld/answers.h"
#include "aresctld/config_holder.h"
#include "aresctld/engine/engine_loop.h"
#include "aresctld/engine/job_waiters.h"
#include "aresctld/engine/view.h"
#include "aresctld/identity.h"
#include "aresctld/node_hub.h"
#include "aresctld/output/output_store.h"
#include "aresctld/plugins/scheduler_plugins.h"
#include "aresctld/query/query_pool.h"
#include "aresctld/query/view_dumps.h"
#include "aresctld/reconfigurer.h"
#include "aresctld/submit_hook/submit_hooks.h"
#include "aresctld/watch/watch_hub.h"
#include "config/config.h"
#include "proto/gen/api.pb.h"
#include "rpc/server/server.h"
#include "store/journal/journal.h"

namespace ares::aresctld {

class Ingress {
 public:
  struct Parts {
    EngineLoop& engine;
    Clock& clock;
    const ViewHolder& views;
    NodeHub& nodes;
    JobWaiters& job_waiters;
    QueryPool& queries;     // threads for answers that take CPU time
    QueryPool& database;    // threads for answers that wait for the database
    QueryPool& hook_calls;  // threads that wait for submit hooks
    SubmitHooks& submit_hooks;
    const ConfigHolder& config;
    Reconfigurer& reconfigurer;
    ViewDumps& dumps;
    const SchedulerPlugins& plugins;
    store::Journal& journal;  // for blobs only; may block on the database
    std::function<Result<api::AccountingRows>(const api::Accounting&, Time now)>
        read_accounting;  // may block on the database
    ReportReader& reports;
    RollupWorker& rollup_worker;
    AccountingMaintenance& maintenance;
    UsageRebuilder& usage;
    OutputStore& output;
    store::OutputReader& stored_output;  // may block on the database
    std::function<void()> shut_down;
    std::function<std::string()> database_state;  // "active", or what it waits for
    WatchHub& watches;
  };

  Ingress(Parts parts, Identity& identity) : parts_(std::move(parts)), identity_(identity) {}

  void handle(Principal caller, api::Request request, std::shared_ptr<rpc::Responder> responder);

  enum class Asker : std::uint8_t { user, operator_, administrator };
  enum class Runs : std::uint8_t {
    engine,    // as a command; decide() says who may
    here,      // on the thread of the call, which must not wait; it may pass the rest on
    queries,   // on a thread of Parts::queries
    database,  // on a thread of Parts::database
  };
  struct Call;
  struct Kind {
    api::Request::BodyCase body;
    const char* what;  // "stop the controller", for a refusal
    // The least privileged who may. A request on behalf of another user is refused by the function
    // that answers.
    Asker (*asker)(const api::Request&);
    Runs where;
    void (Ingress::*answer)(const Call&);  // null: Runs::engine
  };
  // One row for each body of a Request.
  static std::span<const Kind> kinds();
  // Null: a request that this release does not know.
  static const Kind* kind_of(api::Request::BodyCase body);
  // Why the caller may not make a request of this kind; none: the caller may.
  static std::optional<Error> refusal(const Kind& kind, const api::Request& request,
                                      const Policy& policy, const Principal& caller);

 private:
  using ResponderPtr = std::shared_ptr<rpc::Responder>;

  // Hands the call to a pool, or refuses it if too many wait there.
  void queue(QueryPool& pool, const Call& call, void (Ingress::*answer)(const Call&));

  void mutate(Principal caller, const api::Request& request, ResponderPtr responder);
  void accept(Principal caller, const api::Request& request, const Digest& digest,
              std::size_t bytes, std::string said, ResponderPtr responder);
  void post(UserCommand command, std::size_t bytes, const std::string& note,
            const std::string& said, ResponderPtr responder);
  bool is_remembered(const Principal& caller, const std::string& id, const Digest& digest) const;
  // Blocks. `request` is changed as the site's script wants it.
  Result<std::string> ask_hook(const Principal& caller, api::Request& request,
                               const config::Config& config, const ResponderPtr& responder);

  // Answers; ingress_answers.cc but for those that name a file.
  void jobs(const Call& call);
  void nodes(const Call& call);
  void partitions(const Call& call);
  void reservations(const Call& call);
  void licenses(const Call& call);
  void ping(const Call& call);
  void plugins(const Call& call);
  void show_config(const Call& call);
  void wait_job(const Call& call);
  void watch(const Call& call);
  void account_records(const Call& call);
  void shares(const Call& call);
  void priorities(const Call& call);
  void use(const Call& call);
  void explain_job(const Call& call);
  void test_submit(const Call& call);
  void estimate_start(const Call& call);
  void dump(const Call& call);
  void reconfigure(const Call& call);
  void set_log_level(const Call& call);
  void shutdown(const Call& call);
  void accounting(const Call& call);  // ingress_accounting.cc, as the next ones
  void report(const Call& call);
  void runaways(const Call& call);
  void transactions(const Call& call);
  void node_events(const Call& call);
  void archive(const Call& call);
  void rebuild_usage(const Call& call);
  void rollup(const Call& call);
  void step_access(const Call& call);  // ingress_jobs.cc, as the next ones
  void notify_job(const Call& call);
  void job_script(const Call& call);
  void output(const Call& call);

  Parts parts_;
  Identity& identity_;
};

// A request while it is answered, with what held when it came.
struct Ingress::Call {
  Principal caller;
  std::shared_ptr<const api::Request> request;
  std::shared_ptr<rpc::Responder> responder;
  std::shared_ptr<const config::Config> config;
  View view;
  Time now{};

  const Policy& policy() const { return config->policy; }
  // Sends the value in the field of the response that `field` returns, or the error.
  template <class T, class Field>
  void send(Result<T> result, Field field) const {
    responder->send(answer_with(std::move(result), field));
  }
};

}  // namespace ares::aresctld
