#include "aqueue/columns.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "base/duration.h"
#include "base/hostlist.h"
#include "base/timespec.h"
#include "base/units.h"
#include "cli/job_ids.h"
#include "cli/text.h"
#include "model/job.h"

namespace ares::aqueue {
namespace {

constexpr const char* kNone = "N/A";

Time time_of(std::int64_t micros) {
  return Time(Duration(micros));
}

std::string time_text(std::int64_t micros) {
  return micros == 0 ? kNone : format_local_time(time_of(micros));
}

std::string or_none(const std::string& text) {
  return text.empty() ? kNone : cli::printable(text);
}

JobState state_of(const api::Job& job) {
  return parse_job_state(job.state()).value_or(JobState::pending);
}

Seconds elapsed(const Row& row) {
  if (row.job->started() == 0) return Seconds(0);
  const Time end = row.job->ended() ? time_of(row.job->ended()) : row.now;
  return std::max(Seconds(0),
                  std::chrono::duration_cast<Seconds>(end - time_of(row.job->started())));
}

std::string limit_text(const api::Job& job) {
  return job.has_time_limit() && job.time_limit() > 0
             ? format_duration_short(Seconds(job.time_limit()))
             : "UNLIMITED";
}

std::string left_text(const Row& row) {
  if (!row.job->has_time_limit() || row.job->time_limit() == 0) return "UNLIMITED";
  return format_duration_short(std::max(Seconds(0), Seconds(row.job->time_limit()) - elapsed(row)));
}

std::int64_t start_of(const api::Job& job) {
  return job.started() ? job.started() : job.expected_start();
}

std::int64_t end_of(const api::Job& job) {
  if (job.ended()) return job.ended();
  if (!start_of(job) || !job.has_time_limit() || job.time_limit() == 0) return 0;
  return start_of(job) + job.time_limit() * 1'000'000;
}

std::string tasks_text(const api::Job& job) {
  if (job.key().has_task()) return std::to_string(job.key().task());
  if (job.array_tasks().empty()) return kNone;
  return "[" + job.array_tasks() +
         (job.array_throttle() ? "%" + std::to_string(job.array_throttle()) : "") + "]";
}

std::string nodes_or_reason(const api::Job& job) {
  const JobState state = state_of(job);
  const bool explained = is_terminal(state) && job.reason() != "None" && !job.reason().empty();
  if (state == JobState::pending || explained) return "(" + cli::printable(job.reason()) + ")";
  return job.node_list();
}

std::string memory_text(const api::Job& job) {
  if (job.spec().has_memory_per_node()) return format_memory(Bytes(job.spec().memory_per_node()));
  if (job.spec().has_memory_per_cpu()) return format_memory(Bytes(job.spec().memory_per_cpu()));
  return "0";
}

std::string gpus_text(const api::Job& job) {
  std::string out;
  for (const std::string& gpu : job.gpus()) out += (out.empty() ? "" : ",") + ("gres/gpu:" + gpu);
  return out.empty() ? kNone : out;
}

std::string first_host(const api::Job& job) {
  const auto names = expand_hostlist(job.node_list());
  return names && !names->empty() ? names->front() : "n/a";
}

std::string fraction(std::uint32_t priority) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.14f", priority / 4294967296.0);
  return buffer;
}

// What a column sorts by: a number first, then a text.
using Key = std::tuple<std::int64_t, std::string>;

std::optional<Key> key_of(const Row& row, char letter) {
  const api::Job& job = *row.job;
  const auto number = [](std::int64_t n) { return Key{n, ""}; };
  switch (letter) {
    case 'i':
    case 'F': return number(static_cast<std::int64_t>(job.key().job()));
    case 'A': return number(static_cast<std::int64_t>(job.own_id()));
    case 'K': return number(job.key().has_task() ? job.key().task() : -1);
    case 'P': return Key{0, job.partition()};
    case 'j': return Key{0, job.name()};
    case 'u': return Key{0, job.user()};
    case 'U': return number(job.uid());
    case 'a': return Key{0, job.account()};
    case 'q': return Key{0, job.qos()};
    case 't':
    case 'T': return number(static_cast<std::int64_t>(state_of(job)));
    case 'M': return number(elapsed(row).count());
    case 'l': return number(job.has_time_limit() ? job.time_limit() : INT64_MAX);
    case 'L':
      return number(job.has_time_limit() ? job.time_limit() - elapsed(row).count() : INT64_MAX);
    case 'S': return number(start_of(job) ? start_of(job) : INT64_MAX);
    case 'e': return number(end_of(job) ? end_of(job) : INT64_MAX);
    case 'V': return number(job.submitted());
    case 'D': return number(job.node_count());
    case 'C': return number(job.cpus());
    case 'N': return Key{0, job.node_list()};
    case 'r': return Key{0, job.reason()};
    case 'p':
    case 'Q': return number(job.priority());
    default: return std::nullopt;
  }
}

}  // namespace

std::string id_text(const api::Job& job) {
  const std::string id = std::to_string(job.key().job());
  if (!job.key().has_task() && job.array_tasks().empty()) return id;
  return id + "_" + tasks_text(job);
}

