#include "exec/kubernetes/agent/nodes/pod_requests.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "exec/kubernetes/api/quantity.h"

namespace ares::kubernetes {
namespace {

Amounts larger(const Amounts& a, const Amounts& b) {
  Amounts most = a;
  most.cpu = std::max(a.cpu, b.cpu);
  most.memory = std::max(a.memory, b.memory);
  most.tmp_disk = std::max(a.tmp_disk, b.tmp_disk);
  for (const auto& [name, count] : b.devices)
    most.devices[name] = std::max(most.devices[name], count);
  return most;
}

template <class Visit>
void each(const Json* list, Visit&& visit) {
  if (list && list->is_array())
    for (const Json& item : *list) visit(item);
}

}  // namespace

void add(Amounts& to, const Amounts& other) {
  to.cpu += other.cpu;
  to.memory += other.memory;
  to.pods += other.pods;
  to.tmp_disk += other.tmp_disk;
  for (const auto& [name, count] : other.devices) to.devices[name] += count;
}

void take(Amounts& from, const Amounts& other) {
  from.cpu -= other.cpu;
  from.memory -= other.memory;
  from.pods -= other.pods;
  from.tmp_disk -= other.tmp_disk;
  for (const auto& [name, count] : other.devices) from.devices[name] -= count;
}

Amounts amounts_of(const Json* resources) {
  Amounts amounts;
  if (!resources || !resources->is_object()) return amounts;
  for (const auto& [name, value] : resources->items()) {
    if (!value.is_string()) continue;
    const std::string& text = value.get_ref<const std::string&>();
    if (name == "cpu")
      amounts.cpu = parse_thousandths(text).value_or(0);
    else if (name == "memory")
      amounts.memory = parse_bytes(text).value_or(Bytes());
    else if (name == "pods")
      amounts.pods = parse_count(text).value_or(0);
    else if (name == "ephemeral-storage")
      amounts.tmp_disk = parse_bytes(text).value_or(Bytes());
    else if (name.find('/') != std::string::npos)
      amounts.devices[name] = parse_count(text).value_or(0);
  }
  return amounts;
}

Amounts requests_of(const Json& pod) {
  Amounts sum, most_of_init;
  each(find(pod, {"spec", "containers"}), [&](const Json& container) {
    add(sum, amounts_of(find(container, {"resources", "requests"})));
  });
  // Those that stay run beside the init containers after them.
  Amounts staying;
  each(find(pod, {"spec", "initContainers"}), [&](const Json& container) {
    Amounts own = amounts_of(find(container, {"resources", "requests"}));
    if (text_at(container, {"restartPolicy"}) == "Always") {
      add(sum, own);
      add(staying, own);
      most_of_init = larger(most_of_init, staying);
    } else {
      add(own, staying);
      most_of_init = larger(most_of_init, own);
    }
  });
  Amounts total = larger(sum, most_of_init);
  add(total, amounts_of(find(pod, {"spec", "overhead"})));
  return total;
}

bool is_reserving(const Json& pod) {
  const std::string& phase = text_at(pod, {"status", "phase"});
  return !text_at(pod, {"spec", "nodeName"}).empty() && phase != "Succeeded" && phase != "Failed";
}

}  // namespace ares::kubernetes
