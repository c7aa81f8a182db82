// A libnvidia-ml.so.1 for tests: it answers for the machine that the JSON file $ARES_NVML_STUB
// describes, in the form of ares-gpu-discovery(7). Prototypes, numbers and layouts are written down
// here once more, from NVIDIA's documentation, so that a mistake in gres/nvml/api.h is not made on
// both sides.
//
// The member "stub" of the document adds what a file of Ares does not tell:
//   nvswitch: true         NVLinks lead to switches, which join all GPUs that have links
//   fabric: false          those switches are not set up: no copies by NVLink
//   results: {NAME: 15, "NAME 1": 15}   what a function returns, for all GPUs or for one by its index
//   hang, crash: NAME      the function does not return; the process ends by a signal in it
//   prints: TEXT           to the standard output, when it is initialised
//   ecc: [0, 2], failed_rows: [1], pending_rows: [1]   by index: uncorrectable errors; rows of memory
// With ARES_NVML_OLD it is the library of an old driver: names without versions, no MIG, nothing
// about switches.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::json;

constexpr unsigned long long kReserved = 600ULL << 20;  // of the memory, by the driver

constexpr int kOk = 0, kBadArgument = 2, kUnsupported = 3, kSmall = 7;
[[maybe_unused]] constexpr int kMissing = 6;  // of the old library

struct Unit {
  unsigned gpu = 0;
  int instance = -1;  // of MIG
};

Json machine;
std::vector<Unit> units;  // handles point into it

const Json& gpu(unsigned index) {
  return machine["gpus"][index];
}
const Json& of(const Unit& unit) {
  return unit.instance < 0 ? gpu(unit.gpu)
                           : gpu(unit.gpu)["instances"][static_cast<unsigned>(unit.instance)];
}
const Json& extra(const char* key) {
  static const Json kNone;
  return machine.contains("stub") && machine["stub"].contains(key) ? machine["stub"][key] : kNone;
}

// Hangs, crashes or fails as the document says; the result of the function otherwise.
int enter(const char* name, int index = -1) {
  if (extra("hang") == name)
    for (;;) ::pause();
  if (extra("crash") == name) ::abort();
  const Json& results = extra("results");
  if (!results.is_object()) return kOk;
  const std::string one = std::string(name) + " " + std::to_string(index);
  return results.contains(one) ? results[one].get<int>() : results.value(name, kOk);
}
int enter(const char* name, const Unit* unit) {
  return enter(name, static_cast<int>(unit->gpu));
}

int put(const std::string& text, char* out, unsigned size) {
  if (text.size() + 1 > size) return kSmall;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return kOk;
}

int put_bits(const std::string& list, unsigned words, unsigned long* out) {
  if (list.empty()) return kUnsupported;
  std::memset(out, 0, words * sizeof *out);
  const char* at = list.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    unsigned long first = std::strtoul(at, &end, 10), last = first, step = 1;
    if (*end == '-') last = std::strtoul(end + 1, &end, 10);
    if (*end == ':') step = std::strtoul(end + 1, &end, 10);
    for (unsigned long bit = first; bit <= last; bit += step) {
      if (bit / 64 >= words) return kSmall;
      out[bit / 64] |= 1UL << (bit % 64);
    }
    at = *end == ',' ? end + 1 : end;
  }
  return kOk;
}

// "00000000:07:00.0", upper case, as NVML writes addresses.
std::string bus_id(unsigned index) {
  std::string text = gpu(index).value("bus_id", "");
  if (text.empty()) {
    char made[32];
    std::snprintf(made, sizeof made, "0000:%02x:00.0", 16 + index);
    text = made;
  }
  text.insert(0, 16 - text.size(), '0');
  for (char& c : text) c = static_cast<char>(std::toupper(c));
  return text;
}

struct PciInfo {  // nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem;
  char bus_id[32];
};
struct OldPciInfo {  // of nvmlDeviceGetPciInfo
  char bus_id[16];
  unsigned domain, bus, device, device_id, subsystem, reserved[4];
};

