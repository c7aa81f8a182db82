#include <string>
#include <utility>
#include <vector>

#include "aacct/fields.h"
#include "cli/output/table.h"

namespace ares::aacct {

const std::vector<RefusedField>& refused_fields() {
  static const std::vector<RefusedField> all = [] {
    const std::pair<const char*, std::vector<const char*>> groups[] = {
        {"Ares has nothing of the kind",
         {"AdminComment", "BlockID", "Layout", "McsLabel", "OriginalSLUID", "ReqCPUFreq",
          "ReqCPUFreqGov", "ReqCPUFreqMax", "ReqCPUFreqMin", "SLUID", "SystemComment"}},
        {"nodes do not measure it",
         {"AveCPUFreq", "AvePages", "AveVMSize", "ConsumedEnergy", "ConsumedEnergyRaw", "MaxPages",
          "MaxPagesNode", "MaxPagesTask", "MaxVMSize", "MaxVMSizeNode", "MaxVMSizeTask"}},
        {"the records of steps do not name tasks",
         {"MaxDiskReadTask", "MaxDiskWriteTask", "MaxRSSTask", "MinCPU", "MinCPUNode", "MinCPUTask",
          "TRESUsageInMaxTask", "TRESUsageInMin", "TRESUsageInMinNode", "TRESUsageInMinTask",
          "TRESUsageOutMaxTask", "TRESUsageOutMin", "TRESUsageOutMinNode", "TRESUsageOutMinTask"}},
        {"records are known by their names",
         {"AssocID", "DBIndex", "QOSRAW", "ReservationId", "WCKeyID"}},
        {"accounting keeps the QOS that a job got, see QOS", {"QOSREQ"}},
        {"accounting does not keep it; actl show job tells it while the controller knows the job",
         {"FailedNode"}},
        {"accounting does not keep which part of the scheduler started a job", {"Flags"}}};
    std::vector<RefusedField> list;
    for (const auto& [why, names] : groups)
      for (const char* name : names) list.push_back({name, why});
    return list;
  }();
  return all;
}

std::string describe_refused_fields() {
  std::vector<cli::Unsupported> rows;
  for (const RefusedField& field : refused_fields())
    rows.push_back({0, field.name, true, field.why});
  return cli::describe_unsupported(rows);
}

}  // namespace ares::aacct
