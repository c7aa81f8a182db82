// The part of NVIDIA's management library (NVML) that discovery calls: types, numbers and entry
// points as NVIDIA documents them, declared here because its header is not part of Debian.
// Plain declarations.
#pragma once

#include <cstddef>

namespace ares::gres::nvml {

struct Opaque;  // never defined
using Device = Opaque*;

using Return = int;
inline constexpr Return kSuccess = 0;
inline constexpr Return kInvalidArgument = 2;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kNoPermission = 4;
inline constexpr Return kNotFound = 6;
inline constexpr Return kInsufficientSize = 7;
inline constexpr Return kDriverNotLoaded = 9;
inline constexpr Return kTimeout = 10;
inline constexpr Return kFunctionNotFound = 13;
inline constexpr Return kGpuIsLost = 15;
inline constexpr Return kUnknownError = 999;

inline constexpr unsigned kDriverVersionSize = 80;
inline constexpr unsigned kNameSize = 96;
inline constexpr unsigned kUuidSize = 96;

// As _v3 fills it in. Earlier versions write at most as much, and only the first member alike.
struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device, pci_subsystem;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

struct Memory {
  unsigned long long total, free, used;
};

// Of nvmlDeviceGetMemoryInfo_v2, which does not count as used what the driver keeps for itself.
struct MemoryApart {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
inline constexpr unsigned kMemoryApartVersion = sizeof(MemoryApart) | 2U << 24U;

// Of the versions 2 and 3 of nvmlDeviceGetComputeRunningProcesses.
struct Process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
struct OldProcess {  // of the first version
  unsigned pid;
  unsigned long long memory;
};

// The first seven members of version 1 are those of version 2 as well.
struct Attributes {
  unsigned multiprocessors, copy_engines, decoders, encoders, jpeg_engines, ofa_engines;
  unsigned gpu_slices, compute_slices;
  unsigned long long memory_mib;
};

using Events = Opaque*;
// Version 1 writes the first three members.
struct EventData {
  Device device;
  unsigned long long type;
  unsigned long long data;  // the number of an XID error
  unsigned gpu_instance, compute_instance;
};
inline constexpr unsigned long long kXidErrors = 8;  // a bit of `type`

// Levels of nvmlDeviceGetTopologyCommonAncestor.
inline constexpr unsigned kInternal = 0;
inline constexpr unsigned kSingleSwitch = 10;
inline constexpr unsigned kSeveralSwitches = 20;
inline constexpr unsigned kHostBridge = 30;
inline constexpr unsigned kNumaNode = 40;
inline constexpr unsigned kSystem = 50;

// Of nvmlDeviceGetP2PStatus.
inline constexpr unsigned kP2pByNvlink = 2;
inline constexpr unsigned kP2pOk = 0;

// Of nvmlDeviceGetNvLinkRemoteDeviceType.
inline constexpr unsigned kRemoteGpu = 0;
inline constexpr unsigned kRemoteProcessor = 1;  // of IBM
inline constexpr unsigned kRemoteSwitch = 2;
inline constexpr unsigned kRemoteUnknown = 255;

// The most links of one GPU that are asked for; NVML says where they end.
inline constexpr unsigned kMostLinks = 64;

inline constexpr unsigned kNodeScope = 0;    // of affinities
inline constexpr unsigned kUncorrected = 1;  // of memory errors
inline constexpr unsigned kVolatile = 0;     // counted since the driver was loaded
inline constexpr unsigned kByDoubleBitError = 1;

// Entry points by their names without "nvml". A null pointer: the library does not have it.
struct Api {
  Return (*Init)();
  Return (*Shutdown)();
  const char* (*ErrorString)(Return);
  Return (*SystemGetDriverVersion)(char*, unsigned);
  Return (*DeviceGetCount)(unsigned*);
  Return (*DeviceGetHandleByIndex)(unsigned, Device*);
  Return (*DeviceGetName)(Device, char*, unsigned);
  Return (*DeviceGetUUID)(Device, char*, unsigned);
  Return (*DeviceGetMinorNumber)(Device, unsigned*);
  Return (*DeviceGetPciInfo)(Device, PciInfo*);
  Return (*DeviceGetMemoryInfo)(Device, Memory*);
  Return (*DeviceGetMemoryInfo_v2)(Device, MemoryApart*);
  Return (*DeviceGetComputeRunningProcesses)(Device, unsigned*, Process*);
  Return (*DeviceGetComputeRunningProcesses_v1)(Device, unsigned*, OldProcess*);
  Return (*DeviceGetCpuAffinityWithinScope)(Device, unsigned, unsigned long*, unsigned);
  Return (*DeviceGetCpuAffinity)(Device, unsigned, unsigned long*);
  Return (*DeviceGetMemoryAffinity)(Device, unsigned, unsigned long*, unsigned);
  Return (*DeviceGetNumaNodeId)(Device, unsigned*);
  Return (*DeviceGetTopologyCommonAncestor)(Device, Device, unsigned*);
  Return (*DeviceGetP2PStatus)(Device, Device, unsigned, unsigned*);
  Return (*DeviceGetNvLinkState)(Device, unsigned, unsigned*);
  Return (*DeviceGetNvLinkRemotePciInfo)(Device, unsigned, PciInfo*);
  Return (*DeviceGetNvLinkRemoteDeviceType)(Device, unsigned, unsigned*);
  Return (*DeviceGetMigMode)(Device, unsigned*, unsigned*);
  Return (*DeviceGetMaxMigDeviceCount)(Device, unsigned*);
  Return (*DeviceGetMigDeviceHandleByIndex)(Device, unsigned, Device*);
  Return (*DeviceGetGpuInstanceId)(Device, unsigned*);
  Return (*DeviceGetComputeInstanceId)(Device, unsigned*);
  Return (*DeviceGetAttributes)(Device, Attributes*);
  Return (*DeviceGetTotalEccErrors)(Device, unsigned, unsigned, unsigned long long*);
  Return (*DeviceGetRemappedRows)(Device, unsigned*, unsigned*, unsigned*, unsigned*);
  Return (*DeviceGetRetiredPages)(Device, unsigned, unsigned*, unsigned long long*);
  Return (*DeviceGetRetiredPagesPendingStatus)(Device, unsigned*);
  Return (*EventSetCreate)(Events*);
  Return (*EventSetFree)(Events);
  Return (*EventSetWait)(Events, EventData*, unsigned);  // milliseconds
  Return (*DeviceRegisterEvents)(Device, unsigned long long, Events);
};

}  // namespace ares::gres::nvml
