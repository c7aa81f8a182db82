#include "checkpoint/manifest.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "node/checkpoint_fields.h"

namespace ares::checkpoint {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;

tl::unexpected<Error> wrong(const std::string& what) {
  return fail(ErrorCode::invalid_argument, std::string(kManifestName) + ": " + what);
}

// Whether the path stays within the directory and names a file.
bool is_inside(std::string_view path) {
  if (path.empty() || path.front() == '/' || path == kManifestName ||
      path.find('\0') != std::string_view::npos)
    return false;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
  return false;  // ends with '/'
}

template <class T>
std::optional<T> number(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  const auto value = found->get<std::uint64_t>();
  if (value > std::uint64_t{std::numeric_limits<T>::max()}) return std::nullopt;
  return static_cast<T>(value);
}

std::optional<std::string> text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<ManifestFile> file_from(const Json& object) {
  if (!object.is_object()) return std::nullopt;
  const auto path = text(object, "path");
  const auto size = number<std::int64_t>(object, "size");
  const auto hex = text(object, "sha256");
  const auto digest = hex ? node::digest_of(*hex) : std::nullopt;
  if (!path || !size || !digest || !is_inside(*path)) return std::nullopt;
  return ManifestFile{*path, {*digest, Bytes(*size)}};
}

template <class T>
bool parse_whole(std::string_view digits, T& value) {
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && end == digits.data() + digits.size() && !digits.empty();
}

}  // namespace

Bytes Manifest::size() const {
  std::int64_t sum = 0;
  for (const ManifestFile& file : files) sum += file.content.size.value();
  return Bytes(sum);
}

std::string to_json(const Manifest& manifest) {
  Json files = Json::array();
  for (const ManifestFile& file : manifest.files)
    files.push_back({{"path", file.path},
                     {"size", file.content.size.value()},
                     {"sha256", node::hex_of(file.content.digest)}});
  const Json all = {{"format", kFormat},
                    {"job", manifest.job},
                    {"attempt", manifest.attempt},
                    {"sequence", manifest.sequence},
                    {"created_us", manifest.created.time_since_epoch().count()},
                    {"files", std::move(files)},
                    {"fields", manifest.fields}};
  // A name that is not UTF-8 is refused before: see publish().
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Manifest> from_json(std::string_view given) {
  if (given.size() > kLongestManifest) return wrong("it is too long");
  const Json all = Json::parse(given, nullptr, false);
  if (!all.is_object()) return wrong("it is not a JSON object");
  if (number<int>(all, "format") != kFormat) return wrong("its format is not known");
  Manifest manifest;
  const auto job = text(all, "job");
  const auto attempt = number<std::uint32_t>(all, "attempt");
  const auto sequence = number<std::uint64_t>(all, "sequence");
  const auto created = number<std::int64_t>(all, "created_us");
  if (!job || !attempt || !sequence || !created)
    return wrong("job, attempt, sequence or created_us is missing");
  manifest.job = *job;
  manifest.attempt = *attempt;
  manifest.sequence = *sequence;
  manifest.created = Time(Duration(*created));
  const auto files = all.find("files");
  if (files == all.end() || !files->is_array()) return wrong("files is missing");
  std::int64_t sum = 0;
  for (const Json& one : *files) {
    auto file = file_from(one);
    if (!file) return wrong("an entry of files is wrong");
    if (__builtin_add_overflow(sum, file->content.size.value(), &sum))
      return wrong("its files are larger than any disk");
    manifest.files.push_back(std::move(*file));
  }
  const auto fields = all.find("fields");
  if (fields == all.end() || !fields->is_object()) return wrong("fields is missing");
  for (const auto& [name, value] : fields->items()) {
    if (!value.is_string()) return wrong("field " + quote(name) + " is not a text");
    manifest.fields.emplace(name, value.get<std::string>());
  }
  return manifest;
}

std::string directory_name(std::uint64_t sequence, std::uint32_t attempt) {
  char name[48];
  std::snprintf(name, sizeof name, "%06llu.%u", static_cast<unsigned long long>(sequence), attempt);
  return name;
}

std::optional<DirectoryName> parse_directory_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  DirectoryName parsed;
  if (dot == std::string_view::npos || !parse_whole(name.substr(0, dot), parsed.sequence) ||
      !parse_whole(name.substr(dot + 1), parsed.attempt) ||
      directory_name(parsed.sequence, parsed.attempt) != name)
    return std::nullopt;
  return parsed;
}

}  // namespace ares::checkpoint
