// What arun, step hosts and node daemons send each other: frames, requests, exchanges, the handshakes. The first byte says which.
#include <cstring>
#include <memory>

#include "fuzz/target.h"
#include "node/step_ledger.h"
#include "steps/account.h"
#include "steps/exchange.h"
#include "steps/frame.h"
#include "steps/handshake.h"
#include "steps/placement.h"
#include "steps/request.h"
#include "steps/ticket.h"

namespace ares::fuzz {

// A layout may name a million ranks in few bytes.
const Allowance kAllowance{std::size_t{64} << 20, 16384};

namespace {

template <class T>
void try_text(std::string_view input, Result<T> (*decode)(std::string_view)) {
  const Result<T> read = decode(input);
  if (!read) return require_fit_to_show(read.error().message);
  const Result<T> again = decode(encode(*read));
  require(again && *again == *read, "what was read survives being written");
}

void try_frames(std::string_view input) {
  steps::FrameReader reader;
  std::string written;
  const std::size_t half = input.size() / 2;
  std::size_t taken = 0;
  for (const std::string_view part : {input.substr(0, half), input.substr(half)}) {
    reader.add(part);
    for (;;) {
      const Result<std::optional<steps::Frame>> frame = reader.next();
      if (!frame) return require_fit_to_show(frame.error().message);
      if (!*frame) break;
      append_frame(written, **frame);
      taken = written.size();
    }
  }
  require(input.substr(0, taken) == written, "frames are written as they were read");
  require(reader.waiting() == input.size() - taken, "what is not a whole frame waits");
}

// A step of any request is placed within the job, or refused with a reason.
void try_placement(std::string_view input) {
  const Result<steps::StepRequest> request = steps::decode_request(input);
  if (!request) return;
  if (request->tasks > 10'000 || request->tasks_per_node > 1000) return;
  const steps::Placement placement({{"n1", 4, 1}, {"n2", 2, 1}, {"n3", 1, 0}});
  const Result<steps::StepLayout> layout = placement.place(*request);
  if (!layout) return require_fit_to_show(layout.error().message);
  std::size_t ranks = 0;
  for (const steps::StepLayout::Node& node : layout->nodes) ranks += node.ranks.size();
  require(ranks == layout->tasks && ranks > 0, "each task has a node");
}

void try_handshake(std::string_view input) {
  if (const Status greeted = steps::read_greeting(input).map([](const std::string&) {}); !greeted)
    require_fit_to_show(greeted.error().message);
  const std::string key(32, 'k');
  const Result<steps::Dial> dial = steps::read_dial(input);
  if (!dial) return require_fit_to_show(dial.error().message);
  require(!steps::verify_dial(*dial, "nonce", key), "no input knows the key");
  require(!steps::read_answer(input, *dial, "nonce", key), "no input is an answer");
}

// A ledger whose rows are these bytes: what is read of it can be shown and summed up.
void try_ledger(std::string_view input) {
  static auto page = std::make_unique<node::LedgerPage>();
  *page = node::LedgerPage();
  const std::size_t size = std::min(input.size(), sizeof page->rows);
  std::memcpy(page->rows, input.data(), size);
  page->used = static_cast<std::uint32_t>(size / sizeof(node::LedgerRow) + 1);
  static const NodeLayout layout({"n1", "n2"}, {4, 4}, {1, 1});
  const std::string_view bytes(reinterpret_cast<const char*>(page.get()), sizeof *page);
  for (const StepRecord& step : node::read_ledger(bytes, layout)) {
    require_fit_to_show(step.name);
    require(step.ended.value_or(step.started) >= step.started, "a step ends after its begin");
    require(step.user_cpu.count() >= 0 && step.max_rss.value() >= 0 && step.steps > 0,
            "no amount is negative");
  }
}

void try_ticket(std::string_view input) {
  const Result<steps::ClientCall> call = steps::read_call(input);
  if (!call) return require_fit_to_show(call.error().message);
  const std::string key(32, 'k');
  require(!steps::verify_call(*call, "nonce", key, Time()), "no input knows the key");
  require(!steps::read_answer(input, *call, "nonce", key), "no input is an answer");
}

}  // namespace

void try_input(std::string_view input) {
  if (input.empty()) return;
  const std::string_view rest = input.substr(1);
  switch (input[0]) {
    case 'f': return try_frames(rest);
    case 'r': try_text(rest, steps::decode_request); return try_placement(rest);
    case 'y': return try_text(rest, steps::decode_layout);
    case 'l': return try_text(rest, steps::decode_launch);
    case 'e': return try_text(rest, steps::decode_end);
    case 'c': return try_text(rest, steps::decode_contribution);
    case 'g': return try_text(rest, steps::decode_gathered);
    case 'q': return try_text(rest, steps::decode_question);
    case 'a': return try_text(rest, steps::decode_answer);
    case 'h': return try_handshake(rest);
    case 's': return try_text(rest, steps::decode_cancel);
    case 'b': return try_ledger(rest);
    case 't': return try_ticket(rest);
    default: return;
  }
}

}  // namespace ares::fuzz
