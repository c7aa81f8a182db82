#include "submission/process_context.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/printable.h"
#include "cli/output/text.h"

extern char** environ;

namespace ares::submission {
namespace {

// Variables that a job gets without --export: enough to find commands and the home folder.
constexpr std::array<const char*, 5> kLogin = {"HOME", "LOGNAME", "USER", "SHELL", "LANG"};
constexpr const char* kLoginPath = "/usr/local/bin:/usr/bin:/bin";

// Splits at commas outside quotes and removes the quotes.
Result<std::vector<std::string>> split_quoted(const std::string& text) {
  std::vector<std::string> items(1);
  char quote = 0;
  for (const char c : text) {
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (c == ',' && quote == 0) {
      items.emplace_back();
    } else {
      items.back() += c;
    }
  }
  if (quote != 0) return fail(ErrorCode::invalid_argument, "--export: a quote is not closed");
  return items;
}

std::map<std::string, std::string> as_map(const std::vector<std::string>& all) {
  std::map<std::string, std::string> out;
  for (const std::string& one : all)
    if (const std::size_t equals = one.find('='); equals != std::string::npos && equals > 0)
      out.emplace(one.substr(0, equals), one.substr(equals + 1));
  return out;
}

std::string zone() {
  if (const char* tz = std::getenv("TZ"); tz && *tz) return *tz == ':' ? tz + 1 : tz;
  std::error_code error;
  const std::string target = std::filesystem::read_symlink("/etc/localtime", error).string();
  constexpr std::string_view kFolder = "zoneinfo/";
  const std::size_t at = target.find(kFolder);
  return error || at == std::string::npos ? "UTC" : target.substr(at + kFolder.size());
}

}  // namespace

Result<std::string> environment_for(const std::string& export_list,
                                    const std::vector<std::string>& all) {
  const auto items = split_quoted(export_list);
  if (!items) return fail(items.error());
  std::map<std::string, std::string> have = as_map(all);
  have.erase("ASUB_OUTPUT_PREFIX");  // of this submission; jobs that the job submits have their own
  for (const char* name : {"ARES_EXPORT_ENV", "ARES_JOB_DEPENDENCY"}) have.erase(name);

  bool everything = false;
  bool little = false;  // NONE or NIL; the variables named beside it are given
  bool nothing = false;
  std::map<std::string, std::string> chosen;
  for (const std::string& item : *items) {
    const std::size_t equals = item.find('=');
    const std::string name = item.substr(0, equals);
    if (name.empty())
      return fail(ErrorCode::invalid_argument, "--export: an empty name in " + quote(export_list));
    const std::string word = cli::upper(item);
    if (word == "ALL") {
      everything = true;
    } else if (word == "NONE" || word == "NIL") {
      little = true;
      nothing = nothing || word == "NIL";
    } else if (equals != std::string::npos) {
      chosen[name] = item.substr(equals + 1);
    } else if (const auto found = have.find(name); found != have.end()) {
      chosen.insert(*found);
    }
  }

  if (everything && little)
    return fail(ErrorCode::invalid_argument,
                "--export: " + quote(export_list) + " names ALL and NONE; leave one out");

  std::map<std::string, std::string> out;
  if (everything) {
    out = have;
  } else if (!nothing) {
    out["PATH"] = kLoginPath;
    for (const auto& [name, value] : have) {
      const bool ours = name.starts_with("ARES_");
      bool login = false;
      for (const char* one : kLogin) login = login || name == one;
      if (ours || login) out[name] = value;
    }
  }
  for (const auto& [name, value] : chosen) out[name] = value;

  std::string packed;
  for (const auto& [name, value] : out) packed += name + "=" + value + '\0';
  return packed;
}

Result<std::string> environment_from_file(const std::string& path, const std::string& export_list) {
  constexpr std::size_t kMost = 16u << 20;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMost + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  std::error_code unknown;
  if (!file.eof() || std::filesystem::is_directory(path, unknown))
    return fail(text.size() > kMost ? ErrorCode::invalid_argument : ErrorCode::not_found,
                "--export-file: cannot read " + quote(path) +
                    (text.size() > kMost ? ", which is larger than 16 MiB" : ""));
  std::vector<std::string> variables;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    std::string one = text.substr(at, end - at);
    at = end + 1;
    if (one.empty()) continue;
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos || equals == 0 || one.find('\n') < equals)
      return fail(ErrorCode::invalid_argument,
                  "--export-file: " + quote(path) + " holds " + excerpt(one) +
                      ", which is not NAME=VALUE; write it with env -0");
    variables.push_back(std::move(one));
  }
  return environment_for(export_list, variables);
}

std::vector<std::string> process_environment() {
  std::vector<std::string> all;
  for (char** one = environ; one && *one; ++one) all.emplace_back(*one);
  return all;
}

void add_process_context(api::JobSpec& spec) {
  for (int resource = 0; resource < RLIMIT_NLIMITS; ++resource) {
    rlimit limit{};
    if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) continue;
    auto* one = spec.add_limits();
    one->set_resource(resource);
    one->set_soft(limit.rlim_cur);
  }
  // The only way to read the umask is to set it.
  const mode_t mask = umask(0);
  umask(mask);
  spec.set_umask(mask);
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) spec.set_submit_host(host.data());
  spec.set_submit_zone(zone());
}

}  // namespace ares::submission
