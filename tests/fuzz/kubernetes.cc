// What API servers, kubeconfigs and credential programs contain. The first byte says which.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "exec/kubernetes/agent/pods/pod_template.h"
#include "exec/kubernetes/api/access_review.h"
#include "exec/kubernetes/api/login/base64.h"
#include "exec/kubernetes/api/login/exec_credential.h"
#include "exec/kubernetes/api/login/kubeconfig.h"
#include "exec/kubernetes/api/quantity.h"
#include "exec/kubernetes/api/reflector.h"
#include "exec/kubernetes/api/reply.h"
#include "exec/kubernetes/api/rfc3339.h"
#include "exec/kubernetes/api/server_features.h"
#include "exec/kubernetes/gate/output_log.h"
#include "fuzz/target.h"

namespace ares::fuzz {

// Each short value of JSON or YAML becomes a node of its own, and a kubeconfig is converted twice.
const Allowance kAllowance{std::size_t{16} << 20, 2000};

namespace {

namespace kube = kubernetes;

Result<std::string> read_no_file(const std::string&) {
  return std::string("PEM");
}

void try_kubeconfig(std::string_view input) {
  const auto access = kube::parse_kubeconfig(std::string(input), "kubeconfig", "", read_no_file);
  if (!access) return require_refusal(access.error());
  require(access->server.starts_with("https://"), "connections are encrypted");
  require(access->server.find_first_of(" \r\n") == std::string::npos,
          "the server fits into a request");
  require(access->client_certificate_pem.empty() == access->client_key_pem.empty(),
          "a certificate has its key");
  if (const auto* token = std::get_if<kube::Token>(&access->token))
    require(kube::is_token(token->token), "a token fits into a header");
  if (const auto* plugin = std::get_if<kube::ExecPlugin>(&access->token)) {
    require(!plugin->command.empty() && plugin->command.find('\0') == std::string::npos,
            "a program can be started");
    require(!kube::exec_info(*plugin, *access).empty(), "a program is told something");
  }
}

void try_quantity(std::string_view input) {
  const auto thousandths = kube::parse_thousandths(input);
  const auto count = kube::parse_count(input);
  if (!count) {
    require_refusal(count.error());
    require(!thousandths, "what does not fit in units does not fit in thousandths");
    return;
  }
  require(*count >= 0, "amounts are not negative");
  if (!thousandths) return require_refusal(thousandths.error());
  require((*thousandths + 999) / 1000 == *count || *thousandths > INT64_MAX - 999,
          "both round up the same amount");
}

void try_credential(std::string_view input) {
  const auto credential = kube::parse_exec_credential(input, "client.authentication.k8s.io/v1");
  if (!credential) return require_refusal(credential.error());
  require(credential->login.token.empty() || kube::is_token(credential->login.token),
          "a token fits into a header");
}

void try_reply(std::string_view input) {
  const kube::Reply reply =
      kube::read_reply(409, {{"retry-after", std::string(input.substr(0, 20))}}, input);
  require_fit_to_show(reply.message);
  require(!reply.retry_after || *reply.retry_after <= std::chrono::hours(1), "a delay is bounded");
  require(kube::failure_of(reply) != kube::Failure::none, "a failure is one");
}

void try_discovery(std::string_view input) {
  kube::ServerFeatures features;
  for (const Status& status :
       {kube::add_version(input, features), kube::add_core_versions(input, features),
        kube::add_groups(input, features), kube::add_resources(input, "policy", features)})
    if (!status) require_refusal(status.error());
  if (const Status checked = features.check_calls(); !checked) require_refusal(checked.error());
  if (const auto allowed = kube::is_allowed(input); !allowed) require_refusal(allowed.error());
}

// A page of a list up to the first line end, then a watch.
void try_reflector(std::string_view input) {
  std::size_t objects = 0;
  kube::Reflector reflector({}, 1, [&](const kube::Change& change) {
    require(!change.name.empty() && !change.uid.empty(), "an object has a name and a uid");
    if (change.kind == kube::Change::Kind::added) ++objects;
    if (change.kind == kube::Change::Kind::deleted)
      require(objects-- > 0, "an object is added before it is deleted");
  });
  (void)reflector.begin();
  const std::size_t end = std::min(input.find('\n'), input.size());
  (void)reflector.take_page(input.substr(0, end));
  std::string_view rest = input.substr(end);
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, 7);
    if (reflector.take_bytes(part)) break;
    rest.remove_prefix(part.size());
  }
  require(objects == reflector.size(), "changes add up to the objects");
  if (!reflector.problem().empty()) require_fit_to_show(reflector.problem());
}

