// Explains the difference between our placement by fragmentation and the published one: the workload inflation of Weng et al.
// (USENIX ATC 2023) in a short separate implementation, in thousandths of CPUs and GPUs, with a switch for each difference between
// the two. Prints the allocated share of GPUs when the requests reach 1.0 and 1.3 times the number of GPUs.
//   bench_fill_model NODES.csv PODS.csv POLICY [--seeds N] [SWITCH]...
// POLICY: fragmentation, binpack, bestfit, random. Each switch changes the published method:
//   whole-cpus   pods request whole CPUs, rounded up
//   exact        exact scores, not whole hundredths of a sigmoid; --step N: growth in steps of N thousandths of a GPU
//   pack-ties    among equal scores the fullest node; any-ties: any; default: the first (for bestfit and random: any)
//   fullest      a part is placed on the fullest GPU of a node with room, not on the one with the best score
//   memory       classes of pods differ in memory too; --most N: the N most common classes with GPUs, not 95 % of all pods
//   drawn        all pods are drawn from the list; default: the whole list in random order first
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "asim/lines.h"

namespace ares::sim {
namespace {

constexpr std::int64_t kWhole = 1000;
constexpr double kMore = 1.3, kTypical = 0.95;
// The largest node of the list, the scale of bestfit.
constexpr double kMaxCpus = 128'000, kMaxGpus = 8 * kWhole;

struct Pod {
  std::int64_t cpus = 0, memory = 0, gpus = 0, each = 0;  // each: thousandths of every GPU
  std::string models;                                     // "" or "G2|T4"
  bool part() const { return gpus == 1 && each < kWhole; }
  std::int64_t total() const { return gpus * each; }
  auto key() const { return std::tie(cpus, memory, gpus, each, models); }
  bool operator<(const Pod& other) const { return key() < other.key(); }
};

struct Node {
  std::int64_t cpus = 0, memory = 0;
  std::vector<std::int64_t> left;  // free thousandths of each GPU
  std::string model;
};

struct Class {
  Pod pod;
  double weight = 0;
};

struct Switches {
  std::string policy;
  std::uint64_t seeds = 3;
  std::size_t most = 0;
  double step = 0;
  bool whole_cpus = false, exact = false, pack_ties = false, any_ties = false, fullest = false,
       memory = false, drawn = false;
};

// --- the lists ----------------------------------------------------------------------------------

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> words(1);
  for (const char c : line)
    if (c == ',')
      words.emplace_back();
    else
      words.back() += c;
  return words;
}

// Calls visit with a function from column name to text, "" if there is no such column.
template <class Visit>
bool each_row(const std::string& path, const Visit& visit) {
  auto lines = Lines::open(path);
  if (!lines) return false;
  std::string line;
  std::map<std::string, std::size_t> columns;
  for (auto more = lines->next(line); more && *more; more = lines->next(line)) {
    const std::vector<std::string> words = split(line);
    if (columns.empty()) {
      for (const std::string& word : words) columns.emplace(word, columns.size());
      continue;
    }
    visit([&](const char* name) {
      const auto found = columns.find(name);
      return found == columns.end() ? std::string() : words[found->second];
    });
  }
  return !columns.empty();
}

std::int64_t number(const std::string& word) {
  return static_cast<std::int64_t>(std::strtod(word.c_str(), nullptr));
}

std::vector<Node> read_nodes(const std::string& path) {
  std::vector<Node> out;
  each_row(path, [&](const auto& word) {
    const auto gpus = static_cast<std::size_t>(number(word("gpu")));
    out.push_back({number(word("cpu_milli")), number(word("memory_mib")),
                   std::vector<std::int64_t>(gpus, kWhole), word("model")});
  });
  return out;
}

std::vector<Pod> read_pods(const std::string& path, bool whole_cpus) {
  std::vector<Pod> out;
  each_row(path, [&](const auto& word) {
    Pod pod{number(word("cpu_milli")), number(word("memory_mib")), number(word("num_gpu")), 0, ""};
    if (whole_cpus) pod.cpus = (pod.cpus + kWhole - 1) / kWhole * kWhole;
    if (pod.gpus > 0) {
      pod.each = pod.gpus == 1 ? std::min(number(word("gpu_milli")), kWhole) : kWhole;
      pod.models = word("gpu_spec");
    }
    out.push_back(std::move(pod));
  });
  return out;
}

// --- what fits, and what is left ----------------------------------------------------------------

bool of_model(const Node& node, const std::string& models) {
  return models.empty() || ("|" + models + "|").find("|" + node.model + "|") != std::string::npos;
}

bool fits(const Node& node, const Pod& pod) {
  if (node.cpus < pod.cpus || node.memory < pod.memory) return false;
  if (pod.gpus == 0) return true;
  const auto able = std::count_if(node.left.begin(), node.left.end(),
                                  [&](std::int64_t left) { return left >= pod.each; });
  return able >= pod.gpus && of_model(node, pod.models);
}

// The GPU for a part: the fullest with room.
std::size_t fullest(const Node& node, const Pod& pod) {
  std::size_t best = node.left.size();
  for (std::size_t i = 0; i < node.left.size(); ++i)
    if (node.left[i] >= pod.each && (best == node.left.size() || node.left[i] < node.left[best]))
      best = i;
  return best;
}

Node after(Node node, const Pod& pod, std::size_t device) {
  node.cpus -= pod.cpus;
  node.memory -= pod.memory;
  if (pod.part()) {
    node.left[device] -= pod.each;
    return node;
  }
  std::int64_t missing = pod.gpus;
  for (std::int64_t& left : node.left)
    if (missing > 0 && left == kWhole) {
      left = 0;
      --missing;
    }
  return node;
}

// Thousandths of GPUs that the classes cannot use, weighted by class (section 3 of the paper).
double useless(const Node& node, const std::vector<Class>& classes) {
  std::int64_t all = 0;
  for (const std::int64_t left : node.left) all += left;
  if (all == 0) return 0;
  double sum = 0;
  for (const Class& one : classes) {
    if (one.pod.gpus == 0 || !fits(node, one.pod)) {
      sum += one.weight * static_cast<double>(all);
      continue;
    }
    for (const std::int64_t left : node.left)
      if (left < one.pod.each) sum += one.weight * static_cast<double>(left);
  }
  return sum;
}

std::vector<Class> typical(const std::vector<Pod>& pods, const Switches& how) {
  std::map<Pod, double> counts;
  for (Pod pod : pods) {
    if (!how.memory) pod.memory = 0;
    counts[pod] += 1;
  }
  std::vector<Class> all;
  for (const auto& [pod, count] : counts) all.push_back({pod, count});
  std::stable_sort(all.begin(), all.end(),
                   [](const Class& a, const Class& b) { return a.weight > b.weight; });
  std::vector<Class> out;
  double weight = 0;
  std::size_t with_gpus = 0;
  for (const Class& one : all) {
    if (how.most > 0 ? one.pod.gpus > 0 && with_gpus++ >= how.most
                     : weight >= kTypical * static_cast<double>(pods.size()))
      continue;
    weight += one.weight;
    out.push_back(one);
  }
  for (Class& one : out) one.weight /= weight;
  return out;
}

// --- scores: the larger the better --------------------------------------------------------------

struct Place {
  bool fits = false;
  double score = 0, tie = 0;
  std::size_t device = 0;
};

double of_growth(double growth, const Switches& how) {
  if (how.step > 0) return -std::ceil(growth / how.step);
  return how.exact ? -growth : std::floor(100 / (1 + std::exp(growth / kWhole)));
}

double fullness(const Node& node, const Pod& pod, std::size_t device) {
  const std::int64_t rest = pod.part() ? node.left[device] - pod.each : 0;
  const auto whole = std::count(node.left.begin(), node.left.end(), kWhole);
  return -(static_cast<double>(rest) * 1e7 + static_cast<double>(whole) * 1e5 +
           static_cast<double>(node.cpus) / kWhole);
}

Place place_on(const Node& node, double before, const Pod& pod, const std::vector<Class>& classes,
               const Switches& how) {
  Place place;
  place.fits = fits(node, pod);
  if (!place.fits) return place;
  if (pod.part()) place.device = fullest(node, pod);
  const double full = fullness(node, pod, place.device);
  if (how.pack_ties) place.tie = full;
  if (how.policy == "binpack") place.score = full;
  if (how.policy == "bestfit") {
    std::int64_t gpus = 0;
    for (const std::int64_t left : node.left) gpus += left;
    const double rest = 0.5 * static_cast<double>(node.cpus - pod.cpus) / kMaxCpus +
                        0.5 * static_cast<double>(gpus - pod.total()) / kMaxGpus;
    place.score = std::floor((1 - rest) * 100);
  }
  if (how.policy != "fragmentation") return place;
  if (!pod.part() || how.fullest) {
    place.score = of_growth(useless(after(node, pod, place.device), classes) - before, how);
    return place;
  }
  std::optional<double> best;
  for (std::size_t i = 0; i < node.left.size(); ++i) {
    if (node.left[i] < pod.each) continue;
    const double score = of_growth(useless(after(node, pod, i), classes) - before, how);
    if (best && score <= *best) continue;
    best = score;
    place.device = i;
  }
  place.score = *best;
  return place;
}

// --- the inflation ------------------------------------------------------------------------------

struct Reached {
  double at_full = 0, at_more = 0;
};

Reached inflate(std::vector<Node> nodes, const std::vector<Pod>& pods, const Switches& how,
                std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  const std::vector<Class> classes = typical(pods, how);
  std::map<Pod, std::size_t> kinds;
  for (const Pod& pod : pods) kinds.try_emplace(pod, kinds.size());
  std::int64_t capacity = 0, asked = 0, given = 0;
  std::vector<double> before;
  for (const Node& node : nodes) {
    capacity += static_cast<std::int64_t>(node.left.size()) * kWhole;
    before.push_back(useless(node, classes));
  }
  // The result for a kind and a node is valid until the node changes.
  std::vector<std::vector<std::optional<Place>>> known(
      kinds.size(), std::vector<std::optional<Place>>(nodes.size()));
  std::vector<std::size_t> order(pods.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), dice);
  const bool any_tie =
      how.any_ties || how.policy == "random" || (how.policy == "bestfit" && !how.pack_ties);

