#include "cli/jobs/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>
#include <system_error>
#include <thread>

#include "base/duration.h"
#include "base/interval_set.h"
#include "base/mutex.h"
#include "base/printable.h"
#include "cli/output/pages.h"
#include "cli/output/text.h"
#include "cli/output/width.h"
#include "cli/values/job_ids.h"
#include "model/job/job.h"
#include "proto/table.h"

namespace ares::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kFirst{500};  // a job that ends at once has no line
constexpr std::chrono::seconds kTick{1};          // the running time is counted here
constexpr int kTicksBetweenQueries = 2;
// An array of which so many tasks run is read less often.
constexpr std::size_t kManyRows = 1000;
constexpr int kTicksBetweenLongQueries = 20;

std::vector<std::uint32_t> progress_fields() {
  using J = api::Job;
  return {proto::nested_field(J::kKeyFieldNumber, api::JobRef::kJobFieldNumber),
          proto::nested_field(J::kKeyFieldNumber, api::JobRef::kTaskFieldNumber),
          J::kStateFieldNumber,
          J::kReasonFieldNumber,
          J::kStartedFieldNumber,
          J::kArrayTasksFieldNumber,
          J::kSuspendedFieldNumber,
          J::kSuspendedAtFieldNumber,
          proto::nested_field(J::kSpecFieldNumber, api::JobSpec::kArrayFieldNumber)};
}

std::size_t count_indices(const std::string& list) {
  const auto tasks = parse_interval_set(list.substr(0, list.find('%')));
  return tasks ? static_cast<std::size_t>(tasks->count()) : 0;
}

bool is_pending(const api::Job& row) {
  return parse_job_state(row.state()) == JobState::pending;
}

std::string text_of_array(const JobKey& array, const std::vector<api::Job>& rows) {
  std::size_t waiting = 0, running = 0;
  for (const api::Job& row : rows) {
    if (!row.key().has_task())
      waiting += count_indices(row.array_tasks());
    else
      ++(is_pending(row) ? waiting : running);
  }
  const std::size_t all = std::max(count_indices(rows.front().spec().array()), waiting + running);
  return "array " + format_job_id(array) + ": " + std::to_string(all - waiting - running) + " of " +
         std::to_string(all) + " ended, " + std::to_string(running) + " running";
}

std::string text_of_job(const JobKey& job, const api::Job& row, Time now) {
  std::string text = "job " + format_job_id(job) + ": " + lower(row.state());
  const bool pending = is_pending(row);
  if (pending && !row.reason().empty() && row.reason() != "None") text += " (" + row.reason() + ")";
  if (pending || row.started() == 0) return text;
  const std::int64_t end = row.suspended_at() ? row.suspended_at() : now.time_since_epoch().count();
  const Duration ran(std::max<std::int64_t>(0, end - row.started() - row.suspended()));
  return text + " " + format_duration(std::chrono::floor<Seconds>(ran));
}

bool shows_lines() {
  return isatty(STDERR_FILENO) != 0;
}

// A job of the background may not write, and would disturb what the user types.
bool in_foreground() {
  const pid_t group = tcgetpgrp(STDERR_FILENO);
  return group < 0 || group == getpgrp();
}

std::size_t line_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79;
}

}  // namespace

Result<LiveJobs> read_live_jobs(rpc::Client& client, const JobKey& job) {
  api::Request request;
  api::ListJobs& filter = *request.mutable_list_jobs();
  add_refs(filter.mutable_jobs(), std::span(&job, 1));
  for (const JobState state : {JobState::pending, JobState::configuring, JobState::running,
                               JobState::suspended, JobState::completing})
    filter.add_states(std::string(to_string(state)));
  for (const std::uint32_t field : progress_fields()) filter.add_fields(field);
  LiveJobs live;
  const Status read = each_page(
      std::move(request),
      [&](const api::Request& page) { return client.call(page, rpc::Retry::never); },
      [&](const api::Jobs& page) {
        live.now = Time(Duration(page.now()));
        return proto::read_rows(page.jobs(), page.table(),
                                [&](const api::Job& row) { live.rows.push_back(row); });
      });
  if (!read) return fail(read.error());
  return live;
}

std::string progress_text(const JobKey& job, const std::vector<api::Job>& rows, Time now) {
  if (rows.empty()) return {};
  // A task may be named by its own id too.
  const api::Job& first = rows.front();
  const bool array =
      job.task.is_none() && !first.spec().array().empty() && first.key().job() == job.job.value();
  return printable(array ? text_of_array(job, rows) : text_of_job(job, first, now));
}

std::string with_coloured_state(std::string_view line) {
  constexpr std::string_view kBefore = ": ";
  const std::size_t colon = line.find(kBefore);
  if (colon == std::string_view::npos) return std::string(line);
  const std::size_t begin = colon + kBefore.size();
  const std::size_t end = std::min(line.find(' ', begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  std::string out(line.substr(0, begin));
  put_coloured(word, upper(word), out);
  out += line.substr(end);
  return out;
}

class ProgressLine::Writer {
 public:
  Writer(rpc::Client& client, const JobKey& job, bool coloured)
      : client_(client), job_(job), coloured_(coloured), thread_([this] { work(); }) {}

  ~Writer() {
    {
      Lock lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
    draw("");
  }

 private:
  // Returns whether the end has come.
  bool pause(std::chrono::milliseconds length) {
    Lock lock(mutex_);
    return changed_.wait_for(lock, length, [this]() ARES_REQUIRES(mutex_) { return over_; });
  }

  void work() {
    if (pause(kFirst)) return;
    for (;;) {
      const auto live = read_live_jobs(client_, job_);
      const auto asked_at = Clock::now();
      const bool many = live && live->rows.size() > kManyRows;
      for (int tick = many ? kTicksBetweenLongQueries : kTicksBetweenQueries; tick > 0; --tick) {
        const auto since = std::chrono::duration_cast<Duration>(Clock::now() - asked_at);
        // Without an answer the line would be wrong; the client says what is the matter.
        draw(live ? progress_text(job_, live->rows, live->now + since) : "");
        if (pause(kTick)) return;
      }
    }
  }

  void draw(const std::string& text) {
    if ((text.empty() && shown_ == 0) || !in_foreground()) return;
    const std::string_view line = head_of_width(text, line_width());
    const std::size_t width = display_width(line);
    std::string out = "\r";
    out += coloured_ ? with_coloured_state(line) : std::string(line);
    if (shown_ > width) out.append(shown_ - width, ' ');
    out += '\r';
    std::fputs(out.c_str(), stderr);
    shown_ = width;
  }

  rpc::Client& client_;
  const JobKey job_;
  const bool coloured_;
  std::size_t shown_ = 0;  // columns of the line; used by the thread until it has ended
  Mutex mutex_;
  Condition changed_;
  bool over_ ARES_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // the last member: it uses the others
};

ProgressLine::ProgressLine(rpc::Client& client, const JobKey& job, ColourWhen colour) {
  if (!shows_lines()) return;
  try {
    writer_ = std::make_unique<Writer>(client, job, colours_on(colour, STDERR_FILENO));
  } catch (const std::system_error&) {  // the user may start no more threads: without the line
  }
}

ProgressLine::~ProgressLine() = default;

}  // namespace ares::cli
