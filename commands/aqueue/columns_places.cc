#include "aqueue/column_groups.h"

namespace ares::aqueue {
namespace {

constexpr std::uint32_t kWorkDir = of_spec(S::kWorkDirFieldNumber);
constexpr std::uint32_t kStdOut = of_spec(S::kStdOutFieldNumber);
constexpr std::uint32_t kArray = of_spec(S::kArrayFieldNumber);

}  // namespace

ColumnGroup place_columns() {
  return {
      {'N',
       "NodeList",
       "NODELIST",
       "its nodes",
       [](R r, Out o) { o += r.job.node_list(); },
       {kNodeList},
       nullptr,
       false,
       2},
      {0,
       "AllocNodes",
       "ALLOC_NODES",
       "likewise",
       [](R r, Out o) { put_text(r.job.node_list(), o); },
       {kNodeList}},
      {'B',
       "BatchHost",
       "EXEC_HOST",
       "the node that runs its script",
       [](R r, Out o) { put_first_host(r.job, o); },
       {kNodeList}},
      {'Y',
       "SchedNodes",
       "SCHEDNODES",
       "the nodes on which it is expected to start",
       [](R r, Out o) { o += r.job.expected_nodes().empty() ? "(null)" : r.job.expected_nodes(); },
       {J::kExpectedNodesFieldNumber}},
      {'n',
       "ReqNodes",
       "REQ_NODES",
       "nodes it must have",
       [](R r, Out o) { put_list(r.job.spec().required_nodes(), o); },
       {of_spec(S::kRequiredNodesFieldNumber)}},
      {'x',
       "ExcNodes",
       "EXC_NODES",
       "nodes it must not have",
       [](R r, Out o) { put_list(r.job.spec().excluded_nodes(), o); },
       {of_spec(S::kExcludedNodesFieldNumber)}},
      {'f',
       "Feature",
       "FEATURES",
       "features its nodes must have",
       [](R r, Out o) { put_list(r.job.spec().features(), o); },
       {of_spec(S::kFeaturesFieldNumber)}},
      {'o',
       "Command",
       "COMMAND",
       "the script",
       [](R r, Out o) { put_text(r.job.spec().command(), o); },
       {of_spec(S::kCommandFieldNumber)}},
      {'Z',
       "WorkDir",
       "WORK_DIR",
       "the folder it runs in",
       [](R r, Out o) { o += r.job.spec().work_dir(); },
       {kWorkDir}},
      {0,
       "StdIn",
       "STDIN",
       "the file it reads",
       [](R r, Out o) {
         const std::string& name = r.job.spec().std_in();
         put_file(r.job, name.empty() ? "/dev/null" : name, o);
       },
       {of_spec(S::kStdInFieldNumber), kWorkDir}},
      {0,
       "StdOut",
       "STDOUT",
       "the file its output goes to, as its user named it",
       [](R r, Out o) { put_file(r.job, output_pattern(r.job), o); },
       {kStdOut, kArray, kWorkDir}},
      {0,
       "StdErr",
       "STDERR",
       "the file its errors go to, as its user named it",
       [](R r, Out o) { put_file(r.job, error_pattern(r.job), o); },
       {of_spec(S::kStdErrFieldNumber), kStdOut, kArray, kWorkDir}},
  };
}

}  // namespace ares::aqueue
