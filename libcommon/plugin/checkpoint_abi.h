/* C ABI of checkpoint plugins. A checkpoint plugin keeps the checkpoints of jobs in one kind of place, which the scheme of a URI
 * names: s3://bucket/prefix is for the plugin `s3`. It runs as the user whose checkpoints they are, in acheckpoint(1), never in a
 * daemon, and never as another user.
 *
 * A place, which belongs to one job, holds checkpoints named SEQUENCE.ATTEMPT, such as 000007.2. The URI of a checkpoint is that of
 * its place, a slash and its name. A checkpoint is published when its manifest can be read, and is never changed then.
 *
 * The host owns the result of open() until close(), and makes all calls on one thread. A call returns when it is done or has failed;
 * it may take long, retries what is worth it, and must not change signal handlers, the directory or the umask of the process.
 * Texts of the host are valid during the call. The plugin calls the functions in ares_checkpoint_host only during a call of the host,
 * on its thread. Plain C, so that a plugin can be built with another compiler.
 */
#ifndef ARES_PLUGIN_CHECKPOINT_ABI_H
#define ARES_PLUGIN_CHECKPOINT_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented by every change that is not an addition at the end of a struct. */
#define ARES_CHECKPOINT_ABI_VERSION 1

/* A shared object exports `const ares_checkpoint_plugin* ARES_CHECKPOINT_ENTRY(void)`. */
#define ARES_CHECKPOINT_ENTRY ares_checkpoint_plugin_v1
#define ARES_CHECKPOINT_ENTRY_NAME "ares_checkpoint_plugin_v1"

#define ARES_CHECKPOINT_DIGEST_SIZE 32 /* SHA-256 */

/* Results. With all but OK the call leaves a text for the user in `error`: what was wrong, where, and what to do. */
enum ares_checkpoint_result {
  ARES_CHECKPOINT_OK = 0,
  ARES_CHECKPOINT_REFUSED = 1,     /* it cannot be done like this */
  ARES_CHECKPOINT_NOT_FOUND = 2,   /* no such place, checkpoint or directory */
  ARES_CHECKPOINT_DENIED = 3,      /* no credentials, or not enough rights */
  ARES_CHECKPOINT_EXISTS = 4,      /* another one was published under this URI */
  ARES_CHECKPOINT_FULL = 5,        /* no space, or a quota is used up */
  ARES_CHECKPOINT_UNAVAILABLE = 6, /* the place cannot be reached; may work later */
  ARES_CHECKPOINT_DAMAGED = 7      /* it is not what was published */
};

typedef struct ares_checkpoint_text {
  const char* data; /* not NUL-terminated */
  size_t size;
} ares_checkpoint_text;

/* Where the plugin leaves a text for the user; the host owns it. NUL-terminated, cut off at `size`. */
typedef struct ares_checkpoint_error {
  char* text;
  size_t size;
} ares_checkpoint_error;

/* Takes a text that the plugin gives to the host: a manifest, or a URI. */
typedef void (*ares_checkpoint_take)(void* context, ares_checkpoint_text text);

/* Facts and callbacks for the plugin. `size` is the sizeof of the host's struct: fields beyond it do not exist. */
typedef struct ares_checkpoint_host {
  size_t size;
  void* context;                /* first argument of every callback */
  ares_checkpoint_text options; /* `key value` lines: the plugin's section in ares.yaml */
  /* A line for the user about something that does not make the call fail, such as that it is tried again. */
  void (*warn)(void* context, ares_checkpoint_text line);
} ares_checkpoint_host;

typedef struct ares_checkpoint_plugin {
  uint32_t abi_version;
  size_t size;        /* sizeof of the plugin's struct */
  const char* scheme; /* as "s3"; "" for absolute paths */

  /* 1: publish() takes the directory away, so it must be durable and on the same file system. 0: it is copied. */
  int32_t moves;

  /* Returns NULL and a text in `error` if the plugin cannot be used. */
  void* (*open)(const ares_checkpoint_host* host, ares_checkpoint_error error);
  void (*close)(void* self);

  /* Makes the place of one job ready for checkpoints, if that is needed. */
  int32_t (*prepare)(void* self, ares_checkpoint_text place, ares_checkpoint_error error);

  /* Publishes the files of `directory`, an absolute path, as the checkpoint `uri`. `manifest` is the text of its MANIFEST.json with
   * the size and SHA-256 of each file: a file that is not so any more makes it fail. On failure nothing is published, and the
   * directory is as it was. */
  int32_t (*publish)(void* self, ares_checkpoint_text directory, ares_checkpoint_text uri,
                     ares_checkpoint_text manifest, ares_checkpoint_error error);

  /* Takes a checkpoint back that this process has published, because the job's node has refused it: `directory` is then as it was
   * before. */
  int32_t (*withdraw)(void* self, ares_checkpoint_text uri, ares_checkpoint_text directory,
                      ares_checkpoint_error error);

  /* Gives the manifest of a checkpoint to `take`. Its files are not looked at. */
  int32_t (*read)(void* self, ares_checkpoint_text uri, ares_checkpoint_take take, void* context,
                  ares_checkpoint_error error);

  /* Looks whether every file is as the manifest says, no other is there, and, unless `digest` is NULL, whether that is the SHA-256
   * of the manifest. Gives the manifest to `take`. */
  int32_t (*verify)(void* self, ares_checkpoint_text uri, const uint8_t* digest,
                    ares_checkpoint_take take, void* context, ares_checkpoint_error error);

  /* The same, and leaves the files and the manifest in `directory`, which it makes. On failure that is not there. */
  int32_t (*fetch)(void* self, ares_checkpoint_text uri, const uint8_t* digest,
                   ares_checkpoint_text directory, ares_checkpoint_error error);

  /* Gives the URIs of the published checkpoints of a place to `take`, in any order. */
  int32_t (*list)(void* self, ares_checkpoint_text place, ares_checkpoint_take take, void* context,
                  ares_checkpoint_error error);

  /* Removes the checkpoints of a place with a lower sequence, and what is left of those that were never published. What cannot be
   * removed stays, and is tried again by a later call. */
  int32_t (*remove_older)(void* self, ares_checkpoint_text place, uint64_t oldest_kept,
                          ares_checkpoint_error error);
} ares_checkpoint_plugin;

typedef const ares_checkpoint_plugin* (*ares_checkpoint_entry_fn)(void);

#ifdef __cplusplus
}
#endif

#endif
