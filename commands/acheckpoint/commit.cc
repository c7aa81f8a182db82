#include "acheckpoint/commit.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "acheckpoint/places.h"
#include "base/printable.h"
#include "base/signal_name.h"
#include "checkpoint/commit_exchange.h"
#include "checkpoint/tree.h"
#include "os/clock.h"
#include "os/sockets/local_socket.h"

namespace ares::acheckpoint {
namespace {

// The supervisor answers at once unless the disk of its node is slow.
constexpr Seconds kPatience{60};

Result<std::string> variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value && *value) return std::string(value);
  return fail(ErrorCode::failed_precondition,
              std::string(name) +
                  " is not set: commit works within a job that was submitted with asub "
                  "--checkpoint=DIR");
}

// The connection to the supervisor of the job.
class Supervisor {
 public:
  explicit Supervisor(os::Fd socket) : socket_(std::move(socket)) {}

  Status send(const checkpoint::Request& request) {
    const std::string line = checkpoint::to_line(request) + "\n";
    const ssize_t sent = ::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(line.size())) return {};
    return fail(os::errno_error("cannot speak to the supervisor of the job"));
  }

  // unavailable: there is none within that time, or there will be none.
  Result<checkpoint::Answer> receive(Duration patience) {
    const BootTime until = os::boot_now() + patience;
    for (;;) {
      if (const std::size_t end = input_.find('\n'); end != std::string::npos) {
        const auto answer = checkpoint::parse_answer(std::string_view(input_).substr(0, end));
        input_.erase(0, end + 1);
        if (!answer)
          return fail(ErrorCode::internal, "the supervisor of the job gave an unknown answer");
        if (const auto* refusal = std::get_if<checkpoint::Refusal>(&*answer))
          return fail(ErrorCode::failed_precondition, refusal->why);
        return *answer;
      }
      const Duration left = until - os::boot_now();
      if (left <= Duration{}) return fail(ErrorCode::unavailable, "no answer in time");
      pollfd one{socket_.get(), POLLIN, 0};
      const int ready = ::poll(&one, 1, static_cast<int>(left.count() / 1000) + 1);
      if (ready < 0 && errno != EINTR) return fail(os::errno_error("cannot wait for an answer"));
      if (ready <= 0) continue;
      char buffer[checkpoint::kLongestLine];
      const ssize_t count = ::recv(socket_.get(), buffer, sizeof buffer, 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return fail(ErrorCode::unavailable, "the job is ending");
      input_.append(buffer, static_cast<std::size_t>(count));
    }
  }

  template <class Answer>
  Result<Answer> receive_one(Duration patience) {
    const Result<checkpoint::Answer> answer = receive(patience);
    if (!answer) return fail(answer.error());
    if (const auto* wanted = std::get_if<Answer>(&*answer)) return *wanted;
    return fail(ErrorCode::internal, "the supervisor of the job gave an unexpected answer");
  }

 private:
  os::Fd socket_;
  std::string input_;
};

Result<Supervisor> connect() {
  const Result<std::string> attempt = variable("ARES_ATTEMPT_DIR");
  if (!attempt) return fail(attempt.error());
  Result<os::Fd> socket = os::connect_in(*attempt, checkpoint::kSocketName);
  if (socket) return Supervisor(std::move(*socket));
  if (socket.error().code == ErrorCode::not_found)
    return fail(ErrorCode::failed_precondition,
                "checkpoints are committed on the first node of the job, where its batch script "
                "runs: call acheckpoint commit there");
  return fail(socket.error().code,
              "cannot reach the job of this process: " + socket.error().message);
}

// The signal that tells the job to save its state, and then SIGTERM, reach this process as well. There is time until
// SIGKILL, and half a commit is worth nothing.
void keep_on_when_told_to_save() {
  std::signal(SIGTERM, SIG_IGN);
  const char* const name = std::getenv("ARES_CHECKPOINT_SIGNAL");
  if (const Result<int> number = parse_signal(name ? name : "USR1"); number)
    std::signal(*number, SIG_IGN);
}

