#include "aresctld/watch/watch_hub.h"

#include <algorithm>

#include "aresctld/answers.h"
#include "aresctld/query/queries.h"
#include "aresctld/query/query_filter.h"

namespace ares::aresctld {
namespace {

// Whether an attempt may have ended between these records. Rather too often: the database says what did.
bool may_have_ended(const Job* before, const Job* after) {
  if (!after) return !before || !is_terminal(before->state);
  if (is_terminal(after->state) || after->ending) return true;
  if (!before) return after->restarts > 0 || after->launch_failures > 0;
  return before->attempt != after->attempt || before->restarts != after->restarts ||
         (before->allocation && !after->allocation);
}

}  // namespace

struct WatchHub::Watcher {
  std::uint64_t id = 0;
  UserId uid;
  api::Watch request;
  std::shared_ptr<rpc::Responder> responder;
  bool busy = false;  // it has not taken its last part yet
  Steady::time_point sent_at{};

  // Of jobs.
  bool lists = true;                      // pages of the listing are due
  std::optional<api::JobPosition> after;  // of its last page
  std::uint64_t position = 0;             // in the log
  NamedJobs named;

  // Of accounting.
  std::optional<Users> users;
  bool begun = false;
  Lsn told;              // everything up to this one
  Lsn asked;             // the database is read up to this one
  bool due = false;      // an attempt may have ended since
  bool reading = false;  // by a thread of the database
  Steady::time_point retry_at{};
  std::optional<EndedRows> ended;  // to be sent
};

WatchHub::WatchHub(Parts parts, Limits limits)
    : parts_(std::move(parts)), limits_(limits), log_(limits.changes) {
  parts_.views.set_listener([this] {
    {
      const Lock lock(mutex_);
      changed_ = true;
    }
    wake_.notify_one();
  });
}

WatchHub::WatchHub(Parts parts) : WatchHub(std::move(parts), Limits{}) {}

WatchHub::~WatchHub() {
  stop();
}

void WatchHub::start() {
  thread_ = std::thread([this] { run(); });
}

void WatchHub::stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void WatchHub::add(const Principal& caller, const api::Watch& request,
                   std::shared_ptr<rpc::Responder> responder) {
  auto watcher = std::make_unique<Watcher>();
  watcher->uid = caller.uid;
  watcher->request = request;
  watcher->responder = std::move(responder);
  if (request.has_accounting()) watcher->users.emplace(request.accounting().users());
  const std::shared_ptr<rpc::Responder> answer = watcher->responder;
  if (!take(std::move(watcher)))
    return answer->send(refused({ErrorCode::unavailable, "the controller is shutting down"}));
  wake_.notify_one();
}

bool WatchHub::take(std::unique_ptr<Watcher> watcher) {
  const Lock lock(mutex_);
  if (stopping_) return false;
  added_.push_back(std::move(watcher));
  return true;
}

void WatchHub::post(Event event) {
  {
    const Lock lock(mutex_);
    events_.push_back(std::move(event));
  }
  wake_.notify_one();
}

WatchHub::Steady::time_point WatchHub::next_due() const {
  auto due = Steady::now() + limits_.alive_every;
  for (const auto& [id, watcher] : watchers_) {
    if (watcher->busy) continue;
    due = std::min(due, watcher->sent_at + limits_.alive_every);
    if (watcher->due && !watcher->reading) due = std::min(due, watcher->retry_at);
  }
  return due;
}

void WatchHub::run() {
  for (;;) {
    std::vector<std::unique_ptr<Watcher>> added;
    std::deque<Event> events;
    {
      Lock lock(mutex_);
      wake_.wait_until(lock, next_due(), [this]() ARES_REQUIRES(mutex_) {
        return stopping_ || !added_.empty() || !events_.empty() || (changed_ && !watchers_.empty());
      });
      if (stopping_) break;
      changed_ = false;
      added.swap(added_);
      events.swap(events_);
    }
    take_events(std::move(events));
    for (auto& watcher : added) admit(std::move(watcher));
    drop_abandoned();
    compare_views();
    const auto now = Steady::now();
    for (auto next = watchers_.begin(); next != watchers_.end();) {
      const auto watcher = next++;
      if (!watcher->second->busy && !serve(*watcher->second, now)) watchers_.erase(watcher);
    }
    auto oldest = log_.end();
    for (const auto& [id, watcher] : watchers_)
      if (watcher->request.has_jobs()) oldest = std::min(oldest, watcher->position);
    log_.drop_before(oldest);
    // What happens at once is told at once: many commits need not be many parts.
    Lock lock(mutex_);
    wake_.wait_until(lock, now + limits_.between_parts,
                     [this]() ARES_REQUIRES(mutex_) { return stopping_; });
  }
  std::vector<std::unique_ptr<Watcher>> last;
  {
    const Lock lock(mutex_);
    last.swap(added_);
  }
  for (auto& [id, watcher] : watchers_) last.push_back(std::move(watcher));
  watchers_.clear();
  for (const auto& watcher : last)
    watcher->responder->send(refused({ErrorCode::unavailable, "the controller is shutting down"}));
}

void WatchHub::take_events(std::deque<Event> events) {
  for (Event& event : events) {
    const auto found = watchers_.find(event.watcher);
    if (found == watchers_.end()) continue;
    Watcher& watcher = *found->second;
    if (event.gone) {
      watchers_.erase(found);
      continue;
    }
    if (event.taken) watcher.busy = false;
    if (!event.ended) continue;
    watcher.reading = false;
    if (*event.ended) watcher.ended = std::move(**event.ended);
    if (*event.ended) continue;
    if (event.ended->error().code == ErrorCode::unavailable) {
      watcher.due = true;
      watcher.retry_at = Steady::now() + limits_.after_failure;
    } else {
      watcher.responder->send(refused(event.ended->error()));
      watchers_.erase(found);
    }
  }
}

std::size_t WatchHub::drop_abandoned() {
  return std::erase_if(watchers_,
                       [](const auto& entry) { return entry.second->responder->abandoned(); });
}

void WatchHub::admit(std::unique_ptr<Watcher> watcher) {
  drop_abandoned();
  const auto of_user = std::count_if(watchers_.begin(), watchers_.end(), [&](const auto& entry) {
    return entry.second->uid == watcher->uid;
  });
  if (static_cast<std::size_t>(of_user) >= limits_.per_user)
    return watcher->responder->send(
        refused({ErrorCode::resource_exhausted,
                 "you have " + std::to_string(of_user) +
                     " streams open (aqueue --watch, aacct --follow), and may have no more: end "
                     "one of them"}));
  if (watchers_.size() >= limits_.in_all)
    return watcher->responder->send(
        refused({ErrorCode::unavailable, "too many streams are open on the controller"}));
  watcher->id = ++last_id_;
  watchers_.emplace(watcher->id, std::move(watcher));
}

// Without watchers no view is kept.
void WatchHub::compare_views() {
  if (watchers_.empty()) {
    view_.reset();
    log_.drop_before(log_.end());
    return;
  }
  const View newest = parts_.views.read();
  if (view_)
    log_.add(*view_, newest,
             [this](const Job* before, const Job* after) { on_change(before, after); });
  view_ = newest;
}

void WatchHub::on_change(const Job* before, const Job* after) {
  if (!may_have_ended(before, after)) return;
  const Job& job = after ? *after : *before;
  for (const auto& [id, watcher] : watchers_)
    if (watcher->users && (watcher->users->empty() || watcher->users->has(*job.spec)))
      watcher->due = true;
}

// False: the stream has ended.
bool WatchHub::serve(Watcher& watcher, Steady::time_point now) {
  const bool going_on =
      watcher.request.has_jobs() ? serve_jobs(watcher) : serve_accounting(watcher, now);
  if (!going_on || watcher.busy || now - watcher.sent_at < limits_.alive_every) return going_on;
  api::Watched alive;
  alive.set_kind(api::Watched::ALIVE);
  alive.set_lsn(watcher.request.has_jobs() ? view_->state->lsn.value() : watcher.told.value());
  send(watcher, std::move(alive));
  return true;
}

bool WatchHub::serve_jobs(Watcher& watcher) {
  if (!watcher.lists && watcher.position == log_.end()) return true;
  if (!watcher.lists && log_.has(watcher.position)) {
    auto part =
        changes_since(*view_, *parts_.config.policy(), watcher.request.jobs(), watcher.named, log_,
                      watcher.position, parts_.clock.now(), parts_.identity);
    if (!part) {
      watcher.responder->send(refused(part.error()));
      return false;
    }
    if (*part) {
      watcher.position = log_.end();
      if (!(*part)->jobs().jobs().empty() || !(*part)->left().empty())
        send(watcher, std::move(**part));
      return true;
    }
  }
  return send_page(watcher);
}

// Each page shows the state when it is sent; what changes meanwhile follows the last one.
bool WatchHub::send_page(Watcher& watcher) {
  api::ListJobs page = watcher.request.jobs();
  page.clear_after();
  const bool first = !watcher.lists || !watcher.after;
  if (first) {
    watcher.lists = true;
    watcher.after.reset();
    watcher.position = log_.end();
    page.set_skip_missing(true);
    auto named = NamedJobs::make(*view_->state, page);
    if (named) watcher.named = std::move(*named);
  } else {
    *page.mutable_after() = *watcher.after;
  }
  auto jobs = list_jobs(*view_, *parts_.config.policy(), page, parts_.clock.now(), parts_.identity);
  if (!jobs) {
    watcher.responder->send(refused(jobs.error()));
    return false;
  }
  api::Watched part;
  part.set_first(first);
  part.set_lsn(view_->state->lsn.value());
  watcher.lists = jobs->has_next();
  part.set_kind(watcher.lists ? api::Watched::LISTING : api::Watched::LISTED);
  watcher.after.reset();
  if (watcher.lists) watcher.after = jobs->next();
  *part.mutable_jobs() = std::move(*jobs);
  send(watcher, std::move(part));
  return true;
}

bool WatchHub::serve_accounting(Watcher& watcher, Steady::time_point now) {
  const Lsn newest = view_->state->lsn;
  api::Watched part;
  if (!watcher.begun) {
    watcher.begun = true;
    watcher.due = watcher.request.after() != 0;
    watcher.told = watcher.due ? std::min(Lsn(watcher.request.after()), newest) : newest;
    part.set_kind(api::Watched::LISTED);
    part.set_first(true);
    part.set_lsn(watcher.told.value());
    send(watcher, std::move(part));
    return true;
  }
  if (watcher.ended) {
    const bool missed = watcher.ended->missed;
    const bool any = missed || !watcher.ended->rows.rows().empty();
    watcher.told = watcher.ended->upto;
    watcher.due = watcher.due || watcher.told < watcher.asked;
    // What is missing is in the listing, which the client reads again.
    part.set_kind(missed ? api::Watched::LISTED : api::Watched::CHANGES);
    part.set_first(missed);
    part.set_lsn(watcher.told.value());
    part.mutable_accounting()->Swap(&watcher.ended->rows);
    watcher.ended.reset();
    if (any) {
      send(watcher, std::move(part));
      return true;
    }
  }
  if (watcher.reading || now < watcher.retry_at) return true;
  if (watcher.due && watcher.told < newest) return read_ended(watcher), true;
  watcher.due = false;
  watcher.told = newest;
  return true;
}

// `due` is reset first: it is set again for what ends while the database is read.
void WatchHub::read_ended(Watcher& watcher) {
  watcher.due = false;
  watcher.reading = true;
  watcher.asked = view_->state->lsn;
  const auto full =
      parts_.database.add(watcher.uid, [this, id = watcher.id, query = watcher.request.accounting(),
                                        after = watcher.told, upto = watcher.asked] {
        Event event{id};
        event.ended = parts_.read_ended(query, after, upto);
        post(std::move(event));
      });
  if (!full) return;
  watcher.reading = false;
  watcher.due = true;
  watcher.retry_at = Steady::now() + full->retry_after;
}

void WatchHub::send(Watcher& watcher, api::Watched part) {
  part.set_alive_every(static_cast<std::uint32_t>(limits_.alive_every.count()));
  watcher.busy = true;
  watcher.sent_at = Steady::now();
  api::Response response;
  *response.mutable_watched() = std::move(part);
  watcher.responder->send_part(std::move(response), [this, id = watcher.id](bool taken) {
    Event event{id};
    event.taken = taken;
    event.gone = !taken;
    post(std::move(event));
  });
}

}  // namespace ares::aresctld
