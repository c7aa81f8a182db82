#include "aqueue/columns.h"

#include "aqueue/column_groups.h"

namespace ares::aqueue {

const cli::Columns<Row>& columns() {
  // The refused columns exist in other systems; Ares does not record their values.
  static const cli::Columns<Row> all = cli::make_columns<Row>(
      {identity_columns, state_columns, time_columns, resource_columns, place_columns},
      {{'d', "MinTmpDisk"},
       {'g', "GroupName"},
       {'H', "Sockets"},
       {'I', "Cores"},
       {'J', "Threads"},
       {'O', "Contiguous"},
       {'s', ""},
       {'v', "Reservation"},
       {'X', "CoreSpec"},
       {'z', "SCT"}},
      {"admin_comment",  "AllocSID",         "AssocId",        "BoardsPerNode",
       "BurstBuffer",    "BurstBufferState", "ClusterFeature", "Container",
       "ContainerId",    "CronJob",          "DelayBoot",      "DerivedEC",
       "HetJobId",       "HetJobIdSet",      "HetJobOffset",   "LastSchedEval",
       "MaxCPUs",        "MCSLabel",         "Network",        "NTPerCore",
       "NTPerSocket",    "NTPerBoard",       "Origin",         "OriginRaw",
       "PreemptTime",    "Prefer",           "Profile",        "Reboot",
       "ReqSwitch",      "ResizeTime",       "Runtime",        "SegmentSize",
       "SiblingsActive", "SiblingsViable",   "SLUID",          "SPerBoard",
       "system_comment", "tres-bind",        "tres-freq",      "tres-per-socket"});
  return all;
}

}  // namespace ares::aqueue
