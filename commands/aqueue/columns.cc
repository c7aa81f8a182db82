#include "aqueue/columns.h"

#include <utility>
#include <vector>

#include "aqueue/column_groups.h"

namespace ares::aqueue {
namespace {

// Columns of Slurm that have no value here, and why.
std::vector<cli::Unsupported> refused() {
  const char* const kShape =
      "jobs ask for tasks and CPUs, not for sockets, cores and threads of a node";
  const char* const kSites = "there is one cluster, without a federation";
  const char* const kNone = "Ares has nothing of the kind";
  const char* const kNotRecorded = "the controller does not record it";
  const std::pair<const char*, std::vector<cli::Unsupported>> groups[] = {
      {kShape,
       {{'H', "Sockets"},
        {'I', "Cores"},
        {'J', "Threads"},
        {'z', "SCT"},
        {0, "BoardsPerNode"},
        {0, "NTPerCore"},
        {0, "NTPerSocket"},
        {0, "NTPerBoard"},
        {0, "SPerBoard"},
        {0, "tres-per-socket"}}},
      {kSites, {{0, "Origin"}, {0, "OriginRaw"}, {0, "SiblingsActive"}, {0, "SiblingsViable"}}},
      {kNone, {{'O', "Contiguous"},   {'s', ""},          {'X', "CoreSpec"},
               {0, "admin_comment"},  {0, "BurstBuffer"}, {0, "BurstBufferState"},
               {0, "ClusterFeature"}, {0, "ContainerId"}, {0, "CronJob"},
               {0, "DelayBoot"},      {0, "HetJobId"},    {0, "HetJobIdSet"},
               {0, "HetJobOffset"},   {0, "MaxCPUs"},     {0, "MCSLabel"},
               {0, "Network"},        {0, "Profile"},     {0, "Reboot"},
               {0, "ResizeTime"},     {0, "Runtime"},     {0, "SLUID"},
               {0, "system_comment"}, {0, "tres-freq"}}},
      {kNotRecorded, {{0, "AllocSID"}, {0, "AssocId"}, {0, "LastSchedEval"}}},
      {"the exit codes of steps are in accounting: aacct -o DerivedExitCode", {{0, "DerivedEC"}}}};
  std::vector<cli::Unsupported> all;
  for (const auto& [why, rows] : groups)
    for (cli::Unsupported row : rows) {
      row.why = why;
      all.push_back(std::move(row));
    }
  return all;
}

}  // namespace

const cli::Columns<Row>& columns() {
  static const cli::Columns<Row> all = cli::make_columns<Row>(
      {identity_columns, state_columns, time_columns, resource_columns, place_columns}, refused(),
      {});
  return all;
}

}  // namespace ares::aqueue