void try_time(std::string_view input) {
  if (const auto at = kube::parse_rfc3339(input)) {
    const auto again = kube::parse_rfc3339(kube::format_micro_time(*at));
    const bool has_four_digits =
        *at >= Time{std::chrono::sys_days(std::chrono::year(0) / 1 / 1)} &&
        *at < Time{std::chrono::sys_days(std::chrono::year(10000) / 1 / 1)};
    require(!has_four_digits || again == at, "a time that was printed is read as the same");
  }
  if (const auto decoded = kube::decode_base64(input))
    require(decoded->size() <= input.size(), "base64 gets shorter");
}

// Whatever a template asks for, its pod has one container without privilege and nothing of the node's.
void try_template(std::string_view input) {
  const bool has_own_space = !input.empty() && input[0] == '+';
  if (has_own_space) input.remove_prefix(1);
  const auto read = kube::read_pod_template(input, has_own_space);
  if (!read) return require_refusal(read.error());
  kube::Json pod = {{"metadata", {{"labels", {{"ares.io/job", "1"}}}}},
                    {"spec", {{"containers", {{{"name", "main"}}}}, {"restartPolicy", "Never"}}}};
  kube::Json& main = pod["spec"]["containers"][0];
  main["securityContext"] = {{"privileged", false}, {"allowPrivilegeEscalation", false}};
  kube::add_template(*read, pod);
  const kube::Json& spec = pod["spec"];
  require(pod["metadata"]["labels"]["ares.io/job"] == "1", "labels of Ares stay");
  require(spec["containers"].size() == 1 && spec["restartPolicy"] == "Never", "the pod stays one");
  require(spec["containers"][0]["securityContext"]["privileged"] == false, "no privilege");
  for (const char* key : {"hostNetwork", "hostPID", "hostIPC", "initContainers", "nodeName",
                          "serviceAccountName", "securityContext", "tolerations"})
    require(!spec.contains(key), "fields that are not listed stay out");
  if (spec.contains("volumes"))
    for (const kube::Json& volume : spec["volumes"]) {
      require(!volume.contains("hostPath"), "no folder of the node");
      require(has_own_space || !volume.contains("secret"), "no Secret of others");
    }
}

// The log of a pod, which its job may write into as well. It is read the same in pieces of any size; what was read is without gaps.
void try_log(std::string_view input) {
  kube::OutputReader at_once(3), in_pieces(3);
  std::string whole, pieced;
  at_once.take(input, whole);
  for (std::string_view rest = input; !rest.empty(); rest.remove_prefix(1))
    in_pieces.take(rest.substr(0, 1), pieced);
  require(whole == pieced && at_once.have() == in_pieces.have(), "pieces do not matter");
  require(at_once.gap() == in_pieces.gap() && at_once.has_ended() == in_pieces.has_ended(),
          "pieces do not matter");
  require(at_once.have() == 3 + whole.size() && whole.size() <= input.size(), "nothing is added");
  require(!at_once.gap() || *at_once.gap() > at_once.have(), "a gap lies ahead");
  // What the gate writes is read as it was printed.
  std::string log, printed;
  kube::append_mark(log, 0, Time{});
  kube::append_output(log, input);
  kube::append_end_mark(log, input.size());
  kube::OutputReader reader;
  reader.take(log, printed);
  require(printed == input && reader.has_ended(), "as it was printed");
  if (const auto state = kube::decode_output_state(input)) {
    const auto again = kube::decode_output_state(kube::encode(*state));
    require(again && again->stored == state->stored && again->resend == state->resend,
            "as it was written");
  }
}

}  // namespace

void try_input(std::string_view input) {
  if (input.empty()) return;
  const std::string_view rest = input.substr(1);
  switch (input[0]) {
    case 'k': return try_kubeconfig(rest);
    case 'q': return try_quantity(rest);
    case 'c': return try_credential(rest);
    case 's': return try_reply(rest);
    case 'd': return try_discovery(rest);
    case 'w': return try_reflector(rest);
    case 't': return try_time(rest);
    case 'p': return try_template(rest);
    case 'l': return try_log(rest);
    default: return;
  }
}

}  // namespace ares::fuzz
