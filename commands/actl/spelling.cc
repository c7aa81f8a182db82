#include "actl/spelling.h"

#include <algorithm>
#include <map>

#include "cli/output/text.h"

namespace ares::actl {
namespace {

// A shorter verb may be a slip.
constexpr std::size_t kShortestVerb = 3;
constexpr std::string_view kReservation = "reservation";

// "show jobid 5" is "show job 5", as in scontrol: the fields that name what is listed.
const std::map<std::string, std::string, std::less<>> kSubjectsOfFields = {
    {"jobid", "job"},
    {"nodename", "node"},
    {"partitionname", "partition"},
    {"reservationname", "reservation"}};

// The candidate that `word` begins; of several the one that begins all others, such as "node" and
// "nodes". "" if there is none.
std::string completed(const std::string& word, const std::set<std::string>& candidates) {
  if (word.empty() || candidates.contains(word)) return word;
  std::string shortest;
  for (const std::string& candidate : candidates)
    if (candidate.starts_with(word) && (shortest.empty() || candidate.size() < shortest.size()))
      shortest = candidate;
  const bool alone = std::all_of(candidates.begin(), candidates.end(), [&](const std::string& one) {
    return !one.starts_with(word) || one.starts_with(shortest);
  });
  return alone ? shortest : "";
}

}  // namespace

cli::Words spelled_out(cli::Words words, const std::set<std::string>& verbs,
                       const std::set<std::string>& subjects) {
  if (words.empty()) return words;
  const std::string verb = cli::lower(words[0]);
  if (verb.size() >= kShortestVerb)
    if (std::string whole = completed(verb, verbs); !whole.empty()) words[0] = whole;
  if (words[0] != "show" || words.size() < 2) return words;
  if (const std::size_t equals = words[1].find('='); equals != std::string::npos) {
    const std::string names = words[1].substr(equals + 1);
    words[1].resize(equals);
    if (!names.empty()) words.insert(words.begin() + 2, names);
  }
  const std::string subject = cli::lower(words[1]);
  if (std::string whole = completed(subject, subjects); !whole.empty())
    words[1] = whole;
  else if (const auto of_field = kSubjectsOfFields.find(subject);
           of_field != kSubjectsOfFields.end())
    words[1] = of_field->second;
  return words;
}

bool is_reservation_word(std::string_view word) {
  const std::string lowered = cli::lower(word);
  return lowered.size() >= kShortestVerb && kReservation.starts_with(lowered);
}

}  // namespace ares::actl
