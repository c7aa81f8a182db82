// The contents of ares.yaml as typed values. Filled in by config.h, then immutable: any thread may
// read.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/interval_set.h"
#include "base/time.h"
#include "base/units.h"
#include "model/cluster/node.h"
#include "model/cluster/resources.h"
#include "model/policy/policy.h"

namespace ares::config {

struct ControllerConfig {
  std::vector<std::string> listen{"unix:/run/ares/aresctld.sock"};  // "unix:/path", "tcp:host:port"
  std::vector<std::string>
      connect;  // Addresses used by clients and nodes, in order; default: the first of `listen`.
  std::string state_dir = "/var/lib/ares";  // highest (system, epoch, lsn) seen, pid lock
  std::vector<std::string> admins;          // as written; resolved in Policy
  std::vector<std::string> operators;       // as written; resolved in Policy
  std::string user = "root";                // The controller's user, as written.
  UserId uid{0};  // The controller's resolved uid; credentials are restricted to it.
  std::string mail_program = "/usr/bin/mail";  // absolute; empty = no mail is sent
};

struct DatabaseConfig {
  std::string host = "/run/postgresql";  // A directory means a Unix socket.
  std::uint16_t port = 5432;
  std::string name = "ares";
  std::string user = "ares";
  std::string password_file;  // empty = none
  bool accept_data_loss = false;
  std::string
      reports;  // Connection string of a read replica; empty = reports use the main database.
};

// Archiving: old accounting records are moved from the database to files.
struct ArchiveConfig {
  Seconds after{0};                           // 0 = never
  std::string dir = "/var/lib/ares/archive";  // absolute
};

// Records that are removed from the database by their age. 0 = never.
struct RetentionConfig {
  Seconds journal{30 * 24 * 3600};
  Seconds audit{0};
  Seconds node_events{90 * 24 * 3600};
  Seconds job_output{30 * 24 * 3600};
  Bytes job_output_limit = Bytes::mib(256);  // of an attempt on a node; 0: none is stored

