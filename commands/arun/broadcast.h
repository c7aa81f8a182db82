// Copies of a file on the nodes of a job, for abcast and arun --bcast: a step with one task on each node,
// ares-receive, which reads the file from its input (abcast/receive.h). Called by a command's main thread.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arun/options.h"
#include "arun/place.h"
#include "base/result.h"
#include "os/fd.h"

namespace ares::arun {

struct Delivery {
  std::string destination;  // a path on the node
  std::uint64_t size = 0;
  std::string sha256;  // in hexadecimal, of the file as it is
  std::uint32_t mode = 0644;
  bool force = false;                          // replace a file that exists
  bool compressed = false;                     // the input is, by zlib
  std::optional<std::int64_t> access, change;  // times to keep, in seconds since 1970
};

// The words of ares-receive.
std::vector<std::string> words_of(const Delivery& delivery);
std::vector<std::string> words_to_remove(const std::string& path);

struct Source {
  os::Fd fd;
  struct stat facts {};
  std::string sha256;
};
Result<Source> open_source(const std::string& path);

// `preserve`: its times and all of its mode, else the umask of this process counts.
Delivery delivery_of(const Source& source, std::string destination, bool preserve);

struct Sending {
  std::string program;             // for messages
  std::size_t part = 0;            // most bytes of one message; 0: as many as fit
  std::vector<std::string> words;  // of ares-receive
};
// Runs ares-receive on all nodes of the job. `input`: what it reads; none: nothing. The exit code: 0 if each
// node has done it.
Result<int> run_receivers(Place place, const Sending& sending, std::optional<int> input);

// What is read from the file, compressed, from a child process. It ends with this one.
struct Compressor {
  os::Fd output;
  int child = 0;
};
Result<Compressor> compress(int file);
// Whether it has read all.
bool has_succeeded(Compressor& compressor);

}  // namespace ares::arun
