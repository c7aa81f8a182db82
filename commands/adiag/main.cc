// adiag: collects the data that developers need to explain the scheduler's decisions at a site.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "adiag/options.h"
#include "cli/options/frame.h"
#include "proto/gen/api.pb.h"

namespace ares::adiag {
namespace {

Error cannot(const std::string& what, const std::string& path) {
  return {ErrorCode::permission_denied,
          "cannot " + what + " " + path + ": " + std::strerror(errno)};
}

// An output file that gets its name only when it is complete. Readable by its owner only, because
// it contains all users' jobs.
class Output {
 public:
  explicit Output(const std::string& path) : path_(path), to_stdout_(path == "-") {}
  ~Output() {
    if (file_ && !to_stdout_) {
      std::fclose(file_);
      unlink(part_.c_str());
    }
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  Status open() {
    if (to_stdout_) {
      file_ = stdout;
      return {};
    }
    part_ = path_ + ".part";
    const int fd =
        ::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || !(file_ = fdopen(fd, "wb"))) {
      if (fd >= 0) close(fd);
      return fail(cannot("write", part_));
    }
    return {};
  }

  Status write(const std::string& data) {
    if (std::fwrite(data.data(), 1, data.size(), file_) != data.size())
      return fail(cannot("write", path_));
    return {};
  }

  Status finish() {
    if (std::fflush(file_) != 0) return fail(cannot("write", path_));
    if (to_stdout_) return {};
    const bool closed = std::fclose(file_) == 0;
    file_ = nullptr;
    if (!closed || rename(part_.c_str(), path_.c_str()) != 0) {
      const Error error = cannot("write", path_);
      unlink(part_.c_str());
      return fail(error);
    }
    return {};
  }

 private:
  const std::string path_;
  const bool to_stdout_;
  std::string part_;
  std::FILE* file_ = nullptr;
};

Result<api::ViewPart> fetch(rpc::Client& client, std::uint64_t dump, std::uint64_t offset) {
  api::Request request;
  request.mutable_dump_view()->set_dump(dump);
  request.mutable_dump_view()->set_offset(offset);
  auto response = client.call(std::move(request));
  if (!response) return fail(response.error());
  return std::move(*response->mutable_view_part());
}

Result<int> dump_view(const Query& query, const std::string& path) {
  if (path == "-" && isatty(STDOUT_FILENO))
    return fail(ErrorCode::invalid_argument,
                "a dump is binary: name a file, or send standard output into a pipe");
  auto client = cli::open_client("adiag", query.common, cli::RetryPolicy::query);
  if (!client) return fail(client.error());
  auto part = fetch(*client, 0, 0);
  if (!part) return fail(part.error());
  Output output(path);
  if (Status opened = output.open(); !opened) return fail(opened.error());
  std::uint64_t have = 0;
  for (;;) {
    if (Status written = output.write(part->data()); !written) return fail(written.error());
    have += part->data().size();
    if (have >= part->size()) break;
    if (part->data().empty())
      return fail(ErrorCode::internal, "the controller sent an empty part of the dump");
    part = fetch(*client, part->dump(), have);
    if (!part) return fail(part.error());
  }
  if (Status finished = output.finish(); !finished) return fail(finished.error());
  std::fprintf(stderr, "adiag: %llu bytes; plan it again with: asim --view %s\n",
               static_cast<unsigned long long>(have), path.c_str());
  return 0;
}

Result<int> run(const cli::Words& words) {
  Query query;
  const cli::OptionTable table = options(query);
  return cli::run_line(manual(), table, query.common, words,
                       [&](const cli::Words& operands) -> Result<int> {
                         if (operands.size() != 2 || operands.front() != "dump-view")
                           return fail(ErrorCode::invalid_argument,
                                       "say what to do: dump-view FILE; try adiag --help");
                         return dump_view(query, operands.back());
                       });
}

}  // namespace
}  // namespace ares::adiag

int main(int argc, char** argv) {
  return ares::cli::run_main("adiag", argc, argv, ares::adiag::run);
}
