// What a pod reserves on its node. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/units.h"
#include "exec/kubernetes/api/json.h"

namespace ares::kubernetes {

// Amounts of a node, or of what pods reserve there.
struct Amounts {
  std::int64_t cpu = 0;  // thousandths
  Bytes memory{};
  std::int64_t pods = 0;
  Bytes tmp_disk{};                               // ephemeral-storage
  std::map<std::string, std::int64_t> devices{};  // of extended resources such as "nvidia.com/gpu"
  friend bool operator==(const Amounts&, const Amounts&) = default;
};
void add(Amounts& to, const Amounts& other);
void take(Amounts& from, const Amounts& other);

// Of a list of resources; amounts that are none are left out. `resources` may be null.
Amounts amounts_of(const Json* resources);

// As the scheduler of Kubernetes counts: the sum of the containers, or the largest init container, and the overhead.
// Init containers that stay (restartPolicy Always) count with the containers.
Amounts requests_of(const Json& pod);

// Whether it reserves something: it has a node, and its containers have not all ended.
bool is_reserving(const Json& pod);

}  // namespace ares::kubernetes