  Reached reached;
  std::size_t arrived = 0;
  while (static_cast<double>(asked) < kMore * static_cast<double>(capacity)) {
    const Pod& pod =
        pods[!how.drawn && arrived < order.size() ? order[arrived] : dice() % pods.size()];
    ++arrived;
    asked += pod.total();
    auto& places = known[kinds.at(pod)];
    std::optional<std::size_t> best;
    std::uint64_t equals = 1;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!places[i]) places[i] = place_on(nodes[i], before[i], pod, classes, how);
      const Place& here = *places[i];
      if (!here.fits) continue;
      const auto rank = [](const Place& place) { return std::tie(place.score, place.tie); };
      if (!best || rank(here) > rank(*places[*best])) {
        best = i;
        equals = 1;
      } else if (any_tie && rank(here) == rank(*places[*best]) && dice() % ++equals == 0) {
        best = i;
      }
    }
    if (best) {
      nodes[*best] = after(nodes[*best], pod, places[*best]->device);
      before[*best] = useless(nodes[*best], classes);
      for (auto& of_kind : known) of_kind[*best].reset();
      given += pod.total();
    }
    const double share = static_cast<double>(given) / static_cast<double>(capacity);
    if (asked <= capacity) reached.at_full = share;
    reached.at_more = share;
  }
  return reached;
}

