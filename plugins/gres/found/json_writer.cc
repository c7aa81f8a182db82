#include <nlohmann/json.hpp>

#include "base/clip.h"
#include "base/printable.h"
#include "gres/found/json.h"

namespace ares::gres {
namespace {

using Json = nlohmann::ordered_json;

// Texts of a driver are not always UTF-8.
std::string fit(const std::string& text) {
  return clip(printable(text), kLongestFoundText);
}
void put(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = fit(text);
}
void put(Json& object, const char* key, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  Json list = Json::array();
  for (const std::string& text : texts)
    if (list.size() < kMostFound) list.push_back(fit(text));
  object[key] = std::move(list);
}
void put(Json& object, const char* key, Bytes bytes) {
  if (bytes.value() > 0) object[key] = bytes.value();
}

void put(Json& object, const Use& use) {
  put(object, "memory_used_bytes", use.memory);
  if (use.processes.empty()) return;
  Json list = Json::array();
  for (const std::uint32_t process : use.processes)
    if (list.size() < kMostFound) list.push_back(process);
  object["processes"] = std::move(list);
}

Json instance_json(const FoundInstance& instance) {
  Json out = Json::object();
  put(out, "uuid", instance.uuid);
  put(out, "profile", instance.profile);
  put(out, "memory_bytes", instance.memory);
  out["gpu_instance"] = instance.gpu_instance;
  out["compute_instance"] = instance.compute_instance;
  put(out, "devices", instance.devices);
  put(out, instance.use);
  return out;
}

Json gpu_json(const FoundGpu& gpu) {
  Json out = Json::object();
  out["index"] = gpu.index;
  put(out, "type", gpu.type);
  put(out, "name", gpu.name);
  put(out, "uuid", gpu.uuid);
  put(out, "memory_bytes", gpu.memory);
  put(out, "bus_id", gpu.bus_id);
  if (gpu.minor) out["minor"] = *gpu.minor;
  put(out, "devices", gpu.devices);
  put(out, "cpus", format_interval_set(gpu.cpus));
  put(out, "numa", format_interval_set(gpu.numa));
  put(out, "own_numa", format_interval_set(gpu.own_numa));
  put(out, "problem", gpu.problem);
  put(out, "notes", gpu.notes);
  put(out, gpu.use);
  if (gpu.partitioned) {
    Json list = Json::array();
    for (const FoundInstance& instance : gpu.instances) list.push_back(instance_json(instance));
    out["instances"] = std::move(list);
  }
  return out;
}

std::string lines_of(const Json& list) {
  std::string text = "[";
  for (const Json& item : list) text += (text.size() > 1 ? ",\n    " : "\n    ") + item.dump();
  return text + (list.empty() ? "]" : "\n  ]");
}

Json links_json(const FoundMachine& machine) {
  Json rows = Json::array();
  for (std::size_t a = 0; a < machine.devices(); ++a) {
    Json row = Json::array();
    for (std::size_t b = 0; b < machine.devices(); ++b) {
      const auto link = machine.link(a, b);
      row.push_back(a == b ? "X" : link ? core::topology::format_link(*link) : "?");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string to_json(const FoundMachine& machine) {
  Json gpus = Json::array();
  for (const FoundGpu& gpu : machine.gpus) gpus.push_back(gpu_json(gpu));
  std::string text = "{\n  \"format\": 1,\n  \"source\": " + Json(fit(machine.source)).dump();
  if (!machine.driver.empty()) text += ",\n  \"driver\": " + Json(fit(machine.driver)).dump();
  text += ",\n  \"gpus\": " + lines_of(gpus);
  if (!machine.nics.empty()) {
    Json list = Json::object();
    put(list, "nics", machine.nics);
    text += ",\n  \"nics\": " + list["nics"].dump();
  }
  if (!machine.links.empty()) text += ",\n  \"links\": " + lines_of(links_json(machine));
  if (!machine.notes.empty()) {
    Json list = Json::object();
    put(list, "notes", machine.notes);
    text += ",\n  \"notes\": " + lines_of(list["notes"]);
  }
  return text + "\n}\n";
}

}  // namespace ares::gres
