#include "aresctld/notify/mail_text.h"

#include <algorithm>

#include "base/duration.h"
#include "base/timespec.h"

namespace ares::aresctld {
namespace {

using core::Notice;
using core::NoticeKind;

// Replaces control characters, so that the text is one line.
std::string plain(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

// Truncates at a character boundary.
std::string shortened(std::string text) {
  constexpr std::size_t kMost = 80;
  if (text.size() <= kMost) return text;
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

std::string job_number(const Notice& n) {
  const std::string job = std::to_string(n.key.job.value());
  if (!n.key.task.is_none()) return job + "_" + std::to_string(n.key.task.value);
  return n.tasks ? job + "_[" + format_interval_set(*n.tasks) + "]" : job;
}

std::string run_time(const Notice& n) {
  if (!n.started) return "never started";
  const Time end = n.ended.value_or(n.at);
  return "run time " +
         format_duration(std::chrono::floor<Seconds>(std::max(end - *n.started, Duration{0})));
}

std::string exit_text(const ExitStatus& exit) {
  return exit.signal != 0 ? "signal " + std::to_string(exit.signal)
                          : "exit code " + std::to_string(exit.code);
}

std::string outcome(const Notice& n) {
  std::string text(to_string(n.state));
  if (n.started) text += ", " + exit_text(n.exit);
  return text + ", " + run_time(n);
}

std::string what_happened(const Notice& n) {
  switch (n.kind) {
    case NoticeKind::began: {
      const Duration waited = n.started ? *n.started - n.submitted : Duration{0};
      return "began after waiting " +
             format_duration(std::chrono::floor<Seconds>(std::max(waited, Duration{0})));
    }
    case NoticeKind::ended: return "ended: " + outcome(n);
    case NoticeKind::failed: return "failed: " + outcome(n);
    case NoticeKind::timed_out: return "reached its time limit: " + outcome(n);
    case NoticeKind::requeued: return "was put back into the queue, " + run_time(n);
    case NoticeKind::invalid_dependency: return "can never start: its dependency cannot be met";
    case NoticeKind::time_share:
      return "has used " + std::to_string(n.percent) + " % of its time limit";
  }
  return "";
}

class Body {
 public:
  void line(std::string_view label, const std::string& value) {
    if (value.empty()) return;
    constexpr std::size_t kColumn = 13;
    text_ += label;
    text_ += ':';
    text_.append(kColumn > label.size() + 1 ? kColumn - label.size() - 1 : 1, ' ');
    text_ += plain(value) + "\n";
  }
  void line(std::string_view label, const std::optional<Time>& at) {
    if (at && *at != Time{}) line(label, format_local_time(*at));
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

MailText mail_text(const Notice& n) {
  const bool over = n.kind == NoticeKind::ended || n.kind == NoticeKind::failed ||
                    n.kind == NoticeKind::timed_out;
  MailText mail;
  mail.subject = "Ares job " + shortened(job_number(n)) + " (" + shortened(plain(n.name)) + ") " +
                 what_happened(n);

  Body body;
  body.line("Job", job_number(n));
  if (n.own_id != n.key.job) body.line("Own number", std::to_string(n.own_id.value()));
  body.line("Name", n.name);
  body.line("User", n.user);
  body.line("State",
            std::string(to_string(n.state)) +
                (n.reason == Reason::none ? std::string()
                                          : " (" + std::string(to_string(n.reason)) + ")"));
  body.line("Cause", n.cause);
  if (n.completed + n.unsuccessful > 0)
    body.line("Tasks", std::to_string(n.completed) + " completed, " +
                           std::to_string(n.unsuccessful) + " did not");
  if (over && n.started) body.line("Exit", exit_text(n.exit));
  body.line("Nodes", n.nodes);
  body.line("Submitted", n.submitted);
  body.line("Started", n.started);
  body.line("Ended", n.ended);
  if (n.started && n.kind != NoticeKind::began) body.line("Run time", run_time(n).substr(9));
  if (n.time_limit) body.line("Time limit", format_duration(*n.time_limit));
  body.line("Directory", n.work_dir);
  mail.body = body.take();
  return mail;
}

}  // namespace ares::aresctld
