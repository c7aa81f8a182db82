#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/printable.h"
#include "core/topology/matrix/matrix.h"
#include "gres/found/json.h"

namespace ares::gres {
namespace {

using Json = nlohmann::json;
using core::topology::Link;

constexpr std::uint32_t kMostCpu = 8191;  // no kernel has more
constexpr std::uint64_t kMostId = std::numeric_limits<std::uint32_t>::max();

// Reads the members of one object. Keeps the first error, with its place in the document.
class Members {
 public:
  Members(const Json& object, std::string place, std::optional<Error>& error)
      : object_(object), place_(std::move(place)), error_(error) {
    if (!object.is_object()) wrong("", "expected an object");
  }
  ~Members() { refuse_others(); }
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  bool has(const char* key) const { return object_.is_object() && object_.contains(key); }

  std::string text(const char* key) {
    const Json* value = member(key);
    return value ? text_of(*value, key) : std::string();
  }
  std::vector<std::string> texts(const char* key) {
    std::vector<std::string> out;
    for (const Json& item : list(key)) out.push_back(text_of(item, key));
    return out;
  }
  std::vector<std::uint32_t> ids(const char* key) {
    std::vector<std::uint32_t> out;
    for (const Json& item : list(key)) {
      if (!item.is_number_unsigned() || item.get<std::uint64_t>() > kMostId)
        wrong(key, "expected ids of processes");
      else
        out.push_back(item.get<std::uint32_t>());
    }
    return out;
  }
  IntervalSet numbers(const char* key) {
    const std::string text = this->text(key);
    if (text.empty()) return {};
    auto set = parse_interval_set(text, kMostCpu);
    if (!set) wrong(key, set.error().message);
    return set.value_or(IntervalSet{});
  }
  template <class T>
  std::optional<T> number(const char* key) {
    const Json* value = member(key);
    if (!value) return std::nullopt;
    if (value->is_number_unsigned())
      if (const auto n = value->get<std::uint64_t>();
          n <= static_cast<std::uint64_t>(std::numeric_limits<T>::max()))
        return static_cast<T>(n);
    wrong(key,
          "expected a whole number of at most " + std::to_string(std::numeric_limits<T>::max()));
    return std::nullopt;
  }
  template <class T>
  T needed(const char* key) {
    if (!has(key)) wrong(key, "is missing");
    return number<T>(key).value_or(T{});
  }
  // Empty if there is no such member.
  const Json& list(const char* key) {
    static const Json kNone = Json::array();
    const Json* value = member(key);
    if (!value) return kNone;
    if (!value->is_array()) {
      wrong(key, "expected a list");
      return kNone;
    }
    if (value->size() > kMostFound) {
      wrong(key, "more than " + std::to_string(kMostFound) + " items");
      return kNone;
    }
    return *value;
  }
  std::string place(const char* key, std::size_t item) const {
    return at(key) + "[" + std::to_string(item) + "]";
  }
  void wrong(const std::string& key, const std::string& why) {
    if (!error_) error_ = Error{ErrorCode::invalid_argument, at(key) + ": " + why};
  }

 private:
  std::string at(const std::string& key) const {
    if (key.empty()) return place_.empty() ? "the document" : place_;
    return place_.empty() ? key : place_ + "." + key;
  }
  const Json* member(const char* key) {
    known_.insert(key);
    return has(key) ? &object_[key] : nullptr;
  }
  std::string text_of(const Json& value, const char* key) {
    if (!value.is_string()) {
      wrong(key, "expected a text");
      return {};
    }
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() > kLongestFoundText)
      wrong(key, "longer than " + std::to_string(kLongestFoundText) + " bytes");
    else if (has_control(text))
      wrong(key, "contains control characters");
    return text;
  }
  void refuse_others() {
    if (!object_.is_object()) return;
    for (const auto& [key, value] : object_.items())
      if (!known_.contains(key)) return wrong("", "unknown key " + quote(key));
  }

