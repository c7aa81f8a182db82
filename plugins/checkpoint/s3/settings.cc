#include "checkpoint/s3/settings.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/printable.h"
#include "node/text_fields.h"

namespace ares::checkpoint::s3 {
namespace {

constexpr std::size_t kLongestCredentials = 1 << 20;
constexpr std::size_t kLongestKey = 4096;
constexpr const char* kWhere =
    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them to ~/.aws/credentials";

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string without_slashes(std::string text) {
  while (!text.empty() && text.back() == '/') text.pop_back();
  return text;
}

// Sets `host` as the header of that name has it.
Status set_endpoint(const std::string& endpoint, Settings& settings) {
  settings.endpoint = without_slashes(endpoint);
  const bool https = settings.endpoint.starts_with("https://");
  if (!https && !settings.endpoint.starts_with("http://"))
    return fail(ErrorCode::failed_precondition,
                "the S3 endpoint " + quote(endpoint) + " does not begin with https:// or http://");
  settings.host = settings.endpoint.substr(settings.endpoint.find("://") + 3);
  const bool plain = std::all_of(settings.host.begin(), settings.host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == ':' || c == '[' || c == ']';
  });
  if (settings.host.empty() || !plain)
    return fail(ErrorCode::failed_precondition,
                "the S3 endpoint " + quote(endpoint) +
                    " is not of the form https://HOST or https://HOST:PORT");
  const std::string_view usual = https ? ":443" : ":80";
  if (settings.host.ends_with(usual)) settings.host.resize(settings.host.size() - usual.size());
  return {};
}

std::optional<std::string> first_of(const Variable& variable,
                                    std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (auto value = variable(name)) return value;
  return std::nullopt;
}

// What a header can carry.
bool is_key(std::string_view key) {
  return !key.empty() && key.size() <= kLongestKey &&
         std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

Result<Credentials> checked(Credentials credentials, const std::string& where) {
  if (!is_key(credentials.key_id) || !is_key(credentials.secret) ||
      (!credentials.session_token.empty() && !is_key(credentials.session_token)))
    return fail(ErrorCode::permission_denied,
                where +
                    ": the key, the secret or the session token is empty or has characters "
                    "that none can have");
  return credentials;
}

// The text of a file that only this user can read.
Result<std::string> read_secret_file(const std::string& path) {
  const auto cannot = [&](const std::string& why) {
    return fail(ErrorCode::permission_denied,
                "cannot read S3 credentials from " + path + ": " + why + "; " + kWhere);
  };
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return cannot(std::strerror(errno));
  struct stat about {};
  std::string text;
  std::string why;
  if (::fstat(fd, &about) != 0) {
    why = std::strerror(errno);
  } else if (!S_ISREG(about.st_mode)) {
    why = "it is not a regular file";
  } else if (about.st_uid != ::geteuid()) {
    why = "it does not belong to you";
  } else if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    why = "others can use it: chmod 600 it";
  } else if (about.st_size > static_cast<off_t>(kLongestCredentials)) {
    why = "it is too long";
  }
  char buffer[4096];
  while (why.empty() && text.size() <= kLongestCredentials) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) why = std::strerror(errno);
    if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(fd);
  if (!why.empty()) return cannot(why);
  return text;
}

std::string home_directory(const Variable& variable) {
  if (const auto home = variable("HOME")) return *home;
  const passwd* const user = ::getpwuid(::geteuid());
  return user && user->pw_dir ? user->pw_dir : "";
}

}  // namespace

Result<Settings> read_settings(std::string_view options, const Variable& variable) {
  node::FieldReader in("checkpoint.s3", options);
  Settings settings;
  const std::string of_site = without_slashes(in.text_or_empty("endpoint"));
  std::vector<std::string> allowed = in.all("allowed_endpoint");
  const std::string region = in.text_or_empty("region");
  settings.ca_file = in.text_or_empty("ca_file");
  settings.part_size = in.number_or<std::size_t>("part_size", settings.part_size);
  settings.retries = in.number_or<std::uint32_t>("retries", settings.retries);
  settings.timeout_s = in.number_or<std::uint32_t>("timeout", settings.timeout_s);
  if (Status status = in.status(); !status) return fail(status.error());

  const auto own = first_of(variable, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  const std::string wanted = own ? without_slashes(*own) : of_site;
  if (wanted.empty())
    return fail(ErrorCode::failed_precondition,
                "no S3 endpoint: the site has none in checkpoint.s3.endpoint of ares.yaml, and "
                "AWS_ENDPOINT_URL is not set");
  const bool of_user = wanted != of_site;
  if (of_user && std::none_of(allowed.begin(), allowed.end(), [&](const std::string& one) {
        return one == "ALL" || without_slashes(one) == wanted;
      }))
    return fail(ErrorCode::failed_precondition,
                "the S3 endpoint " + quote(wanted) +
                    " of AWS_ENDPOINT_URL is not one that the site allows: see "
                    "checkpoint.s3.allowed_endpoints in ares.yaml");
  if (Status set = set_endpoint(wanted, settings); !set) return fail(set.error());
  const auto of_job = first_of(variable, {"AWS_REGION", "AWS_DEFAULT_REGION"});
  settings.region = of_job && (of_user || region.empty()) ? *of_job : region;
  if (settings.region.empty()) settings.region = "us-east-1";
  if (!is_key(settings.region) || settings.region.find('/') != std::string::npos)
    return fail(ErrorCode::failed_precondition,
                "the S3 region " + quote(settings.region) + " is not a name");
  if (settings.ca_file.empty())
    if (const auto bundle = variable("AWS_CA_BUNDLE")) settings.ca_file = *bundle;
  return settings;
}

Result<Credentials> parse_credentials(std::string_view text, std::string_view profile) {
  Credentials found;
  bool inside = false, known = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[' && line.back() == ']') {
      inside = trim(line.substr(1, line.size() - 2)) == profile;
      known = known || inside;
      continue;
    }
    const std::size_t equals = line.find('=');
    if (!inside || equals == std::string_view::npos) continue;
    const std::string_view name = trim(line.substr(0, equals));
    const std::string value(trim(line.substr(equals + 1)));
    if (name == "aws_access_key_id") found.key_id = value;
    if (name == "aws_secret_access_key") found.secret = value;
    if (name == "aws_session_token") found.session_token = value;
  }
  if (!known)
    return fail(ErrorCode::permission_denied,
                "no profile " + quote(std::string(profile)) + "; AWS_PROFILE names another one");
  return checked(std::move(found), "profile " + quote(std::string(profile)));
}

Result<Credentials> read_credentials(const Variable& variable) {
  const auto key = variable("AWS_ACCESS_KEY_ID"), secret = variable("AWS_SECRET_ACCESS_KEY");
  if (key && secret)
    return checked({*key, *secret, variable("AWS_SESSION_TOKEN").value_or("")},
                   "AWS_ACCESS_KEY_ID");
  const std::string path = variable("AWS_SHARED_CREDENTIALS_FILE")
                               .value_or(home_directory(variable) + "/.aws/credentials");
  const Result<std::string> text = read_secret_file(path);
  if (!text) return fail(text.error());
  Result<Credentials> found = parse_credentials(*text, variable("AWS_PROFILE").value_or("default"));
  if (!found) return fail(found.error().code, path + ": " + found.error().message);
  return found;
}

}  // namespace ares::checkpoint::s3
