/* C ABI of scheduler plugins: a site's own rules for which nodes a job may use (filter), which of these it gets (score) and whether it
 * starts now (permit). ares-sched-plugin(7) says how to build and install one; plugins/sched/min_nvlink is a worked example.
 *
 * Who owns what. Every pointer that a plugin is given is the host's and valid during that call only; what is to be kept must be copied.
 * What open() returns is the plugin's and goes back to it with every call, until close(). Texts end with NUL and are never NULL.
 *
 * Which thread calls. Any thread of the controller, but never two at once in one plugin or in two: a plugin needs no locks. open() comes
 * before every other call, close() after; a reconfiguration may open() a second time before it closes the first.
 *
 * What a plugin must keep to:
 * - Its answers are a function of its arguments and of the options it was opened with, and of nothing else: no clock, no file, no memory of
 *   earlier calls, no random number. They are remembered and asked for again in another order.
 * - Who has more free should not be refused where who has less is not: a job may otherwise wait a pass longer than it would have to.
 * - A call returns in milliseconds; the scheduler waits for it. One that takes longer than scheduler.plugin_timeout, that crashes or lets
 *   an exception out ends the controller, which at its next start sets the plugin aside. No job is lost by it.
 *
 * Structs may grow at their end without a new version. Each begins with its size as the other side knows it; a field is there if it lies
 * within that size (ARES_SCHED_HAS). For the same reason lists of structs are lists of pointers to them. Plain C11.
 */
#ifndef ARES_PLUGIN_SCHED_ABI_H
#define ARES_PLUGIN_SCHED_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with every change that is not an addition at the end of a struct. */
#define ARES_SCHED_ABI_VERSION 1

/* A shared object exports `const ares_sched_plugin* ARES_SCHED_ENTRY(void)`. */
#define ARES_SCHED_ENTRY ares_sched_plugin_v1
#define ARES_SCHED_ENTRY_NAME "ares_sched_plugin_v1"

#define ARES_SCHED_HAS(object, type, field) \
  ((object)->size >= offsetof(type, field) + sizeof(((type*)0)->field))

#define ARES_SCHED_NO_TASK 0xffffffffu /* of a job that is no task of an array */
#define ARES_SCHED_UNLIMITED (-1)      /* a time limit that is not there */

/* What filter() and score() look at beside what the job asks for. Jobs that differ in nothing of this are one class, which is asked about
 * once: name no more than is needed. Fields that are not named are left empty in these calls; permit() is told everything. */
enum ares_sched_look {
  ARES_SCHED_LOOK_USER = 1 << 0,
  ARES_SCHED_LOOK_ACCOUNT = 1 << 1,
  ARES_SCHED_LOOK_QOS = 1 << 2,
  ARES_SCHED_LOOK_NAME = 1 << 3,
  ARES_SCHED_LOOK_COMMENT = 1 << 4,
  ARES_SCHED_LOOK_JOB_ID = 1 << 5, /* every job is a class of its own: dear */
  ARES_SCHED_LOOK_TIME_LIMIT = 1 << 6,
  ARES_SCHED_LOOK_NODE_FREE = 1 << 7 /* without it nodes are told as if they were empty */
};

enum ares_sched_per { ARES_SCHED_PER_NODE = 0, ARES_SCHED_PER_TASK = 1, ARES_SCHED_IN_ALL = 2 };

/* GPUs that a job asks for; several requests add up. */
typedef struct ares_sched_gpus {
  size_t size;
  int32_t per; /* ares_sched_per */
  uint32_t count;
  const char* type; /* "" = of any one type */
  uint32_t
      part; /* thousandths: it wants so much of one GPU, which count has as 1; 0 = whole GPUs */
} ares_sched_gpus;

