#include "aresctld/notify/webhook_body.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "aresctld/notify/mail_text.h"

namespace ares::aresctld {
namespace {

using Json = nlohmann::json;
using core::Notice;
using core::NoticeKind;

Json seconds_of(Time at) {
  return std::chrono::floor<Seconds>(at).time_since_epoch().count();
}

Json seconds_of(const std::optional<Time>& at) {
  return at && *at != Time{} ? seconds_of(*at) : Json(nullptr);
}

Json job_of(const Notice& n) {
  Json job = {{"id", n.own_id.value()},
              {"name", n.name},
              {"user", n.user},
              {"state", std::string(to_string(n.state))},
              {"reason", n.reason == Reason::none ? "" : std::string(to_string(n.reason))},
              {"cause", n.cause},
              {"nodes", n.nodes},
              {"directory", n.work_dir},
              {"submitted", seconds_of(n.submitted)},
              {"started", seconds_of(n.started)},
              {"ended", seconds_of(n.ended)},
              {"exit_code", n.exit.code},
              {"signal", n.exit.signal},
              {"time_limit", n.time_limit ? Json(n.time_limit->count()) : Json(nullptr)}};
  const bool is_task = !n.key.task.is_none();
  job["array_job"] = is_task || n.tasks ? Json(n.key.job.value()) : Json(nullptr);
  job["array_task"] = is_task ? Json(n.key.task.value) : Json(nullptr);
  if (n.completed + n.unsuccessful > 0)
    job["tasks"] = {{"completed", n.completed}, {"unsuccessful", n.unsuccessful}};
  return job;
}

// What Slack takes for markup: https://api.slack.com/reference/surfaces/formatting, "Escaping text".
std::string without_markup(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '`': out += '\''; break;  // it would end the block
      default: out += c;
    }
  }
  return out;
}

}  // namespace

std::string event_name(const Notice& n) {
  switch (n.kind) {
    case NoticeKind::began: return "BEGIN";
    case NoticeKind::ended: return "END";
    case NoticeKind::failed: return "FAIL";
    case NoticeKind::timed_out: return "TIME_LIMIT";
    case NoticeKind::requeued: return "REQUEUE";
    case NoticeKind::invalid_dependency: return "INVALID_DEPEND";
    case NoticeKind::time_share: return "TIME_LIMIT_" + std::to_string(n.percent);
  }
  return "";
}

std::string webhook_body(const Notice& notice, config::WebhookFormat format,
                         const std::string& cluster, const std::string& delivery) {
  const MailText text = mail_text(notice);
  Json body;
  if (format == config::WebhookFormat::slack) {
    // All of it in a block: elsewhere the name of a job could be a link or an image, or call everyone.
    body["text"] =
        "```\n" + without_markup(text.subject) + "\n\n" + without_markup(text.body) + "```";
  } else {
    body = {{"version", 1},
            {"delivery", delivery},
            {"cluster", cluster},
            {"event", event_name(notice)},
            {"time", seconds_of(notice.at)},
            {"text", text.subject},
            {"job", job_of(notice)}};
  }
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ares::aresctld
