// The specification of a job, field by field as model/job/spec_fields.def lists them, and its parts.
#include <concepts>
#include <type_traits>

#include "proto/spec_walk.h"
#include "proto/storage_records.h"

namespace ares::proto {

void put(const GpuRequest& from, storage::GpuRequest& to) {
  to.set_type(from.type);
  to.set_count(from.count);
  to.set_part(from.part);
}

GpuRequest get(const storage::GpuRequest& from, DecodeErrors&) {
  return GpuRequest{from.type(), from.count(), from.part()};
}

void put(const GpuAlternative& from, storage::GpuAlternative& to) {
  put_messages(from.gpus, to.mutable_gpus());
  to.set_cost(from.cost);
}

GpuAlternative get(const storage::GpuAlternative& from, DecodeErrors& errors) {
  return GpuAlternative{get_messages<GpuRequest>(from.gpus(), errors), from.cost()};
}

void put(const LicenseRequest& from, storage::LicenseRequest& to) {
  to.set_name(from.name);
  to.set_count(from.count);
}

LicenseRequest get(const storage::LicenseRequest& from, DecodeErrors&) {
  return LicenseRequest{from.name(), from.count()};
}

void put(const Dependency& from, storage::Dependency& to) {
  to.set_kind(number(from.kind));
  put(from.target, *to.mutable_target());
  to.set_delay(from.delay.count());
}

Dependency get(const storage::Dependency& from, DecodeErrors& errors) {
  Dependency to;
  to.kind = errors.check(from.kind(), kLastDependencyKind, "dependency kind");
  to.target = get(from.target(), errors);
  to.delay = Seconds(from.delay());
  return to;
}

void put(const ResourceLimit& from, storage::ResourceLimit& to) {
  to.set_resource(from.resource);
  to.set_soft(from.soft);
}

ResourceLimit get(const storage::ResourceLimit& from, DecodeErrors&) {
  return ResourceLimit{from.resource(), from.soft()};
}

void put(const GangRequest& from, storage::GangRequest& to) {
  to.set_name(from.name);
  to.set_size(from.size);
  to.set_min(from.min);
  if (from.timeout) to.set_timeout(from.timeout->count());
}

GangRequest get(const storage::GangRequest& from, DecodeErrors&) {
  GangRequest to{from.name(), from.size(), from.min(), std::nullopt};
  if (from.has_timeout()) to.timeout = Seconds(from.timeout());
  return to;
}

void put(const JobBinding& from, storage::Binding& to) {
  to.set_hint(from.hint);
  to.set_threads_per_core(from.threads_per_core);
  to.set_cpu_bind(from.cpu_bind);
  to.set_mem_bind(from.mem_bind);
  to.set_gpu_bind(from.gpu_bind);
  to.set_distribution(from.distribution);
}

JobBinding get(const storage::Binding& from, DecodeErrors&) {
  return {from.hint(),     from.threads_per_core(), from.cpu_bind(),
          from.mem_bind(), from.gpu_bind(),         from.distribution()};
}

void put(const CheckpointRequest& from, storage::CheckpointRequest& to) {
  to.set_place(from.place);
  to.set_keep(from.keep);
}

CheckpointRequest get(const storage::CheckpointRequest& from, DecodeErrors&) {
  return CheckpointRequest{from.place(), from.keep()};
}

namespace {

namespace storage_field {
#define ARES_SPEC_FIELD(member, api_name, storage_name, text, title, change, line) \
  ARES_SPEC_ACCESS(storage_name)
#include "model/job/spec_fields.def"
}  // namespace storage_field

// A value of each type; messages have their functions in storage_records.h.
struct ToStorage {
  template <std::integral Number>
  static Number plain(Number value) {
    return value;
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  static std::uint32_t plain(Enum value) { return number(value); }
  static const std::string& plain(const std::string& text) { return text; }
  static std::uint32_t plain(UserId id) { return id.value(); }
  static std::uint32_t plain(GroupId id) { return id.value(); }
  static std::int64_t plain(Bytes size) { return size.value(); }
  static std::int64_t plain(Seconds time) { return time.count(); }
  static std::int64_t plain(Time time) { return micros(time); }
  static std::string plain(const BlobId& id) { return to_bytes(id); }
  static std::string plain(const WarningSignal& warning) { return format_warning_signal(warning); }

  void operator()(const std::string& text, std::string& to) const { to = text; }
  template <class T, class Message>
  requires std::derived_from<Message, google::protobuf::Message>
  void operator()(const T& from, Message& to) const { put(from, to); }
};

struct FromStorage {
  DecodeErrors& errors;
  const char* title;

  template <std::integral Number>
  void operator()(Number from, Number& to) const {
    to = from;
  }
  void operator()(std::uint32_t from, OpenMode& to) const {
    to = errors.check(from, OpenMode::append, "open mode");
  }
  void operator()(std::uint32_t from, GpuShape& to) const {
    to = errors.check(from, kLastGpuShape, "topology of GPUs");
  }
  void operator()(std::uint32_t from, GpusPer& to) const {
    to = errors.check(from, kLastGpusPer, "list of GPUs");
  }
  void operator()(const std::string& from, std::string& to) const { to = from; }
  void operator()(std::uint32_t from, UserId& to) const { to = UserId(from); }
  void operator()(std::uint32_t from, GroupId& to) const { to = GroupId(from); }
  void operator()(std::int64_t from, Bytes& to) const { to = Bytes(from); }
  void operator()(std::int64_t from, Seconds& to) const { to = Seconds(from); }
  void operator()(std::int64_t from, Time& to) const { to = to_time(from); }
  void operator()(const std::string& from, BlobId& to) const {
    to = to_digest<32>(from, title, errors);
  }
  void operator()(const std::string& from, WarningSignal& to) const {
    if (const Result<WarningSignal> warning = parse_warning_signal(from))
      to = *warning;
    else
      errors.add(warning.error().message);
  }
  template <class Message, class T>
  requires std::derived_from<Message, google::protobuf::Message>
  void operator()(const Message& from, T& to) const { to = get(from, errors); }
};

}  // namespace

void put(const JobSpec& from, storage::JobSpec& to) {
#define ARES_SPEC_FIELD(member, api_name, storage_name, text, title, change, line) \
  put_field<storage_field::storage_name>(ToStorage{}, from.member, to);
#include "model/job/spec_fields.def"
}

JobSpec get(const storage::JobSpec& from, DecodeErrors& errors) {
  JobSpec to;
#define ARES_SPEC_FIELD(member, api_name, storage_name, text, title, change, line) \
  get_field<storage_field::storage_name>(FromStorage{errors, title}, from, to.member);
#include "model/job/spec_fields.def"
  return to;
}

}  // namespace ares::proto
