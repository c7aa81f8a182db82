#include "exec/mock/node_file.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "os/file.h"

namespace ares::exec {
namespace {

constexpr std::string_view kGone = "gone: ";

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

template <class T>
bool read_number(std::string_view word, T& out) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  return error == std::errc() && end == word.data() + word.size();
}

std::vector<std::string> list_of(std::string_view word) {
  std::vector<std::string> list;
  if (word == "-") return list;
  while (!word.empty()) {
    const std::string_view one = word.substr(0, word.find(','));
    if (!one.empty()) list.emplace_back(one);
    word.remove_prefix(std::min(one.size() + 1, word.size()));
  }
  return list;
}

bool parse_node(std::string_view line, FoundNode& node) {
  node.name = next_word(line);
  node.identity = next_word(line);
  std::int64_t mebibytes = 0;
  if (!read_number(next_word(line), node.incarnation) || node.incarnation == 0 ||
      !read_number(next_word(line), node.inventory.cpus) || node.inventory.cpus == 0 ||
      !read_number(next_word(line), mebibytes) || mebibytes <= 0 || mebibytes > 1'000'000'000)
    return false;
  node.inventory.memory = Bytes::mib(mebibytes);
  node.inventory.features = list_of(next_word(line));
  for (std::string& type : list_of(next_word(line)))
    node.inventory.gpus.push_back(
        {GpuIndex(static_cast<std::uint32_t>(node.inventory.gpus.size())), std::move(type), {}});
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  node.is_gone = line.starts_with(kGone);
  node.problem = line.substr(node.is_gone ? kGone.size() : 0);
  return true;
}

bool same(const FoundNode& a, const FoundNode& b) {
  return a.identity == b.identity && a.incarnation == b.incarnation && a.inventory == b.inventory &&
         a.problem == b.problem && a.is_gone == b.is_gone;
}

}  // namespace

Result<std::vector<FoundNode>> parse_nodes(std::string_view text) {
  std::vector<FoundNode> nodes;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    FoundNode node;
    if (!parse_node(line, node))
      return fail(ErrorCode::invalid_argument,
                  "line " + std::to_string(number) +
                      ": expected a name, an identity, an incarnation, CPUs, MiB of memory, "
                      "features and GPUs");
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Result<std::unique_ptr<NodeFile>> NodeFile::open(std::string path) {
  os::Fd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (!watch || ::inotify_add_watch(watch.get(), folder.c_str(),
                                    IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE) < 0)
    return fail(os::errno_error("cannot watch " + folder));
  return std::unique_ptr<NodeFile>(new NodeFile(std::move(path), std::move(watch)));
}

Status NodeFile::look(NodeEvents& events) {
  bool changed = !std::exchange(read_, true);
  char events_read[4096];
  while (::read(watch_.get(), events_read, sizeof events_read) > 0) changed = true;
  if (!changed) return {};
  Result<std::string> text = os::read_file(path_);
  if (!text && text.error().code != ErrorCode::not_found) return fail(text.error());
  auto nodes = parse_nodes(text ? *text : "");
  if (!nodes) return fail(nodes.error().code, path_ + ": " + nodes.error().message);
  std::map<std::string, FoundNode> current;
  for (FoundNode& node : *nodes) {
    const auto before = known_.find(node.name);
    if (before == known_.end() || !same(before->second, node)) events.node_changed(node);
    current.insert_or_assign(node.name, std::move(node));
  }
  for (const auto& [name, node] : known_)
    if (!current.contains(name)) events.node_removed(name, "it is no longer in " + path_);
  known_ = std::move(current);
  return {};
}

}  // namespace ares::exec