// What a place keeps only a copy of is gone afterwards as well, so that a script need not know which place it has. What was
// added to the directory meanwhile, or has grown, is not committed, and stays.
void remove_copied(const std::string& directory, const std::string& manifest) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto copied = checkpoint::from_json(manifest);
  const auto tree = checkpoint::look_at(directory);
  if (copied)
    for (const checkpoint::ManifestFile& file : copied->files) {
      const fs::path path = fs::path(directory) / file.path;
      const std::uintmax_t size = fs::file_size(path, error);
      if (!error && size == static_cast<std::uintmax_t>(file.content.size.value()))
        fs::remove(path, error);
    }
  if (tree)
    for (auto inner = tree->directories.rbegin(); inner != tree->directories.rend(); ++inner)
      fs::remove(*inner, error);
  fs::remove(directory, error);
  if (fs::exists(directory, error))
    std::fprintf(stderr, "acheckpoint: %s has files that are not committed; they stay there\n",
                 printable(directory).c_str());
}

}  // namespace

Result<int> commit(const Wanted& wanted, const std::string& directory,
                   std::map<std::string, std::string> fields) {
  const Result<std::string> store = variable("ARES_CHECKPOINT_PATH");
  if (!store) return fail(store.error());
  Result<Place> place = Place::of(*store, wanted.common.config);
  if (!place) return fail(place.error());
  Result<Supervisor> supervisor = connect();
  if (!supervisor) return fail(supervisor.error());
  keep_on_when_told_to_save();
  if (Status sent = supervisor->send(checkpoint::BeginRequest{}); !sent) return fail(sent.error());
  const auto begun = supervisor->receive_one<checkpoint::Begun>(kPatience);
  if (!begun) return fail(begun.error());

  checkpoint::Manifest header;
  header.job = begun->job;
  header.attempt = begun->attempt;
  header.sequence = begun->sequence;
  header.created = os::wall_now();
  header.fields = std::move(fields);
  const std::string from = std::filesystem::absolute(directory).string();
  const auto described = checkpoint::describe(from, std::move(header), place->moves());
  if (!described) return fail(described.error());
  const std::string uri =
      *store + "/" + checkpoint::directory_name(begun->sequence, begun->attempt);
  if (Status published = (*place)->publish(from, uri, described->manifest); !published)
    return fail(published.error());

  Status recorded = supervisor->send(
      checkpoint::CommitRequest{begun->sequence, described->digest, described->size});
  Duration wait{};
  if (recorded) {
    const auto answer = supervisor->receive_one<checkpoint::Recorded>(kPatience);
    if (answer)
      wait = answer->wait;
    else
      recorded = fail(answer.error());
  }
  if (!recorded) {
    // If it was refused, no one will look for it there, and the caller may want to try again. Otherwise the node may
    // have recorded it: it stays.
    if (recorded.error().code == ErrorCode::failed_precondition)
      (void)(*place)->withdraw(uri, from);
    return fail(recorded.error());
  }
  if (!place->moves()) remove_copied(from, described->manifest);
  const std::string which =
      "checkpoint " + std::to_string(begun->sequence) + " of job " + begun->job;
  if (wait > Duration{} && !wanted.quiet)
    std::fprintf(stderr,
                 "acheckpoint: %s is published; its node tells the controller in %.1f s, at most "
                 "once a second for a job\n",
                 which.c_str(), static_cast<double>(wait.count()) / 1e6);
  const auto known = supervisor->receive_one<checkpoint::Known>(wait + wanted.timeout);
  if (!known) {
    std::fprintf(stderr,
                 "acheckpoint: %s is published, but the controller does not know of it yet (%s); "
                 "its node tells the controller as soon as it can\n",
                 which.c_str(), known.error().message.c_str());
    return 0;
  }
  if (!wanted.quiet) std::printf("Committed %s: %s\n", which.c_str(), uri.c_str());
  std::fflush(stdout);
  (void)(*place)->remove_older(*store, known->oldest_kept);  // what is left is tried by the next
  return 0;
}

}  // namespace ares::acheckpoint
