#include "cli/values/spec_container.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/printable.h"
#include "base/variable_name.h"
#include "model/job/container.h"
#include "model/job/image_name.h"

namespace ares::cli {
namespace {

Status bad(const std::string& why) {
  return fail(ErrorCode::invalid_argument, why);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t at = text.find(separator); at != std::string::npos;
       from = at + 1, at = text.find(separator, from))
    parts.push_back(text.substr(from, at - from));
  parts.push_back(text.substr(from));
  return parts;
}

Status add_mount(api::ContainerRequest& request, const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() > 3) return bad(quote(text) + " is not SRC[:DST[:ro|rw]]");
  const std::string& source = parts[0];
  const std::string& target = parts.size() > 1 && !parts[1].empty() ? parts[1] : source;
  for (const std::string& path : {source, target})
    if (!path.starts_with('/')) return bad(quote(path) + " is not an absolute path");
  const std::string mode = parts.size() > 2 ? parts[2] : "rw";
  if (mode != "ro" && mode != "rw") return bad(quote(mode) + " is neither ro nor rw");
  api::ContainerMount* added = request.add_mounts();
  added->set_source(source);
  added->set_target(target);
  added->set_read_only(mode == "ro");
  return {};
}

// A DNS label, as Kubernetes has it for namespaces.
bool is_label(const std::string& text) {
  const auto is_alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= 63 && is_alnum(text.front()) && is_alnum(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_alnum(c) || c == '-'; });
}

Result<std::string> read_template(const std::string& path) {
  const auto failed = [&] {
    return fail(ErrorCode::not_found, "cannot read " + quote(path) + ": " + std::strerror(errno));
  };
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return failed();
  std::string text(kLongestPodTemplate + 1, '\0');
  std::size_t size = 0;
  ssize_t got = 1;
  while (got > 0 && size < text.size()) {
    got = ::read(fd, text.data() + size, text.size() - size);
    if (got > 0) size += static_cast<std::size_t>(got);
  }
  const int error = errno;
  ::close(fd);
  errno = error;
  if (got < 0) return failed();
  if (size > kLongestPodTemplate)
    return fail(ErrorCode::invalid_argument,
                quote(path) + " is longer than " + std::to_string(kLongestPodTemplate) + " bytes");
  text.resize(size);
  return text;
}

}  // namespace

Status set_container_image(api::JobSpec& spec, const std::string& text) {
  constexpr std::string_view kScheme = "docker://";
  std::string image = text.starts_with(kScheme) ? text.substr(kScheme.size()) : text;
  if (text.starts_with('/') || text.starts_with('.'))
    return bad(quote(text) + " is a file; name an image that the nodes can pull or have");
  if (const std::size_t at = image.find('#'); at != std::string::npos) image[at] = '/';
  if (!is_image_name(image)) return bad(quote(text) + " is not the name of an image");
  spec.mutable_container()->set_image(image);
  return {};
}

Status set_container_mounts(api::JobSpec& spec, const std::string& text) {
  api::ContainerRequest& request = *spec.mutable_container();
  request.clear_mounts();
  for (const std::string& one : split(text, ','))
    if (Status added = add_mount(request, one); !added) return added;
  if (static_cast<std::size_t>(request.mounts_size()) > kMostContainerMounts)
    return bad("more than " + std::to_string(kMostContainerMounts) + " mounts");
  return {};
}

Status set_container_workdir(api::JobSpec& spec, const std::string& text) {
  if (!text.starts_with('/')) return bad(quote(text) + " is not an absolute path");
  spec.mutable_container()->set_work_dir(text);
  return {};
}

Status set_container_env(api::JobSpec& spec, const std::string& text) {
  api::ContainerRequest& request = *spec.mutable_container();
  request.clear_variables();
  for (const std::string& name : split(text, ',')) {
    if (!is_variable_name(name)) return bad(quote(name) + " is not the name of a variable");
    request.add_variables(name);
  }
  if (static_cast<std::size_t>(request.variables_size()) > kMostContainerVariables)
    return bad("more than " + std::to_string(kMostContainerVariables) + " variables");
  return {};
}

Status set_pod_template(api::JobSpec& spec, const std::string& path) {
  Result<std::string> text = read_template(path);
  if (!text) return fail(text.error());
  const auto json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object())
    return bad(quote(path) +
               " is not a JSON object; kubectl create --dry-run=client -o json writes a YAML file "
               "as JSON");
  spec.mutable_container()->set_pod_template(*text);
  return {};
}

Status set_namespace(api::JobSpec& spec, const std::string& text) {
  if (!is_label(text)) return bad(quote(text) + " cannot be the name of a namespace");
  spec.mutable_container()->set_namespace_name(text);
  return {};
}

Status set_service_account(api::JobSpec& spec, const std::string& text) {
  if (!is_label(text)) return bad(quote(text) + " cannot be the name of a service account");
  spec.mutable_container()->set_service_account(text);
  return {};
}

}  // namespace ares::cli
