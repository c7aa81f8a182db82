// min_nvlink: a scheduler plugin, and the worked example of ares-sched-plugin(7). A job of several
// GPUs may use a node only if its GPUs can be chosen from the free ones so that each is connected
// by at least N NVLinks to another GPU of the job, and it starts only with such GPUs. asub
// --min-nvlink is stricter: every two GPUs must be connected.
//
//   scheduler:
//     plugins:
//       - {name: min_nvlink, path: /usr/lib/ares/plugins/min_nvlink.so, options: {links: 2}}
//
// N is the option `links` (default 1), or for one job the word min_nvlink=N in its comment. The
// host calls one thread at a time, and an opened plugin never changes.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "plugin/sched_abi.h"

namespace {

constexpr unsigned long kMostLinks = 255;

struct MinNvlink {
  unsigned long links = 1;
};

// The number at the beginning of `text`, followed by a blank or the end; 0 if there is no valid
// number.
unsigned long number(const char* text) {
  char* end = nullptr;
  if (*text < '0' || *text > '9') return 0;
  const unsigned long value = std::strtoul(text, &end, 10);
  return (*end == 0 || *end == ' ' || *end == ',') && value <= kMostLinks ? value : 0;
}

void* open(const ares_sched_host* host, char* error, size_t error_size) {
  MinNvlink made;
  for (size_t i = 0; i < host->option_count; ++i) {
    const ares_sched_option& option = host->options[i];
    if (std::strcmp(option.key, "links") != 0) {
      std::snprintf(error, error_size, "unknown option \"%s\"; it knows links", option.key);
      return nullptr;
    }
    made.links = number(option.value);
    if (made.links == 0) {
      std::snprintf(error, error_size, "links: \"%s\" is not a number from 1 to 255", option.value);
      return nullptr;
    }
  }
  std::unique_ptr<MinNvlink> self(new (std::nothrow) MinNvlink(made));
  if (!self) std::snprintf(error, error_size, "out of memory");
  return self.release();
}

void close(void* self) {
  const std::unique_ptr<MinNvlink> closed(static_cast<MinNvlink*>(self));
}

unsigned long links_for(const void* self, const ares_sched_job& job) {
  const char* word = std::strstr(job.comment, "min_nvlink=");
  const unsigned long own = word ? number(word + std::strlen("min_nvlink=")) : 0;
  return own > 0 ? own : static_cast<const MinNvlink*>(self)->links;
}

// The smallest number of GPUs that a node of the job must provide. A node may provide more, which
// permit() checks.
size_t fewest(const ares_sched_job& job) {
  const size_t most_nodes = std::max<size_t>(job.max_nodes > 0 ? job.max_nodes : job.tasks, 1);
  const size_t tasks = (std::max<size_t>(job.tasks, 1) + most_nodes - 1) / most_nodes;
  size_t count = 0;
  for (size_t i = 0; i < job.gpu_request_count; ++i) {
    const ares_sched_gpus& asked = *job.gpu_requests[i];
    if (asked.per == ARES_SCHED_PER_NODE) count += asked.count;
    if (asked.per == ARES_SCHED_PER_TASK) count += asked.count * tasks;
    if (asked.per == ARES_SCHED_IN_ALL) count += (asked.count + most_nodes - 1) / most_nodes;
  }
  return count;
}

bool is_free(const ares_sched_node& node, size_t gpu) {
  return (node.free_gpus[gpu / 64] >> (gpu % 64) & 1) != 0;
}

// Whether a job that requests GPUs by type may get a GPU of this type.
bool is_asked(const ares_sched_job& job, const char* type) {
  for (size_t i = 0; i < job.gpu_request_count; ++i) {
    const char* asked = job.gpu_requests[i]->type;
    if (*asked == 0 || std::strcmp(asked, type) == 0) return true;
  }
  return false;
}

unsigned long links_between(const ares_sched_node& node, size_t a, size_t b) {
  return a == b ? 0 : node.nvlinks[a * node.gpu_count + b];
}

// Number of GPUs connected with `first`, directly or through others, by at least `links` links.
// They are removed from `left`.
size_t take_component(const ares_sched_node& node, unsigned long links, size_t first,
                      std::vector<bool>& left) {
  std::vector<size_t> found{first};
  left[first] = false;
  for (size_t i = 0; i < found.size(); ++i)
    for (size_t gpu = 0; gpu < node.gpu_count; ++gpu)
      if (left[gpu] && links_between(node, found[i], gpu) >= links) {
        left[gpu] = false;
        found.push_back(gpu);
      }
  return found.size();
}

// Whether `count` of these GPUs can be chosen so that each is connected to another one. Of a
// connected component any number from two on can be chosen, so only the possible sums of such
// numbers matter.
bool can_take(const ares_sched_node& node, unsigned long links, size_t count,
              std::vector<bool> left) {
  std::vector<bool> sums(count + 1, false);
  sums[0] = true;
  for (size_t gpu = 0; gpu < node.gpu_count; ++gpu) {
    if (!left[gpu]) continue;
    const size_t together = take_component(node, links, gpu, left);
    for (size_t sum = count; sum >= 2; --sum)
      for (size_t taken = 2; taken <= std::min(together, sum) && !sums[sum]; ++taken)
        sums[sum] = sums[sum - taken];
  }
  return sums[count];
}

// Considers GPUs of one type at a time, because a job never gets several types.
bool is_possible(const ares_sched_job& job, const ares_sched_node& node, unsigned long links,
                 size_t count) {
  if (!node.nvlinks) return false;
  std::vector<bool> seen(node.gpu_count, false);
  for (size_t first = 0; first < node.gpu_count; ++first) {
    if (seen[first]) continue;
    std::vector<bool> usable(node.gpu_count, false);
    for (size_t gpu = first; gpu < node.gpu_count; ++gpu) {
      if (std::strcmp(node.gpu_types[gpu], node.gpu_types[first]) != 0) continue;
      seen[gpu] = true;
      usable[gpu] = is_free(node, gpu);
    }
    if (is_asked(job, node.gpu_types[first]) && can_take(node, links, count, usable)) return true;
  }
  return false;
}

void filter(void* self, const ares_sched_job* job, const ares_sched_node* const* nodes,
            size_t count, uint64_t* allowed, char* why, size_t why_size) {
  const size_t gpus = fewest(*job);
  if (gpus < 2) return;
  const unsigned long links = links_for(self, *job);
  for (size_t i = 0; i < count; ++i)
    if (!is_possible(*job, *nodes[i], links, gpus)) allowed[i / 64] &= ~(uint64_t{1} << (i % 64));
  if (why)
    std::snprintf(why, why_size,
                  "no %zu free GPUs of which each is joined to another by %lu NVLink%s", gpus,
                  links, links == 1 ? "" : "s");
}

// The host chooses the devices. It prefers the fastest ones, which do not always meet the
// condition.
int32_t permit(void* self, const ares_sched_placement* const* placements, size_t count, char* why,
               size_t why_size) {
  for (size_t i = 0; i < count; ++i) {
    const unsigned long links = links_for(self, *placements[i]->job);
    for (size_t s = 0; s < placements[i]->share_count; ++s) {
      const ares_sched_share& share = *placements[i]->shares[s];
      const ares_sched_node& node = *share.node;
      for (size_t a = 0; a < share.gpu_count && share.gpu_count > 1; ++a) {
        const bool joined =
            node.nvlinks && std::any_of(share.gpus, share.gpus + share.gpu_count, [&](uint32_t b) {
              return links_between(node, share.gpus[a], b) >= links;
            });
        if (joined) continue;
        std::snprintf(why, why_size,
                      "GPU %u of %s is not joined to another of the job's by %lu NVLink%s",
                      node.gpu_indices[share.gpus[a]], node.name, links, links == 1 ? "" : "s");
        return 0;
      }
    }
  }
  return 1;
}

const ares_sched_plugin kPlugin = {ARES_SCHED_ABI_VERSION,
                                   sizeof(ares_sched_plugin),
                                   ARES_SCHED_LOOK_COMMENT | ARES_SCHED_LOOK_NODE_FREE,
                                   open,
                                   close,
                                   filter,
                                   nullptr,
                                   permit};

}  // namespace

extern "C" const ares_sched_plugin* ARES_SCHED_ENTRY(void) {
  return &kPlugin;
}
