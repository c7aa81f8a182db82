/* C ABI of exec plugins. An exec plugin runs the attempts of nodes: as processes, in containers, or simulated.
 * One open() serves all nodes of the process. A node is the host's, which adds those of the configuration, or the plugin's, which
 * finds it and tells the host. The host owns the result of open() until close(). The host makes all calls on one thread; the plugin
 * calls the host's callbacks only on that thread, during a call of the host. A callback may call the plugin, but not open(), close(),
 * add_node(), remove_node(), list() or dispatch(). Plain C, so that a plugin can be built with another compiler.
 *
 * All calls are asynchronous and idempotent. A call may be repeated. It returns at once, with an error only if nothing was tried; the
 * outcome is reported through the callbacks. For one key the plugin must start user code at most once, however often it is called,
 * and only after go() for that key with that fence.
 *
 * Structs with a `size` may grow at their end: `size` is the sizeof of the side that made it, fields beyond it do not exist.
 */
#ifndef ARES_PLUGIN_EXEC_ABI_H
#define ARES_PLUGIN_EXEC_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented by every change that is not an addition at the end of a struct. A plugin of another version is refused. */
#define ARES_EXEC_ABI_VERSION 3

/* A shared object exports `const ares_exec_plugin* ARES_EXEC_ENTRY(void)`. */
#define ARES_EXEC_ENTRY ares_exec_plugin_v1
#define ARES_EXEC_ENTRY_NAME "ares_exec_plugin_v1"

#define ARES_EXEC_NO_TASK 0xffffffffu /* of a job that is not an array task */
#define ARES_EXEC_NONE INT64_MIN      /* no time, or no limit */

enum ares_exec_phase { /* numbers of ares::AttemptPhase */
                       ARES_EXEC_ACCEPTED = 0,
                       ARES_EXEC_READY = 1,
                       ARES_EXEC_RUNNING = 2,
                       ARES_EXEC_DONE = 3,
                       ARES_EXEC_NEVER_RAN = 4,
                       ARES_EXEC_LOST = 5
};

/* Whose fault it is that an attempt never ran. */
enum ares_exec_fault { /* numbers of ares::LaunchFault */
                       ARES_EXEC_FAULT_NODE = 0,
                       ARES_EXEC_FAULT_USER = 1,  /* the job fails */
                       ARES_EXEC_FAULT_SYSTEM = 2 /* neither's: the job is tried again */
};

/* Result of launch(). Not OK: nothing was started. */
enum ares_exec_result {
  ARES_EXEC_OK = 0,
  ARES_EXEC_NODE_FAULT = 1, /* disk full, service down: may work on another node */
  ARES_EXEC_JOB_FAULT = 2   /* no such user, no such image: fails on every node */
};

/* Number that the host gives a node when it adds it. Another node may get it only after remove_node(). */
typedef uint32_t ares_exec_node;

/* The part of an attempt on one node. */
typedef struct ares_exec_key {
  uint64_t job;
  uint32_t task;
  uint32_t attempt;
  ares_exec_node node;
} ares_exec_key;

typedef struct ares_exec_text {
  const char* data; /* not NUL-terminated, valid during the call */
  size_t size;
} ares_exec_text;

typedef struct ares_exec_report {
  size_t size;
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
  int64_t max_rss;   /* bytes */
  int64_t disk_read; /* bytes */
  int64_t disk_written;
  ares_exec_text detail;
  /* Why the node must get no more jobs: with a running attempt as long as that is so, with one that has ended until an operator
   * resumes the node. */
  ares_exec_text node_problem;
  /* `key value` lines, the record `checkpoints` of aresstepd(8): what it has published and checkpoint_known() has not told. */
  ares_exec_text checkpoints;
  ares_exec_text restored; /* the record `restored` of aresstepd(8); empty: none */
  /* `lsn` of the newest set_suspended() that has stopped all its processes; 0: none, or they run again. */
  uint64_t stopped;
  int32_t fault; /* of ARES_EXEC_NEVER_RAN: ares_exec_fault */
} ares_exec_report;