template <class Info>
int put_pci(const std::string& id, Info* out) {
  std::memset(out, 0, sizeof *out);
  char* legacy = reinterpret_cast<char*>(out);
  std::snprintf(legacy, 16, "%s", id.substr(4).c_str());
  out->domain = static_cast<unsigned>(std::strtoul(id.substr(0, 8).c_str(), nullptr, 16));
  out->bus = static_cast<unsigned>(std::strtoul(id.substr(9, 2).c_str(), nullptr, 16));
  if constexpr (sizeof(Info) == sizeof(PciInfo))
    std::snprintf(out->bus_id, sizeof out->bus_id, "%s", id.c_str());
  return kOk;
}

unsigned nvlinks(unsigned a, unsigned b) {
  if (a == b || !machine.contains("links")) return 0;
  const std::string link = machine["links"][a][b];
  return link.starts_with("NV") ? static_cast<unsigned>(std::stoul(link.substr(2))) : 0;
}
unsigned gpus() {
  return static_cast<unsigned>(machine["gpus"].size());
}
bool switched() {
  return extra("nvswitch") == true;
}

// The GPU at the other end of a link; -1 a switch; -2 there is no such link.
int other_end(unsigned index, unsigned link) {
  unsigned seen = 0, most = 0;
  for (unsigned b = 0; b < gpus(); ++b) {
    const unsigned count = nvlinks(index, b);
    most = std::max(most, count);
    if (!switched() && link < seen + count) return static_cast<int>(b);
    seen += count;
  }
  return switched() && link < most ? -1 : -2;
}

}  // namespace

