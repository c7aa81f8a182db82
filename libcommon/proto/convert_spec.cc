// Specifications of jobs between the model and the wire, field by field as model/job/spec_fields.def lists them.
#include "model/job/binding_options.h"
#include "model/job/checkpoint_place.h"
#include "model/job/gpu_constraint.h"
#include "model/job/mail.h"
#include "model/policy/request_limits.h"
#include "proto/api_reader.h"
#include "proto/convert.h"
#include "proto/convert_container.h"
#include "proto/gen/api.pb.h"
#include "proto/spec_walk.h"

namespace ares::proto {
namespace {

namespace api_field {
#define ARES_SPEC_FIELD(member, api_name, storage_name, text, title, change, line) \
  ARES_SPEC_ACCESS(api_name)
#include "model/job/spec_fields.def"
}  // namespace api_field

api::Dependency::Kind kind_to_api(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::after_any: return api::Dependency::AFTER_ANY;
    case DependencyKind::after_ok: return api::Dependency::AFTER_OK;
    case DependencyKind::after_not_ok: return api::Dependency::AFTER_NOT_OK;
    case DependencyKind::after: return api::Dependency::AFTER;
    case DependencyKind::after_corr: return api::Dependency::AFTER_CORR;
    case DependencyKind::singleton: return api::Dependency::SINGLETON;
  }
  std::abort();
}

// A newer client may send a kind that this version does not know.
std::optional<DependencyKind> kind_from_api(api::Dependency::Kind kind) {
  switch (static_cast<int>(kind)) {
    case api::Dependency::AFTER_ANY: return DependencyKind::after_any;
    case api::Dependency::AFTER_OK: return DependencyKind::after_ok;
    case api::Dependency::AFTER_NOT_OK: return DependencyKind::after_not_ok;
    case api::Dependency::AFTER: return DependencyKind::after;
    case api::Dependency::AFTER_CORR: return DependencyKind::after_corr;
    case api::Dependency::SINGLETON: return DependencyKind::singleton;
  }
  return std::nullopt;
}

// --- a value of each type, to the wire ---

struct ToApi {
  template <std::integral Number>
  static Number plain(Number value) {
    return value;
  }
  static const std::string& plain(const std::string& text) { return text; }
  static std::uint32_t plain(UserId id) { return id.value(); }
  static std::uint32_t plain(GroupId id) { return id.value(); }
  static std::int64_t plain(Bytes size) { return size.value(); }
  static std::int64_t plain(Seconds time) { return time.count(); }
  static std::int64_t plain(Time time) { return time.time_since_epoch().count(); }
  static std::string plain(const BlobId& id) {
    return id == BlobId{} ? std::string() : std::string(id.begin(), id.end());
  }
  static std::string plain(const IntervalSet& set) { return format_interval_set(set); }
  static std::string plain(const WarningSignal& warning) { return format_warning_signal(warning); }
  static std::string plain(GpuShape shape) {
    return shape == GpuShape::any ? std::string() : std::string(to_string(shape));
  }
  static api::GpusPer plain(GpusPer per) { return static_cast<api::GpusPer>(per); }
  static bool plain(OpenMode mode) { return mode == OpenMode::append; }

  void operator()(const std::string& text, std::string& out) const { out = text; }
  void operator()(const GpuRequest& gpu, api::GpuRequest& out) const {
    out.set_type(gpu.type);
    out.set_count(gpu.count);
    out.set_part(gpu.part);
  }
  void operator()(const GpuAlternative& alternative, api::GpuAlternative& out) const {
    out.set_cost(alternative.cost);
    for (const GpuRequest& gpu : alternative.gpus) (*this)(gpu, *out.add_gpus());
  }
  void operator()(const LicenseRequest& license, api::LicenseRequest& out) const {
    out.set_name(license.name);
    out.set_count(license.count);
  }
  void operator()(const Dependency& dependency, api::Dependency& out) const {
    to_api(dependency, &out);
  }
  void operator()(const ResourceLimit& limit, api::ResourceLimit& out) const {
    out.set_resource(limit.resource);
    out.set_soft(limit.soft);
  }
  void operator()(const JobBinding& binding, api::Binding& out) const {
    out.set_hint(binding.hint);
    out.set_threads_per_core(binding.threads_per_core);
    out.set_cpu_bind(binding.cpu_bind);
    out.set_mem_bind(binding.mem_bind);
    out.set_gpu_bind(binding.gpu_bind);
    out.set_distribution(binding.distribution);
  }
  void operator()(const GangRequest& gang, api::GangRequest& out) const {
    out.set_name(gang.name);
    out.set_size(gang.size);
    out.set_min(gang.min);
    if (gang.timeout) out.set_timeout(gang.timeout->count());
  }
  void operator()(const CheckpointRequest& request, api::CheckpointRequest& out) const {
    out.set_place(request.place);
    out.set_keep(request.keep);
  }
  void operator()(const ContainerRequest& request, api::ContainerRequest& out) const {
    to_api(request, &out);
  }
};

// --- a value of each type, from the wire ---

// With the job's id and the name of a checkpoint it is still a path.
constexpr std::size_t kLongestCheckpointPlace = 4000;

// Checked here and not only at admission, because thousands of requests may wait for admission.
struct FromApi {
  Reader& read;
  std::string_view field;
  TextKind kind;

