// The section `node` of ares.yaml: how aresd and its supervisors run jobs.
#include "base/printable.h"
#include "config/tables.h"
#include "config/types.h"

namespace ares::config {
namespace {

Type<std::string> exec_type() {
  const auto text = text_type();
  return {"baremetal | kubernetes | mock | FILE",
          [text](const Value& value) -> Result<std::string> {
            auto exec = text.parse(value);
            if (exec && *exec != "baremetal" && *exec != "kubernetes" && *exec != "mock" &&
                !exec->starts_with('/'))
              return fail(ErrorCode::invalid_argument,
                          quote(*exec) +
                              " is neither baremetal nor kubernetes nor mock nor the absolute path "
                              "of a plugin");
            return exec;
          },
          text.print};
}

Type<Seconds> one_second_or_more() {
  const auto type = duration_type();
  return {type.name,
          [type](const Value& value) -> Result<Seconds> {
            auto time = type.parse(value);
            if (time && *time < Seconds(1))
              return fail(ErrorCode::invalid_argument, "must be at least 1 second");
            return time;
          },
          type.print};
}

Type<std::uint16_t> step_port_type() {
  const auto type = count_type();
  return {"PORT",
          [type](const Value& value) -> Result<std::uint16_t> {
            const auto port = type.parse(value);
            if (!port) return fail(port.error());
            if (*port > UINT16_MAX)
              return fail(ErrorCode::invalid_argument, "must be a port: 0 to 65535");
            return static_cast<std::uint16_t>(*port);
          },
          [](const std::uint16_t& port) { return std::to_string(port); }};
}

// Below it are directories of jobs, which hide /tmp: it cannot be in one.
Type<std::string> directory_type() {
  const auto text = text_type();
  return {"DIR",
          [text](const Value& value) -> Result<std::string> {
            auto path = text.parse(value);
            if (!path || path->empty()) return path;
            if (!path->starts_with('/'))
              return fail(ErrorCode::invalid_argument,
                          quote(*path) + " is not the absolute path of a directory");
            for (const char* hidden : {"/tmp", "/var/tmp"})
              if ((*path + "/").starts_with(std::string(hidden) + "/"))
                return fail(ErrorCode::invalid_argument,
                            quote(*path) + " would be hidden by the " + hidden + " of the jobs");
            return path;
          },
          text.print};
}

Type<std::string> pam_service_type() {
  const auto text = text_type();
  return {"NAME",
          [text](const Value& value) -> Result<std::string> {
            auto name = text.parse(value);
            if (name && (name->find('/') != std::string::npos || name->starts_with('.')))
              return fail(ErrorCode::invalid_argument,
                          quote(*name) + " is not the name of a file in /etc/pam.d");
            return name;
          },
          text.print};
}

}  // namespace

std::vector<Field<MockConfig>> mock_fields() {
  return {
      field<MockConfig>("start_delay_ms", &MockConfig::start_delay, milliseconds_type(),
                        "Time a launch takes."),
      field<MockConfig>("run_time_ms", &MockConfig::run_time, milliseconds_type(),
                        "Time a job takes. 0: as its script says."),
      field<MockConfig>("fail_rate", &MockConfig::fail_rate, fraction_type(),
                        "Share of jobs whose script fails, 0 to 1."),
      field<MockConfig>("launch_fail_rate", &MockConfig::launch_fail_rate, fraction_type(),
                        "Share of launches that fail by the node's fault."),
      field<MockConfig>("slow_rate", &MockConfig::slow_rate, fraction_type(),
                        "Share of nodes that are slow: always the same ones."),
      field<MockConfig>("slow_delay_ms", &MockConfig::slow_delay, milliseconds_type(),
                        "Time a launch takes on those."),
      field<MockConfig>("loss_rate", &MockConfig::loss_rate, fraction_type(),
                        "Share of messages between nodes and controller that are lost, each way."),
      field<MockConfig>(
          "nodes_file", &MockConfig::nodes_file, file_type(),
          "A file of nodes that come and go, for aresd --join: a line for each with its name, a "
          "word for the machine, the number of the machine under that name, CPUs, MiB of memory, "
          "features and GPU types (lists with commas, - for none), and why no job should start "
          "there, if so. It is read again when it changes."),
  };
}

std::vector<Field<NodeConfig>> node_daemon_fields() {
  return {
      field<NodeConfig>(
          "spool", &NodeConfig::spool, text_type(),
          "Folder in which a node keeps the records of its attempts. %n is the node's name."),
      field<NodeConfig>("exec", &NodeConfig::exec, exec_type(), "What runs the jobs."),
      field<NodeConfig>("stepd", &NodeConfig::stepd, text_type(),
                        "Path of aresstepd. Empty: beside aresd."),
      field<NodeConfig>(
          "user_namespaces", &NodeConfig::user_namespaces, boolean_type(),
          "Whether an aresd without root runs each job in an unprivileged user and "
          "pid namespace, where the kernel permits it. setuid programs such as sudo "
          "do not work in it; see aresd(8). If false, such a node cannot freeze jobs, "
          "and they are not started elsewhere when it is silent."),
      field<NodeConfig>(
          "private_ipc", &NodeConfig::private_ipc, boolean_type(),
          "Whether each job has a /dev/shm, objects of System V and POSIX message queues of its "
          "own, "
          "which end with it. If false, it shares those of the machine, as programs need that "
          "share "
          "memory with a daemon of the node, such as that of CUDA MPS; nothing removes what a job "
          "leaves in them."),
      field<NodeConfig>(
          "max_processes_per_cpu", &NodeConfig::max_processes_per_cpu, count_type(),
          "Processes and threads that a job may have at a time on a node, for each of its CPUs "
          "there. Beyond it fork fails. It needs root and the pids controller of cgroup; see "
          "aresd(8). 0: no limit."),
      field<NodeConfig>("prolog", &NodeConfig::prolog, program_type(),
                        "Program that runs before each job on each of its nodes, as the user of "
                        "aresd; see ares-prolog(7). If it fails, the node is drained and the job "
                        "starts elsewhere."),
      field<NodeConfig>("prolog_timeout", &NodeConfig::prolog_timeout, one_second_or_more(),
                        "Time for the prolog; it is then killed and has failed."),
      field<NodeConfig>("epilog", &NodeConfig::epilog, program_type(),
                        "Program that runs after each job on each of its nodes, before another "
                        "job gets its resources. If it fails, the node is drained."),
      field<NodeConfig>("epilog_timeout", &NodeConfig::epilog_timeout, one_second_or_more(),
                        "Time for the epilog; it is then killed and has failed."),
      field<NodeConfig>("task_prolog", &NodeConfig::task_prolog, program_type(),
                        "Program that runs as the job's user before its script, in its directory "
                        "and environment, which it can change; see ares-prolog(7). If it fails, "
                        "the job fails."),
      field<NodeConfig>("step_port", &NodeConfig::step_port, step_port_type(),
                        "TCP port on which the node takes steps of jobs that began on other nodes; "
                        "see arun(1). 0: any that is free, and the same one after a restart of "
                        "aresd."),
      field<NodeConfig>("allocation_timeout", &NodeConfig::allocation_timeout, one_second_or_more(),
                        "How long an allocation of aalloc, or of arun outside of a job, lasts "
                        "while its command has no connection to it. The command connects again by "
                        "itself; after this time its job ends."),
      field<NodeConfig>("slurm_variables", &NodeConfig::slurm_variables, boolean_type(),
                        "Set Slurm's names of variables in jobs, too: SLURM_JOB_ID beside "
                        "ARES_JOB_ID; see ares-environment(7). Takes effect when aresd starts."),
      field<NodeConfig>("task_epilog", &NodeConfig::task_epilog, program_type(),
                        "Program that runs as the job's user after its script, in its directory "
                        "and environment. A failure is written to the job's standard error and "
                        "has no other effect."),
      field<NodeConfig>("task_epilog_timeout", &NodeConfig::task_epilog_timeout,
                        one_second_or_more(), "Time for the task epilog; it is then killed."),
      field<NodeConfig>("pam_service", &NodeConfig::pam_service, pam_service_type(),
                        "Service of PAM, a file in /etc/pam.d, by which each job has a session of "
                        "its user: its account is checked, and modules can set variables and "
                        "limits of resources. It needs an aresd that is root. See PAM in "
                        "ares-node(7). Empty: jobs have none."),
      field<NodeConfig>("private_tmp", &NodeConfig::private_tmp, directory_type(),
                        "Directory in which each job gets a /tmp and a /var/tmp of its own, which "
                        "are removed when it has ended. Empty: jobs share those of the machine."),
      field<NodeConfig>("health_check", &NodeConfig::health_check, program_type(),
                        "Program that says whether the node is fit for jobs: it is drained while "
                        "the program fails, and resumed when it succeeds again. The reason is the "
                        "last line that it prints."),
      field<NodeConfig>("health_check_interval", &NodeConfig::health_check_interval,
                        one_second_or_more(),
                        "Time from the end of a health check to the next one."),
      field<NodeConfig>("health_check_timeout", &NodeConfig::health_check_timeout,
                        one_second_or_more(),
                        "Time for the health check; it is then killed and has failed."),
      field<NodeConfig>("gpu_discovery_timeout", &NodeConfig::gpu_discovery_timeout,
                        one_second_or_more(),
                        "How long aresd waits for the discovery of GPUs, which can hang in a "
                        "driver. Then it starts without them."),
      field<NodeConfig>("check_gpus", &NodeConfig::check_gpus, boolean_type(),
                        "Whether GPUs that gpu_discovery found by nvml or amd are looked at after "
                        "a job, and again before the next one gets them if that is longer ago "
                        "than a minute. While a process uses a GPU that no job has, or much of its "
                        "memory is in use, the node is drained, and no job is started there."),
      field<NodeConfig>("gpu_idle_memory", &NodeConfig::gpu_idle_memory, memory_type(),
                        "How much of the memory of a GPU may be in use while no job has it; what "
                        "the driver keeps for itself does not count."),
      field<NodeConfig>("gpu_system_programs", &NodeConfig::gpu_system_programs, text_list_type(),
                        "Names of programs that may use GPUs which no job has, such as a daemon "
                        "that shares or watches them."),
      field<NodeConfig>("reboot_program", &NodeConfig::reboot_program, program_type(),
                        "What actl reboot runs on the node, as root, without arguments and without "
                        "a shell, such as /sbin/reboot. Empty: nodes cannot be rebooted by Ares."),
      field<NodeConfig>("mock", &NodeConfig::mock, map_type(mock_fields()),
                        "How simulated nodes behave, with exec: mock."),
      field<NodeConfig>("kubernetes", &NodeConfig::kubernetes, map_type(kubernetes_fields()),
                        "Which Kubernetes cluster it serves, with exec: kubernetes."),
  };
}

}  // namespace ares::config