extern "C" {

#ifdef ARES_NVML_OLD
#define NEW(name) name
#else
#define NEW(name) name##_v2
#endif

int NEW(nvmlInit)() {
  const char* path = std::getenv("ARES_NVML_STUB");
  if (!path) return 9;
  std::ifstream file(path);
  machine = Json::parse(file);
  if (extra("prints").is_string()) {
    std::puts(extra("prints").get<std::string>().c_str());
    std::fflush(stdout);
  }
  if (const int result = enter("nvmlInit"); result != kOk) return result;
  units.clear();
  for (unsigned i = 0; i < gpus(); ++i) units.push_back({i, -1});
  for (unsigned i = 0; i < gpus(); ++i)
    for (unsigned j = 0; gpu(i).contains("instances") && j < gpu(i)["instances"].size(); ++j)
      units.push_back({i, static_cast<int>(j)});
  return kOk;
}
int nvmlShutdown() {
  return kOk;
}
const char* nvmlErrorString(int error) {
  switch (error) {
    case 3: return "Not Supported";
    case 4: return "Insufficient Permissions";
    case 9: return "Driver Not Loaded";
    case 15: return "GPU is lost";
    case 18: return "Driver/library version mismatch";
  }
  return "Unknown Error";
}
int nvmlSystemGetDriverVersion(char* out, unsigned size) {
  return put(machine.value("driver", "550.54.15"), out, size);
}
int NEW(nvmlDeviceGetCount)(unsigned* out) {
  *out = gpus();
  return enter("nvmlDeviceGetCount");
}
int NEW(nvmlDeviceGetHandleByIndex)(unsigned index, Unit** out) {
  if (index >= gpus()) return kBadArgument;
  *out = &units[index];
  return enter("nvmlDeviceGetHandleByIndex", static_cast<int>(index));
}
int nvmlDeviceGetName(Unit* unit, char* out, unsigned size) {
  if (unit->instance >= 0)
    return put(gpu(unit->gpu).value("name", "") + " MIG " + of(*unit).value("profile", ""), out,
               size);
  return put(gpu(unit->gpu).value("name", "GPU"), out, size);
}
int nvmlDeviceGetUUID(Unit* unit, char* out, unsigned size) {
  const int result = enter("nvmlDeviceGetUUID", unit);
  return result != kOk ? result : put(of(*unit).value("uuid", ""), out, size);
}
int nvmlDeviceGetMinorNumber(Unit* unit, unsigned* out) {
  if (!of(*unit).contains("minor")) return kUnsupported;
  *out = of(*unit)["minor"];
  return enter("nvmlDeviceGetMinorNumber", unit);
}
#ifdef ARES_NVML_OLD
int nvmlDeviceGetPciInfo(Unit* unit, OldPciInfo* out) {
  return put_pci(bus_id(unit->gpu), out);
}
#else
int nvmlDeviceGetPciInfo_v3(Unit* unit, PciInfo* out) {
  return put_pci(bus_id(unit->gpu), out);
}
#endif
int nvmlDeviceGetMemoryInfo(Unit* unit, unsigned long long* out) {
  const unsigned long long used = of(*unit).value("memory_used_bytes", 0ULL) + kReserved;
  out[0] = of(*unit).value("memory_bytes", 0ULL);
  out[1] = out[0] - std::min(out[0], used);
  out[2] = used;
  return enter("nvmlDeviceGetMemoryInfo", unit);
}
int put_processes(Unit* unit, unsigned* count, unsigned char* rows, std::size_t row) {
  const Json list = of(*unit).value("processes", Json::array());
  const unsigned room = *count;
  *count = static_cast<unsigned>(list.size());
  if (room < list.size()) return kSmall;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const unsigned pid = list[i];
    std::memset(rows + i * row, 0, row);
    std::memcpy(rows + i * row, &pid, sizeof pid);
  }
  return enter("nvmlDeviceGetComputeRunningProcesses", unit);
}
#ifdef ARES_NVML_OLD
int nvmlDeviceGetComputeRunningProcesses(Unit* unit, unsigned* count, void* rows) {
  return put_processes(unit, count, static_cast<unsigned char*>(rows), 16);
}
#else
int nvmlDeviceGetComputeRunningProcesses_v3(Unit* unit, unsigned* count, void* rows) {
  return put_processes(unit, count, static_cast<unsigned char*>(rows), 24);
}
struct MemoryInfo2 {  // nvmlMemory_v2_t
  unsigned version;
  unsigned long long total, reserved, free, used;
};
int nvmlDeviceGetMemoryInfo_v2(Unit* unit, MemoryInfo2* out) {
  if (out->version != (40 | 2 << 24)) return 25;  // NVML_ERROR_ARGUMENT_VERSION_MISMATCH
  out->total = of(*unit).value("memory_bytes", 0ULL);
  out->reserved = kReserved;
  out->used = of(*unit).value("memory_used_bytes", 0ULL);
  out->free = out->total - std::min(out->total, out->used);
  return enter("nvmlDeviceGetMemoryInfo_v2", unit);
}
#endif
int nvmlDeviceGetCpuAffinity(Unit* unit, unsigned words, unsigned long* out) {
  return put_bits(of(*unit).value("cpus", ""), words, out);
}
int nvmlDeviceGetTopologyCommonAncestor(Unit* a, Unit* b, unsigned* out) {
  const std::string link = machine.contains("links") ? machine["links"][a->gpu][b->gpu] : "?";
  const bool near = gpu(a->gpu).value("numa", "") == gpu(b->gpu).value("numa", "");
  *out = link == "PIX"    ? 10
         : link == "PXB"  ? 20
         : link == "PHB"  ? 30
         : link == "NODE" ? 40
         : link == "SYS"  ? 50
         : near           ? 40
                          : 50;
  return enter("nvmlDeviceGetTopologyCommonAncestor", a);
}
int nvmlDeviceGetP2PStatus(Unit* a, Unit* b, unsigned kind, unsigned* out) {
  if (kind > 4) return kBadArgument;
  *out = kind == 2 && (nvlinks(a->gpu, b->gpu) == 0 || extra("fabric") == false) ? 5 : 0;
  return enter("nvmlDeviceGetP2PStatus", a);
}
int nvmlDeviceGetNvLinkState(Unit* unit, unsigned link, unsigned* out) {
  if (link >= 18) return kBadArgument;
  if (gpu(unit->gpu).contains("instances")) return kUnsupported;
  *out = other_end(unit->gpu, link) != -2;
  return enter("nvmlDeviceGetNvLinkState", unit);
}
// The second version has the layout of nvmlDeviceGetPciInfo_v3.
#ifdef ARES_NVML_OLD
int nvmlDeviceGetNvLinkRemotePciInfo(Unit* unit, unsigned link, OldPciInfo* out) {
#else
int nvmlDeviceGetNvLinkRemotePciInfo_v2(Unit* unit, unsigned link, PciInfo* out) {
#endif
  const int end = other_end(unit->gpu, link);
  if (end == -2) return kUnsupported;
  return put_pci(end < 0 ? "00000000:C1:00.0" : bus_id(static_cast<unsigned>(end)), out);
}
int nvmlDeviceGetTotalEccErrors(Unit* unit, unsigned kind, unsigned counter,
                                unsigned long long* out) {
  const Json& counts = extra("ecc");
  if (!counts.is_array()) return kUnsupported;
  *out = kind == 1 && counter == 0 ? counts[unit->gpu].get<unsigned long long>() : 0;
  return enter("nvmlDeviceGetTotalEccErrors", unit);
}
int nvmlDeviceGetRetiredPages(Unit*, unsigned, unsigned* count, unsigned long long*) {
  *count = 0;
  return kUnsupported;
}

// An error happens when the file $ARES_NVML_STUB.error appears, with the index of a GPU and a
// number: "1 79".
struct EventData {
  Unit* device;
  unsigned long long type, data;
#ifndef ARES_NVML_OLD
  unsigned gpu_instance, compute_instance;
#endif
};
int nvmlEventSetCreate(void** out) {
  *out = &units;
  return enter("nvmlEventSetCreate");
}
int nvmlEventSetFree(void*) {
  return kOk;
}
int nvmlDeviceRegisterEvents(Unit* unit, unsigned long long types, void*) {
  return types == 8 ? enter("nvmlDeviceRegisterEvents", unit) : kBadArgument;
}
int NEW(nvmlEventSetWait)(void*, EventData* out, unsigned milliseconds) {
  const std::string path = std::string(std::getenv("ARES_NVML_STUB")) + ".error";
  for (unsigned waited = 0; waited < milliseconds; waited += 20) {
    unsigned index = 0, number = 0;
    if (std::ifstream(path) >> index >> number) {
      std::remove(path.c_str());
      if (index >= units.size()) return 15;
      *out = {};
      out->device = &units[index];
      out->type = 8;
      out->data = number;
      return kOk;
    }
    ::usleep(20'000);
  }
  return 10;
}

#ifndef ARES_NVML_OLD
int nvmlDeviceGetCpuAffinityWithinScope(Unit* unit, unsigned words, unsigned long* out,
                                        unsigned scope) {
  return scope > 1 ? kBadArgument : put_bits(of(*unit).value("cpus", ""), words, out);
}
int nvmlDeviceGetMemoryAffinity(Unit* unit, unsigned words, unsigned long* out, unsigned) {
  return put_bits(of(*unit).value("numa", ""), words, out);
}
int nvmlDeviceGetNumaNodeId(Unit* unit, unsigned* out) {
  if (!of(*unit).contains("own_numa")) return kUnsupported;
  *out = static_cast<unsigned>(std::stoul(of(*unit)["own_numa"].get<std::string>()));
  return kOk;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(Unit* unit, unsigned link, unsigned* out) {
  const int end = other_end(unit->gpu, link);
  *out = end == -1 ? 2 : 0;
  return end == -2 ? kUnsupported : enter("nvmlDeviceGetNvLinkRemoteDeviceType", unit);
}
int nvmlDeviceGetMigMode(Unit* unit, unsigned* current, unsigned* pending) {
  *current = *pending = gpu(unit->gpu).contains("instances");
  return enter("nvmlDeviceGetMigMode", unit);
}
int nvmlDeviceGetMaxMigDeviceCount(Unit*, unsigned* out) {
  *out = 7;
  return kOk;
}
int nvmlDeviceGetMigDeviceHandleByIndex(Unit* unit, unsigned index, Unit** out) {
  for (Unit& other : units)
    if (other.gpu == unit->gpu && other.instance == static_cast<int>(index)) {
      *out = &other;
      return kOk;
    }
  return kMissing;
}
int nvmlDeviceGetGpuInstanceId(Unit* unit, unsigned* out) {
  *out = of(*unit)["gpu_instance"];
  return kOk;
}
int nvmlDeviceGetComputeInstanceId(Unit* unit, unsigned* out) {
  *out = of(*unit)["compute_instance"];
  return kOk;
}
int nvmlDeviceGetRemappedRows(Unit* unit, unsigned* corrected, unsigned* uncorrected,
                              unsigned* pending, unsigned* failed) {
  *corrected = *uncorrected = *pending = *failed = 0;
  if (extra("failed_rows").is_array()) *failed = extra("failed_rows")[unit->gpu];
  if (extra("pending_rows").is_array()) *pending = extra("pending_rows")[unit->gpu];
  return kOk;
}
int nvmlDeviceGetRetiredPagesPendingStatus(Unit*, unsigned* out) {
  *out = 0;
  return kOk;
}
#endif

}  // extern "C"