  template <std::integral Number>
  void operator()(Number in, Number& out) const {
    out = in;
  }
  void operator()(const std::string& in, std::string& out) const {
    read.text(field, in, kind, out);
  }
  void operator()(std::uint32_t in, UserId& out) const { out = UserId(in); }
  void operator()(std::uint32_t in, GroupId& out) const { out = GroupId(in); }
  void operator()(std::int64_t in, Bytes& out) const { read.bytes(field, in, out); }
  void operator()(std::int64_t in, Seconds& out) const { read.seconds(field, in, out); }
  void operator()(std::int64_t in, Time& out) const { read.time(field, in, out); }
  void operator()(const std::string& in, BlobId& out) const { read.digest(field, in, out); }
  void operator()(const std::string& in, WarningSignal& out) const {
    read.part(field, parse_warning_signal(in), out);
  }
  void operator()(const std::string& in, GpuShape& out) const {
    if (!in.empty()) read.part(field, parse_gpu_shape(in), out);
  }
  void operator()(api::GpusPer in, GpusPer& out) const {
    if (in < 0 || in > static_cast<int>(kLastGpusPer))
      return read.reject(field, "is none of the lists of GPUs");
    out = static_cast<GpusPer>(in);
  }
  void operator()(bool in, OpenMode& out) const {
    out = in ? OpenMode::append : OpenMode::truncate;
  }

