/* C ABI of exec plugins: whoever runs a node's attempts, in processes, in containers, or only in pretence.
 * A plugin's open() result belongs to the host until close(). The host calls everything on one thread, and the plugin calls the
 * host's callbacks on that thread only, from within a call to it. Plain C, so that a plugin may be built by another compiler.
 *
 * Everything is asynchronous and idempotent: a call may be repeated, and says at once only whether it could be tried at all; what
 * becomes of it is told by the callbacks. Whatever the plugin starts must start user code at most once for one key, however often
 * it is asked, and only after go() for that key with that fence.
 */
#ifndef ARES_PLUGIN_EXEC_ABI_H
#define ARES_PLUGIN_EXEC_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with every change that is not an addition at the end of a struct. */
#define ARES_EXEC_ABI_VERSION 2

/* A shared object exports `const ares_exec_plugin* ARES_EXEC_ENTRY(void)`. */
#define ARES_EXEC_ENTRY ares_exec_plugin_v1
#define ARES_EXEC_ENTRY_NAME "ares_exec_plugin_v1"

#define ARES_EXEC_NO_TASK 0xffffffffu /* of a job that is not an array task */
#define ARES_EXEC_NONE INT64_MIN      /* a time or a limit that is not there */

enum ares_exec_phase { /* numbers of ares::AttemptPhase */
                       ARES_EXEC_ACCEPTED = 0,
                       ARES_EXEC_READY = 1,
                       ARES_EXEC_RUNNING = 2,
                       ARES_EXEC_DONE = 3,
                       ARES_EXEC_NEVER_RAN = 4,
                       ARES_EXEC_LOST = 5
};

/* What a call that could not even be tried returns; 0 is success. */
enum ares_exec_result {
  ARES_EXEC_OK = 0,
  ARES_EXEC_NODE_FAULT = 1, /* disk full, service away: another node may do better */
  ARES_EXEC_JOB_FAULT = 2   /* no such user, no such image: no node will */
};

typedef struct ares_exec_key {
  uint64_t job;
  uint32_t task;
  uint32_t attempt;
} ares_exec_key;

typedef struct ares_exec_text {
  const char* data; /* not NUL-terminated, valid during the call */
  size_t size;
} ares_exec_text;

typedef struct ares_exec_report {
  ares_exec_key key;
  uint64_t fence;
  int32_t phase;
  int32_t exit_code;
  int32_t exit_signal;
  uint8_t out_of_memory;
  uint8_t timed_out;
  int64_t ran_since_us; /* UTC, or ARES_EXEC_NONE */
  int64_t ended_at_us;
  int64_t user_cpu_us;
  int64_t system_cpu_us;
  int64_t max_rss; /* bytes */
  ares_exec_text detail;
} ares_exec_report;

/* What the host gives the plugin. `size` is sizeof of the host's struct: what lies behind it is not there. */
typedef struct ares_exec_host {
  size_t size;
  void* context; /* handed back in every callback */
  void (*changed)(void* context, const ares_exec_report* report);
  void (*launch_failed)(void* context, ares_exec_key key, uint64_t fence, int32_t result,
                        ares_exec_text cause);
  ares_exec_text node;    /* name of the node */
  ares_exec_text spool;   /* its directory, empty if it has none on disk */
  ares_exec_text boot_id; /* of the machine */
  ares_exec_text options; /* `key value` lines: what ares.yaml says to this plugin */
} ares_exec_host;

typedef struct ares_exec_launch {
  ares_exec_key key;
  uint64_t fence;
  ares_exec_text spec; /* `key value` lines, the record `spec` of aresstepd(8) */
  ares_exec_text script;
  ares_exec_text environment; /* NUL-separated NAME=value */
} ares_exec_launch;

typedef struct ares_exec_plugin {
  uint32_t abi_version;
  size_t size; /* sizeof of the plugin's struct */
  const char* name;

  /* Whether a job whose lease ran out certainly stops on this machine, whatever dies. Asked before open(), before any thread. */
  int32_t (*can_freeze)(void);

  /* NULL and a text in `error` when this node cannot be served. */
  void* (*open)(const ares_exec_host* host, char* error, size_t error_size);
  void (*close)(void* self);

  /* Brings the task to its gate. The attempt's records are in the spool already. */
  int32_t (*launch)(void* self, const ares_exec_launch* launch, char* error, size_t error_size);
  /* `lease_until_us`: CLOCK_BOOTTIME, or ARES_EXEC_NONE. */
  void (*go)(void* self, ares_exec_key key, uint64_t fence, int64_t lease_until_us);
  /* `grace_s`: seconds between SIGTERM and SIGKILL, or ARES_EXEC_NONE for those of the launch. */
  void (*kill)(void* self, ares_exec_key key, uint64_t fence, int32_t immediately, int64_t grace_s);
  void (*signal)(void* self, ares_exec_key key, uint64_t fence, uint64_t lsn, int32_t signal,
                 int32_t batch_only);
  void (*set_limit)(void* self, ares_exec_key key, uint64_t fence, uint64_t lsn, int64_t seconds);
  void (*renew_lease)(void* self, ares_exec_key key, int64_t lease_until_us);
  void (*release)(void* self, ares_exec_key key);
  /* Calls host->changed once for every attempt there is, also those from before a restart. */
  void (*list)(void* self);

  /* A descriptor that becomes readable when dispatch() has work; -1 if there never is any. */
  int32_t (*event_fd)(void* self);
  /* CLOCK_BOOTTIME when dispatch() is due at the latest, or ARES_EXEC_NONE. */
  int64_t (*next_deadline_us)(void* self);
  void (*dispatch)(void* self);

  /* All processes of the attempt stand still (`suspended` 1) or go on (0), once for each newest `lsn`. Its time limit does not run
   * meanwhile. `grace_s`: seconds between SIGTSTP and SIGSTOP where nothing better stops them. NULL, or behind `size`: the
   * host sends SIGSTOP and SIGCONT by signal(). */
  void (*set_suspended)(void* self, ares_exec_key key, uint64_t fence, uint64_t lsn,
                        int32_t suspended, int64_t grace_s);
} ares_exec_plugin;

typedef const ares_exec_plugin* (*ares_exec_entry_fn)(void);

#ifdef __cplusplus
}
#endif

#endif
