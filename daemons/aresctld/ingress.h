// Ingress: converts requests of authenticated clients to engine commands, or answers them from
// a view. Called on gRPC threads; never waits for the engine or the database on them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "aresctld/accounting/maintenance.h"
#include "aresctld/accounting/report_reader.h"
#include "aresctld/accounting/rollup_worker.h"
#include "aresctld/accounting/usage_rebuild.h"
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
    QueryPool& accounting;
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
  };

  Ingress(Parts parts, Identity& identity) : parts_(std::move(parts)), identity_(identity) {}

  void handle(Principal caller, api::Request request, std::shared_ptr<rpc::Responder> responder);

 private:
  using ResponderPtr = std::shared_ptr<rpc::Responder>;

  void mutate(Principal caller, const api::Request& request, ResponderPtr responder);
  void accept(Principal caller, const api::Request& request, const Digest& digest,
              std::size_t bytes, std::string said, ResponderPtr responder);
  void post(UserCommand command, std::size_t bytes, const std::string& note,
            const std::string& said, ResponderPtr responder);
  bool is_remembered(const Principal& caller, const std::string& id, const Digest& digest) const;
  // Blocks. `request` is changed as the site's script wants it.
  Result<std::string> ask_hook(const Principal& caller, api::Request& request,
                               const config::Config& config, const ResponderPtr& responder);
  void test_submit(Principal caller, const api::Request& request, ResponderPtr responder);
  void reconfigure(const Principal& caller, const api::Request& request, ResponderPtr responder);
  void dump(const Principal& caller, const api::DumpView& request, ResponderPtr responder);
  void roll_up(const Principal& caller, const api::Rollup& request, ResponderPtr responder);
  void run_maintenance(const Principal& caller, const api::Request& request,
                       ResponderPtr responder);
  void rebuild_usage(const Principal& caller, const api::Request& request, ResponderPtr responder);
  void step_access(const Principal& caller, const api::StepAccess& request, ResponderPtr responder);
  void job_script(const Principal& caller, const api::JobScript& request, ResponderPtr responder);
  void output(const Principal& caller, const api::ReadOutput& request, ResponderPtr responder);

  Parts parts_;
  Identity& identity_;
};

}  // namespace ares::aresctld
