#include "pmi/pmi1_server.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/printable.h"

namespace ares::pmi {
namespace {

constexpr std::string_view kMapping = "PMI_process_mapping";
// The library announces larger buffers than names here need; MPICH expects at least this.
constexpr std::string_view kAnnouncedSpaceName = "256";
// What a key costs beside its bytes.
constexpr std::size_t kEntryBytes = 128;
constexpr std::size_t kFenceLineBytes = 32;

bool is_space_name(std::string_view text) {
  return !text.empty() && text.size() <= kMostSpaceName && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' ||
           c == '_' || c == '-';
  });
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string name_of(std::uint32_t rank) {
  return "rank " + std::to_string(rank);
}

}  // namespace

struct Pmi1Server::Call {
  std::uint32_t rank;
  Client& from;
  const Pmi1Line& line;
  Outcome& out;

  void answer(std::string_view command, std::string_view rest) {
    out.replies.push_back({rank, "cmd=" + std::string(command) + " " + std::string(rest) + "\n"});
  }
};

struct Pmi1Server::Row {
  std::string_view command;
  Handler handler;
};

const Pmi1Server::Row Pmi1Server::kRows[] = {
    {"init", &Pmi1Server::init},
    {"get_maxes", &Pmi1Server::get_maxes},
    {"get_appnum", &Pmi1Server::get_appnum},
    {"get_my_kvsname", &Pmi1Server::get_space},
    {"get_universe_size", &Pmi1Server::get_universe_size},
    {"put", &Pmi1Server::put},
    {"get", &Pmi1Server::get},
    {"barrier_in", &Pmi1Server::barrier},
    {"finalize", &Pmi1Server::finalize},
    {"abort", &Pmi1Server::abort},
    {"publish_name", &Pmi1Server::refuse_names},
    {"unpublish_name", &Pmi1Server::refuse_names},
    {"lookup_name", &Pmi1Server::refuse_names},
};

Result<Pmi1Server> Pmi1Server::create(TaskMap map, std::string space) {
  if (Status right = check(map); !right) return fail(right.error());
  if (!is_space_name(space))
    return fail(ErrorCode::invalid_argument, quote(space) + " is not a name of at most " +
                                                 std::to_string(kMostSpaceName) +
                                                 " letters, digits, '.', '_' and '-'");
  return Pmi1Server(std::move(map), std::move(space));
}

Pmi1Server::Pmi1Server(TaskMap map, std::string space)
    : map_(std::move(map)), space_(std::move(space)), clients_(map_.local_ranks().size()) {
  // Without the key MPICH compares the names of hosts instead, which takes longer.
  if (std::string mapping = process_mapping(map_); is_value(mapping))
    kept_.emplace(kMapping, std::move(mapping));
}

Pmi1Server::Client* Pmi1Server::client(std::uint32_t rank) {
  const auto& local = map_.local_ranks();
  const auto found = std::ranges::lower_bound(local, rank);
  if (found == local.end() || *found != rank) return nullptr;
  return &clients_[static_cast<std::size_t>(found - local.begin())];
}

Abort Pmi1Server::end(std::uint32_t rank, int exit_code, std::string message) {
  ended_ = true;
  return {rank, exit_code, std::move(message)};
}

Outcome Pmi1Server::on_bytes(std::uint32_t rank, std::string_view bytes) {
  Outcome out;
  Client* from = client(rank);
  if (ended_) return out;
  if (!from) {
    out.abort = end(rank, 1, name_of(rank) + " does not run on this node");
    return out;
  }
  while (!bytes.empty() && !ended_) {
    const std::size_t end_of_line = std::min(bytes.find('\n'), bytes.size());
    if (from->partial.size() + end_of_line > kMostLine) {
      out.abort = end(rank, 1,
                      name_of(rank) + " sent a line of more than " + std::to_string(kMostLine) +
                          " bytes to its PMI server");
      return out;
    }
    from->partial.append(bytes.substr(0, end_of_line));
    if (end_of_line == bytes.size()) return out;
    bytes.remove_prefix(end_of_line + 1);
    const std::string line = std::exchange(from->partial, {});
    if (from->in_spawn)
      on_spawn_line(rank, *from, line, out);
    else
      on_line(rank, *from, line, out);
  }
  return out;
}

