#include "proto/convert_container.h"

#include <algorithm>

#include "base/variable_name.h"
#include "model/job/image_name.h"

namespace ares::proto {
namespace {

void read_folder(Reader& read, std::string_view field, const std::string& in, std::string& out) {
  if (!in.starts_with('/')) read.reject(field, "is not an absolute path");
  read.text(field, in, TextKind::path, out);
}

}  // namespace

void to_api(const ContainerRequest& request, api::ContainerRequest* out) {
  out->set_image(request.image);
  for (const ContainerMount& mount : request.mounts) {
    api::ContainerMount* added = out->add_mounts();
    added->set_source(mount.source);
    added->set_target(mount.target);
    added->set_read_only(mount.is_read_only);
  }
  out->set_work_dir(request.work_dir);
  for (const std::string& name : request.variables) out->add_variables(name);
  out->set_per_rank(request.is_per_rank);
  out->set_pod_template(request.pod_template);
  out->set_namespace_name(request.space);
  out->set_service_account(request.service_account);
}

void read_container(Reader& read, const api::ContainerRequest& in, ContainerRequest& out) {
  if (!in.image().empty() && !is_image_name(in.image()))
    return read.reject("container image", "is not the name of an image");
  read.text("container image", in.image(), TextKind::title, out.image);
  if (static_cast<std::size_t>(in.mounts_size()) > kMostContainerMounts)
    return read.reject("container mounts", "are more than " + std::to_string(kMostContainerMounts));
  for (const api::ContainerMount& mount : in.mounts()) {
    ContainerMount& added = out.mounts.emplace_back();
    read_folder(read, "container mounts", mount.source(), added.source);
    read_folder(read, "container mounts", mount.target(), added.target);
    added.is_read_only = mount.read_only();
  }
  if (!in.work_dir().empty())
    read_folder(read, "container working directory", in.work_dir(), out.work_dir);
  if (static_cast<std::size_t>(in.variables_size()) > kMostContainerVariables)
    return read.reject("container variables",
                       "are more than " + std::to_string(kMostContainerVariables));
  read.texts("container variables", in.variables(), TextKind::name, out.variables);
  if (!std::all_of(out.variables.begin(), out.variables.end(), is_variable_name))
    read.reject("container variables", "are not all names of variables");
  out.is_per_rank = in.per_rank();
  // Only the node that makes pods reads it; here it is an opaque text.
  if (in.pod_template().size() > kLongestPodTemplate)
    return read.reject("pod template",
                       "is longer than " + std::to_string(kLongestPodTemplate) + " bytes");
  read.text("pod template", in.pod_template(), TextKind::argument, out.pod_template);
  read.text("namespace", in.namespace_name(), TextKind::name, out.space);
  read.text("service account", in.service_account(), TextKind::name, out.service_account);
}

}  // namespace ares::proto
