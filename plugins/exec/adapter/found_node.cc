#include "exec/adapter/found_node.h"

#include <algorithm>

#include "node/text_fields.h"

namespace ares::exec {

std::string encode_inventory(const Inventory& inventory) {
  node::FieldWriter out;
  out.put("cpus", inventory.cpus).put("memory", inventory.memory);
  if (inventory.cpu_thousandths > 0) out.put("cpu_thousandths", inventory.cpu_thousandths);
  for (const std::string& feature : inventory.features) out.put("feature", feature);
  for (const Gpu& gpu : inventory.gpus) out.put("gpu", gpu.type);
  if (std::any_of(inventory.gpus.begin(), inventory.gpus.end(),
                  [](const Gpu& gpu) { return gpu.memory.value() > 0; }))
    for (const Gpu& gpu : inventory.gpus) out.put("gpu_memory", gpu.memory);
  if (inventory.max_attempts) out.put("max_attempts", *inventory.max_attempts);
  if (inventory.tmp_disk) out.put("tmp_disk", *inventory.tmp_disk);
  if (!inventory.gpu_topology.empty()) out.put("gpu_topology", inventory.gpu_topology.text());
  return out.take();
}

Result<Inventory> decode_inventory(std::string_view text) {
  node::FieldReader in("inventory", text);
  Inventory inventory;
  inventory.cpus = in.number<std::uint32_t>("cpus");
  inventory.memory = Bytes(in.number<std::int64_t>("memory"));
  inventory.cpu_thousandths = in.number_or<std::uint32_t>("cpu_thousandths", 0);
  inventory.features = in.all("feature");
  for (std::string& type : in.all("gpu"))
    inventory.gpus.push_back(
        {GpuIndex(static_cast<std::uint32_t>(inventory.gpus.size())), std::move(type), {}});
  const auto memories = in.numbers<std::int64_t>("gpu_memory");
  if (!memories.empty() && memories.size() != inventory.gpus.size())
    return fail(ErrorCode::invalid_argument, "gpu_memory: give one for each gpu");
  for (std::size_t i = 0; i < memories.size(); ++i)
    inventory.gpus[i].memory = Bytes(std::max<std::int64_t>(memories[i], 0));
  if (in.has("max_attempts")) inventory.max_attempts = in.number<std::uint32_t>("max_attempts");
  if (in.has("tmp_disk"))
    inventory.tmp_disk = Bytes(std::max<std::int64_t>(in.number<std::int64_t>("tmp_disk"), 0));
  inventory.gpu_topology = GpuTopology(in.text_or_empty("gpu_topology"));
  if (Status read = in.status(); !read) return fail(read.error());
  if (inventory.cpus == 0 || inventory.memory.value() <= 0)
    return fail(ErrorCode::invalid_argument, "a node needs CPUs and memory");
  const std::uint32_t counted = inventory.cpu_thousandths;
  if (counted > 0 && inventory.cpus != std::max(counted / kWholeCpu, 1u))
    return fail(ErrorCode::invalid_argument,
                "cpus: give " + std::to_string(std::max(counted / kWholeCpu, 1u)) +
                    ", the whole CPUs in cpu_thousandths, but at least 1");
  for (const Gpu& gpu : inventory.gpus)
    if (gpu.type.empty())
      return fail(ErrorCode::invalid_argument,
                  "GPU " + std::to_string(gpu.index.value()) + " has no type");
  return inventory;
}

}  // namespace ares::exec