  friend bool operator==(const RetentionConfig&, const RetentionConfig&) = default;
};

// Checkpoints in S3: the site's default, and what users may choose instead.
struct CheckpointS3Config {
  std::string endpoint;                        // https://host[:port]; empty = the user names one
  std::vector<std::string> allowed_endpoints;  // that users may name; ALL = any
  std::string region;                          // empty = that of the user, or us-east-1
  Bytes part_size = Bytes::mib(16);            // 8 to 64 MiB
  std::string ca_file;                         // absolute; empty = the system's
  std::uint32_t retries = 5;
  Seconds timeout{30};  // without a byte; 1 at least
};

struct CheckpointConfig {
  CheckpointS3Config s3;
};

enum class SmtpTls : std::uint8_t { required, if_offered, none };

// The mail server to which the controller hands mail about jobs.
struct SmtpConfig {
  std::string server;  // smtp://HOST[:PORT] or smtps://HOST[:PORT]; empty = mail_program sends mail
  SmtpTls tls = SmtpTls::required;
  std::string helo;           // how the controller names its machine; empty = its host name
  std::string from;           // empty = ares@HOST of the controller
  std::string user;           // empty = no authentication
  std::string password_file;  // absolute
  std::string ca_file;        // absolute; empty = the system's authorities
  std::string mail_domain;    // appended to addresses without one; empty = none
};

enum class WebhookFormat : std::uint8_t { json, slack };

// A server that is told about jobs by HTTP. Users choose it by its name, never by its URL.
struct WebhookConfig {
  std::string name;
  std::string url;  // may be a secret: config/shown_webhooks.h
  WebhookFormat format = WebhookFormat::json;
  std::vector<std::string> users;  // empty = all
  std::string token_file;          // absolute; empty = no Authorization
  std::string secret_file;         // absolute; empty = requests are not signed
  std::string ca_file;             // absolute; empty = the system's authorities
  std::string proxy;               // http://HOST:PORT; empty = none
};

struct NotifyConfig {
  SmtpConfig smtp;
  std::vector<WebhookConfig> webhooks;  // names are different
  Seconds retry_after{60};
  Seconds give_up_after{24 * 3600};
};

// The site's rules for submissions, as a script in Lua.
struct SubmitHookConfig {
  std::string file;  // absolute; empty = none
  std::chrono::milliseconds time_limit{2'000};
  Bytes memory_limit = Bytes::mib(64);
};

struct AuthConfig {
  std::string munge_socket;  // empty = munge's own default
};

struct ConfiguredNode {
  std::string name;
  // With cpus 0 and memory 0, the values are those that the node registers with.
  Inventory inventory;
  std::string
      gpu_topology;  // File from which aresd reads the GPUs; empty = `inventory.gpus` is complete.
  // Device files of each GPU, separated by commas; empty = aresd finds them.
  std::vector<std::string> gpu_devices{};
  // How aresd finds the GPUs of the machine: "auto", "nvml", "amd", "pci" or the absolute path of a
  // file; empty = it does not look for them.
  std::string gpu_discovery{};
  // Set aside for the system: `inventory` does not contain them.
  IntervalSet reserved_cpus{};
  Bytes reserved_memory{};
};

struct MockConfig {
  std::chrono::milliseconds start_delay{0};
  std::chrono::milliseconds run_time{0};  // 0 = as long as the job's script requests.
  double fail_rate = 0;                   // of jobs; 0 to 1, as the other rates
  double launch_fail_rate = 0;            // of launches
  double slow_rate = 0;                   // of nodes
  std::chrono::milliseconds slow_delay{0};
  double loss_rate = 0;      // of messages between node and controller, each way
  std::string nodes_file{};  // of nodes that the plugin finds; empty = none
};

// What users may name in Kubernetes beside the namespace of all jobs.
struct KubernetesGrant {
  std::vector<std::string> users{}, groups{};  // names; "*" = all users
  std::vector<std::string> namespaces{};
  std::vector<std::string> service_accounts{};  // of these namespaces
  friend bool operator==(const KubernetesGrant&, const KubernetesGrant&) = default;
};

// Of an aresd whose nodes are those of a Kubernetes cluster (ares-kubernetes(7)).
struct KubernetesConfig {
  std::string kubeconfig;  // absolute; empty = the service account of the pod that it runs in
  std::string context;     // of the kubeconfig; empty = its current one
  std::string space = "default";    // namespace of the pods
  std::string image;                // of jobs; empty = there is none
  std::string gate_image;           // with /ares-gate
  std::string node_prefix;          // before the names of nodes
  std::string node_selector;        // labels of the nodes to serve; empty = all
  std::vector<std::string> mounts;  // absolute paths on the nodes, the same in jobs
  std::vector<std::string> features{"topology.kubernetes.io/zone", "kubernetes.io/arch",
                                    "node.kubernetes.io/instance-type", "nvidia.com/gpu.product"};
  bool allow_root = false;
  std::vector<KubernetesGrant> grants{};
  std::string gpu_domain_label{};  // of nodes whose GPUs are all connected; empty = none says so
  std::string gate_folder{};       // on each node, made by ares-gate install; empty = none
  std::uint32_t calls_per_second = 1000;  // of the API, at most on average
};

struct NodeConfig {
  std::string spool = "/var/spool/ares/%n";  // may contain %n; see spool_of
  std::string exec = "baremetal";  // "baremetal", "kubernetes", "mock" or the path of a plugin
  std::string stepd;               // path of aresstepd; empty = beside aresd
  bool user_namespaces = true;     // without root, jobs run in a user namespace
  bool private_ipc = true;         // jobs have a /dev/shm of their own
  std::uint32_t max_processes_per_cpu = 4096;  // of a job; 0 = no limit
  std::uint16_t step_port = 0;                 // TCP, for steps of other nodes; 0 = any
  // How long an allocation of aalloc or arun lasts without a connection of that command.
  Seconds allocation_timeout{60};
  bool slurm_variables = true;
  std::string reboot_program;             // run by `actl reboot`; empty = none
  Seconds gpu_discovery_timeout{60};      // 1 at least
  bool check_gpus = true;                 // before a job gets them
  Bytes gpu_idle_memory = Bytes::gib(1);  // in use on a GPU that no job has, at most
  // Names of programs that may use GPUs which no job has.
  std::vector<std::string> gpu_system_programs{"nvidia-cuda-mps-server"};
  // Absolute paths of the site's programs; empty = none.
  std::string prolog, epilog, task_prolog, task_epilog, health_check;
  std::string private_tmp;  // directory for the /tmp of each job; empty: it is not private
  std::string pam_service;  // of the PAM session around each job; empty = none
  Seconds prolog_timeout{120}, epilog_timeout{120}, task_epilog_timeout{60};
  Seconds health_check_interval{60}, health_check_timeout{60};
  MockConfig mock;
  KubernetesConfig kubernetes;

  // The spool directory of one node: %n is its name, %% a percent sign.
  std::string spool_of(std::string_view node) const;
};

// A shared object called in the scheduler's stages (plugin/sched_abi.h).
struct PluginConfig {
  std::string name;
  std::string path;                     // absolute
  std::vector<std::string> partitions;  // empty = all
  std::map<std::string, std::string> options;
  int line = 0;  // where `Config::path` describes it
};
inline constexpr std::size_t kMostPlugins = 64;

struct SchedulerConfig {
  std::vector<PluginConfig> plugins;
  Seconds plugin_timeout{10};  // Of one call.
};

struct LogConfig {
  std::string level = "info";  // trace, debug, info, warn, error
  std::string file;            // empty = stderr
};

struct Config {
  std::string path;  // the file it was read from
  // Absolute, or relative to the folder of `path`; empty = no networks are described.
  std::string topology_file;
  // Price per hour of one unit of a TRES; reports compute costs from it.
  std::map<std::string, double> prices;
  Policy policy;  // with cluster, admins, operators, networks and config_hash filled in
  std::vector<Partition> partitions;
  std::vector<ConfiguredNode> nodes;  // in the file's order, names expanded
  ControllerConfig controller;
  DatabaseConfig database;
  ArchiveConfig archive;
  RetentionConfig retention;
  CheckpointConfig checkpoint;
  NotifyConfig notify;
  SubmitHookConfig submit_hook;
  AuthConfig auth;
  SchedulerConfig scheduler;  // The controller loads the plugins and adds them to `policy`.
  NodeConfig node;
  LogConfig log;
};

// The settings that a command needs to connect to the controller.
struct ClientConfig {
  std::string path;
  std::string cluster;
  std::vector<std::string> connect;
  std::string munge_socket;
  UserId controller_uid{0};
};

}  // namespace ares::config
