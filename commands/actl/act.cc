#include <cstdio>
#include <optional>

#include "actl/command.h"
#include "base/duration.h"
#include "base/hostlist.h"
#include "cli/job_ids.h"
#include "cli/text.h"
#include "config/config.h"

namespace ares::actl {
namespace {

tl::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

struct Assignment {
  std::string key;  // lower case
  std::string value;
};

// NAME=VALUE words; a word without = goes on with the value before it, as a reason typed without quotes does.
Result<std::vector<Assignment>> assignments(const Words& words) {
  std::vector<Assignment> all;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos && equals > 0) {
      if (word[equals - 1] == '+' || word[equals - 1] == '-')
        return bad("\"" + word + "\": += and -= are not supported yet");
      all.push_back({cli::lower(word.substr(0, equals)), word.substr(equals + 1)});
    } else if (!all.empty() && all.back().key == "reason") {
      all.back().value += " " + word;
    } else {
      return bad("expected NAME=VALUE instead of \"" + word + "\"");
    }
  }
  return all;
}

Result<int> finish(Context& context, const Result<api::Response>& response) {
  if (!response) return fail(response.error());
  if (!context.quiet && !response->acted().text().empty())
    std::printf("%s\n", response->acted().text().c_str());
  return 0;
}

Result<int> send_job_action(Context& context, const api::JobAction& action) {
  api::Request request;
  *request.mutable_job_action() = action;
  return finish(context, context.call(request, cli::Patience::changing));
}

Result<int> send_node_update(Context& context, api::UpdateNode::Kind kind, const std::string& nodes,
                             const std::string& reason) {
  const auto names = expand_hostlist(nodes);
  if (!names) return fail(names.error());
  if (names->empty()) return bad("name the nodes");
  if (reason.empty() && kind != api::UpdateNode::RESUME) return bad("say why: reason=TEXT");
  if (cli::find_control(reason) != std::string::npos)
    return bad("the reason holds a control character");
  api::Request request;
  request.mutable_update_node()->set_kind(kind);
  request.mutable_update_node()->set_nodes(nodes);
  request.mutable_update_node()->set_reason(reason);
  return finish(context, context.call(request, cli::Patience::changing));
}

Status add_jobs(api::JobAction& action, const std::string& ids) {
  const auto keys = cli::parse_job_ids(ids);
  if (!keys) return fail(keys.error());
  cli::add_refs(action.mutable_jobs()->mutable_jobs(), *keys);
  return {};
}

Result<int> update_jobs(Context& context, const std::vector<Assignment>& all) {
  api::JobAction action;
  action.set_kind(api::JobAction::UPDATE);
  for (const Assignment& one : all) {
    if (one.key == "job" || one.key == "jobid") {
      if (Status added = add_jobs(action, one.value); !added) return fail(added.error());
    } else if (one.key == "priority") {
      const auto priority = cli::parse_integer(one.value, 0, UINT32_MAX - 1);
      if (!priority) return bad("priority: " + priority.error().message);
      action.set_priority(static_cast<std::uint32_t>(*priority));
    } else if (one.key == "timelimit") {
      const auto limit = parse_time_limit(one.value);
      if (!limit) return fail(limit.error());
      action.set_time_limit(*limit ? (*limit)->count() : 0);
    } else {
      return bad("updating " + one.key +
                 " of a job is not supported yet; priority and timelimit are");
    }
  }
  if (!action.has_priority() && !action.has_time_limit())
    return bad("nothing to change; give priority= or timelimit=");
  return send_job_action(context, action);
}

struct NodeState {
  const char* word;
  api::UpdateNode::Kind kind;
};
constexpr NodeState kNodeStates[] = {{"drain", api::UpdateNode::DRAIN},
                                     {"resume", api::UpdateNode::RESUME},
                                     {"undrain", api::UpdateNode::RESUME},
                                     {"idle", api::UpdateNode::RESUME},
                                     {"down", api::UpdateNode::DOWN}};

