#include "actl/doctor.h"

#include <algorithm>
#include <map>

#include "base/duration.h"
#include "base/hostlist.h"
#include "base/printable.h"
#include "base/timespec.h"
#include "config/config.h"

namespace ares::actl {
namespace {

// munge takes credentials of the last five minutes, and times of jobs should agree better than that.
constexpr Seconds kClockDifference{10};

std::string nodes_text(const std::vector<std::string>& names) {
  return (names.size() == 1 ? "node " : std::to_string(names.size()) + " nodes, ") +
         excerpt(compress_hostlist(names));
}

// The advice for what a controller or munged says no to.
std::string advice_for(const Error& error) {
  switch (error.code) {
    case ErrorCode::unavailable:
      return "see on the controller's machine that aresctld runs (systemctl status aresctld) and "
             "what its log says, and that no firewall is between";
    case ErrorCode::unauthenticated:
      return "/etc/munge/munge.key must be the same here and on the controller's machine, their "
             "clocks must agree, and controller.user in ares.yaml must be the user of aresctld";
    default: return "see the log of aresctld";
  }
}

}  // namespace

Finding judge_munge(const Status& tried, bool needed) {
  if (tried) return {Health::good, "munge", "a credential was made and read on this machine", ""};
  if (!needed)
    return {Health::warning, "munge", tried.error().message,
            "nothing for commands here, which reach the controller by its local socket; other "
            "machines and arun on several nodes need munge"};
  return {Health::failed, "munge", tried.error().message,
          tried.error().code == ErrorCode::unavailable
              ? "start munged on this machine (systemctl start munge), or see auth.munge_socket in "
                "ares.yaml"
              : "restart munged on this machine, and see its log; its key must not have changed "
                "while it ran"};
}

Finding judge_address(const std::string& address, const Status& connected, bool answered) {
  if (connected) return {Health::good, "port", address + " takes connections", ""};
  return {answered ? Health::warning : Health::failed, "port",
          address + ": " + connected.error().message,
          answered
              ? "another address was used; commands first try this one: see controller.connect in "
                "ares.yaml"
              : "see that aresctld runs and listens there (controller.listen in ares.yaml), and "
                "that no firewall is between"};
}

Finding judge_controller(const Result<api::Response>& pong) {
  if (!pong) return {Health::failed, "controller", pong.error().message, advice_for(pong.error())};
  return {Health::good, "controller",
          "aresctld" +
              (pong->pong().host().empty() ? std::string() : " on " + pong->pong().host()) +
              " of cluster " + pong->pong().cluster() + " answers",
          ""};
}

Finding judge_clocks(const api::Pong& pong, Time asked, Time told) {
  const Time machine{Duration(pong.now() - pong.clock_ahead())};
  const Duration off = machine < asked  ? machine - asked
                       : machine > told ? machine - told
                                        : Duration{0};
  const auto length = [](Duration d) {
    return format_duration(std::chrono::duration_cast<Seconds>(std::chrono::abs(d)));
  };
  if (std::chrono::abs(off) >= kClockDifference)
    return {
        Health::failed, "clocks",
        "the clock of the controller's machine is " + length(off) +
            (off > Duration{0} ? " ahead of" : " behind") + " that of this machine",
        "let chrony or another NTP client keep both right; munge refuses credentials that are five "
        "minutes off"};
  const Duration ahead{pong.clock_ahead()};
  if (std::chrono::abs(ahead) >= kClockDifference)
    return {Health::warning, "clocks",
            "the controller's time is " + length(ahead) +
                (ahead > Duration{0} ? " ahead of" : " behind") + " the clock of its machine",
            "its clock was changed; the controller approaches it by 1 %, nothing has to be done"};
  return {Health::good, "clocks", "this machine and the controller's agree", ""};
}

std::vector<Finding> judge_database(const api::Pong& pong,
                                    const std::optional<std::string>& config) {
  std::vector<Finding> found;
  const auto parsed = config ? config::parse(*config, "the controller's configuration")
                             : Result<config::Config>(fail(ErrorCode::not_found, ""));
  const std::string where = parsed ? " (" + parsed->database.name + " on " + parsed->database.host +
                                         " port " + std::to_string(parsed->database.port) + ")"
                                   : std::string();
  if (pong.state() == "active")
    found.push_back({Health::good, "database", "the controller commits to it" + where, ""});
  else
    found.push_back(
        {Health::failed, "database", "the controller is " + pong.state() + where,
         "see that PostgreSQL runs and takes connections of the controller, and the log of "
         "aresctld; submissions wait until then"});
  if (parsed && parsed->database.accept_data_loss)
    found.push_back({Health::warning, "database",
                     "database.accept_data_loss is set: its settings were not insisted on",
                     "take it out of ares.yaml; aresctld then refuses to start with fsync=off, "
                     "full_page_writes=off or synchronous_commit=off, and says what to change"});
  else if (parsed)
    found.push_back({Health::good, "database",
                     "its settings lose no commit; the controller would not have started else",
                     ""});
  return found;
}

std::vector<Finding> judge_versions(const std::string& own, const std::string& controller,
                                    const api::Nodes& nodes) {
  std::vector<Finding> found;
  if (own != controller)
    found.push_back(
        {Health::warning, "versions",
         "this program is of release " + own + ", the controller of " + controller,
         "install the controller's release here; what only the newer one knows is refused"});
  std::map<std::string, std::vector<std::string>> others;
  for (const api::Node& node : nodes.nodes())
    if (!node.version().empty() && node.version() != controller)
      others[node.version()].push_back(node.name());
  for (const auto& [version, names] : others)
    found.push_back(
        {Health::warning, "versions",
         nodes_text(names) + ": aresd is of release " + excerpt(version) + ", the controller of " +
             controller,
         "install the controller's release there and restart aresd; jobs go on meanwhile"});
  if (found.empty())
    found.push_back({Health::good, "versions", "all are of release " + controller, ""});
  return found;
}

std::vector<Finding> judge_nodes(const api::Nodes& nodes) {
  std::vector<std::string> never, silent;
  std::int64_t last = 0;
  for (const api::Node& node : nodes.nodes()) {
    if (node.registered_at() == 0)
      never.push_back(node.name());
    else if (node.state().ends_with('*'))
      silent.push_back(node.name()), last = std::max(last, node.last_heard());
  }
  std::vector<Finding> found;
  if (!never.empty())
    found.push_back(
        {Health::failed, "nodes", nodes_text(never) + ": never registered",
         "start aresd there (systemctl start aresd); its log says whether it reaches the "
         "controller, and whether its name and machine fit ares.yaml"});
  if (!silent.empty())
    found.push_back(
        {Health::failed, "nodes",
         nodes_text(silent) + ": no answer" +
             (last ? " since " + format_local_time(Time(Duration(last))) + " or before"
                   : std::string()),
         "see whether the machine is up and aresd runs there (systemctl status aresd), and "
         "whether it reaches the controller's addresses"});
  if (found.empty())
    found.push_back({Health::good, "nodes",
                     "all " + std::to_string(nodes.nodes_size()) + " answer the controller", ""});
  return found;
}

std::string doctor_text(const std::vector<Finding>& findings, bool quiet) {
  std::string text;
  for (const Finding& one : findings) {
    if (quiet && one.health == Health::good) continue;
    const char* const word = one.health == Health::good      ? "ok      "
                             : one.health == Health::warning ? "warning "
                                                             : "FAILED  ";
    std::string subject = one.subject;
    subject.resize(std::max<std::size_t>(subject.size(), 11), ' ');
    text += word + subject + " " + printable(one.text) + "\n";
    if (!one.advice.empty()) text += "        What to do: " + one.advice + ".\n";
  }
  return text;
}

std::size_t failures(const std::vector<Finding>& findings) {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [](const Finding& one) { return one.health == Health::failed; }));
}

}  // namespace ares::actl
