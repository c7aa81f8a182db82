#include "model/job/binding_options.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <span>

#include "base/printable.h"

namespace ares {
namespace {

constexpr std::uint32_t kMostMembers = 4096;  // CPUs, NUMA nodes or GPUs that a list can name
constexpr std::uint32_t kMostTimes = 65536;

tl::unexpected<Error> bad(std::string_view text, std::string why) {
  return fail(ErrorCode::invalid_argument, quote(text) + " " + std::move(why));
}

template <class Kind>
struct Word {
  std::string_view text;
  Kind kind;
  bool listed = true;  // in messages; false for names of old releases of Slurm
};

template <class Kind>
std::string words_of(std::span<const Word<Kind>> words) {
  std::string list;
  for (const Word<Kind>& word : words)
    if (word.listed) list += (list.empty() ? "" : ", ") + std::string(word.text);
  return list;
}

template <class Kind>
const Word<Kind>* find(std::span<const Word<Kind>> words, std::string_view text) {
  const auto found = std::find_if(words.begin(), words.end(),
                                  [&](const Word<Kind>& word) { return word.text == text; });
  return found == words.end() ? nullptr : &*found;
}

std::optional<std::uint32_t> number(std::string_view text, std::uint32_t most) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size() || value > most) return std::nullopt;
  return value;
}

// "0x3", "c0": the lowest digit comes last.
std::optional<IntervalSet> mask(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  IntervalSet members;
  if (text.empty() || text.size() > kMostMembers / 4) return std::nullopt;
  for (std::size_t digit = 0; digit < text.size(); ++digit) {
    unsigned bits = 0;
    const char* at = &text[text.size() - 1 - digit];
    if (std::from_chars(at, at + 1, bits, 16).ptr != at + 1) return std::nullopt;
    for (unsigned bit = 0; bit < 4; ++bit)
      if ((bits >> bit & 1) != 0) members.insert(static_cast<std::uint32_t>(digit * 4 + bit));
  }
  if (members.empty()) return std::nullopt;
  return members;
}

// "0,1*2" of numbers, or of masks.
Result<BindList> read_list(std::string_view text, bool of_masks) {
  BindList list;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t star = item.find('*');
    BindList::Item read;
    if (of_masks) {
      const auto members = mask(item.substr(0, star));
      if (!members)
        return bad(item,
                   "is not a mask in hexadecimal, such as 0x3, with at least one bit and at "
                   "most " +
                       std::to_string(kMostMembers));
      read.members = *members;
    } else {
      const auto member = number(item.substr(0, star), kMostMembers - 1);
      if (!member)
        return bad(item, "is not a number from 0 to " + std::to_string(kMostMembers - 1));
      read.members.insert(*member);
    }
    if (star != std::string_view::npos) {
      const auto times = number(item.substr(star + 1), kMostTimes);
      if (!times || *times == 0)
        return bad(item, "does not end in *COUNT, a number of tasks from 1 to " +
                             std::to_string(kMostTimes));
      read.times = *times;
    }
    list.items.push_back(std::move(read));
    if (comma == std::string_view::npos) return list;
    rest.remove_prefix(comma + 1);
  }
}

// Takes the words before the kind, such as "verbose,", off the text, and calls `use` with each.
template <class Use>
void take_flags(std::string_view& text, std::span<const std::string_view> flags, const Use& use) {
  for (;;) {
    const std::string_view word = text.substr(0, text.find(','));
    if (std::find(flags.begin(), flags.end(), word) == flags.end()) return;
    use(word);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (text.empty()) return;
  }
}

Status check_length(std::string_view text) {
  if (text.size() <= kMaxBindText) return {};
  return bad(text, "has more than " + std::to_string(kMaxBindText) + " bytes");
}

// "map_cpu:0,1": the word before the colon, and the rest behind it.
struct Split {
  std::string_view word, rest;
  bool has_rest = false;
};
Split split(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {text, {}, false};
  return {text.substr(0, colon), text.substr(colon + 1), true};
}

constexpr std::string_view kVerbosity[] = {"verbose", "v", "quiet", "q"};
constexpr std::string_view kVerbose[] = {"verbose"};
constexpr std::string_view kMemoryFlags[] = {"verbose", "quiet", "prefer", "p"};

