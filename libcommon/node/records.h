// The records of one attempt on one node, the directory that contains them, and the phase that
// follows from them (doc/node_recovery.md). AttemptDir and Spool are the interface to all I/O of
// the node: real disks in os/, virtual ones in tests. An implementation is used by one thread; the
// supervisor process of an attempt has its own AttemptDir.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/engine/node_message.h"

namespace ares::node {

// In the order of their creation. Each is one file; file_name() gives its name.
enum class Record : std::uint8_t {
  spec,         // what to run (StepSpec); written by aresd
  script,       // the batch script, on the node that runs it
  environment,  // as submitted, NUL-separated NAME=value
  intent,       // aresd has accepted the attempt; a supervisor may exist from now on
  started,      // elects the only supervisor
  task,         // the task was forked and waits at the gate
  go,           // the commit point of user code: it may have run from now on
  exit,         // how it ended
  cancelled,    // no user code has run and none will
  gone,         // the supervisor was killed, and no process of the attempt is left
  cleaning,     // the epilog has to run before the node is free
  epilog,       // how the epilog ended
  stuck,        // which of its processes do not die
  steps,        // accounting of its steps (node/step_ledger.h); the file is `ledger`
  checkpoints,  // that it has published and the controller has not confirmed; replaced as they change
  restored,     // from which checkpoint it began
  stopped,      // the newest suspension that has stopped its processes; replaced by the next one
};
inline constexpr std::size_t kRecordCount = 17;

std::string_view file_name(Record record);

// Whether create() returns only once the record would survive a power loss. Only these records need
// it: a power loss also kills every process, and the node then registers with a new incarnation,
// for which older attempts are never sent again.
constexpr bool is_durable(Record record) {
  return record == Record::exit || record == Record::cancelled || record == Record::epilog;
}

class AttemptDir {
 public:
  virtual ~AttemptDir() = default;

  // Creates the record atomically. already_exists if it exists, no matter which process made it: of
  // any number of callers exactly one succeeds. resource_exhausted when the disk is full.
  virtual Status create(Record record, std::string_view text) = 0;

  // not_found when the record does not exist.
  virtual Result<std::string> read(Record record) const = 0;
  virtual bool has(Record record) const = 0;

  // Makes every record that is visible now survive a power loss. Needed for records of another process:
  // a record is visible before it is durable, and its writer may die, or the power fail, in between.
  virtual Status sync() const = 0;

  // Becomes the supervisor of this directory until the process ends; false if another process is
  // the supervisor.
  virtual Result<bool> lock() = 0;

  // Reserves space so that `exit` can be written even if the disk is full then.
  virtual Status reserve_exit() = 0;
};

class Spool {
 public:
  virtual ~Spool() = default;

  virtual Result<std::vector<AttemptKey>> list() const = 0;  // ascending
  virtual Result<std::unique_ptr<AttemptDir>> create(
      const AttemptKey& key) = 0;  // opens it if it exists
  virtual std::unique_ptr<AttemptDir> open(
      const AttemptKey& key) const = 0;                  // null if it does not exist
  virtual bool locked(const AttemptKey& key) const = 0;  // its supervisor is alive
  virtual Status remove(
      const AttemptKey& key) = 0;  // with its content; no error if it does not exist

  // Why nothing can be recorded for a new attempt, such as a full disk; empty: it can, or cannot be told.
  virtual std::string fault() const { return {}; }

  // The node's own record (NodeIdentity). Replaced atomically; durable when write_identity returns.
  virtual Result<std::string> read_identity() const = 0;  // not_found in a new spool
  virtual Status write_identity(std::string_view text) = 0;

