// The properties of nodes that `update node` can change.
#include "actl/assign.h"
#include "actl/update_keys.h"
#include "base/printable.h"

namespace ares::actl {
namespace {

struct State {
  const char* word;
  api::UpdateNode::Kind kind;
};
constexpr State kStates[] = {
    {"drain", api::UpdateNode::DRAIN},     {"resume", api::UpdateNode::RESUME},
    {"undrain", api::UpdateNode::UNDRAIN}, {"idle", api::UpdateNode::RESUME},
    {"down", api::UpdateNode::DOWN},       {"fail", api::UpdateNode::FAIL}};

Status set_state(api::UpdateNode& update, const std::string& value, Time) {
  for (const State& state : kStates) {
    if (cli::lower(value) != state.word) continue;
    update.set_kind(state.kind);
    return {};
  }
  return invalid(quote(value) + " is not supported; use drain, resume, undrain, down or fail");
}

}  // namespace

const Keys<api::UpdateNode>& node_keys() {
  static const Keys<api::UpdateNode> keys = {
      "a node",
      {{"State", "drain|resume|undrain|down|fail",
        "drain: nothing more starts there. fail: the same for a node that is expected to fail; it "
        "is "
        "shown as FAILING, and as FAIL when nothing runs there any more. undrain takes that back. "
        "down: out of service at once; "
        "its jobs end, and if it does not answer they do not wait for its word. resume: back into "
        "service, drained or down.",
        set_state},
       {"Reason", "TEXT",
        "Why; needed to drain and to set down. Alone it replaces the reason of nodes out of "
        "service.",
        [](api::UpdateNode& update, const std::string& value, Time) -> Status {
          update.set_reason(value);
          return {};
        }}},
      {"activefeatures", "availablefeatures", "comment", "cpubind", "extra", "features", "gres",
       "instanceid", "instancetype", "nodeaddr", "nodehostname", "resumeafter", "topology",
       "weight"}};
  return keys;
}

}  // namespace ares::actl
