#include "core/job/checks/gpu_types_text.h"

#include <map>
#include <string_view>

namespace ares::core {

std::string one_type_text(const Node& node) {
  std::map<std::string_view, std::size_t> counts;
  for (const Gpu& gpu : node.inventory.gpus) ++counts[gpu.type];
  if (counts.size() < 2) return {};
  std::string text = " of one type; " + node.name + " has " +
                     std::to_string(node.inventory.gpus.size()) + " of " +
                     std::to_string(counts.size()) + " types: ";
  const char* separator = "";
  for (const auto& [type, count] : counts) {
    text += separator + ("gpu:" + std::string(type)) + ":" + std::to_string(count);
    separator = ",";
  }
  return text;
}

}  // namespace ares::core
