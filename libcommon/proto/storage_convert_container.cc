// What a job asks of its containers, in its specification.
#include "proto/storage_records.h"

namespace ares::proto {

void put(const ContainerRequest& from, storage::ContainerRequest& to) {
  to.set_image(from.image);
  for (const ContainerMount& mount : from.mounts) {
    storage::ContainerMount* added = to.add_mounts();
    added->set_source(mount.source);
    added->set_target(mount.target);
    added->set_read_only(mount.is_read_only);
  }
  to.set_work_dir(from.work_dir);
  put_list(from.variables, to.mutable_variables());
  to.set_per_rank(from.is_per_rank);
  to.set_pod_template(from.pod_template);
  to.set_namespace_name(from.space);
  to.set_service_account(from.service_account);
}

ContainerRequest get(const storage::ContainerRequest& from, DecodeErrors&) {
  ContainerRequest to;
  to.image = from.image();
  for (const storage::ContainerMount& mount : from.mounts())
    to.mounts.push_back({mount.source(), mount.target(), mount.read_only()});
  to.work_dir = from.work_dir();
  to.variables = get_list<std::string>(from.variables());
  to.is_per_rank = from.per_rank();
  to.pod_template = from.pod_template();
  to.space = from.namespace_name();
  to.service_account = from.service_account();
  return to;
}

}  // namespace ares::proto
