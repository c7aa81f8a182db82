#include "core/accounts/binding_qos.h"

namespace ares::core {

std::string_view qos_name(const JobSpec& spec) {
  return spec.qos.empty() ? kNormalQos : std::string_view(spec.qos);
}

const Qos* qos_of(const Accounting& records, const JobSpec& spec) {
  return find_qos(records, qos_name(spec));
}

std::array<const Qos*, 2> BindingQos::in_order() const {
  if (!of_partition) return {own, nullptr};
  if (!own) return {of_partition, nullptr};
  if (own->has(QosFlag::over_part_qos)) return {own, of_partition};
  return {of_partition, own};
}

BindingQos binding_qos(const Accounting& records, std::string_view own,
                       const Partition* partition) {
  BindingQos all;
  if (records.empty()) return all;
  all.own = find_qos(records, own);
  if (partition && !partition->qos.empty() && partition->qos != own)
    all.of_partition = find_qos(records, partition->qos);
  return all;
}

std::string missing_qos(const Accounting& records, Enforce enforce, const Partition& partition) {
  if (enforce < Enforce::limits || partition.qos.empty() || find_qos(records, partition.qos))
    return {};
  return "partition " + partition.name + " has QOS " + partition.qos +
         ", which does not exist; an operator adds it with aacctmgr";
}

std::string qos_text(const Qos& qos, const BindingQos& all, std::string_view partition) {
  std::string text = "QOS " + qos.name;
  if (&qos == all.of_partition) text += " of partition " + std::string(partition);
  return text;
}

}  // namespace ares::core