Result<int> update_nodes(Context& context, const std::vector<Assignment>& all) {
  std::string nodes, reason;
  std::optional<api::UpdateNode::Kind> kind;
  for (const Assignment& one : all) {
    if (one.key == "nodename" || one.key == "node") {
      nodes = one.value;
    } else if (one.key == "reason") {
      reason = one.value;
    } else if (one.key == "state") {
      for (const NodeState& state : kNodeStates)
        if (cli::lower(one.value) == state.word) kind = state.kind;
      if (!kind)
        return bad("the node state \"" + one.value +
                   "\" is not supported yet; use drain, resume or down");
    } else {
      return bad("updating " + one.key + " of a node is not supported yet; state and reason are");
    }
  }
  if (!kind) return bad("nothing to change; give state=drain, resume or down");
  return send_node_update(context, *kind, nodes, reason);
}

}  // namespace

Result<int> act_on_jobs(Context& context, api::JobAction::Kind kind, const Words& operands) {
  if (operands.empty()) return bad("name the jobs by their ids");
  api::JobAction action;
  action.set_kind(kind);
  for (const std::string& word : operands)
    if (Status added = add_jobs(action, word); !added) return fail(added.error());
  return send_job_action(context, action);
}

Result<int> act_on_nodes(Context& context, api::UpdateNode::Kind kind, const Words& operands) {
  if (operands.empty() || operands[0].find('=') != std::string::npos)
    return bad("name the nodes first");
  const auto rest = assignments(Words(operands.begin() + 1, operands.end()));
  if (!rest) return fail(rest.error());
  std::string reason;
  for (const Assignment& one : *rest) {
    if (one.key != "reason")
      return bad("unknown \"" + one.key + "\"; only reason= is understood here");
    reason = one.value;
  }
  return send_node_update(context, kind, operands[0], reason);
}

Result<int> update(Context& context, const Words& operands) {
  // `update job 12 ...` and `update node n1 ...` are the same as jobid=12 and nodename=n1.
  Words words = operands;
  if (words.size() >= 2 && words[0].find('=') == std::string::npos &&
      words[1].find('=') == std::string::npos) {
    words[0] += "=" + words[1];
    words.erase(words.begin() + 1);
  }
  const auto all = assignments(words);
  if (!all) return fail(all.error());
  for (const Assignment& one : *all) {
    if (one.key == "jobid" || one.key == "job") return update_jobs(context, *all);
    if (one.key == "nodename" || one.key == "node") return update_nodes(context, *all);
    if (one.key == "partitionname" || one.key == "reservationname" || one.key == "stepid")
      return bad("update with " + one.key + "= is not supported yet");
  }
  return bad("update what? Give jobid=IDS or nodename=NODES");
}

Result<int> ping(Context& context, const Words&) {
  api::Request request;
  request.mutable_ping();
  const auto response = context.call(request, cli::Patience::none);
  if (!response) return fail(response.error());
  const api::Pong& pong = response->pong();
  if (context.quiet) return 0;
  std::printf(
      "aresctld%s%s of cluster %s is UP (%s), epoch %ju, lsn %ju: %u of %u nodes answer, %u jobs "
      "pending, %u running\n",
      pong.host().empty() ? "" : " on ", pong.host().c_str(), pong.cluster().c_str(),
      pong.state().c_str(), static_cast<uintmax_t>(pong.epoch()),
      static_cast<uintmax_t>(pong.lsn()), pong.nodes_responding(), pong.nodes(),
      pong.jobs_pending(), pong.jobs_running());
  return 0;
}

Result<int> shut_down(Context& context, const Words& operands) {
  if (!operands.empty()) return bad("shutdown takes no argument");
  api::Request request;
  request.mutable_shutdown();
  return finish(context, context.call(request, cli::Patience::none));
}

Result<int> check_config(Context& context, const Words& operands) {
  const std::string path =
      config::default_path(operands.empty() ? context.common.config : operands[0]);
  const auto config = config::load(path);
  if (!config) return fail(config.error());
  if (!context.quiet)
    std::printf("%s: good; cluster %s, nodes: %zu, partitions: %zu\n", path.c_str(),
                config->policy.cluster_name.c_str(), config->nodes.size(),
                config->partitions.size());
  return 0;
}

}  // namespace ares::actl
