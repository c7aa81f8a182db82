// Amounts as Kubernetes writes them: "250m" and "2" processors, "128Mi", "1.5Gi" and "1e3" bytes. The grammar is that of
// resource.Quantity in k8s.io/apimachinery. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace ares::kubernetes {

// Each is exact, and rounds a fraction of its unit up, as Kubernetes itself does. invalid_argument: not a quantity, negative, with
// more than 19 significant digits, or too large for 63 bits.
Result<std::int64_t> parse_thousandths(std::string_view text);  // "250m" is 250
Result<std::int64_t> parse_count(std::string_view text);        // of devices or pods
Result<Bytes> parse_bytes(std::string_view text);

}  // namespace ares::kubernetes
