#include "exec/kubernetes/agent/pods/pod_template.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "base/printable.h"
#include "exec/kubernetes/agent/pods/pod_names.h"

namespace ares::kubernetes {
namespace {

enum class Kind { text, flag, number, amount, texts, list_of_texts, object, list };

// A field that a template may have.
struct Field {
  std::string_view key;
  Kind kind;
  std::span<const Field> fields{};                    // of an object, or of each item of a list
  std::string (*wrong)(const Json& value) = nullptr;  // why this value is not allowed; empty: it is
  bool needs_own_space = false;
};

std::string is_not(const Json& value, std::string_view wanted) {
  return value == wanted ? "" : "has to be " + std::string(wanted);
}

std::string wrong_container_name(const Json& name) {
  return is_not(name, kMainContainer);
}
std::string wrong_path(const Json& path) {
  return wrong_mount_path(path.get_ref<const std::string&>());
}
std::string wrong_volume_name(const Json& name) {
  const auto& text = name.get_ref<const std::string&>();
  return text.starts_with("ares-") || text.starts_with("mount-") ? "is a name of Ares' own volumes"
                                                                 : "";
}
// Each pod has a Secret with the environment of its job.
std::string wrong_object_of_jobs(const Json& name) {
  return name.get_ref<const std::string&>().starts_with("ares-") ? "is a name of Ares' own objects"
                                                                 : "";
}
std::string wrong_medium(const Json& medium) {
  const auto& text = medium.get_ref<const std::string&>();
  return text.empty() || text == "Memory" ? "" : "has to be empty or Memory";
}
std::string wrong_dns_policy(const Json& policy) {
  return policy == "ClusterFirst" || policy == "Default" || policy == "None"
             ? ""
             : "has to be ClusterFirst, Default or None";
}
// Prefixed keys are read by controllers, runtimes and networks of the site.
std::string wrong_keys(const Json& map) {
  for (const auto& [key, value] : map.items())
    if (key.find('/') != std::string::npos) return "has the prefixed key " + quote(key);
  return "";
}
std::string wrong_containers(const Json& containers) {
  return containers.size() == 1 ? "" : "has to have one container, named main";
}
std::string wrong_version(const Json& version) {
  return is_not(version, "v1");
}
std::string wrong_kind(const Json& kind) {
  return is_not(kind, "Pod");
}

constexpr Field kVariable[] = {{"name", Kind::text}, {"value", Kind::text}};
constexpr Field kVolumeMount[] = {{"name", Kind::text, {}, wrong_volume_name},
                                  {"mountPath", Kind::text, {}, wrong_path},
                                  {"readOnly", Kind::flag},
                                  {"subPath", Kind::text}};
constexpr Field kPort[] = {
    {"name", Kind::text}, {"containerPort", Kind::number}, {"protocol", Kind::text}};
constexpr Field kContainerSecurity[] = {{"readOnlyRootFilesystem", Kind::flag}};
constexpr Field kContainer[] = {{"name", Kind::text, {}, wrong_container_name},
                                {"env", Kind::list, kVariable},
                                {"volumeMounts", Kind::list, kVolumeMount},
                                {"ports", Kind::list, kPort},
                                {"imagePullPolicy", Kind::text},
                                {"securityContext", Kind::object, kContainerSecurity}};
constexpr Field kEmptyDir[] = {{"medium", Kind::text, {}, wrong_medium},
                               {"sizeLimit", Kind::amount}};
constexpr Field kItem[] = {{"key", Kind::text}, {"path", Kind::text}, {"mode", Kind::number}};
constexpr Field kConfigMap[] = {{"name", Kind::text, {}, wrong_object_of_jobs},
                                {"items", Kind::list, kItem},
                                {"optional", Kind::flag},
                                {"defaultMode", Kind::number}};
constexpr Field kSecret[] = {{"secretName", Kind::text, {}, wrong_object_of_jobs},
                             {"items", Kind::list, kItem},
                             {"optional", Kind::flag},
                             {"defaultMode", Kind::number}};
constexpr Field kClaim[] = {{"claimName", Kind::text}, {"readOnly", Kind::flag}};
constexpr Field kVolume[] = {{"name", Kind::text, {}, wrong_volume_name},
                             {"emptyDir", Kind::object, kEmptyDir},
                             {"configMap", Kind::object, kConfigMap, nullptr, true},
                             {"secret", Kind::object, kSecret, nullptr, true},
                             {"persistentVolumeClaim", Kind::object, kClaim, nullptr, true}};
constexpr Field kPullSecret[] = {{"name", Kind::text, {}, wrong_object_of_jobs}};
constexpr Field kDnsOption[] = {{"name", Kind::text}, {"value", Kind::text}};
constexpr Field kDnsConfig[] = {{"nameservers", Kind::list_of_texts},
                                {"searches", Kind::list_of_texts},
                                {"options", Kind::list, kDnsOption}};
constexpr Field kHostAlias[] = {{"ip", Kind::text}, {"hostnames", Kind::list_of_texts}};
constexpr Field kSpec[] = {{"containers", Kind::list, kContainer, wrong_containers},
                           {"volumes", Kind::list, kVolume},
                           {"imagePullSecrets", Kind::list, kPullSecret, nullptr, true},
                           {"dnsConfig", Kind::object, kDnsConfig},
                           {"dnsPolicy", Kind::text, {}, wrong_dns_policy},
                           {"hostAliases", Kind::list, kHostAlias},
                           {"enableServiceLinks", Kind::flag}};
constexpr Field kMetadata[] = {{"labels", Kind::texts, {}, wrong_keys},
                               {"annotations", Kind::texts, {}, wrong_keys}};
constexpr Field kPod[] = {{"apiVersion", Kind::text, {}, wrong_version},
                          {"kind", Kind::text, {}, wrong_kind},
                          {"metadata", Kind::object, kMetadata},
                          {"spec", Kind::object, kSpec}};

bool has_kind(const Json& value, Kind kind) {
  const auto is_text = [](const Json& item) { return item.is_string(); };
  switch (kind) {
    case Kind::text: return value.is_string();
    case Kind::flag: return value.is_boolean();
    case Kind::number: return value.is_number_integer();
    case Kind::amount: return value.is_string() || value.is_number_integer();
    case Kind::texts: return value.is_object() && std::all_of(value.begin(), value.end(), is_text);
    case Kind::list_of_texts:
      return value.is_array() && std::all_of(value.begin(), value.end(), is_text);
    case Kind::object: return value.is_object();
    case Kind::list: return value.is_array();
  }
  return false;
}

class Reader {
 public:
  explicit Reader(bool has_own_space) : has_own_space_(has_own_space) {}

