#include "arun/refused_options.h"

namespace ares::arun {

std::vector<cli::Unsupported> refused_options() {
  constexpr const char* kContainers =  // which pyxis gives to steps
      "a step has no container of its own; start it as its program: arun apptainer exec IMAGE PROG";
  constexpr const char* kLibraries =
      "a copy of --bcast is the program alone; abcast copies its libraries, or keep them where all "
      "nodes see them";
  return {
      {0, "async", false, "let the shell run arun beside the script, with & and wait"},
      {0, "bcast-exclude", true, kLibraries},
      {0, "container-image", true, kContainers},
      {0, "container-mounts", true, kContainers},
      {0, "container-workdir", true, kContainers},
      {0, "external-launcher", false,
       "start the launcher itself: mpirun finds the nodes of the job, see ares-mpi(7)"},
      {0, "gpus-per-socket", true,
       "steps are not placed by sockets; say --gpus-per-node, and --gpu-bind=closest for the GPUs "
       "near each task's CPUs"},
      {0, "het-group", true,
       "no job has components; jobs of a gang start together, see asub --gang, and arun --jobid "
       "starts a step in each"},
      {0, "ignore-signals", true,
       "arun passes signals on to the tasks; have the tasks ignore them, with trap in a shell"},
      {0, "msg-timeout", true, "arun notices by itself that it has lost the step"},
      {'Z', "no-allocate", false,
       "a step runs in a job; where there is none, arun asks for one first"},
      {'E', "preserve-env", false,
       "tasks are told the numbers of nodes and tasks of their step; give yours other names"},
      {0, "send-libs", true, kLibraries},
      {0, "slurmd-debug", true,
       "the log of aresd says as much as log.level in its ares.yaml asks for, see aresd(8)"},
      {'T', "threads", true, "arun has one connection, and starts no threads for it"},
      {0, "treewidth", true, "a job's first node has all tasks started, and there is no tree"},
      {0, "wait-for-children", false,
       "a task has ended when its program has, and what it leaves is ended; wait for it there"},
      {0, "x11", false,
       "no display is forwarded; while the job runs, log in to its node with ssh -X, see "
       "ares-adopt(8)"},
  };
}

}  // namespace ares::arun
