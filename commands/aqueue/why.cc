// --why: explains in sentences why a job waits.
#include <algorithm>
#include <string_view>

#include "aqueue/cells.h"
#include "aqueue/report.h"
#include "base/duration.h"
#include "base/printable.h"
#include "cli/output/explanation.h"
#include "cli/output/reasons.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "core/accounts/limits/limit_reason_list.h"

namespace ares::aqueue {
namespace {

constexpr std::size_t kWidest = 96;

std::string moment(std::int64_t micros) {
  std::string text;
  put_time(micros, text);
  return text;
}

std::string name_of(const api::Job& job) {
  std::string text;
  put_id(job, text);
  return "Job " + text + " (" + job.name() + " of " + job.user() + ", partition " +
         job.partition() + ")";
}

std::string id_of(const api::JobRef& ref) {
  std::string text = std::to_string(ref.job());
  if (ref.has_task()) text += "_" + std::to_string(ref.task());
  return text;
}

std::string meaning(const std::string& reason) {
  std::string_view text = cli::meaning_of_reason(reason);
  if (text.empty()) text = core::meaning_of_limit(reason);
  return text.empty() ? "waits" : std::string(text);
}

std::string pending_text(const Row& row, bool explained) {
  const api::Job& job = row.job;
  std::string text = name_of(job) + " " + meaning(job.reason());
  if (!job.reason().empty() && job.reason() != "None") text += " (" + job.reason() + ")";
  if (!explained && !job.reason_detail().empty()) text += ": " + job.reason_detail();
  text += ".";
  if (!job.cause().empty()) text += " Its last attempt failed: " + job.cause() + ".";
  if (!job.waiting_for().empty()) {
    text += " It waits for ";
    put_dependencies(job, text);
    text += ".";
  }
  if (job.reason() == "BeginTime" && job.spec().has_begin())
    text += " It may begin at " + moment(job.spec().begin()) + ".";
  return text + " It has waited for " + format_duration_short(Seconds(waited(row))) + ".";
}

// Who suspended the job, and what must happen before it continues.
std::string suspended_text(const api::Job& job) {
  if (job.suspended_at() == 0) return "";
  std::string text = " It has been suspended since " + moment(job.suspended_at()) + ": ";
  const bool by_itself = job.has_suspended_for();
  if (by_itself)
    text += "it made room for job " + id_of(job.suspended_for()) +
            ", and resumes automatically when its CPUs are free.";
  else
    text += job.suspended_by_user() + " suspended it; actl resume resumes it.";
  if (job.cpus_taken_by().empty()) return text;
  text += " Its CPUs are held by job ";
  for (int i = 0; i < job.cpus_taken_by_size(); ++i)
    text += (i > 0 ? ", " : "") + id_of(job.cpus_taken_by(i));
  return text + ".";
}

// What the end of the job waits for, until when, and what can be done sooner.
std::string silence_text(const api::Job& job) {
  if (job.silent_nodes().empty()) return "";
  std::string text = " Since " + moment(job.silent_since()) + " " + job.reason_detail() + ".";
  if (job.dead_at() == 0) return text + " Otherwise it waits until the node is back.";
  return text + " Otherwise it waits until the node is back, or until " + moment(job.dead_at()) +
         ", when the node counts as dead (dead_node_timeout).";
}

std::string live_text(const Row& row) {
  const api::Job& job = row.job;
  std::string text =
      name_of(job) + " does not wait: it is " + job.state() + " on " + job.node_list();
  if (job.started()) text += " since " + moment(job.started());
  return text + "." + suspended_text(job) + silence_text(job);
}

std::string ended_text(const Row& row) {
  const api::Job& job = row.job;
  std::string text =
      name_of(job) + " does not wait: it ended at " + moment(job.ended()) + " as " + job.state();
  if (!job.reason().empty() && job.reason() != "None") text += " (" + job.reason() + ")";
  if (!job.cause().empty()) text += ": " + job.cause();
  return text + "; exit code " + std::to_string(job.exit_code()) + ":" +
         std::to_string(job.exit_signal()) + ".";
}

std::string wrap(const std::string& text, std::size_t width) {
  std::string out;
  std::size_t at = 0;
  for (const std::string& word : cli::split(text, ' ')) {
    if (at > 0 && at + 1 + word.size() > width) {
      out += '\n';
      at = 0;
    } else if (at > 0) {
      out += ' ';
      ++at;
    }
    out += word;
    at += word.size();
  }
  return out;
}

class WhyReport final : public Report {
 public:
  WhyReport(unsigned terminal, Explain explain)
      : width_(terminal ? std::min<std::size_t>(terminal, kWidest) : 0),
        explain_(std::move(explain)) {}

  std::vector<std::uint32_t> fields() const override { return every_field(); }
  void add(const Row& row) override {
    if (!out_.empty()) out_ += '\n';
    if (state_of(row.job) != JobState::pending) return add_text(text_of(row));
    const auto explanation = explain_(row.job.key());
    if (explanation && !explanation->waits())  // The job has started or ended since it was listed.
      return add_text(text_of({explanation->job(), row.now, row.cluster}));
    add_text(pending_text(row, explanation.has_value()));
    out_ += explanation
                ? cli::format_explanation(*explanation, width_)
                : "  No explanation is available: " + printable(explanation.error().message) + "\n";
  }
  std::string finish(const api::Jobs&, bool) override { return std::move(out_); }

 private:
  static std::string text_of(const Row& row) {
    const JobState state = state_of(row.job);
    return state == JobState::pending ? pending_text(row, true)
           : is_terminal(state)       ? ended_text(row)
                                      : live_text(row);
  }
  void add_text(const std::string& text) {
    out_ += wrap(printable(text), width_ ? width_ : SIZE_MAX) + "\n";
  }

  std::string out_;
  const std::size_t width_;
  const Explain explain_;
};

}  // namespace

std::unique_ptr<Report> make_why_report(unsigned terminal, Explain explain) {
  return std::make_unique<WhyReport>(terminal, std::move(explain));
}

}  // namespace ares::aqueue
