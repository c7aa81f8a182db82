#include "node/records.h"

#include <charconv>

#include "node/checkpoint_fields.h"
#include "node/text_fields.h"

namespace ares::node {
namespace {

constexpr std::array<std::string_view, kRecordCount> kFileNames = {
    "spec",  "script", "environment", "intent",   "started",  "task",
    "go",    "exit",   "cancelled",   "gone",     "cleaning", "epilog",
    "stuck", "ledger", "checkpoints", "restored", "stopped"};

void put_attempt(FieldWriter& out, const AttemptKey& key) {
  out.put("job", key.job.job);
  if (!key.job.task.is_none()) out.put("array_task", key.job.task.value);
  out.put("attempt", key.attempt);
}

AttemptKey get_attempt(FieldReader& in) {
  return {
      {in.id<JobId>("job"), TaskIndex{in.number_or<std::uint32_t>("array_task", TaskIndex::kNone)}},
      in.id<AttemptNo>("attempt")};
}

template <class T>
Result<T> checked(const FieldReader& in, T value) {
  if (Status status = in.status(); !status) return fail(status.error());
  return value;
}

template <class T>
bool parse_whole(std::string_view text, T& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

}  // namespace

std::string_view file_name(Record record) {
  return kFileNames[static_cast<std::size_t>(record)];
}

std::string encode(const NodeIdentity& r) {
  return FieldWriter()
      .put("uuid", r.uuid)
      .put("boot_id", r.boot_id)
      .put("incarnation", r.incarnation)
      .put("highest_epoch", r.highest_epoch)
      .put("highest_lsn", r.highest_lsn)
      .put("history", r.position.history)
      .put("position_epoch", r.position.epoch)
      .put("position_holder", r.position.holder)
      .put("position_lsn", r.position.lsn)
      .put("next_job_id", r.position.next_job_id)
      .take();
}
Result<NodeIdentity> decode_identity(std::string_view text) {
  FieldReader in("identity", text);
  NodeIdentity r;
  r.uuid = in.text("uuid");
  r.boot_id = in.text("boot_id");
  r.incarnation = in.number<std::uint64_t>("incarnation");
  r.highest_epoch = in.id<Epoch>("highest_epoch");
  r.highest_lsn = in.id<Lsn>("highest_lsn");
  r.position.history = in.text_or_empty("history");  // missing: written by release 0.1.0
  r.position.epoch = Epoch(in.number_or<Epoch::rep>("position_epoch", 0));
  r.position.holder = in.text_or_empty("position_holder");
  r.position.lsn = Lsn(in.number_or<Lsn::rep>("position_lsn", 0));
  r.position.next_job_id = JobId(in.number_or<JobId::rep>("next_job_id", 0));
  return checked(in, std::move(r));
}

std::string encode(const IntentRecord& r) {
  FieldWriter out;
  put_attempt(out, r.attempt);
  return out.put("fence", r.fence)
      .put("incarnation", r.incarnation)
      .put("boot_id", r.boot_id)
      .put("rank", r.rank)
      .put("leased", r.leased)
      .put("at", r.at)
      .take();
}
Result<IntentRecord> decode_intent(std::string_view text) {
  FieldReader in("intent", text);
  IntentRecord r;
  r.attempt = get_attempt(in);
  r.fence = in.id<Fence>("fence");
  r.incarnation = in.number<std::uint64_t>("incarnation");
  r.boot_id = in.text("boot_id");
  r.rank = in.number<std::uint32_t>("rank");
  r.leased = in.flag("leased");
  r.at = in.time("at");
  return checked(in, std::move(r));
}

std::string encode(const StartedRecord& r) {
  FieldWriter out;
  out.put("pid", r.pid).put("start_ticks", r.start_ticks).put("cgroups", r.cgroups);
  if (r.reaper_pid != 0)
    out.put("reaper_pid", r.reaper_pid).put("reaper_start_ticks", r.reaper_start_ticks);
  return out.put("at", r.at).take();
}
Result<StartedRecord> decode_started(std::string_view text) {
  FieldReader in("started", text);
  StartedRecord r;
  r.pid = in.number<std::int64_t>("pid");
  r.start_ticks = in.number<std::uint64_t>("start_ticks");
  r.cgroups = in.text_or_empty("cgroups");
  r.reaper_pid = in.number_or<std::int64_t>("reaper_pid", 0);
  r.reaper_start_ticks = in.number_or<std::uint64_t>("reaper_start_ticks", 0);
  r.at = in.time("at");
  return checked(in, r);
}

std::string encode(const TaskRecord& r) {
  FieldWriter out;
  out.put("pid", r.pid)
      .put("start_ticks", r.start_ticks)
      .put("own_pid_namespace", r.own_pid_namespace);
  if (!r.no_namespace_because.empty()) out.put("no_namespace_because", r.no_namespace_because);
  return out.put("at", r.at).take();
}
Result<TaskRecord> decode_task(std::string_view text) {
  FieldReader in("task", text);
  TaskRecord r;
  r.pid = in.number<std::int64_t>("pid");
  r.start_ticks = in.number_or<std::uint64_t>("start_ticks", 0);
  r.own_pid_namespace = in.flag("own_pid_namespace");
  r.no_namespace_because = in.text_or_empty("no_namespace_because");
  r.at = in.time("at");
  return checked(in, std::move(r));
}

std::string encode(const GoRecord& r) {
  return FieldWriter().put("fence", r.fence).put("at", r.at).take();
}
Result<GoRecord> decode_go(std::string_view text) {
  FieldReader in("go", text);
  GoRecord r;
  r.fence = in.id<Fence>("fence");
  r.at = in.time("at");
  return checked(in, r);
}

std::string encode(const ExitRecord& r) {
  FieldWriter out;
  out.put("fence", r.fence)
      .put("code", r.exit.code)
      .put("signal", r.exit.signal)
      .put("out_of_memory", r.exit.out_of_memory)
      .put("timed_out", r.exit.timed_out)
      .put("user_cpu_us", r.usage.user_cpu.count())
      .put("system_cpu_us", r.usage.system_cpu.count())
      .put("max_rss", r.usage.max_rss)
      .put("disk_read", r.usage.disk_read)
      .put("disk_written", r.usage.disk_written)
      .put("started_at", r.started_at)
      .put("ended_at", r.ended_at);
  if (!r.detail.empty()) out.put("detail", r.detail);
  if (r.lease_ended) out.put("lease_ended", true);
  return out.take();
}
Result<ExitRecord> decode_exit(std::string_view text) {
  FieldReader in("exit", text);
  ExitRecord r;
  r.fence = in.id<Fence>("fence");
  r.exit.code = in.number<std::int32_t>("code");
  r.exit.signal = in.number<std::int32_t>("signal");
  r.exit.out_of_memory = in.flag("out_of_memory");
  r.exit.timed_out = in.flag("timed_out");
  r.usage.user_cpu = Duration(in.number<std::int64_t>("user_cpu_us"));
  r.usage.system_cpu = Duration(in.number<std::int64_t>("system_cpu_us"));
  r.usage.max_rss = Bytes(in.number<std::int64_t>("max_rss"));
  r.usage.disk_read = Bytes(in.number_or<std::int64_t>("disk_read", 0));  // 0.1.0 has none
  r.usage.disk_written = Bytes(in.number_or<std::int64_t>("disk_written", 0));
  r.started_at = in.time("started_at");
  r.ended_at = in.time("ended_at");
  r.detail = in.text_or_empty("detail");
  r.lease_ended = in.flag("lease_ended");
  return checked(in, std::move(r));
}

std::string encode(const CancelledRecord& r) {
  FieldWriter out;
  out.put("fence", r.fence).put("at", r.at).put("why", r.why);
  if (!r.node_problem.empty()) out.put("node_problem", r.node_problem);
  return out.take();
}
Result<CancelledRecord> decode_cancelled(std::string_view text) {
  FieldReader in("cancelled", text);
  CancelledRecord r;
  r.fence = in.id<Fence>("fence");
  r.at = in.time("at");
  r.why = in.text_or_empty("why");
  r.node_problem = in.text_or_empty("node_problem");
  return checked(in, std::move(r));
}

std::string encode(const EpilogRecord& r) {
  return FieldWriter().put("at", r.at).put("node_problem", r.node_problem).take();
}
Result<EpilogRecord> decode_epilog(std::string_view text) {
  FieldReader in("epilog", text);
  EpilogRecord r;
  r.at = in.time("at");
  r.node_problem = in.text_or_empty("node_problem");
  return checked(in, std::move(r));
}

std::string encode(const StuckRecord& r) {
  return FieldWriter().put("at", r.at).put("processes", r.processes).take();
}
Result<StuckRecord> decode_stuck(std::string_view text) {
  FieldReader in("stuck", text);
  StuckRecord r;
  r.at = in.time("at");
  r.processes = in.text_or_empty("processes");
  return checked(in, std::move(r));
}

std::string encode(const StoppedRecord& r) {
  return FieldWriter().put("lsn", r.lsn).take();
}
Result<StoppedRecord> decode_stopped(std::string_view text) {
  FieldReader in("stopped", text);
  StoppedRecord r{in.id<Lsn>("lsn")};
  return checked(in, r);
}

std::string encode(const GoneRecord& r) {
  return FieldWriter().put("by", r.by).put("at", r.at).take();
}

namespace {

std::string job_text(const JobKey& key) {
  std::string text = std::to_string(key.job.value());
  return key.task.is_none() ? text : text + "_" + std::to_string(key.task.value);
}

}  // namespace

std::string directory_name(const AttemptKey& key) {
  return job_text(key.job) + "." + std::to_string(key.attempt.value());
}

std::optional<AttemptKey> parse_directory_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view job = name.substr(0, dot);
  const std::size_t underscore = job.find('_');
  std::uint64_t id = 0;
  std::uint32_t task = TaskIndex::kNone;
  std::uint32_t attempt = 0;
  if (!parse_whole(job.substr(0, underscore), id)) return std::nullopt;
  if (underscore != std::string_view::npos && !parse_whole(job.substr(underscore + 1), task))
    return std::nullopt;
  if (!parse_whole(name.substr(dot + 1), attempt)) return std::nullopt;
  const AttemptKey key{{JobId(id), TaskIndex{task}}, AttemptNo(attempt)};
  if (directory_name(key) != name) return std::nullopt;  // "012.1" is not a canonical name
  return key;
}

AttemptPhase phase_from(const Evidence& e) {
  const bool cleans = e.locked && e.cleaning && !e.epilog;  // the epilog runs
  if (e.exit && !cleans) return AttemptPhase::done;
  // `cancelled` is written only where `go` is known to be absent, and it is durable.
  if (!e.same_boot) return e.cancelled && !e.go ? AttemptPhase::never_ran : AttemptPhase::lost;
  if (e.locked) {
    if (e.go) return AttemptPhase::running;
    return e.task ? AttemptPhase::ready : AttemptPhase::accepted;
  }
  if (e.go) return AttemptPhase::lost;
  if (e.cancelled || e.started) return AttemptPhase::never_ran;
  return AttemptPhase::accepted;
}

AttemptReport bare_report(const AttemptKey& key, Fence fence, AttemptPhase phase,
                          std::string detail) {
  AttemptReport report;
  report.attempt = key;
  report.fence = fence;
  report.phase = phase;
  report.detail = std::move(detail);
  return report;
}

namespace {

Evidence gather_evidence(const Spool& spool, const AttemptDir& dir, const AttemptKey& key,
                         bool same_boot) {
  Evidence e;
  e.same_boot = same_boot;
  e.locked = same_boot && spool.locked(key);
  // Read after the lock: what a supervisor wrote before it released the lock is then visible.
  e.exit = dir.has(Record::exit);
  e.cancelled = dir.has(Record::cancelled);
  e.go = dir.has(Record::go);
  e.task = dir.has(Record::task);
  e.started = dir.has(Record::started);
  e.cleaning = dir.has(Record::cleaning);
  e.epilog = dir.has(Record::epilog);
  return e;
}

// Makes the records of an end durable before the end is reported: the controller acts on the report, so
// it must survive a power loss. If the disk fails, the end is reported nevertheless, because it is true.
void sync_end(const AttemptDir& dir, AttemptPhase phase, bool is_synced) {
  if (is_synced) return;
  if (phase == AttemptPhase::done || phase == AttemptPhase::never_ran) (void)dir.sync();
}

// What an operator should know of a task that waits at its gate.
std::string remark_on_task(const AttemptDir& dir) {
  const Result<std::string> text = dir.read(Record::task);
  const Result<TaskRecord> task = text ? decode_task(*text) : fail(text.error());
  if (!task || task->no_namespace_because.empty()) return {};
  return "it runs without a pid namespace, and if its supervisor is killed, an operator has to "
         "confirm its end: " +
         task->no_namespace_because;
}

// Why the node must be drained after the attempt: its prolog or epilog failed.
std::string node_problem(const AttemptDir& dir, bool same_boot) {
  if (const auto epilog = read_record(dir, Record::epilog, decode_epilog);
      !epilog.node_problem.empty())
    return epilog.node_problem;
  if (const auto cancelled = read_record(dir, Record::cancelled, decode_cancelled);
      !cancelled.node_problem.empty())
    return cancelled.node_problem;
  // After a reboot nothing of the attempt is left.
  if (same_boot && dir.has(Record::cleaning) && !dir.has(Record::epilog))
    return "the epilog did not come to its end: its supervisor was killed";
  return {};
}

Status add_exit(const AttemptDir& dir, AttemptReport& report) {
  Result<std::string> text = dir.read(Record::exit);
  if (!text) return fail(text.error());
  Result<ExitRecord> exit = decode_exit(*text);
  if (!exit) return fail(exit.error());
  report.fence = exit->fence;
  report.phase = exit->lease_ended ? AttemptPhase::lost : AttemptPhase::done;
  report.exit = exit->exit;
  report.usage = exit->usage;
  report.ran_since = exit->started_at;
  report.ended_at = exit->ended_at;
  report.detail = exit->detail;
  return {};
}

}  // namespace

namespace {

// But what it replaces as it runs.
Result<AttemptReport> report_of(const Spool& spool, const AttemptDir* dir, const AttemptKey& key,
                                std::string_view boot_id, bool end_is_synced) {
  auto absent = [&] {
    return fail(ErrorCode::not_found, "attempt " + directory_name(key) + " is not in this spool");
  };
  if (!dir) return absent();

  AttemptReport report;
  report.attempt = key;
  std::string cancelled_because;
  if (Result<std::string> text = dir->read(Record::cancelled)) {
    Result<CancelledRecord> cancelled = decode_cancelled(*text);
    if (!cancelled) return fail(cancelled.error());
    report.fence = cancelled->fence;
    cancelled_because = cancelled->why;
  }
  Result<std::string> intent_text = dir->read(Record::intent);
  if (!intent_text && dir->has(Record::exit)) {
    if (Status told = add_exit(*dir, report); !told) return fail(told.error());
    sync_end(*dir, report.phase, end_is_synced);
    return report;
  }
  if (!intent_text) {
    if (!dir->has(Record::cancelled)) return absent();
    report.phase = AttemptPhase::never_ran;
    report.detail = cancelled_because;
    sync_end(*dir, report.phase, end_is_synced);
    return report;
  }
  Result<IntentRecord> intent = decode_intent(*intent_text);
  if (!intent) return fail(intent.error());
  report.fence = intent->fence;

  const bool same_boot = intent->boot_id == boot_id;
  report.phase = phase_from(gather_evidence(spool, *dir, key, same_boot));
  if (has_ended(report.phase)) report.node_problem = node_problem(*dir, same_boot);
  sync_end(*dir, report.phase, end_is_synced);
  if (Result<std::string> text = dir->read(Record::go)) {
    Result<GoRecord> go = decode_go(*text);
    if (!go) return fail(go.error());
    report.ran_since = go->at;
  }
  switch (report.phase) {
    case AttemptPhase::done:
      if (Status told = add_exit(*dir, report); !told) return fail(told.error());
      break;
    case AttemptPhase::never_ran:
      report.detail = !cancelled_because.empty()
                          ? cancelled_because
                          : "the supervisor ended before the job was started";
      break;
    case AttemptPhase::lost:
      report.detail = intent->boot_id == boot_id
                          ? "the supervisor ended without a result"
                          : "the node was restarted while the attempt was on it";
      break;
    case AttemptPhase::ready: report.detail = remark_on_task(*dir); break;
    case AttemptPhase::running:
      // The script has ended, and the node is not free before the epilog has ended.
      if (dir->has(Record::exit)) {
        if (Status told = add_exit(*dir, report); !told) return fail(told.error());
        report.phase = AttemptPhase::running;
      } else if (dir->has(Record::stuck)) {
        report.node_problem = "processes of job " + job_text(key.job) + " do not die: " +
                              read_record(*dir, Record::stuck, decode_stuck).processes;
      }
      break;
    case AttemptPhase::accepted: break;
  }
  return report;
}

}  // namespace

Result<AttemptReport> report_attempt(const Spool& spool, const AttemptKey& key,
                                     std::string_view boot_id, bool end_is_synced) {
  const std::unique_ptr<AttemptDir> dir = spool.open(key);
  Result<AttemptReport> report = report_of(spool, dir.get(), key, boot_id, end_is_synced);
  // Last, so that a report of the end has all that were recorded before it.
  if (!report) return report;
  report->checkpoints = read_record(*dir, Record::checkpoints, decode_checkpoints);
  report->restored = read_record(*dir, Record::restored, decode_restored);
  if (report->phase == AttemptPhase::running)
    report->stopped = read_record(*dir, Record::stopped, decode_stopped).lsn;
  return report;
}

}  // namespace ares::node