/* What an attempt has printed. */
typedef struct ares_exec_output {
  size_t size;
  ares_exec_key key;
  uint64_t fence;
  uint64_t offset; /* of the first byte */
  ares_exec_text data;
  int32_t ended; /* nothing follows */
} ares_exec_output;

/* A node that the host adds. */
typedef struct ares_exec_node_setup {
  size_t size;
  ares_exec_node node;
  ares_exec_text name;
  ares_exec_text spool;   /* its directory; empty: it has none on disk */
  ares_exec_text boot_id; /* of its machine */
} ares_exec_node_setup;

/* A node that the plugin has found. */
typedef struct ares_exec_found_node {
  size_t size;
  ares_exec_text name; /* that users see; not one of the host's own nodes */
  /* Of the machine and its boot, without blanks: what ran under another identity of the name has ended. */
  ares_exec_text identity;
  uint64_t incarnation; /* not 0; grows with each new identity of the name */
  ares_exec_text
      inventory; /* `key value` lines: cpus, memory, feature, gpu; see ares-exec-plugin(7) */
  ares_exec_text problem; /* why no job should start there now; empty: it may */
  /* Its machine is gone with attempts: nothing will tell how they end. The controller shows the node as down, and ends their jobs after
   * dead_node_timeout, or when an operator declares the node dead. */
  int32_t gone;
} ares_exec_found_node;

/* Callbacks and facts for the plugin. */
typedef struct ares_exec_host {
  size_t size;
  void* context; /* first argument of every callback */
  void (*changed)(void* context, const ares_exec_report* report);
  void (*launch_failed)(void* context, ares_exec_key key, uint64_t fence, int32_t result,
                        ares_exec_text cause);
  /* The node exists, or something said of it has changed. The host adds it soon by add_node(), if it can serve it. After open() the
   * plugin tells of every node that exists, and of every other one that still has attempts, with a problem. A node that is told without
   * a name, an identity or an incarnation is ignored. */
  void (*node_changed)(void* context, const ares_exec_found_node* node);
  /* It exists no longer. This says nothing of attempts: the host removes the node only when all of them have ended. */
  void (*node_removed)(void* context, ares_exec_text name, ares_exec_text why);
  ares_exec_text options; /* `key value` lines: the plugin's options in ares.yaml */
  /* Something that the operator should find on the host's log. */
  void (*say)(void* context, ares_exec_text text);
  /* The plugin cannot go on, and why: the host ends with this error after the call. Attempts are left as they are. */
  void (*failed)(void* context, ares_exec_text why);
  /* A descriptor that becomes readable when the host is to end, not to be read from; -1: there is none. An open() that waits returns
   * NULL then. */
  int32_t stop_fd;
  /* A part of what an attempt has printed, where no file gets it; only between take_output(1) and take_output(0). output_stored()
   * follows, or nothing if it could not be stored: then the same bytes may be told again. Empty: asks how much is stored. */
  void (*output)(void* context, const ares_exec_output* part);
} ares_exec_host;

typedef struct ares_exec_launch {
  ares_exec_key key;
  uint64_t fence;
  ares_exec_text spec; /* `key value` lines, the record `spec` of aresstepd(8) */
  ares_exec_text script;
  ares_exec_text environment; /* NUL-separated NAME=value */
} ares_exec_launch;

/* What an attempt uses. The host makes it. */
typedef struct ares_exec_use {
  size_t size;
  int64_t user_cpu_us; /* so far */
  int64_t system_cpu_us;
  int64_t max_rss; /* bytes, so far */
  int64_t memory;  /* bytes, now */
  uint32_t processes;
  int64_t disk_read; /* bytes, so far */
  int64_t disk_written;
} ares_exec_use;

