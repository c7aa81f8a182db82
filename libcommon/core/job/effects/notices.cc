#include "core/job/effects/notices.h"

#include <algorithm>

#include "base/hostlist.h"
#include "core/state/timers.h"
#include "model/job/mail.h"

namespace ares::core {
namespace {

bool is_failure(JobState state) {
  return is_terminal(state) && state != JobState::completed && state != JobState::cancelled;
}

bool has_begun(const Job& task) {
  return task.started.has_value() || task.restarts > 0;
}

const Job* array_of(const ClusterState& state, const JobKey& task) {
  return state.jobs.find(JobKey{task.job, {}});
}

template <class Visit>  // visit(task) returns false to stop
void each_task(const ClusterState& state, JobId array, Visit&& visit) {
  state.jobs.for_each_from(JobKey{array, TaskIndex{0}}, [&](const JobKey& key, const Job& task) {
    return key.job == array && !key.task.is_none() && visit(task);
  });
}

std::string node_names(const ClusterState& state, const Job& job) {
  std::vector<std::string> names;
  if (job.allocation)
    for (const NodeShare& share : job.allocation->nodes)
      if (const Node* node = state.nodes.find(share.node)) names.push_back(node->name);
  return compress_hostlist(names);
}

class Notices {
 public:
  Notices(const Job& before, const Job& after, const ClusterState& state, Time at)
      : before_(before), after_(after), state_(state), at_(at) {}

  std::vector<Notice> all() && {
    if (!is_active(before_.state) && after_.state == JobState::running) begun();
    if (!is_terminal(before_.state) && is_terminal(after_.state)) ended();
    if (before_.state != JobState::pending && after_.state == JobState::pending) requeued();
    if (!before_.dependency_failed && after_.dependency_failed && is_queued(after_))
      add_if(MailType::invalid_dependency, NoticeKind::invalid_dependency);
    if (after_.time_noticed > before_.time_noticed && sends_own_notices())
      add(NoticeKind::time_share).percent = after_.time_noticed;
    waiting_tasks_ended();
    return std::move(out_);
  }

 private:
  bool wants(MailType type) const { return wants_mail(*after_.spec, type); }
  // Whether mail is sent about this record, not only about its array.
  bool sends_own_notices() const { return has_own_notices(after_); }

  Notice& add(NoticeKind kind) {
    const JobSpec& spec = *after_.spec;
    Notice& n = out_.emplace_back();
    n.kind = kind;
    n.key = after_.key;
    n.own_id = after_.own_id;
    if (after_.array) n.tasks = *spec.array;
    n.name = spec.name;
    n.user = spec.user;
    n.address = mail_address(spec);
    n.work_dir = spec.work_dir;
    n.at = at_;
    n.state = after_.state;
    n.reason = after_.reason;
    n.cause = after_.cause;
    n.exit = after_.exit;
    n.nodes = node_names(state_, after_);
    n.submitted = after_.submitted;
    n.started = after_.started;
    n.ended = after_.ended;
    if (after_.allocation) n.time_limit = after_.allocation->time_limit;
    return n;
  }
  void add_if(MailType type, NoticeKind kind) {
    if (wants(type) && sends_own_notices()) add(kind);
  }

  void begun() {
    if (!wants(MailType::begin)) return;
    if (sends_own_notices()) {
      add(NoticeKind::began);
      return;
    }
    const Job* array = array_of(state_, after_.key);
    if (!array || !array->array || array->array->completed > 0) return;
    bool first = after_.restarts == 0;
    each_task(state_, after_.key.job, [&](const Job& task) {
      first = first && (task.key == after_.key || !has_begun(task));
      return first;
    });
    if (!first) return;
    Notice& n = add(NoticeKind::began);
    n.key = array->key;
    n.own_id = array->own_id;
    n.tasks = *array->spec->array;
  }

  // One mail for one end, of the most specific kind that the user wants.
  void ended() {
    if (after_.array) return array_ended();
    if (!sends_own_notices()) return;
    if (after_.state == JobState::timeout && wants(MailType::time_limit))
      add(NoticeKind::timed_out);
    else if (is_failure(after_.state) && wants(MailType::fail))
      add(NoticeKind::failed);
    else if (wants(MailType::end))
      add(NoticeKind::ended);
  }

  void array_ended() {
    if (wants(MailType::array_tasks)) return;
    // An array is FAILED if any task did not complete, also by cancellation, so the tasks decide.
    bool failed = is_failure(after_.state) && after_.state != JobState::failed;
    ExitStatus exit;
    std::optional<Time> started;
    each_task(state_, after_.key.job, [&](const Job& task) {
      failed = failed || is_failure(task.state);
      if (task.exit.code > exit.code || (exit.code == 0 && exit.signal == 0)) exit = task.exit;
      if (task.started) started = std::min(started.value_or(*task.started), *task.started);
      return true;
    });
    const bool as_failure = failed && wants(MailType::fail);
    if (!as_failure && !wants(MailType::end)) return;
    Notice& n = add(as_failure ? NoticeKind::failed : NoticeKind::ended);
    n.exit = exit;
    n.started = started;
    n.completed = after_.array->completed;
    n.unsuccessful =
        static_cast<std::uint32_t>(after_.spec->array->count()) - after_.array->completed;
  }

  // Tasks without a record end with their array. With ARRAY_TASKS they share one mail.
  void waiting_tasks_ended() {
    if (!before_.array || !after_.array || before_.array->waiting.empty()) return;
    if (!after_.array->waiting.empty() || !wants(MailType::array_tasks)) return;
    if (!is_terminal(after_.state) && !after_.ending) return;
    const JobState state = is_terminal(after_.state) ? after_.state : after_.ending->state;
    const bool failed = is_failure(state) && wants(MailType::fail);
    if (!failed && !wants(MailType::end)) return;
    Notice& n = add(failed ? NoticeKind::failed : NoticeKind::ended);
    n.tasks = before_.array->waiting;
    n.state = state;
    n.reason = after_.ending ? after_.ending->reason : after_.reason;
    n.ended = at_;
  }

  // No mail if the launch failed before user code ran: it is retried.
  void requeued() {
    if (!before_.started || !wants(MailType::requeue) || !sends_own_notices()) return;
    Notice& n = add(NoticeKind::requeued);
    n.exit = before_.exit;
    n.started = before_.started;
    n.ended = before_.ended.value_or(at_);
    n.nodes = node_names(state_, before_);
    if (before_.ending) n.reason = before_.ending->reason;
  }

  const Job& before_;
  const Job& after_;
  const ClusterState& state_;
  Time at_;
  std::vector<Notice> out_;
};

}  // namespace

bool may_cause_notices(const Job& before, JobEvent event) {
  if (before.spec->mail_types == 0) return false;
  return event == JobEvent::started || event == JobEvent::ended || event == JobEvent::requeued ||
         event == JobEvent::dependency_failed || event == JobEvent::time_noticed;
}

std::vector<Notice> notices(const Job& before, const ClusterState& state, Time at) {
  const Job* after = state.jobs.find(before.key);
  if (!after) return {};
  return Notices(before, *after, state, at).all();
}

}  // namespace ares::core