Outcome Pmi1Server::on_closed(std::uint32_t rank) {
  Outcome out;
  Client* from = client(rank);
  if (ended_ || !from) return out;
  from->partial.clear();
  if (from->active) out.abort = end(rank, 1, name_of(rank) + " ended without MPI_Finalize");
  return out;
}

void Pmi1Server::on_line(std::uint32_t rank, Client& from, std::string_view text, Outcome& out) {
  const auto line = Pmi1Line::read(text);
  if (!line) {
    out.abort = end(rank, 1, name_of(rank) + " broke the PMI protocol: " + line.error().message);
    return;
  }
  if (line->kind() == "mcmd" && line->command() == "spawn") {
    from.in_spawn = true;
    from.spawns_left = 0;
    return;
  }
  const auto row = std::ranges::find(kRows, line->command(), &Row::command);
  if (line->kind() != "cmd" || row == std::end(kRows)) {
    out.abort = end(rank, 1,
                    name_of(rank) + " sent the PMI command " + quote(text) +
                        ", which Ares does not know; it speaks PMI version 1.1");
    return;
  }
  Call call{rank, from, *line, out};
  (this->*row->handler)(call);
}

// The only command of several lines. Nothing is started. A call for several programs is one command for
// each, and the client reads one answer, after the last.
void Pmi1Server::on_spawn_line(std::uint32_t rank, Client& from, std::string_view line,
                               Outcome& out) {
  const auto field = [&](std::string_view name) {
    return line.starts_with(name) ? number<std::uint32_t>(line.substr(name.size())) : std::nullopt;
  };
  if (const auto total = field("totspawns=")) from.spawns_left = *total;
  if (const auto so_far = field("spawnssofar="))
    from.spawns_left -= std::min(from.spawns_left, *so_far);
  if (line != "endcmd") return;
  from.in_spawn = false;
  if (from.spawns_left == 0)
    out.replies.push_back({rank, "cmd=spawn_result rc=-1 msg=spawn_is_not_supported_by_ares\n"});
}

void Pmi1Server::init(Call& call) {
  // A client of version 1.x is served; what is new in a later one it does not use without asking.
  const bool right = call.line.field("pmi_version") == "1";
  call.from.active = right;
  call.answer("response_to_init", right ? "pmi_version=1 pmi_subversion=1 rc=0"
                                        : "pmi_version=1 pmi_subversion=1 rc=-1");
}

void Pmi1Server::get_maxes(Call& call) {
  call.answer("maxes", "kvsname_max=" + std::string(kAnnouncedSpaceName) +
                           " keylen_max=" + std::to_string(kMostKey) +
                           " vallen_max=" + std::to_string(kMostValue) + " rc=0");
}

void Pmi1Server::get_appnum(Call& call) {
  call.answer("appnum", "appnum=0 rc=0");
}

void Pmi1Server::get_space(Call& call) {
  call.answer("my_kvsname", "kvsname=" + space_ + " rc=0");
}

void Pmi1Server::get_universe_size(Call& call) {
  call.answer("universe_size", "size=" + std::to_string(map_.size) + " rc=0");
}