typedef struct ares_exec_plugin {
  uint32_t abi_version;
  size_t size; /* sizeof of the plugin's struct */
  const char* name;

  /* Whether a job always stops when its lease expires, even if Ares' processes die. Called before open() and before any thread. */
  int32_t (*can_freeze)(void);

  /* Returns NULL and a text in `error` if the plugin cannot work here. */
  void* (*open)(const ares_exec_host* host, char* error, size_t error_size);
  void (*close)(void* self);

  /* Nodes. `add_node` returns ARES_EXEC_OK, or another result and a text in `error`. After remove_node() the host makes no call for
   * the node and the plugin none of its callbacks; its attempts are left as they are. */
  int32_t (*add_node)(void* self, const ares_exec_node_setup* setup, char* error,
                      size_t error_size);
  void (*remove_node)(void* self, ares_exec_node node);

  /* Starts the task up to its gate; user code waits for go(). The attempt's records are already in the spool. */
  int32_t (*launch)(void* self, const ares_exec_launch* launch, char* error, size_t error_size);
  /* `lease_until_us`: CLOCK_BOOTTIME, or ARES_EXEC_NONE. */
  void (*go)(void* self, ares_exec_key key, uint64_t fence, int64_t lease_until_us);
  /* `grace_s`: seconds between SIGTERM and SIGKILL, or ARES_EXEC_NONE for the kill_wait of the launch. */
  void (*kill)(void* self, ares_exec_key key, uint64_t fence, int32_t immediately, int64_t grace_s);
  void (*signal)(void* self, ares_exec_key key, uint64_t fence, uint64_t lsn, int32_t signal,
                 int32_t batch_only);
  void (*set_limit)(void* self, ares_exec_key key, uint64_t fence, uint64_t lsn, int64_t seconds);
  void (*renew_lease)(void* self, ares_exec_key key, int64_t lease_until_us);
  void (*release)(void* self, ares_exec_key key);
  /* Calls host->changed once for every existing attempt of the node, including those from before a restart. */
  void (*list)(void* self, ares_exec_node node);

  /* A descriptor that becomes readable when dispatch() has work; -1 if dispatch() only has deadlines. */
  int32_t (*event_fd)(void* self);
  /* CLOCK_BOOTTIME by which dispatch() must be called, or ARES_EXEC_NONE. */
  int64_t (*next_deadline_us)(void* self);
  void (*dispatch)(void* self);

  /* Suspends (`suspended` 1) or resumes (0) all processes of the attempt. Calls with an `lsn` that is not newer are ignored. Suspended
   * time does not count towards the time limit. `grace_s`: seconds between SIGTSTP and SIGSTOP where there is no freezer. The plugin
   * reports `stopped`: until then other attempts do not start on the CPUs. If this is NULL, the host sends SIGSTOP and SIGCONT through
   * signal(). */
  void (*set_suspended)(void* self, ares_exec_key key, uint64_t fence, uint64_t lsn,
                        int32_t suspended, int64_t grace_s);

  /* Fills in what a running attempt uses and returns 1; 0: nothing counts it. If this is NULL, nothing does. */
  int32_t (*use_of)(void* self, ares_exec_key key, ares_exec_use* use);

  /* The controller has committed the attempt's checkpoints up to this one: they need not be reported any more. If this is NULL, they
   * are reported until the attempt is released. */
  void (*checkpoint_known)(void* self, ares_exec_key key, uint64_t fence, uint64_t sequence);

  /* Whether the controller stores what attempts print, host->output(). Before the first call it does not. If this is NULL, no output is
   * told. */
  void (*take_output)(void* self, int32_t taken);
  /* The first `size` bytes of the attempt's output are stored, and with `ended` its end. */
  void (*output_stored)(void* self, ares_exec_key key, uint64_t fence, uint64_t size,
                        int32_t ended);
  /* Follows kill() if the controller does not wait for the end: the attempt's job has ended or runs again. If the machine of the node is
   * gone, the attempt is reported as lost, and what is left of it removed at release(). If this is NULL, such attempts stay. */
  void (*give_up)(void* self, ares_exec_key key, uint64_t fence);
} ares_exec_plugin;

typedef const ares_exec_plugin* (*ares_exec_entry_fn)(void);

#ifdef __cplusplus
}
#endif

#endif
