// Waiting for drained nodes, the history of nodes, reboots, and the removal of nodes that joined.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <thread>

#include "actl/assign.h"
#include "actl/describe.h"
#include "actl/lines.h"
#include "base/hostlist.h"
#include "base/printable.h"
#include "cli/output/json.h"
#include "cli/values/job_ids.h"

namespace ares::actl {
namespace {

// Between two looks at nodes that are waited for.
constexpr std::chrono::seconds kLookAgain{1};

bool is_out_of_service(const std::string& state) {
  for (const char* word : {"DRAIN", "DOWN", "FAIL"})
    if (state.starts_with(word)) return true;
  return false;
}

// "job 12 of ada (train), until 2026-11-24T21:00:00 at the latest"
std::string describe_running(const api::Job& job) {
  std::string text = "job " + cli::format_job_id(cli::key_of(job.key())) + " of " +
                     printable(job.user()) + " (" + printable(job.name()) + ")";
  if (job.started() != 0 && job.has_time_limit() && job.time_limit() > 0)
    text += ", until " + time_text(job.started() + job.time_limit() * 1'000'000) + " at the latest";
  return text;
}

// What runs on the nodes: a line for each job, with its nodes.
Result<std::vector<std::string>> running_lines(
    Context& context, const std::map<std::string, std::vector<std::string>>& nodes_of,
    const std::vector<api::JobRef>& refs) {
  api::Request request;
  for (const api::JobRef& ref : refs) *request.mutable_list_jobs()->add_jobs() = ref;
  const auto response = context.call_for_all(request);
  std::map<std::string, std::string> known;
  // A job may have ended since; then its number is all that is known.
  if (response)
    for (const api::Job& job : response->jobs().jobs())
      known[cli::format_job_id(cli::key_of(job.key()))] = describe_running(job);
  std::vector<std::string> lines;
  for (const auto& [id, names] : nodes_of) {
    const auto found = known.find(id);
    lines.push_back(compress_hostlist(names) + ": " +
                    (found == known.end() ? "job " + id : found->second));
  }
  return lines;
}

Result<api::Nodes> look_at(Context& context, const std::string& nodes) {
  api::Request request;
  request.mutable_list_nodes()->set_nodes(nodes);
  auto response = context.call_for_all(request);
  if (!response) return fail(response.error());
  return std::move(*response->mutable_nodes());
}

// Rows with aligned columns; the last one is not padded.
void print_rows(const std::vector<std::array<std::string, 5>>& rows) {
  std::array<std::size_t, 5> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 1, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::puts(line.c_str());
  }
}

}  // namespace

Result<int> wait_until_drained(Context& context, const std::string& nodes) {
  std::vector<std::string> told;
  for (;; std::this_thread::sleep_for(kLookAgain)) {
    const auto looked = look_at(context, nodes);
    if (!looked) return fail(looked.error());
    std::map<std::string, std::vector<std::string>> nodes_of;
    std::vector<api::JobRef> refs;
    for (const api::Node& node : looked->nodes()) {
      if (!is_out_of_service(node.state()))
        return fail(ErrorCode::failed_precondition, "node " + node.name() + " is in service (" +
                                                        node.state() +
                                                        "): drain it first, with a reason");
      for (const api::JobRef& ref : node.jobs()) {
        auto& names = nodes_of[cli::format_job_id(cli::key_of(ref))];
        if (names.empty()) refs.push_back(ref);
        names.push_back(node.name());
      }
    }
    if (nodes_of.empty()) break;
    const auto lines = running_lines(context, nodes_of, refs);
    if (!lines) return fail(lines.error());
    if (*lines == told) continue;
    told = *lines;
    if (context.flags.quiet) continue;
    std::printf("%zu %s still there:\n", told.size(), told.size() == 1 ? "job is" : "jobs are");
    for (const std::string& line : told) std::printf("  %s\n", line.c_str());
    std::fflush(stdout);
  }
  if (!context.flags.quiet) std::printf("nothing runs on %s any more\n", nodes.c_str());
  return 0;
}