int run(int argc, char** argv) {
  Switches how;
  std::vector<std::string> operands;
  const std::pair<const char*, bool*> switches[] = {{"whole-cpus", &how.whole_cpus},
                                                    {"exact", &how.exact},
                                                    {"pack-ties", &how.pack_ties},
                                                    {"any-ties", &how.any_ties},
                                                    {"fullest", &how.fullest},
                                                    {"memory", &how.memory},
                                                    {"drawn", &how.drawn}};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto found = std::find_if(std::begin(switches), std::end(switches),
                                    [&](const auto& one) { return word == one.first; });
    if (found != std::end(switches))
      *found->second = true;
    else if (i + 1 < argc && word == "--seeds")
      how.seeds = std::max<std::uint64_t>(std::strtoull(argv[++i], nullptr, 10), 1);
    else if (i + 1 < argc && word == "--most")
      how.most = std::strtoull(argv[++i], nullptr, 10);
    else if (i + 1 < argc && word == "--step")
      how.step = std::strtod(argv[++i], nullptr);
    else
      operands.push_back(word);
  }
  const char* const policies[] = {"fragmentation", "binpack", "bestfit", "random"};
  if (operands.size() != 3 ||
      std::find(std::begin(policies), std::end(policies), operands[2]) == std::end(policies)) {
    std::fprintf(stderr, "bench_fill_model: say NODES.csv PODS.csv POLICY [SWITCH]...\n");
    return 1;
  }
  how.policy = operands[2];
  const std::vector<Node> nodes = read_nodes(operands[0]);
  const std::vector<Pod> pods = read_pods(operands[1], how.whole_cpus);
  if (nodes.empty() || pods.empty()) {
    std::fprintf(stderr, "bench_fill_model: nothing can be read from %s or %s\n",
                 operands[0].c_str(), operands[1].c_str());
    return 1;
  }
  Reached mean;
  for (std::uint64_t seed = 1; seed <= how.seeds; ++seed) {
    const Reached one = inflate(nodes, pods, how, seed);
    mean.at_full += one.at_full / static_cast<double>(how.seeds);
    mean.at_more += one.at_more / static_cast<double>(how.seeds);
  }
  std::printf("%s: %.2f %% at 100 %% asked, %.2f %% at 130 %%\n", how.policy.c_str(),
              100 * mean.at_full, 100 * mean.at_more);
  return 0;
}

}  // namespace
}  // namespace ares::sim

int main(int argc, char** argv) {
  return ares::sim::run(argc, argv);
}