  void operator()(const api::GpuRequest& in, GpuRequest& out) const {
    read.text(field, in.type(), TextKind::name, out.type);
    out.count = in.count();
    out.part = in.part();
  }
  void operator()(const api::GpuAlternative& in, GpuAlternative& out) const {
    out.cost = in.cost();
    for (const api::GpuRequest& gpu : in.gpus()) (*this)(gpu, out.gpus.emplace_back());
  }
  void operator()(const api::LicenseRequest& in, LicenseRequest& out) const {
    read.text(field, in.name(), TextKind::name, out.name);
    out.count = in.count();
  }
  void operator()(const api::Dependency& in, Dependency& out) const {
    const auto given = kind_from_api(in.kind());
    if (!given) return read.reject(field, "has a kind that this version does not know");
    out.kind = *given;
    if (out.kind != DependencyKind::singleton) read.part(field, from_api(in.target()), out.target);
    read.seconds(field, in.delay(), out.delay);
  }
  void operator()(const api::ResourceLimit& in, ResourceLimit& out) const {
    if (in.resource() < 0) read.reject(field, "names a negative resource");
    out = {in.resource(), in.soft()};
  }
  // A text that this version cannot read is refused here, because the node reads it again.
  void operator()(const api::Binding& in, JobBinding& out) const {
    read.text("hint", in.hint(), TextKind::name, out.hint);
    out.threads_per_core = in.threads_per_core();
    read.text("cpu_bind", in.cpu_bind(), TextKind::path, out.cpu_bind);
    read.text("mem_bind", in.mem_bind(), TextKind::path, out.mem_bind);
    read.text("gpu_bind", in.gpu_bind(), TextKind::path, out.gpu_bind);
    read.text("distribution", in.distribution(), TextKind::name, out.distribution);
    if (const Status good = check_binding(out); !good)
      read.reject(field, "is not possible: " + good.error().message);
  }
  void operator()(const api::GangRequest& in, GangRequest& out) const {
    read.text(field, in.name(), TextKind::name, out.name);
    out.size = in.size();
    out.min = in.min();
    if (in.has_timeout()) read.seconds("gang timeout", in.timeout(), out.timeout.emplace());
  }
  void operator()(const api::CheckpointRequest& in, CheckpointRequest& out) const {
    read.text(field, in.place(), TextKind::path, out.place);
    if (!is_checkpoint_place(in.place()))
      read.reject(field, "is not an absolute path or an S3 URI");
    if (in.place().size() > kLongestCheckpointPlace)
      read.reject(field, "is longer than " + std::to_string(kLongestCheckpointPlace) +
                             " bytes: no checkpoint could have a path in it");
    out.keep = in.keep();
    if (in.keep() < 1 || in.keep() > kMostCheckpointsKept)
      read.reject(field, "keeps none or more than " + std::to_string(kMostCheckpointsKept));
  }
  void operator()(const api::ContainerRequest& in, ContainerRequest& out) const {
    read_container(read, in, out);
  }
};

// --- a field ---

template <class Field, class T>
void write_field(Field, const T& from, api::JobSpec& to) {
  put_field<Field>(ToApi{}, from, to);
}

template <class Field, class T>
void read_field(Field, Reader& read, TextKind kind, const api::JobSpec& from, T& to) {
  get_field<Field>(FromApi{read, Field::kName, kind}, from, to);
}

// The only fields of which the type does not tell all; these overloads are taken in place of the templates.

// A set of words on the wire, a number in the model and in storage.
void write_field(api_field::mail_types, std::uint32_t from, api::JobSpec& to) {
  to.set_mail_types(format_mail_types(from));
}
void read_field(api_field::mail_types, Reader& read, TextKind, const api::JobSpec& from,
                std::uint32_t& to) {
  if (!from.mail_types().empty())
    read.part(api_field::mail_types::kName, parse_mail_types(from.mail_types()), to);
}
// A number with a limit of its own.
void read_field(api_field::umask, Reader& read, TextKind, const api::JobSpec& from,
                std::uint32_t& to) {
  if (from.umask() > 0777) read.reject(api_field::umask::kName, "is more than 0777");
  to = from.umask();
}
// The site's default stays where the client says nothing.
void read_field(api_field::requeue, Reader&, TextKind, const api::JobSpec& from, bool& to) {
  if (from.has_requeue()) to = from.requeue();
}
// How large the numbers of a set may be, and how many ranges it may have.
void read_field(api_field::array, Reader& read, TextKind, const api::JobSpec& from,
                Boxed<IntervalSet>& to) {
  if (!from.array().empty())
    read.part(api_field::array::kName,
              parse_interval_set(from.array(), TaskIndex::kNone - 1, kMaxArrayRanges),
              to.emplace());
}
void read_field(api_field::node_counts, Reader& read, TextKind, const api::JobSpec& from,
                Boxed<IntervalSet>& to) {
  constexpr std::uint32_t kMaxNodeCount = 1'000'000;
  if (!from.node_counts().empty())
    read.part(api_field::node_counts::kName,
              parse_interval_set(from.node_counts(), kMaxNodeCount, kMaxNodeCountRanges),
              to.emplace());
}

}  // namespace

void to_api(const Dependency& dependency, api::Dependency* out) {
  out->set_kind(kind_to_api(dependency.kind));
  if (dependency.kind != DependencyKind::singleton)
    to_api(dependency.target, out->mutable_target());
  out->set_delay(dependency.delay.count());
}

void to_api(const JobSpec& spec, api::JobSpec* out) {
  out->Clear();
#define ARES_SPEC_FIELD(member, api_name, storage_name, text, title, change, line) \
  write_field(api_field::api_name{}, spec.member, *out);
#include "model/job/spec_fields.def"
}

Result<JobSpec> from_api(const api::JobSpec& in, bool requeue_default) {
  Reader read("job specification");
  JobSpec out;
  out.requeue = requeue_default;
#define ARES_SPEC_FIELD(member, api_name, storage_name, text, title, change, line) \
  read_field(api_field::api_name{}, read, TextKind::text, in, out.member);
#include "model/job/spec_fields.def"
  return read.finish(std::move(out));
}

}  // namespace ares::proto