Result<int> show_node_history(Context& context, const std::string& nodes) {
  api::NodeEvents all;
  api::Request request;
  request.mutable_list_node_events()->set_nodes(nodes);
  for (bool more = true; more;) {
    auto response = context.call(request);
    if (!response) return fail(response.error());
    api::NodeEvents& page = *response->mutable_node_events();
    more = page.more();
    for (api::NodeEvents::Event& event : *page.mutable_events())
      *all.add_events() = std::move(event);
    if (all.events().empty()) break;
    request.mutable_list_node_events()->set_before(all.events(all.events_size() - 1).id());
  }
  std::reverse(all.mutable_events()->begin(), all.mutable_events()->end());
  if (context.flags.document) {
    cli::print_document(context.flags.document, cli::to_json(all));
    return 0;
  }
  std::vector<std::array<std::string, 5>> rows = {{"TIME", "NODE", "EVENT", "USER", "DETAIL"}};
  for (const api::NodeEvents::Event& event : all.events())
    rows.push_back({time_text(event.at()), printable(event.node()), event.what(),
                    printable(event.user()), printable(event.detail())});
  print_rows(rows);
  return 0;
}

// scontrol's form: reboot [ASAP] [nextstate=RESUME|DOWN] [reason=TEXT] NODES
Result<int> reboot_nodes(Context& context, const Words& operands) {
  api::Request request;
  api::RebootNodes& reboot = *request.mutable_reboot_nodes();
  std::string nodes;
  for (const std::string& word : operands) {
    const std::size_t equals = word.find('=');
    const std::string key = cli::lower(word.substr(0, equals));
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (equals == std::string::npos && key == "asap") {
      reboot.set_asap(true);
    } else if (equals == std::string::npos) {
      nodes += (nodes.empty() ? "" : ",") + word;
    } else if (key == "reason") {
      reboot.set_reason(value);
    } else if (key == "nextstate" && cli::lower(value) == "resume") {
      reboot.set_after(api::RebootNodes::RESUME);
    } else if (key == "nextstate" && cli::lower(value) == "down") {
      reboot.set_after(api::RebootNodes::DOWN);
    } else if (key == "nextstate") {
      return invalid("nextstate is resume or down, not " + quote(value));
    } else {
      return invalid("unknown " + quote(key) + "; reboot has asap, nextstate= and reason=");
    }
  }
  const auto names = expand_hostlist(nodes);
  if (!names) return fail(names.error());
  if (names->empty()) return invalid("name the nodes to reboot");
  if (has_control(reboot.reason())) return invalid("the reason holds a control character");
  reboot.set_nodes(nodes);
  return context.change(request);
}

Result<int> cancel_reboot(Context& context, const Words& operands) {
  api::Request request;
  api::RebootNodes& reboot = *request.mutable_reboot_nodes();
  reboot.set_cancel(true);
  reboot.set_nodes(cli::join(operands, ","));
  const auto names = expand_hostlist(reboot.nodes());
  if (!names) return fail(names.error());
  if (names->empty()) return invalid("name the nodes that are not to reboot");
  return context.change(request);
}

// `delete node NODES`, and scontrol's `delete nodename=NODES`.
Result<int> delete_nodes(Context& context, const Words& operands) {
  std::string nodes;
  for (const std::string& word : operands) {
    const std::size_t equals = word.find('=');
    nodes +=
        (nodes.empty() ? "" : ",") + (equals == std::string::npos ? word : word.substr(equals + 1));
  }
  const auto names = expand_hostlist(nodes);
  if (!names) return fail(names.error());
  if (names->empty()) return invalid("name the nodes");
  api::Request request;
  request.mutable_delete_nodes()->set_nodes(nodes);
  return context.change(request);
}

}  // namespace ares::actl
