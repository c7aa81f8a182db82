// Files that describe the GPUs of a machine (ares-gpu-discovery(7)).
#include "base/printable.h"
#include "core/topology/parsed_topology.h"
#include "fuzz/target.h"
#include "gres/found/json.h"
#include "gres/found/offer.h"

namespace ares::fuzz {

const Allowance kAllowance{32 << 20, 64 << 10};

namespace {

void require_offer(const gres::FoundMachine& found, const gres::Offer& offer) {
  require(core::topology::check_gpu_topology(offer.topology).has_value(),
          "the controller can use the links that a node offers");
  for (std::size_t i = 0; i < offer.gpus.size(); ++i) {
    require(!offer.gpus[i].gpu.type.empty(), "each GPU has a type");
    require(i == 0 || offer.gpus[i - 1].gpu.index < offer.gpus[i].gpu.index,
            "indices are ascending");
  }
  if (found.gpus.empty()) require(offer.gpus.empty(), "only what was found is offered");
  for (const std::string& text : offer.left_out)
    require(!has_control(text) && is_utf8(text), "a line of the log is fit to show");
}

}  // namespace

void try_input(std::string_view input) {
  const auto found = gres::from_text(input);
  if (!found) return require_refusal(found.error());
  const auto again = gres::from_json(gres::to_json(*found));
  require(again.has_value(), "what is printed can be read");
  if (gres::from_json(input)) require(*again == *found, "a machine survives printing");
  require_offer(*found, gres::offer(*found));
  require_offer(*found, gres::offer(*found, {{GpuIndex(0), "a100", {}}, {GpuIndex(1), "gpu", {}}}));
}

}  // namespace ares::fuzz