  const Json& object_;
  std::string place_;
  std::optional<Error>& error_;
  std::set<std::string> known_{};
};

void check_word(const char* key, const std::string& word, Members& in) {
  if (!word.empty() && !is_type_word(word))
    in.wrong(key, quote(word) + " is not one word of letters, digits, '.', '_', '+' and '-'");
}

Use use_of(Members& in) {
  Use use;
  use.memory = Bytes(in.number<std::int64_t>("memory_used_bytes").value_or(0));
  use.processes = in.ids("processes");
  return use;
}

FoundInstance instance_of(const Json& value, std::string place, std::optional<Error>& error) {
  Members in(value, std::move(place), error);
  FoundInstance out;
  out.uuid = in.text("uuid");
  out.profile = in.text("profile");
  if (out.uuid.empty()) in.wrong("uuid", "is missing");
  if (out.profile.empty()) in.wrong("profile", "is missing");
  check_word("profile", out.profile, in);
  out.memory = Bytes(in.number<std::int64_t>("memory_bytes").value_or(0));
  out.gpu_instance = in.needed<std::uint32_t>("gpu_instance");
  out.compute_instance = in.needed<std::uint32_t>("compute_instance");
  out.devices = in.texts("devices");
  out.use = use_of(in);
  return out;
}

FoundGpu gpu_of(const Json& value, std::string place, std::optional<Error>& error) {
  Members in(value, std::move(place), error);
  FoundGpu out;
  out.index = in.needed<std::uint16_t>("index");
  out.name = in.text("name");
  out.type = in.text("type");
  check_word("type", out.type, in);
  if (out.type.empty()) out.type = type_word(out.name);
  out.uuid = in.text("uuid");
  out.memory = Bytes(in.number<std::int64_t>("memory_bytes").value_or(0));
  if (const std::string text = in.text("bus_id"); !text.empty()) {
    const auto address = pci_address(text);
    if (!address) in.wrong("bus_id", quote(text) + " is not an address such as 0000:07:00.0");
    out.bus_id = address.value_or("");
  }
  out.minor = in.number<std::uint32_t>("minor");
  out.devices = in.texts("devices");
  out.cpus = in.numbers("cpus");
  out.numa = in.numbers("numa");
  out.own_numa = in.numbers("own_numa");
  out.problem = in.text("problem");
  out.notes = in.texts("notes");
  out.use = use_of(in);
  out.partitioned = in.has("instances");
  std::size_t item = 0;
  for (const Json& instance : in.list("instances"))
    out.instances.push_back(instance_of(instance, in.place("instances", item++), error));
  return out;
}

std::optional<Link> link_of(const Json& value, bool self, Members& in) {
  if (!value.is_string()) {
    in.wrong("links", "expected texts such as \"NV4\", \"PIX\", \"X\" or \"?\"");
    return std::nullopt;
  }
  const auto& text = value.get_ref<const std::string&>();
  if (text == "?") return std::nullopt;
  std::string_view rest = text;
  const auto cell = core::topology::take_cell(rest);
  if (!cell || !rest.empty())
    in.wrong("links", quote(text) +
                          " is not a link; there are NV1, NV2 and so on, PIX, PXB, PHB, "
                          "NODE and SYS, X for the device itself, ? for unknown");
  else if (self != !cell->link)
    in.wrong("links", "X belongs in the diagonal, and nothing else");
  return cell ? cell->link : std::nullopt;
}

void read_links(FoundMachine& out, Members& in) {
  const Json& rows = in.list("links");
  if (rows.empty()) return;
  const std::size_t size = out.devices();
  const bool square = rows.size() == size && std::all_of(rows.begin(), rows.end(), [&](auto& row) {
                        return row.is_array() && row.size() == size;
                      });
  if (!square)
    return in.wrong("links", "expected " + std::to_string(size) + " rows of " +
                                 std::to_string(size) + " links: GPUs, then NICs");
  for (std::size_t a = 0; a < size; ++a)
    for (std::size_t b = 0; b < size; ++b) out.links.push_back(link_of(rows[a][b], a == b, in));
  for (std::size_t a = 0; a < size; ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (out.link(a, b) != out.link(b, a))
        return in.wrong("links", "rows " + std::to_string(b) + " and " + std::to_string(a) +
                                     " contradict each other");
}

// GPUs are sorted by the reader of the matrix; a JSON document is expected to be in order.
void check_order(const FoundMachine& machine, Members& in) {
  for (std::size_t i = 1; i < machine.gpus.size(); ++i)
    if (machine.gpus[i].index <= machine.gpus[i - 1].index)
      in.wrong("gpus", "index " + std::to_string(machine.gpus[i].index) +
                           " does not follow that of the GPU before it; list them ascending");
}

// Bounds the work of the parser, which itself uses memory only for what it keeps.
bool is_deep(std::string_view text) {
  std::size_t depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (depth > 64) return true;
  }
  return false;
}

}  // namespace

Result<FoundMachine> from_json(std::string_view text) {
  if (text.size() > kLongestFound)
    return fail(ErrorCode::invalid_argument, std::to_string(text.size()) + " bytes, but at most " +
                                                 std::to_string(kLongestFound) + " are read");
  if (is_deep(text)) return fail(ErrorCode::invalid_argument, "nested too deeply");
  const Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded())
    return fail(ErrorCode::invalid_argument, "not a JSON document; see ares-gpu-discovery(7)");
  std::optional<Error> error;
  FoundMachine out;
  {
    Members in(document, "", error);
    if (const auto format = in.needed<std::uint32_t>("format"); !error && format != 1)
      in.wrong("format", "this version of Ares reads format 1");
    out.source = in.text("source");
    out.driver = in.text("driver");
    std::size_t item = 0;
    for (const Json& gpu : in.list("gpus"))
      out.gpus.push_back(gpu_of(gpu, in.place("gpus", item++), error));
    check_order(out, in);
    out.nics = in.texts("nics");
    if (!error) read_links(out, in);
    out.notes = in.texts("notes");
  }
  if (error) return fail(*error);
  return out;
}

Result<FoundMachine> from_text(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') return from_json(text);
  auto matrix = core::topology::parse_matrix(text);
  if (!matrix) return fail(matrix.error());
  FoundMachine out;
  out.source = "file";
  std::vector<std::size_t> order(matrix->gpus.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return matrix->gpus[a].number < matrix->gpus[b].number;
  });
  for (const std::size_t position : order) {
    core::topology::MatrixGpu& gpu = matrix->gpus[position];
    FoundGpu found;
    found.index = static_cast<std::uint16_t>(gpu.number);
    found.type = "gpu";
    found.cpus = std::move(gpu.cpus);
    found.numa = std::move(gpu.numa);
    found.own_numa = std::move(gpu.own_numa);
    out.gpus.push_back(std::move(found));
  }
  for (std::size_t i = 0; i < matrix->nics.size(); ++i) {
    out.nics.push_back(matrix->nics[i].name);
    order.push_back(matrix->gpus.size() + i);
  }
  for (const std::size_t a : order)
    for (const std::size_t b : order) out.links.push_back(matrix->link(a, b));
  out.notes = std::move(matrix->notes);
  return out;
}

}  // namespace ares::gres