const std::vector<cli::Column<Row>>& columns() {
  static const std::vector<cli::Column<Row>> all = {
      {'i', "JOBID", "the job's id; of an array ID_TASK, or ID_[TASKS] while tasks wait",
       [](const Row& r) { return id_text(*r.job); }, true},
      {'A', "JOBID", "the job's own number, also of an array's task",
       [](const Row& r) { return std::to_string(r.job->own_id()); }, true},
      {'F', "ARRAY_JOB_ID", "the array's id",
       [](const Row& r) { return std::to_string(r.job->key().job()); }, true},
      {'K', "ARRAY_TASK_ID", "the task's index", [](const Row& r) { return tasks_text(*r.job); },
       true},
      {'P', "PARTITION", "the partition, or those asked for",
       [](const Row& r) { return r.job->partition(); }},
      {'j', "NAME", "the job's name", [](const Row& r) { return cli::printable(r.job->name()); }},
      {'u', "USER", "whose it is", [](const Row& r) { return r.job->user(); }},
      {'U', "UID", "the user's number", [](const Row& r) { return std::to_string(r.job->uid()); }},
      {'a', "ACCOUNT", "the account", [](const Row& r) { return or_none(r.job->account()); }},
      {'q', "QOS", "the quality of service", [](const Row& r) { return or_none(r.job->qos()); }},
      {'t', "ST", "the state's short code",
       [](const Row& r) { return std::string(short_code(state_of(*r.job))); }},
      {'T', "STATE", "the state", [](const Row& r) { return r.job->state(); }},
      {'M', "TIME", "how long it has run",
       [](const Row& r) { return format_duration_short(elapsed(r)); }},
      {'l', "TIME_LIMIT", "its time limit", [](const Row& r) { return limit_text(*r.job); }},
      {'L', "TIME_LEFT", "how long it may still run", [](const Row& r) { return left_text(r); }},
      {'S', "START_TIME", "when it started, or is expected to",
       [](const Row& r) { return time_text(start_of(*r.job)); }},
      {'e', "END_TIME", "when it ended, or has to",
       [](const Row& r) { return time_text(end_of(*r.job)); }},
      {'V', "SUBMIT_TIME", "when it was submitted",
       [](const Row& r) { return time_text(r.job->submitted()); }},
      {'D', "NODES", "nodes it has, or asks for",
       [](const Row& r) { return std::to_string(r.job->node_count()); }},
      {'C', "CPUS", "CPUs it has, or asks for",
       [](const Row& r) { return std::to_string(r.job->cpus()); }},
      {'m', "MIN_MEMORY", "memory asked for, for each node or CPU",
       [](const Row& r) { return memory_text(*r.job); }},
      {'N', "NODELIST", "its nodes", [](const Row& r) { return r.job->node_list(); }},
      {'R', "NODELIST(REASON)", "its nodes, or why it waits or failed",
       [](const Row& r) { return nodes_or_reason(*r.job); }},
      {'B', "EXEC_HOST", "the node that runs its script",
       [](const Row& r) { return first_host(*r.job); }},
      {'b', "TRES_PER_NODE", "GPUs asked for", [](const Row& r) { return gpus_text(*r.job); }},
      {'r', "REASON", "why it waits or failed",
       [](const Row& r) { return cli::printable(r.job->reason()); }},
      {'Q', "PRIORITY", "its priority",
       [](const Row& r) { return std::to_string(r.job->priority()); }},
      {'p', "PRIORITY", "its priority as a fraction",
       [](const Row& r) { return fraction(r.job->priority()); }},
      {'k', "COMMENT", "the comment",
       [](const Row& r) { return or_none(r.job->spec().comment()); }},
      {'o', "COMMAND", "the script", [](const Row& r) { return or_none(r.job->spec().command()); }},
      {'Z', "WORK_DIR", "the folder it runs in",
       [](const Row& r) { return cli::printable(r.job->spec().work_dir()); }},
  };
  return all;
}

bool needs_details(std::string_view format) {
  const auto pieces = cli::parse_format(format);
  if (!pieces) return false;
  return std::any_of(pieces->begin(), pieces->end(), [](const cli::Piece& piece) {
    return piece.letter && std::string_view("mkoZ").find(piece.letter) != std::string_view::npos;
  });
}

Status sort_rows(std::vector<Row>& rows, const std::string& keys) {
  struct By {
    char letter;
    bool descending;
  };
  std::vector<By> order;
  const api::Job none;
  for (const std::string& item : cli::split(keys, ',')) {
    const bool signed_item = item.starts_with('-') || item.starts_with('+');
    const std::string letter = item.substr(signed_item ? 1 : 0);
    if (letter.size() != 1 || !key_of({&none, {}}, letter[0]))
      return fail(ErrorCode::invalid_argument,
                  "cannot sort by \"" + item + "\"; use letters of --format such as P,t,-p");
    order.push_back({letter[0], item.starts_with('-')});
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    for (const By& by : order) {
      const auto left = key_of(a, by.letter);
      const auto right = key_of(b, by.letter);
      if (left != right) return by.descending ? right < left : left < right;
    }
    return std::tuple(a.job->key().job(), a.job->key().has_task(), a.job->key().task()) <
           std::tuple(b.job->key().job(), b.job->key().has_task(), b.job->key().task());
  });
  return {};
}

}  // namespace ares::aqueue
