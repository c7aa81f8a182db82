#include "core/topology/matrix/header.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/topology/gpu_set.h"
#include "core/topology/link.h"

namespace ares::core::topology {
namespace {

constexpr std::size_t kMaxDevices = 192;
constexpr std::size_t kMaxName = 64;  // of a device

struct AffinityName {
  std::vector<std::string_view> words;
  Affinity kind;
};

const std::array<AffinityName, 3>& affinity_names() {
  static const std::array<AffinityName, 3> names = {{{{"CPU", "Affinity"}, Affinity::cpu},
                                                     {{"NUMA", "Affinity"}, Affinity::numa},
                                                     {{"GPU", "NUMA", "ID"}, Affinity::own_numa}}};
  return names;
}

// A word that is a link cell or does not begin with a letter is not a column name.
bool is_name(std::string_view word) {
  const bool letter = (word[0] >= 'A' && word[0] <= 'Z') || (word[0] >= 'a' && word[0] <= 'z');
  return letter && (!take_cell(word) || !word.empty());
}

// Names stand in messages and in the form that is stored, where a GPU has its number alone.
bool is_device_name(std::string_view name, std::optional<unsigned> gpu) {
  if (gpu) return name == "GPU" + std::to_string(*gpu);
  return name.size() <= kMaxName && is_utf8(name) && !has_control(name);
}

bool begins_affinity(std::string_view word) {
  const auto& names = affinity_names();
  return std::any_of(names.begin(), names.end(),
                     [&](const AffinityName& name) { return name.words[0] == word; });
}

Status add_devices(const Line& line, const std::vector<Word>& words, Header& header) {
  for (const Word& word : words) {
    if (begins_affinity(word.text)) break;
    const TextPosition place{line.number, word.column};
    if (!header.by_name.emplace(word.text, header.devices.size()).second)
      return fail_at(place, quote(word.text) + " is the name of two columns");
    if (header.devices.size() == kMaxDevices)
      return fail_at(place, "more than " + std::to_string(kMaxDevices) + " devices");
    const std::optional<unsigned> gpu = gpu_number(word.text);
    if (gpu && *gpu >= kMaxGpus)
      return fail_at(place, quote(word.text) + " is beyond what one machine may have: GPU0 to GPU" +
                                std::to_string(kMaxGpus - 1));
    if (!is_device_name(word.text, gpu))
      return fail_at(place,
                     quote(word.text) + " is not the name of a device, such as GPU0 or NIC0");
    header.devices.push_back({std::string(word.text), gpu, place});
  }
  return {};
}

Status add_affinities(const Line& line, const std::vector<Word>& words, Header& header) {
  for (std::size_t at = header.devices.size(); at < words.size();) {
    const auto& names = affinity_names();
    const auto matches = [&](const AffinityName& name) {
      if (name.words.size() > words.size() - at) return false;
      for (std::size_t i = 0; i < name.words.size(); ++i)
        if (words[at + i].text != name.words[i]) return false;
      return true;
    };
    const auto name = std::find_if(names.begin(), names.end(), matches);
    if (name == names.end())
      return fail_at({line.number, words[at].column},
                     quote(words[at].text) +
                         " is no column that is known; behind the devices there are CPU Affinity, "
                         "NUMA Affinity and GPU NUMA ID");
    header.affinities.push_back({name->kind, words[at].column});
    at += name->words.size();
  }
  return {};
}

}  // namespace

std::optional<std::size_t> Header::find(std::string_view name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? std::nullopt : std::optional(found->second);
}

std::optional<unsigned> gpu_number(std::string_view word) {
  if (!word.starts_with("GPU") || word.size() == 3) return std::nullopt;
  unsigned number = 0;
  const auto [end, error] = std::from_chars(word.data() + 3, word.data() + word.size(), number);
  if (end != word.data() + word.size()) return std::nullopt;
  return error == std::errc{} ? number : kMaxGpus;  // overflow counts as too large
}

bool is_header(const std::vector<Word>& words) {
  return !words.empty() && gpu_number(words[0].text) &&
         std::all_of(words.begin(), words.end(), [](const Word& w) { return is_name(w.text); });
}

Result<Header> parse_header(const Line& line) {
  const std::vector<Word> words = words_of(line.text);
  Header header;
  if (Status done = add_devices(line, words, header); !done) return fail(done.error());
  if (Status done = add_affinities(line, words, header); !done) return fail(done.error());
  return header;
}

}  // namespace ares::core::topology
