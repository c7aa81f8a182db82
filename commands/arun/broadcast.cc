#include "arun/broadcast.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "arun/session.h"
#include "auth/sha256.h"
#include "step_client/allocation.h"

namespace ares::arun {
namespace {

constexpr std::size_t kRead = std::size_t{1} << 16;
constexpr int kNotFound = 127;

std::uint32_t nodes_in(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "ARES_JOB_NUM_NODES=";
  for (const std::string& variable : environment)
    if (variable.starts_with(kName)) {
      std::uint32_t number = 0;
      std::from_chars(variable.data() + kName.size(), variable.data() + variable.size(), number);
      return number;
    }
  return 1;
}

// One task on each node, beside all other steps.
steps::StepRequest request_for(const std::vector<std::string>& words,
                               std::vector<std::string> environment) {
  steps::StepRequest request;
  request.nodes = nodes_in(environment);
  request.tasks_per_node = 1;
  request.overlap = request.overcommit = true;
  request.task.arguments = {"ares-receive"};
  request.task.arguments.insert(request.task.arguments.end(), words.begin(), words.end());
  const char* const path = std::getenv("PATH");
  std::string search = step_client::holding_environment(path ? path : "");
  search.pop_back();  // the NUL
  std::erase_if(environment, [](const std::string& v) { return v.starts_with("PATH="); });
  environment.push_back(std::move(search));
  request.task.environment = std::move(environment);
  char here[PATH_MAX];
  request.task.directory = ::getcwd(here, sizeof here) ? here : "/";
  request.task.bind = false;
  return request;
}

bool write_all(int fd, const unsigned char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(fd, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool compress_all(int from, int to) {
  z_stream stream{};
  if (::deflateInit(&stream, Z_DEFAULT_COMPRESSION) != Z_OK) return false;
  unsigned char in[kRead], out[kRead];
  for (bool ends = false; !ends;) {
    const ssize_t n = ::read(from, in, sizeof in);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    ends = n == 0;
    stream.next_in = in;
    stream.avail_in = static_cast<uInt>(n);
    do {
      stream.next_out = out;
      stream.avail_out = sizeof out;
      ::deflate(&stream, ends ? Z_FINISH : Z_NO_FLUSH);
      if (!write_all(to, out, sizeof out - stream.avail_out)) return false;
    } while (stream.avail_out == 0);
  }
  return ::deflateEnd(&stream) == Z_OK;
}

}  // namespace

std::vector<std::string> words_of(const Delivery& delivery) {
  std::vector<std::string> words = {delivery.destination,
                                    std::to_string(delivery.size),
                                    delivery.sha256,
                                    std::to_string(delivery.mode),
                                    delivery.force ? "force" : "new",
                                    delivery.compressed ? "zlib" : "plain"};
  if (delivery.access && delivery.change) {
    words.push_back(std::to_string(*delivery.access));
    words.push_back(std::to_string(*delivery.change));
  }
  return words;
}

std::vector<std::string> words_to_remove(const std::string& path) {
  return {"remove", path};
}

Result<Source> open_source(const std::string& path) {
  Source source;
  source.fd.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source.fd) return fail(os::errno_error("cannot read " + path));
  if (::fstat(source.fd.get(), &source.facts) != 0 || !S_ISREG(source.facts.st_mode))
    return fail(ErrorCode::invalid_argument, path + " is not a regular file");
  auth::Sha256 digest;
  for (char bytes[kRead];;) {
    const ssize_t n = ::read(source.fd.get(), bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(os::errno_error("cannot read " + path));
    if (n == 0) break;
    digest.add({bytes, static_cast<std::size_t>(n)});
  }
  source.sha256 = digest.hex();
  if (::lseek(source.fd.get(), 0, SEEK_SET) != 0)
    return fail(os::errno_error("cannot read " + path));
  return source;
}

Delivery delivery_of(const Source& source, std::string destination, bool preserve) {
  Delivery delivery;
  delivery.destination = std::move(destination);
  delivery.size = static_cast<std::uint64_t>(source.facts.st_size);
  delivery.sha256 = source.sha256;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  delivery.mode = source.facts.st_mode & (preserve ? 07777 : 0777 & ~mask);
  if (preserve) {
    delivery.access = source.facts.st_atim.tv_sec;
    delivery.change = source.facts.st_mtim.tv_sec;
  }
  return delivery;
}

Result<int> run_receivers(Place place, const Sending& sending, std::optional<int> input) {
  Wanted step;
  step.program = sending.program;
  step.quiet = true;  // the tasks say by themselves what is wrong
  step.request = request_for(sending.words, std::move(place.environment));
  Streams streams;
  streams.sends_input = input.has_value();
  streams.input = input.value_or(0);
  streams.input_part = sending.part;
  Result<int> code = Session(step, std::move(streams), std::move(place.host)).run();
  if (code && *code == kNotFound)
    std::fprintf(stderr, "%s: the program ares-receive is not in PATH on a node\n",
                 sending.program.c_str());
  return code;
}

Result<Compressor> compress(int file) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(os::errno_error("cannot make a pipe"));
  Compressor made;
  made.output.reset(ends[0]);
  const os::Fd input(ends[1]);
  made.child = ::fork();
  if (made.child < 0) return fail(os::errno_error("cannot start a process that compresses"));
  if (made.child > 0) return made;
  made.output.reset();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_IGN);
  ::_exit(compress_all(file, input.get()) ? 0 : 1);
}

bool has_succeeded(Compressor& compressor) {
  compressor.output.reset();
  int status = 0;
  pid_t ended = 0;
  do ended = ::waitpid(compressor.child, &status, 0);
  while (ended < 0 && errno == EINTR);
  return ended == compressor.child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace ares::arun