  // Attempts whose directory was removed and that must never be accepted again, even if a launch
  // message arrives after the attempt has ended. Survives a restart of aresd, need not survive a
  // power loss. Keeps at least the last 10,000.
  virtual Status remember_forgotten(const AttemptKey& key, Fence fence) = 0;
  virtual Result<std::vector<std::pair<AttemptKey, Fence>>> forgotten() const = 0;
};

// --- contents of the records; each record is text, one `key value` pair a line
// ------------------------------------------------------------------

struct NodeIdentity {
  std::string uuid;     // of the spool
  std::string boot_id;  // of the machine when it was last written
  std::uint64_t incarnation = 0;
  Epoch highest_epoch;
  Lsn highest_lsn;
  JournalPosition position{};  // the last one that a controller told
};
struct IntentRecord {
  AttemptKey attempt;
  Fence fence;
  std::uint64_t incarnation = 0;
  std::string boot_id;
  std::uint32_t rank = 0;
  bool leased = false;
  Time at{};
};
struct StartedRecord {  // the supervisor; used by admins, and to kill its leftovers
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat
  std::string cgroups;            // that it may create for the task, separated by ':'
  // The process above it that ends what it leaves; 0 if there is none.
  std::int64_t reaper_pid = 0;
  std::uint64_t reaper_start_ticks = 0;
  Time at{};
};
struct TaskRecord {
  std::int64_t pid = 0;  // of the gated task, in the host's PID namespace; 0 = no task here
  std::uint64_t start_ticks = 0;  // as in StartedRecord; 0: written by release 0.1.0
  bool own_pid_namespace = false;
  // Why there is none although the node makes them; empty otherwise. No reaper is above the supervisor then.
  std::string no_namespace_because;
  Time at{};
};
struct GoRecord {
  Fence fence;
  Time at{};
};
struct
    ExitRecord {  // complete in itself: after a power loss it may be the only record that is left
  ExitStatus exit;
  Usage usage;
  Time started_at{};
  Time ended_at{};
  std::string detail;
  Fence fence;
  // Its supervisor killed it because its lease ran out: it is lost with its node, not failed.
  bool lease_ended = false;
};
struct CancelledRecord {
  Fence fence;
  Time at{};
  std::string why;
  std::string node_problem{};  // AttemptReport::node_problem
};
struct EpilogRecord {
  Time at{};
  std::string node_problem;  // why it failed; empty: it did not
};
struct StuckRecord {
  Time at{};
  std::string processes;
};
struct StoppedRecord {
  Lsn lsn;  // of the SetSuspended
};
struct GoneRecord {
  std::string by;  // "reaper" or "operator"
  Time at{};
};

std::string encode(const NodeIdentity& r);
std::string encode(const IntentRecord& r);
std::string encode(const StartedRecord& r);
std::string encode(const TaskRecord& r);
std::string encode(const GoRecord& r);
std::string encode(const ExitRecord& r);
std::string encode(const CancelledRecord& r);
std::string encode(const GoneRecord& r);
std::string encode(const EpilogRecord& r);
std::string encode(const StuckRecord& r);
std::string encode(const StoppedRecord& r);
Result<NodeIdentity> decode_identity(std::string_view text);
Result<IntentRecord> decode_intent(std::string_view text);
Result<StartedRecord> decode_started(std::string_view text);
Result<TaskRecord> decode_task(std::string_view text);
Result<GoRecord> decode_go(std::string_view text);
Result<ExitRecord> decode_exit(std::string_view text);
Result<CancelledRecord> decode_cancelled(std::string_view text);
Result<EpilogRecord> decode_epilog(std::string_view text);
Result<StuckRecord> decode_stuck(std::string_view text);
Result<StoppedRecord> decode_stopped(std::string_view text);

// The decoded record; a default one if it is missing or damaged.
template <class T>
T read_record(const AttemptDir& dir, Record record, Result<T> (*decode)(std::string_view)) {
  const Result<std::string> text = dir.read(record);
  const Result<T> value = text ? decode(*text) : fail(text.error());
  return value ? *value : T{};
}

// Directory name of an attempt, "12.1" or "12_3.1", and back.
std::string directory_name(const AttemptKey& key);
std::optional<AttemptKey> parse_directory_name(std::string_view name);

// --- the recovery table
// -------------------------------------------------------------------------------------------------------

struct Evidence {
  bool exit = false, cancelled = false, go = false, task = false, started = false;
  bool cleaning = false, epilog = false;
  bool locked = false;     // its supervisor is alive
  bool same_boot = false;  // the intent was written since the machine booted
};
AttemptPhase phase_from(const Evidence& evidence);

constexpr bool has_ended(AttemptPhase phase) {
  return phase == AttemptPhase::done || phase == AttemptPhase::never_ran ||
         phase == AttemptPhase::lost;
}

// A report with these fields only.
AttemptReport bare_report(const AttemptKey& key, Fence fence, AttemptPhase phase,
                          std::string detail = {});

// Reads the directory and applies the table. Reads `exit` again after the lock was found
// free, because a supervisor may have finished in between. not_found when there is neither intent
// nor `cancelled`: the attempt was never accepted, so the directory may be removed.
// `end_is_synced`: the supervisor has said that the record of the end is durable.
Result<AttemptReport> report_attempt(const Spool& spool, const AttemptKey& key,
                                     std::string_view boot_id, bool end_is_synced = false);

}  // namespace ares::node