typedef struct ares_sched_job {
  size_t size;
  /* What the job asks for: always there. Zero = not asked. */
  const char* partition;
  uint32_t min_nodes, max_nodes;
  uint32_t tasks, cpus_per_task, tasks_per_node;
  uint64_t memory_per_node, memory_per_cpu; /* bytes */
  size_t gpu_request_count;
  const ares_sched_gpus* const* gpu_requests;
  uint32_t min_nvlinks; /* of --min-nvlink */
  uint32_t exclusive;   /* 1 = whole nodes */
  size_t feature_count;
  const char* const* features; /* constraints, as --constraint gave them */
  /* There if it is looked at. */
  uint64_t id; /* of an array: the array's */
  uint32_t task;
  uint32_t uid;
  const char* user;
  const char* account;
  const char* qos;
  const char* name;
  const char* comment;
  int64_t time_limit; /* seconds, or ARES_SCHED_UNLIMITED */
} ares_sched_job;

/* A node with room for a part of the job, as far as counts tell. GPUs are named by their position here, from 0 to gpu_count - 1. */
typedef struct ares_sched_node {
  size_t size;
  const char* name;
  const char* leaf; /* its leaf switch or block, "" where none is known */
  uint64_t cpus, free_cpus;
  uint64_t memory, free_memory; /* bytes */
  size_t feature_count;
  const char* const* features;
  size_t gpu_count;
  const uint32_t* gpu_indices;  /* by position: the device's number */
  const char* const* gpu_types; /* by position */
  const uint64_t*
      free_gpus; /* bit p % 64 of word p / 64: nobody has the GPU at position p, nor a part of it */
  /* gpu_count rows of gpu_count: how many NVLinks join two GPUs. NULL: the node does not tell how its GPUs are linked. */
  const uint8_t* nvlinks;
} ares_sched_node;

/* What one node gives to a job. */
typedef struct ares_sched_share {
  size_t size;
  const ares_sched_node* node; /* as it is before */
  uint32_t tasks, cpus;
  uint64_t memory; /* bytes */
  size_t gpu_count;
  const uint32_t* gpus; /* positions in `node`, ascending */
} ares_sched_share;

/* A job that is about to start, and where. */
typedef struct ares_sched_placement {
  size_t size;
  const ares_sched_job* job;
  size_t share_count;
  const ares_sched_share* const* shares; /* in rank order */
} ares_sched_placement;

typedef struct ares_sched_option {
  const char* key;
  const char* value;
} ares_sched_option; /* never grows */

typedef struct ares_sched_host {
  size_t size;
  const char* name; /* of the plugin, in ares.yaml */
  size_t option_count;
  const ares_sched_option* options; /* ascending key */
} ares_sched_host;

typedef struct ares_sched_plugin {
  uint32_t abi_version; /* ARES_SCHED_ABI_VERSION */
  size_t size;          /* sizeof of the plugin's struct */
  uint64_t looks_at;    /* ares_sched_look, or-ed */

  /* NULL and a text in `error` when the options are wrong: then the configuration is refused. Unknown options are wrong. */
  void* (*open)(const ares_sched_host* host, char* error, size_t error_size);
  void (*close)(void* self);

  /* Stages; NULL where the plugin has no say. At least one is there. */

  /* Which of `count` nodes the jobs of a class may use. `allowed` holds a set bit for each node, bit i % 64 of word i / 64: clear those of
   * the nodes that are refused. `why` may get what they lack, in a few words that stand behind "plugin NAME refuses 3 nodes: ". It is empty
   * before, and NULL where nobody wants to know. */
  void (*filter)(void* self, const ares_sched_job* job, const ares_sched_node* const* nodes,
                 size_t count, uint64_t* allowed, char* why, size_t why_size);

  /* How well each of `count` nodes suits; higher is better, all are 0 before. It comes before the partition's own placement strategy, which
   * decides where scores are equal, and behind what --prefer asks for. Scores of several plugins add up. */
  void (*score)(void* self, const ares_sched_job* job, const ares_sched_node* const* nodes,
                size_t count, int64_t* scores);

  /* Whether the jobs may start as placed: 0, and a text in `why`, keeps all of them waiting; 1 lets them start. Several placements are a
   * gang, which starts together or not at all. A job that is kept waiting is in nobody's way, and is asked about again in each pass. */
  int32_t (*permit)(void* self, const ares_sched_placement* const* placements, size_t count,
                    char* why, size_t why_size);
} ares_sched_plugin;

typedef const ares_sched_plugin* (*ares_sched_entry_fn)(void);

#ifdef __cplusplus
}
#endif

#endif