constexpr Word<CpuBindKind> kCpuKinds[] = {
    {"none", CpuBindKind::none},           {"cores", CpuBindKind::cores},
    {"threads", CpuBindKind::threads},     {"sockets", CpuBindKind::sockets},
    {"ldoms", CpuBindKind::ldoms},         {"rank", CpuBindKind::rank},
    {"rank_ldom", CpuBindKind::rank_ldom}, {"map_cpu", CpuBindKind::map_cpu},
    {"mask_cpu", CpuBindKind::mask_cpu},   {"map_ldom", CpuBindKind::map_ldom},
    {"mask_ldom", CpuBindKind::mask_ldom}, {"no", CpuBindKind::none, false},
};
constexpr Word<MemBindKind> kMemoryKinds[] = {
    {"none", MemBindKind::none},         {"local", MemBindKind::local},
    {"rank", MemBindKind::rank},         {"map_mem", MemBindKind::map_mem},
    {"mask_mem", MemBindKind::mask_mem}, {"no", MemBindKind::none, false},
};
constexpr Word<GpuBindKind> kGpuKinds[] = {
    {"none", GpuBindKind::none},
    {"closest", GpuBindKind::closest},
    {"map", GpuBindKind::map},
    {"mask", GpuBindKind::mask},
    {"per_task", GpuBindKind::per_task},
    {"single", GpuBindKind::single},
    {"map_gpu", GpuBindKind::map, false},
    {"mask_gpu", GpuBindKind::mask, false},
};
constexpr Word<Hint> kHints[] = {
    {"compute_bound", Hint::compute_bound},
    {"memory_bound", Hint::memory_bound},
    {"multithread", Hint::multithread},
    {"nomultithread", Hint::nomultithread},
};

template <class Kind, std::size_t N>
Result<const Word<Kind>*> kind_of(const Word<Kind> (&words)[N], const Split& parts,
                                  std::string_view what) {
  const std::span<const Word<Kind>> all(words);
  if (const Word<Kind>* found = find(all, parts.word)) return found;
  return bad(parts.word, "is not " + std::string(what) + "; use " + words_of(all));
}

// The list behind the colon of the kinds that need one; the others must have none.
Status read_rest(const Split& parts, bool needs_list, bool of_masks, BindList& out) {
  if (!needs_list) {
    if (!parts.has_rest) return {};
    return bad(parts.word, "takes no list; leave out \":" + excerpt(parts.rest) + "\"");
  }
  if (parts.rest.empty())
    return bad(parts.word, std::string("needs a list, such as ") + std::string(parts.word) +
                               (of_masks ? ":0x3,0xc" : ":0,1"));
  Result<BindList> list = read_list(parts.rest, of_masks);
  if (!list) return fail(list.error());
  out = std::move(*list);
  return {};
}

std::string option(std::string_view name, const Error& error) {
  return "--" + std::string(name) + ": " + error.message;
}

}  // namespace

const IntervalSet& BindList::of_task(std::uint64_t task) const {
  std::uint64_t all = 0;
  for (const Item& item : items) all += item.times;
  assert(all > 0);
  task %= all;
  for (const Item& item : items) {
    if (task < item.times) return item.members;
    task -= item.times;
  }
  return items.back().members;
}

Result<CpuBind> parse_cpu_bind(std::string_view text) {
  if (Status fits = check_length(text); !fits) return fail(fits.error());
  CpuBind bind;
  take_flags(text, kVerbosity, [&](std::string_view flag) { bind.verbose = flag[0] == 'v'; });
  if (text.empty()) return bind;
  const Split parts = split(text);
  const auto word = kind_of(kCpuKinds, parts, "a way to bind tasks to CPUs");
  if (!word) return fail(word.error());
  bind.kind = (*word)->kind;
  const bool of_masks = bind.kind == CpuBindKind::mask_cpu || bind.kind == CpuBindKind::mask_ldom;
  const bool listed =
      of_masks || bind.kind == CpuBindKind::map_cpu || bind.kind == CpuBindKind::map_ldom;
  if (Status read = read_rest(parts, listed, of_masks, bind.list); !read) return fail(read.error());
  return bind;
}

Result<MemBind> parse_mem_bind(std::string_view text) {
  if (Status fits = check_length(text); !fits) return fail(fits.error());
  MemBind bind;
  take_flags(text, kMemoryFlags, [&](std::string_view flag) {
    if (flag.starts_with('p'))
      bind.prefer = true;
    else
      bind.verbose = flag == "verbose";
  });
  if (text.empty()) {
    if (!bind.prefer) return bind;
    return bad("prefer", "needs the nodes to prefer, such as prefer,local or prefer,map_mem:0");
  }
  const Split parts = split(text);
  const auto word = kind_of(kMemoryKinds, parts, "a way to bind memory");
  if (!word) return fail(word.error());
  bind.kind = (*word)->kind;
  const bool of_masks = bind.kind == MemBindKind::mask_mem;
  const bool listed = of_masks || bind.kind == MemBindKind::map_mem;
  if (Status read = read_rest(parts, listed, of_masks, bind.list); !read) return fail(read.error());
  return bind;
}

