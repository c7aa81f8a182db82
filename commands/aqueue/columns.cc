#include "aqueue/columns.h"

#include "aqueue/column_groups.h"

namespace ares::aqueue {
namespace {

// Known to users of other systems; nothing that Ares records answers them yet.
std::vector<cli::Unbuilt> unbuilt_columns() {
  std::vector<cli::Unbuilt> all = {{'d', "MinTmpDisk"}, {'g', "GroupName"},   {'H', "Sockets"},
                                   {'I', "Cores"},      {'J', "Threads"},     {'O', "Contiguous"},
                                   {'s', ""},           {'v', "Reservation"}, {'w', "WCKey"},
                                   {'X', "CoreSpec"},   {'z', "SCT"}};
  for (const char* name :
       {"admin_comment",  "AllocSID",         "AssocId",        "BoardsPerNode",
        "BurstBuffer",    "BurstBufferState", "ClusterFeature", "Container",
        "ContainerId",    "CronJob",          "DelayBoot",      "DerivedEC",
        "HetJobId",       "HetJobIdSet",      "HetJobOffset",   "LastSchedEval",
        "MaxCPUs",        "MCSLabel",         "Network",        "NTPerCore",
        "NTPerSocket",    "NTPerBoard",       "Origin",         "OriginRaw",
        "PreemptTime",    "Prefer",           "Profile",        "Reboot",
        "ReqSwitch",      "ResizeTime",       "Runtime",        "SegmentSize",
        "SiblingsActive", "SiblingsViable",   "SLUID",          "SPerBoard",
        "system_comment", "tres-bind",        "tres-freq",      "tres-per-socket"})
    all.push_back({0, name});
  return all;
}

}  // namespace

const cli::Columns<Row>& columns() {
  static const cli::Columns<Row> all = [] {
    cli::Columns<Row> made;
    for (auto* group :
         {identity_columns, state_columns, time_columns, resource_columns, place_columns})
      for (auto& column : group()) made.built.push_back(column);
    made.unbuilt = unbuilt_columns();
    return made;
  }();
  return all;
}

}  // namespace ares::aqueue