  Status read(const std::string& path, const Json& object, std::span<const Field> fields) const {
    if (!object.is_object()) return bad(path, "is not an object");
    for (const auto& [key, value] : object.items()) {
      const std::string its_path = path.empty() ? key : path + "." + key;
      const auto field = std::find_if(
          fields.begin(), fields.end(),
          [&, name = std::string_view(key)](const Field& one) { return one.key == name; });
      if (field == fields.end()) return bad(its_path, "is not allowed; see ares-kubernetes(7)");
      if (Status good = read_value(its_path, value, *field); !good) return good;
    }
    return {};
  }

 private:
  static Status bad(const std::string& path, const std::string& why) {
    return fail(
        ErrorCode::invalid_argument,
        "pod template: " + (path.empty() ? std::string("it") : printable(path)) + " " + why);
  }

  Status read_value(const std::string& path, const Json& value, const Field& field) const {
    if (!has_kind(value, field.kind)) return bad(path, "has a value of another kind");
    if (field.needs_own_space && !has_own_space_)
      return bad(path, "is allowed only with --namespace, in a namespace of your own");
    if (field.wrong)
      if (const std::string why = field.wrong(value); !why.empty()) return bad(path, why);
    if (field.kind == Kind::object) return read(path, value, field.fields);
    if (field.kind != Kind::list) return {};
    for (std::size_t i = 0; i < value.size(); ++i)
      if (Status good = read(path + "[" + std::to_string(i) + "]", value[i], field.fields); !good)
        return good;
    return {};
  }

  bool has_own_space_;
};

// Entries of a map that are not there yet.
void add_entries(const Json& from, Json& to) {
  for (const auto& [key, value] : from.items())
    if (!to.contains(key)) to[key] = value;
}

void append(const Json& from, const char* key, Json& to) {
  if (const auto list = from.find(key); list != from.end())
    for (const Json& item : *list) to[key].push_back(item);
}

void copy(const Json& from, const char* key, Json& to) {
  if (const auto value = from.find(key); value != from.end()) to[key] = *value;
}

void add_container(const Json& from, Json& main) {
  for (const char* key : {"env", "volumeMounts", "ports"}) append(from, key, main);
  copy(from, "imagePullPolicy", main);
  if (const auto security = from.find("securityContext"); security != from.end())
    copy(*security, "readOnlyRootFilesystem", main["securityContext"]);
}

bool is_within(std::string_view path, std::string_view folder) {
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

}  // namespace

Result<Json> read_pod_template(std::string_view text, bool has_own_space) {
  Json read = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (read.is_discarded())
    return fail(ErrorCode::invalid_argument, "pod template: it is not valid JSON");
  if (Status good = Reader(has_own_space).read("", read, kPod); !good) return fail(good.error());
  return read;
}

void add_template(const Json& read, Json& pod) {
  if (const auto metadata = read.find("metadata"); metadata != read.end())
    for (const char* key : {"labels", "annotations"})
      if (const auto map = metadata->find(key); map != metadata->end())
        add_entries(*map, pod["metadata"][key]);
  const auto spec = read.find("spec");
  if (spec == read.end()) return;
  Json& to = pod["spec"];
  for (const char* key : {"volumes", "imagePullSecrets", "hostAliases"}) append(*spec, key, to);
  for (const char* key : {"dnsConfig", "dnsPolicy", "enableServiceLinks"}) copy(*spec, key, to);
  if (const auto containers = spec->find("containers"); containers != spec->end())
    add_container(containers->at(0), to["containers"][0]);
}

std::string wrong_mount_path(std::string_view path) {
  if (!path.starts_with('/')) return "is not an absolute path";
  if (path == "/") return "is the root of the container";
  const std::string closed = std::string(path) + "/";
  if (closed.find("//") != std::string::npos || closed.find("/./") != std::string::npos ||
      closed.find("/../") != std::string::npos || path.find(':') != std::string_view::npos)
    return "is not in its normal form";
  if (is_within(path, "/dev/shm")) return "";
  for (const std::string_view folder : {"/ares", "/proc", "/sys", "/dev"})
    if (is_within(path, folder)) return "lies in " + std::string(folder);
  return "";
}

}  // namespace ares::kubernetes
