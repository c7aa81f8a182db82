/* submit_api: held submissions through libslurm, from several processes at once.
 * Prints one JSON line: how many were acknowledged, in what time, and the latency of a single one.
 *
 *   submit_api COUNT PROCESSES        SLURM_CONF says where
 */
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Milliseconds that one submission took; below 0 if it was refused. */
static double submit_one(void) {
  static char* environment[] = {"PATH=/usr/bin:/bin", "HOME=/", NULL};
  job_desc_msg_t job;
  submit_response_msg_t* answer = NULL;
  slurm_init_job_desc_msg(&job);
  job.name = "bench";
  job.script = "#!/bin/sh\ntrue\n";
  job.environment = environment;
  job.env_size = 2;
  job.work_dir = "/tmp";
  job.std_out = "/dev/null";
  job.std_err = "/dev/null";
  job.std_in = "/dev/null";
  job.user_id = getuid();
  job.group_id = getgid();
  job.min_nodes = 1;
  job.min_cpus = 1;
  job.num_tasks = 1;
  job.priority = 0; /* held */
  const double begin = now_ms();
  const int refused = slurm_submit_batch_job(&job, &answer);
  const double took = now_ms() - begin;
  if (refused) {
    fprintf(stderr, "submit_api: %s\n", slurm_strerror(slurm_get_errno()));
    return -1;
  }
  slurm_free_submit_response_response_msg(answer);
  return took;
}

int main(int argc, char** argv) {
  if (argc != 3 || atol(argv[1]) < 1 || atol(argv[2]) < 1) {
    fprintf(stderr, "usage: submit_api COUNT PROCESSES\n");
    return 2;
  }
  const long count = atol(argv[1]), processes = atol(argv[2]);
  double* took = mmap(NULL, (size_t)count * sizeof *took, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (took == MAP_FAILED) {
    perror("submit_api: mmap");
    return 1;
  }
  const double begin = now_ms();
  for (long p = 0; p < processes; ++p) {
    const pid_t pid = fork();
    if (pid < 0) {
      perror("submit_api: fork");
      return 1;
    }
    if (pid == 0) {
      slurm_init(NULL);
      for (long i = p; i < count; i += processes) took[i] = submit_one();
      _exit(0);
    }
  }
  for (long p = 0; p < processes; ++p) wait(NULL);
  const double seconds = (now_ms() - begin) / 1e3;
  qsort(took, (size_t)count, sizeof *took, ascending);
  long failed = 0;
  while (failed < count && took[failed] < 0) ++failed;
  const double* good = took + failed;
  const long number = count - failed;
  if (number == 0) return 1;
  printf("{\"submissions\": %ld, \"processes\": %ld, \"failed\": %ld, \"seconds\": %.4f, \"per_second\": %.1f, \"p50_ms\": %.3f, "
         "\"p95_ms\": %.3f, \"p99_ms\": %.3f}\n",
         count, processes, failed, seconds, (double)number / seconds, good[(long)(0.5 * (double)(number - 1))],
         good[(long)(0.95 * (double)(number - 1))], good[(long)(0.99 * (double)(number - 1))]);
  return failed != 0;
}
