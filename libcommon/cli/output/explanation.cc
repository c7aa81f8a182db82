#include "cli/output/explanation.h"

#include <algorithm>
#include <cstdio>

#include "base/printable.h"
#include "base/timespec.h"
#include "cli/output/table.h"
#include "cli/output/text.h"

namespace ares::cli {
namespace {

std::string moment(std::int64_t micros) {
  return format_local_time(Time(Duration(micros)));
}

std::string job_text(const api::JobRef& ref) {
  return std::to_string(ref.job()) + (ref.has_task() ? "_" + std::to_string(ref.task()) : "");
}

// "12", "0.5", "0.333".
std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string cause_text(const api::Explanation::Cause& cause) {
  std::string text = cause.reason();
  if (!cause.partition().empty()) text += " in " + cause.partition();
  text += ": " + cause.text();
  if (cause.until()) text += ", until " + moment(cause.until());
  for (const api::Explanation::Promise& promise : cause.promises())
    text += "; job " + job_text(promise.job()) + " is to start at " + moment(promise.start()) +
            " on " + promise.nodes();
  return text;
}

std::string start_text(const api::Explanation& e) {
  if (e.starts_now()) return "now: nothing prevents it";
  if (e.expected_start() == 0) return "cannot be estimated";
  std::string text = (e.at_the_earliest() ? "after the jobs that already wait, not before " : "") +
                     moment(e.expected_start());
  if (!e.expected_nodes().empty()) text += " on " + e.expected_nodes();
  return text;
}

std::string priority_text(const api::Explanation& e) {
  std::string text = std::to_string(e.priority()) + " (" + e.queue_policy();
  if (e.priority_set()) text += ", given by an operator";
  return text + (e.standing().empty() ? "" : ", " + e.standing()) + ")";
}

std::string factor_text(const api::Explanation::Factor& factor) {
  return factor.name() + " " + number(factor.weighted()) + " = " + number(factor.value()) +
         " of weight " + number(factor.weight());
}

bool counts(const api::Explanation::Factor& factor) {
  return factor.weighted() != 0 || (factor.weight() != 0 && factor.weight() != 1);
}

// Lines after the first begin at column `indent`.
void put_wrapped(const std::string& text, std::size_t indent, std::size_t width, std::string& out) {
  std::size_t at = 0;
  for (const std::string& word : split(text, ' ')) {
    if (at > 0 && width > 0 && indent + at + 1 + word.size() > width) {
      out += '\n' + std::string(indent, ' ');
      at = 0;
    } else if (at > 0) {
      out += ' ';
      ++at;
    }
    out += word;
    at += word.size();
  }
  out += '\n';
}

}  // namespace

std::vector<ExplanationLine> explanation_lines(const api::Explanation& e) {
  std::vector<ExplanationLine> lines;
  if (!e.waits()) return lines;
  const auto add = [&](const char* title, std::string text) {
    lines.push_back({title, std::move(text)});
  };
  for (const auto& cause : e.causes()) add("Waits for", cause_text(cause));
  add("Jobs ahead", std::to_string(e.jobs_ahead()));
  add("Would start", start_text(e));
  add("Priority", priority_text(e));
  for (const auto& factor : e.factors())
    if (counts(factor)) add("Factor", factor_text(factor));
  for (const auto& change : e.changes())
    add("Starts now if", change.text() + (change.note().empty() ? "" : " (" + change.note() + ")"));
  if (e.cut())
    add("Starts now if", "perhaps with other changes too: the search was cut short");
  else if (e.changes().empty() && !e.starts_now())
    add("Starts now if", "no change or pair of changes of the job was found that starts it now");
  return lines;
}

std::string format_explanation(const api::Explanation& explanation, std::size_t width) {
  const auto lines = explanation_lines(explanation);
  std::size_t widest = 0;
  for (const ExplanationLine& line : lines) widest = std::max(widest, line.title.size());
  std::string out, last;
  for (const ExplanationLine& line : lines) {
    const std::string title = line.title == last ? "" : line.title + ":";
    last = line.title;
    out += "  " + title + std::string(widest + 2 - title.size(), ' ');
    put_wrapped(printable(line.text), widest + 4, width, out);
  }
  return out;
}

}  // namespace ares::cli