Result<GpuBind> parse_gpu_bind(std::string_view text) {
  if (Status fits = check_length(text); !fits) return fail(fits.error());
  GpuBind bind;
  take_flags(text, kVerbose, [&](std::string_view) { bind.verbose = true; });
  if (text.empty()) return bind;
  const Split parts = split(text);
  const auto word = kind_of(kGpuKinds, parts, "a way to bind tasks to GPUs");
  if (!word) return fail(word.error());
  bind.kind = (*word)->kind;
  if (bind.kind == GpuBindKind::per_task || bind.kind == GpuBindKind::single) {
    const auto count = number(parts.rest, kMostMembers);
    if (!count || *count == 0)
      return bad(text, "needs a number from 1, such as " + std::string(parts.word) + ":1");
    bind.count = *count;
    return bind;
  }
  const bool of_masks = bind.kind == GpuBindKind::mask;
  const bool listed = of_masks || bind.kind == GpuBindKind::map;
  if (Status read = read_rest(parts, listed, of_masks, bind.list); !read) return fail(read.error());
  return bind;
}

Result<Hint> parse_hint(std::string_view text) {
  if (text.empty()) return Hint::none;
  const auto word = kind_of(kHints, {text, {}, false}, "a hint");
  if (!word) return fail(word.error());
  return (*word)->kind;
}

Result<Distribution> parse_distribution(std::string_view text) {
  if (Status fits = check_length(text); !fits) return fail(fits.error());
  Distribution read;
  std::string_view levels = text;
  if (const std::size_t comma = text.find(','); comma != std::string_view::npos) {
    const std::string_view pack = text.substr(comma + 1);
    if (pack != "pack" && pack != "nopack") return bad(pack, "is not pack or nopack");
    read.pack = pack == "pack";
    levels = text.substr(0, comma);
  } else if (text == "pack" || text == "nopack") {
    read.pack = text == "pack";
    return read;
  }
  std::string* const names[] = {&read.nodes, &read.sockets, &read.cores};
  static constexpr std::string_view kLevels[] = {"nodes", "sockets", "cores"};
  for (std::size_t i = 0; !levels.empty(); ++i) {
    if (i == std::size(names))
      return bad(text, "has more than three parts, for nodes, sockets and cores");
    const std::size_t colon = levels.find(':');
    const std::string_view word = levels.substr(0, colon);
    levels = colon == std::string_view::npos ? std::string_view() : levels.substr(colon + 1);
    if (colon != std::string_view::npos && levels.empty())
      return bad(text, "ends with a colon; leave it out");
    constexpr std::string_view kPlane = "plane=";
    if (i == 0 && word.starts_with(kPlane)) {
      read.plane_size = number(word.substr(kPlane.size()), kMostTimes);
      if (!read.plane_size || *read.plane_size == 0)
        return bad(word, "needs the number of tasks in each block, such as plane=4");
      read.nodes = "plane";
      continue;
    }
    const bool known = word == "*" || word == "block" || word == "cyclic" ||
                       (i == 0 ? word == "arbitrary" : word == "fcyclic");
    if (!known)
      return bad(word, "is not a distribution over " + std::string(kLevels[i]) +
                           (i == 0 ? "; use block, cyclic, plane=SIZE, arbitrary or *"
                                   : "; use block, cyclic, fcyclic or *"));
    *names[i] = word == "*" ? std::string() : std::string(word);
  }
  return read;
}

Status check_binding(const JobBinding& binding) {
  const auto refuse = [](std::string_view name, const Error& error) {
    return fail(error.code, option(name, error));
  };
  const Result<Hint> hint = parse_hint(binding.hint);
  if (!hint) return refuse("hint", hint.error());
  const Result<CpuBind> cpus = parse_cpu_bind(binding.cpu_bind);
  if (!cpus) return refuse("cpu-bind", cpus.error());
  if (const auto memory = parse_mem_bind(binding.mem_bind); !memory)
    return refuse("mem-bind", memory.error());
  if (const auto gpus = parse_gpu_bind(binding.gpu_bind); !gpus)
    return refuse("gpu-bind", gpus.error());
  if (const auto layout = parse_distribution(binding.distribution); !layout)
    return refuse("distribution", layout.error());
  if (binding.threads_per_core > kMaxThreadsPerCore)
    return fail(
        ErrorCode::invalid_argument,
        "--threads-per-core: no core has " + std::to_string(binding.threads_per_core) + " threads");
  if (*hint != Hint::none && binding.threads_per_core > 0)
    return fail(ErrorCode::invalid_argument,
                "--hint and --threads-per-core say the same in two ways; give one of them");
  if (*hint != Hint::none && cpus->kind != CpuBindKind::unset)
    return fail(ErrorCode::invalid_argument,
                "--hint chooses the binding itself; give --hint or --cpu-bind");
  return {};
}

std::optional<std::uint32_t> used_threads_per_core(const JobBinding& binding) {
  if (binding.threads_per_core > 0) return binding.threads_per_core;
  const Hint hint = parse_hint(binding.hint).value_or(Hint::none);
  if (hint == Hint::none || hint == Hint::multithread) return std::nullopt;
  return 1;
}

}  // namespace ares
