#include "submission/script.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/output/text.h"

namespace ares::submission {
namespace {

constexpr const char* kAdvice = "; to run one command without a script use asub --wrap 'COMMAND'";

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ > STDERR_FILENO) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<Error> unreadable(const std::string& name, int why) {
  return fail(why == ENOENT ? ErrorCode::not_found : ErrorCode::permission_denied,
              "cannot read the batch script " + name + ": " + std::strerror(why));
}

Status read_all(int fd, const std::string& name, std::string& content) {
  std::string buffer(1 << 16, '\0');
  for (;;) {
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unreadable(name, errno);
    if (count == 0) return {};
    content.append(buffer, 0, static_cast<std::size_t>(count));
    if (content.size() > kMaxScriptBytes)
      return fail(ErrorCode::invalid_argument,
                  name + " is larger than " + std::to_string(kMaxScriptBytes >> 20) +
                      " MiB: too big for a batch script; keep data in files that the script reads");
  }
}

std::string find_in_path(const std::string& operand, const std::string& directory,
                         const std::string& search_path) {
  if (operand.find('/') != std::string::npos) return operand;
  std::string here = directory + "/" + operand;
  struct stat info {};
  if (stat(here.c_str(), &info) == 0) return here;
  for (const std::string& folder : cli::split(search_path, ':')) {
    std::string candidate = (folder.empty() ? directory : folder) + "/" + operand;
    if (access(candidate.c_str(), R_OK) == 0 && stat(candidate.c_str(), &info) == 0 &&
        S_ISREG(info.st_mode))
      return candidate;
  }
  return here;
}

// "#!/bin/bash -l", "#!/usr/bin/env zsh".
bool is_shell(const std::string& first_line) {
  for (const std::string& word : cli::split(first_line, ' ')) {
    const std::string_view name = std::string_view(word).substr(word.rfind('/') + 1);
    if (name.empty() || name == "#!" || name == "env" || name.starts_with('-')) continue;
    return name.ends_with("sh");
  }
  return false;
}

bool is_program(const std::string& path) {
  struct stat info {};
  return access(path.c_str(), X_OK) == 0 && stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace

Result<Script> read_script(const std::string& operand, const std::string& directory,
                           const std::string& search_path) {
  Script script;
  if (operand.empty() || operand == "-") {
    script.name = "standard input";
    if (Status read = read_all(STDIN_FILENO, script.name, script.content); !read)
      return fail(read.error());
    return script;
  }
  script.name = operand;
  const std::string found = find_in_path(operand, directory, search_path);
  const Descriptor file(open(found.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return unreadable(operand, errno);
  struct stat info {};
  if (fstat(file.get(), &info) != 0) return unreadable(operand, errno);
  if (S_ISDIR(info.st_mode)) return unreadable(operand, EISDIR);
  if (Status read = read_all(file.get(), operand, script.content); !read) return fail(read.error());
  script.path = (std::filesystem::path(directory) / found).lexically_normal().string();
  return script;
}

Script wrap_command(const std::string& command) {
  return {"#!/bin/sh\n# This script was made by asub --wrap.\n\n" + command + "\n", "", "--wrap"};
}

Status check_script(const Script& script) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, script.name + why);
  };
  if (script.content.empty()) return refuse(" is empty: nothing to run" + std::string(kAdvice));
  if (script.content.find('\0') != std::string::npos)
    return refuse(" is a binary file, no batch script" + std::string(kAdvice));
  if (script.content.starts_with("\xef\xbb\xbf#!"))
    return refuse(
        ": begins with a byte order mark of UTF-8, which hides #! from the kernel; remove it: "
        "sed -i '1s/^\\xef\\xbb\\xbf//' " +
        script.name);
  if (!script.content.starts_with("#!"))
    return refuse(
        ": This does not look like a batch script. The first line must start with #! followed by "
        "the path to an interpreter, for instance: #!/bin/sh");
  if (const std::size_t at = script.content.find("\r\n"); at != std::string::npos) {
    const auto line =
        1 + std::count(script.content.begin(),
                       script.content.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return refuse(":" + std::to_string(line) +
                  ": the line ends as on DOS and Windows (CR LF), which shells do not understand; "
                  "convert the script: "
                  "sed -i 's/\\r$//' FILE");
  }
  const std::size_t end = script.content.find('\n');
  if (cli::trim(
          std::string_view(script.content).substr(2, end == std::string::npos ? end : end - 2))
          .empty())
    return refuse(":1: no interpreter after #!; write for instance #!/bin/sh");
  return {};
}

std::string warn_of_srun(const Script& script, const std::string& search_path) {
  const std::vector<std::string> lines = cli::split(script.content, '\n');
  if (lines.empty() || !is_shell(lines.front())) return {};
  bool starts = false;
  for (const std::string& line : lines) {
    const std::string_view text = cli::trim(line);
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    if (word == "srun()" || text.starts_with("function srun") || text.starts_with("alias srun="))
      return {};
    starts = starts || word == "srun";
  }
  if (!starts) return {};
  for (const std::string& folder : cli::split(search_path, ':'))
    if (is_program((folder.empty() ? "." : folder) + "/srun")) return {};
  return script.name +
         " calls srun, which PATH does not have here; if the nodes have none either, write arun, "
         "or have "
         "contrib/slurm/install.sh run there";
}

}  // namespace ares::submission
