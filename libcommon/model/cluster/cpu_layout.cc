#include "model/cluster/cpu_layout.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <utility>

#include "base/printable.h"

namespace ares {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

tl::unexpected<Error> bad(std::string_view text, const std::string& why) {
  return fail(ErrorCode::invalid_argument, "layout of CPUs: " + quote(text) + " " + why);
}

// Cores whose text is one group. The i-th threads of its cores ascend, so that sets keep their order.
struct Group {
  std::uint32_t package = 0, numa = 0;
  std::vector<IntervalSet> threads;

  explicit Group(const CpuLayout::Core& core)
      : package(core.package), numa(core.numa), threads(core.cpus.size()) {
    add(core);
  }
  void add(const CpuLayout::Core& core) {
    for (std::size_t i = 0; i < core.cpus.size(); ++i) threads[i].insert(core.cpus[i]);
  }
  bool takes(const CpuLayout::Core& core) const {
    if (core.package != package || core.numa != numa || core.cpus.size() != threads.size())
      return false;
    for (std::size_t i = 0; i < threads.size(); ++i)
      if (core.cpus[i] < threads[i].back()) return false;
    return true;
  }
  std::string text() const {
    std::string text = std::to_string(package) + "." + std::to_string(numa) + ":";
    for (std::size_t i = 0; i < threads.size(); ++i)
      text += (i == 0 ? "" : "/") + format_interval_set(threads[i]);
    return text;
  }
};

bool read_number(std::string_view text, std::uint32_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && out <= kMaxCpuNumber;
}

// "0.1:0-15/32-47"
Status read_group(std::string_view text, IntervalSet& seen, std::vector<CpuLayout::Core>& cores) {
  const std::size_t colon = text.find(':');
  const std::size_t point = text.find('.');
  CpuLayout::Core place;
  if (colon == std::string_view::npos || point >= colon ||
      !read_number(text.substr(0, point), place.package) ||
      !read_number(text.substr(point + 1, colon - point - 1), place.numa))
    return bad(text, "does not begin with PACKAGE.NUMA:");
  const std::size_t first = cores.size();
  std::size_t count = 0;
  for (std::string_view rest = text.substr(colon + 1);;) {
    const std::size_t slash = rest.find('/');
    const Result<IntervalSet> cpus =
        parse_interval_set(rest.substr(0, slash), kMaxCpuNumber, kMaxCpuNumber + 1);
    if (!cpus) return fail(cpus.error());
    if (count == 0) {
      count = cpus->count();
      cores.resize(first + count, place);
    }
    if (cpus->count() != count) return bad(text, "has lists of different lengths");
    std::size_t at = first;
    for (const std::uint32_t cpu : *cpus) {
      if (seen.contains(cpu)) return bad(text, "names CPU " + std::to_string(cpu) + " again");
      cores[at++].cpus.push_back(cpu);
    }
    for (const IntervalSet::Interval& interval : cpus->intervals())
      seen.insert(interval.first, interval.last);
    if (slash == std::string_view::npos) return {};
    rest.remove_prefix(slash + 1);
  }
}

std::string counted(std::size_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

}  // namespace

CpuLayout::CpuLayout(std::vector<Core> cores) : cores_(std::move(cores)) {
  for (Core& core : cores_) std::sort(core.cpus.begin(), core.cpus.end());
  std::sort(cores_.begin(), cores_.end(),
            [](const Core& a, const Core& b) { return a.cpus.front() < b.cpus.front(); });
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    const std::vector<std::uint32_t>& cpus = cores_[i].cpus;
    threads_per_core_ = std::max(threads_per_core_, cpus.size());
    if (cpus.back() >= core_of_.size()) core_of_.resize(cpus.back() + 1, kNone);
    for (const std::uint32_t cpu : cpus) core_of_[cpu] = static_cast<std::uint32_t>(i);
  }
}

const CpuLayout::Core* CpuLayout::core_of(std::uint32_t cpu) const {
  if (cpu >= core_of_.size() || core_of_[cpu] == kNone) return nullptr;
  return &cores_[core_of_[cpu]];
}

IntervalSet CpuLayout::cpus() const {
  IntervalSet all;
  for (const Core& core : cores_)
    for (const std::uint32_t cpu : core.cpus) all.insert(cpu);
  return all;
}

IntervalSet CpuLayout::numa_nodes() const {
  IntervalSet nodes;
  for (const Core& core : cores_) nodes.insert(core.numa);
  return nodes;
}

IntervalSet CpuLayout::numa_nodes_of(const IntervalSet& cpus) const {
  IntervalSet nodes;
  for (const Core& core : cores_)
    if (std::any_of(core.cpus.begin(), core.cpus.end(),
                    [&](std::uint32_t cpu) { return cpus.contains(cpu); }))
      nodes.insert(core.numa);
  return nodes;
}

IntervalSet CpuLayout::cpus_near(const IntervalSet& numa_nodes) const {
  IntervalSet near;
  for (const Core& core : cores_)
    if (numa_nodes.contains(core.numa))
      for (const std::uint32_t cpu : core.cpus) near.insert(cpu);
  return near;
}

std::string format_cpu_layout(const CpuLayout& layout) {
  std::vector<Group> groups;
  for (const CpuLayout::Core& core : layout.cores()) {
    const auto takes = [&](const Group& group) { return group.takes(core); };
    const auto group = std::find_if(groups.begin(), groups.end(), takes);
    if (group == groups.end())
      groups.emplace_back(core);
    else
      group->add(core);
  }
  std::string text;
  for (const Group& group : groups) text += (text.empty() ? "" : ";") + group.text();
  return text;
}

Result<CpuLayout> parse_cpu_layout(std::string_view text) {
  if (text.size() > kMaxCpuLayout)
    return bad(text, "has more than " + std::to_string(kMaxCpuLayout) + " bytes");
  if (text.empty()) return CpuLayout();
  std::vector<CpuLayout::Core> cores;
  IntervalSet seen;
  for (std::string_view rest = text;;) {
    const std::size_t end = rest.find(';');
    if (Status read = read_group(rest.substr(0, end), seen, cores); !read)
      return fail(read.error());
    if (end == std::string_view::npos) return CpuLayout(std::move(cores));
    rest.remove_prefix(end + 1);
  }
}

std::string summary(const CpuLayout& layout) {
  if (layout.empty()) return {};
  std::set<std::uint32_t> packages;
  for (const CpuLayout::Core& core : layout.cores()) packages.insert(core.package);
  return counted(packages.size(), "socket") + ", " +
         counted(layout.numa_nodes().count(), "NUMA node") + ", " +
         counted(layout.cores().size(), "core") + ", " + counted(layout.cpus().count(), "CPU");
}

}  // namespace ares