void Pmi1Server::put(Call& call) {
  const auto refuse = [&](std::string_view why) {
    call.answer("put_result", "rc=-1 msg=" + std::string(why));
  };
  const std::string_view key = call.line.field("key"), value = call.line.field("value");
  if (call.line.field("kvsname") != space_) return refuse("unknown_kvsname");
  if (!is_key(key)) return refuse("invalid_key");
  if (!is_value(value)) return refuse("value_too_long");
  if (key == kMapping) return refuse("reserved_key");
  // A later put of a key replaces its value; the bytes of the earlier one stay counted until a fence.
  const std::size_t bytes = key.size() + value.size() + 2;
  if (added_bytes_ + bytes + kFenceLineBytes > kMostContribution ||
      kept_bytes_ + bytes + kEntryBytes > kMostKeptBytes)
    return refuse("too_many_keys");
  added_bytes_ += bytes;
  kept_bytes_ += bytes + kEntryBytes;
  added_.insert_or_assign(std::string(key), std::string(value));
  kept_.insert_or_assign(std::string(key), std::string(value));
  call.answer("put_result", "rc=0 msg=success");
}

void Pmi1Server::get(Call& call) {
  if (call.line.field("kvsname") != space_)
    return call.answer("get_result", "rc=-1 msg=unknown_kvsname value=unknown");
  const auto found = kept_.find(call.line.field("key"));
  if (found == kept_.end())
    return call.answer("get_result", "rc=-1 msg=key_not_found value=unknown");
  call.answer("get_result", "rc=0 msg=success value=" + found->second);
}

void Pmi1Server::barrier(Call& call) {
  if (call.from.waiting) {
    call.out.abort = end(call.rank, 1, name_of(call.rank) + " entered a PMI barrier twice");
    return;
  }
  call.from.waiting = true;
  if (++waiting_ == clients_.size()) call.out.contribution = print({fence_, added_});
}

void Pmi1Server::finalize(Call& call) {
  call.from.active = false;
  call.answer("finalize_ack", "rc=0");
}

void Pmi1Server::abort(Call& call) {
  const int exit_code = number<int>(call.line.field("exitcode")).value_or(1);
  call.out.abort =
      end(call.rank, exit_code,
          name_of(call.rank) + " called MPI_Abort with code " + std::to_string(exit_code));
}

void Pmi1Server::refuse_names(Call& call) {
  const std::string_view asked = call.line.command();
  call.answer(std::string(asked.substr(0, asked.find('_'))) + "_result",
              "rc=-1 info=not_supported msg=names_are_not_supported_by_ares");
}

Outcome Pmi1Server::on_fence(std::span<const std::string> contributions) {
  Outcome out;
  if (ended_) return out;
  const std::uint32_t first = map_.local_ranks().front();
  const auto give_up = [&](std::string what) {
    out.abort = end(first, 1, "PMI barrier " + std::to_string(fence_) + ": " + std::move(what));
    return out;
  };
  if (waiting_ < clients_.size()) return give_up("a rank of this node has not reached it");
  if (contributions.size() != map_.ranks_by_node.size())
    return give_up(std::to_string(contributions.size()) + " contributions of " +
                   std::to_string(map_.ranks_by_node.size()) + " nodes");
  std::vector<Contribution> read;
  for (const std::string& text : contributions) {
    auto contribution = read_contribution(text);
    if (!contribution) return give_up(contribution.error().message);
    if (contribution->fence != fence_)
      return give_up("a node is at barrier " + std::to_string(contribution->fence));
    if (contribution->values.contains(kMapping)) return give_up("a node sent a reserved key");
    read.push_back(std::move(*contribution));
  }
  // In the order of nodes, so that all nodes agree on a key that several of them put.
  for (Contribution& contribution : read)
    for (auto& [key, value] : contribution.values) kept_.insert_or_assign(key, std::move(value));
  kept_bytes_ = 0;
  for (const auto& [key, value] : kept_) kept_bytes_ += key.size() + value.size() + kEntryBytes;
  if (kept_bytes_ > kMostKeptBytes) return give_up("too many keys in this step");
  added_.clear();
  added_bytes_ = 0;
  ++fence_;
  waiting_ = 0;
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    clients_[i].waiting = false;
    out.replies.push_back({map_.local_ranks()[i], "cmd=barrier_out rc=0\n"});
  }
  return out;
}

}  // namespace ares::pmi
