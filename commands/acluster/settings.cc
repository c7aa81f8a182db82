#include "acluster/settings.h"

#include <charconv>
#include <functional>
#include <vector>

#include "base/printable.h"
#include "base/units.h"

namespace ares::acluster {
namespace {

struct Row {
  std::string_view key;
  std::function<std::string(const Settings&)> print;
  std::function<bool(Settings&, std::string_view)> parse;
};

template <class T>
bool parse_number(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

Row number_row(std::string_view key, std::uint32_t Settings::*member) {
  return {key, [member](const Settings& s) { return std::to_string(s.*member); },
          [member](Settings& s, std::string_view text) { return parse_number(text, s.*member); }};
}

Row text_row(std::string_view key, std::string Settings::*member) {
  return {key, [member](const Settings& s) { return s.*member; },
          [member](Settings& s, std::string_view text) { return s.*member = text, true; }};
}

Row flag_row(std::string_view key, bool Settings::*member) {
  return {key, [member](const Settings& s) { return std::string(s.*member ? "yes" : "no"); },
          [member](Settings& s, std::string_view text) { return s.*member = text == "yes", true; }};
}

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {number_row("nodes", &Settings::nodes),
                                         number_row("cpus", &Settings::cpus),
                                         text_row("memory", &Settings::memory),
                                         text_row("gpus", &Settings::gpus),
                                         text_row("topology", &Settings::topology),
                                         text_row("exec", &Settings::exec),
                                         flag_row("isolate", &Settings::isolate),
                                         flag_row("base", &Settings::has_base),
                                         text_row("kubeconfig", &Settings::kubeconfig),
                                         text_row("gate_image", &Settings::gate_image),
                                         text_row("image", &Settings::image),
                                         text_row("mount", &Settings::mount),
                                         text_row("name", &Settings::name)};
  return kRows;
}

}  // namespace

std::string to_text(const Settings& settings) {
  std::string text;
  for (const Row& row : rows()) text += std::string(row.key) + " " + row.print(settings) + "\n";
  return text;
}

Result<Settings> parse_settings(std::string_view text) {
  Settings settings;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    for (const Row& row : rows())
      if (row.key == line.substr(0, space) && !row.parse(settings, line.substr(space + 1)))
        return fail(ErrorCode::data_loss, "bad line " + quote(line));
  }
  return settings;
}

Status check(const Settings& settings) {
  const auto wrong = [](std::string text) {
    return fail(ErrorCode::invalid_argument, std::move(text));
  };
  const bool has_kubernetes = !settings.kubeconfig.empty();
  if ((settings.nodes < 1 && !has_kubernetes) || settings.nodes > 10'000)
    return wrong("--nodes is a number from 1 to 10000, or 0 with --kubernetes");
  if (!has_kubernetes && !(settings.gate_image + settings.image + settings.mount).empty())
    return wrong("--gate-image, --image and --mount need --kubernetes=KUBECONFIG");
  if (has_kubernetes && settings.isolate)
    return wrong("--isolate and --kubernetes exclude each other");
  if (has_kubernetes && settings.gate_image.empty() && !settings.has_base)
    return wrong(
        "--kubernetes needs --gate-image=IMAGE, an image with the program /ares-gate: see "
        "ares-kubernetes(7)");
  if (!settings.mount.empty() && !settings.mount.starts_with('/'))
    return wrong("--mount is an absolute path, not " + quote(settings.mount));
  if (settings.cpus < 1 || settings.cpus > 4096) return wrong("--cpus is a number from 1 to 4096");
  if (const auto memory = parse_memory(settings.memory); !memory)
    return wrong("--memory: " + memory.error().message);
  else if (memory->value() == 0)
    return wrong("--memory must be more than 0");
  if (settings.exec != "baremetal" && settings.exec != "mock" && !settings.exec.starts_with('/'))
    return wrong("--exec is baremetal, mock or the absolute path of a plugin, not " +
                 quote(settings.exec));
  if (settings.exec != "mock" && settings.nodes > 256)
    return wrong(
        "more than 256 nodes with a daemon each are too many for one machine; use --exec=mock");
  if (settings.isolate && settings.exec == "mock")
    return wrong("--isolate needs real nodes: it cannot be used with --exec=mock");
  return {};
}

}  // namespace ares::acluster
