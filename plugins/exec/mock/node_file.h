// NodeFile: a file that names simulated nodes, read again whenever it is written or replaced. Owned by the mock backend;
// one thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exec/adapter/found_node.h"
#include "os/fd.h"

namespace ares::exec {

// A line for each node: name, identity, incarnation, CPUs, memory in MiB, features and GPU types (each a list with commas, `-`
// for none), and after them why no job should start there, if so; `gone: ` before that says that its machine is gone. Lines that begin with `#`, and empty ones, do not count.
// Returns invalid_argument with the number of the first line that is wrong.
Result<std::vector<FoundNode>> parse_nodes(std::string_view text);

class NodeFile {
 public:
  // Watches the folder of the file, which need not exist yet.
  static Result<std::unique_ptr<NodeFile>> open(std::string path);

  int event_fd() const { return watch_.get(); }  // readable when look() may have something new

  // If the file may have changed, or was never read, reads it and tells what has changed. A file that is wrong changes nothing.
  Status look(NodeEvents& events);
  bool was_read() const { return read_; }
  // Whether the machine of the node is gone: it tells nothing of its attempts.
  bool is_gone(const std::string& node) const {
    const auto it = known_.find(node);
    return it != known_.end() && it->second.is_gone;
  }

 private:
  NodeFile(std::string path, os::Fd watch) : path_(std::move(path)), watch_(std::move(watch)) {}

  std::string path_;
  os::Fd watch_;
  bool read_ = false;
  std::map<std::string, FoundNode> known_;
};

}  // namespace ares::exec
