/* C ABI of scheduler plugins: a site's own rules for which nodes a job may use (filter), which of these it gets (score) and whether it
 * starts now (permit). ares-sched-plugin(7) says how to build and install one; plugins/sched/min_nvlink is a worked example.
 *
 * Ownership: the host owns every pointer that it passes; it is valid only during that call, so a plugin copies what it keeps. The
 * result of open() belongs to the plugin; the host passes it to every call until close(). Texts are NUL-terminated and never NULL.
 *
 * Threads: any thread of the controller may call, but never two at the same time, not even in two plugins: a plugin needs no locks.
 * open() is the first call and close() the last; a reconfiguration may open() a second instance before it closes the first.
 *
 * Obligations of a plugin:
 * - Its answers depend only on the arguments and on the options of open(), not on a clock, a file, earlier calls or random numbers.
 *   The host caches answers, and repeats calls in another order.
 * - A node with more free resources should not be refused where one with less is accepted: a job might wait a pass longer than necessary.
 * - A call returns within milliseconds, as the scheduler waits for it. A call that takes longer than scheduler.plugin_timeout, crashes or
 *   throws an exception ends the controller, which disables the plugin at its next start. No job is lost.
 *
 * Structs may grow at their end without a new version. Each begins with its size as known to the side that made it; a field exists if it
 * is within that size (ARES_SCHED_HAS). Lists of structs are therefore lists of pointers. Plain C11.
 */
#ifndef ARES_PLUGIN_SCHED_ABI_H
#define ARES_PLUGIN_SCHED_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented by every change that is not an addition at the end of a struct. */
#define ARES_SCHED_ABI_VERSION 1

/* A shared object exports `const ares_sched_plugin* ARES_SCHED_ENTRY(void)`. */
#define ARES_SCHED_ENTRY ares_sched_plugin_v1
#define ARES_SCHED_ENTRY_NAME "ares_sched_plugin_v1"

#define ARES_SCHED_HAS(object, type, field) \
  ((object)->size >= offsetof(type, field) + sizeof(((type*)0)->field))

#define ARES_SCHED_NO_TASK 0xffffffffu /* of a job that is not an array task */
#define ARES_SCHED_UNLIMITED (-1)      /* no time limit */

/* What filter() and score() read in addition to the job's request. Jobs with equal values form one class, and each class needs one call:
 * set only the bits that are needed. Fields without their bit are empty in these calls; permit() gets all fields. */
enum ares_sched_look {
  ARES_SCHED_LOOK_USER = 1 << 0,
  ARES_SCHED_LOOK_ACCOUNT = 1 << 1,
  ARES_SCHED_LOOK_QOS = 1 << 2,
  ARES_SCHED_LOOK_NAME = 1 << 3,
  ARES_SCHED_LOOK_COMMENT = 1 << 4,
  ARES_SCHED_LOOK_JOB_ID = 1 << 5, /* every job forms its own class: expensive */
  ARES_SCHED_LOOK_TIME_LIMIT = 1 << 6,
  ARES_SCHED_LOOK_NODE_FREE = 1 << 7 /* without it all of a node appears free */
};

enum ares_sched_per { ARES_SCHED_PER_NODE = 0, ARES_SCHED_PER_TASK = 1, ARES_SCHED_IN_ALL = 2 };

/* GPUs that a job requests; several requests add up. */
typedef struct ares_sched_gpus {
  size_t size;
  int32_t per; /* ares_sched_per */
  uint32_t count;
  const char* type; /* "" = of any one type */
  uint32_t
      part; /* thousandths of one GPU that the job requests, `count` is 1 then; 0 = whole GPUs */
} ares_sched_gpus;

typedef struct ares_sched_job {
  size_t size;
  /* The job's request: always set. Zero = not requested. */
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
  /* Set if its bit is in looks_at. */
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

/* A node that, by the number of its resources, can hold a part of the job. GPUs are given by their position here, 0 to gpu_count - 1. */
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
      free_gpus; /* bit p % 64 of word p / 64: no job uses the GPU at position p, nor a part of it */
  /* gpu_count rows of gpu_count: number of NVLinks between two GPUs. NULL: the node's GPU topology is unknown. */
  const uint8_t* nvlinks;
} ares_sched_node;

/* The part of a job's allocation on one node. */
typedef struct ares_sched_share {
  size_t size;
  const ares_sched_node* node; /* its state before the job starts */
  uint32_t tasks, cpus;
  uint64_t memory; /* bytes */
  size_t gpu_count;
  const uint32_t* gpus; /* positions in `node`, ascending */
} ares_sched_share;

/* A job that is about to start, and its allocation. */
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

  /* Returns NULL and a text in `error` if options are wrong or unknown; the host then refuses the configuration. */
  void* (*open)(const ares_sched_host* host, char* error, size_t error_size);
  void (*close)(void* self);

  /* Stages; NULL if the plugin does not implement it. At least one is not NULL. */

  /* Decides which of `count` nodes the jobs of a class may use. `allowed` has the bit of each node set, bit i % 64 of word i / 64: clear
   * the bits of refused nodes. `why` may be set to what they lack, in a few words that are printed after "plugin NAME refuses 3 nodes: ".
   * It is empty before the call, and NULL if the reason is not needed. */
  void (*filter)(void* self, const ares_sched_job* job, const ares_sched_node* const* nodes,
                 size_t count, uint64_t* allowed, char* why, size_t why_size);

  /* Rates each of `count` nodes; higher is better, all scores are 0 before the call. --prefer takes precedence over scores; the placement
   * strategy of the partition decides between nodes of equal score. Scores of several plugins add up. */
  void (*score)(void* self, const ares_sched_job* job, const ares_sched_node* const* nodes,
                size_t count, int64_t* scores);

  /* Returns 1 if the jobs may start with these allocations; 0, and a text in `why`, keeps all of them waiting. Several placements are a
   * gang, which starts together or not at all. A job kept waiting reserves nothing, and permit() is called for it again in each pass. */
  int32_t (*permit)(void* self, const ares_sched_placement* const* placements, size_t count,
                    char* why, size_t why_size);
} ares_sched_plugin;

typedef const ares_sched_plugin* (*ares_sched_entry_fn)(void);

#ifdef __cplusplus
}
#endif

#endif
