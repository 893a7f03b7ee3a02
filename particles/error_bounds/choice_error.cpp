// Decides from the candidates' error bounds which slots of a choice are certain. Entry point: ChoiceError.
#include "particles/error_bounds/choice_error.h"

#include <algorithm>
#include <utility>

namespace nbcc {
ChoiceError::ChoiceError(const Choice& choice, std::vector<double> chosen)
    : choice_(choice), chosen_(std::move(chosen)) {
  for (const Choice::Payload& payload : choice_.payloads)
    payloads_.emplace_back(std::size_t(choice_.slots * payload.width), 0.0);
}

void ChoiceError::take(double j_index, bool certain, const std::function<RunningError::Number(int)>& of) {
  const RunningError::Number number = of(choice_.first);
  const double value = choice_.least() ? number.value : -number.value;
  if (!(value - number.error < kUnbounded)) return;
  lows_.push_back(value - number.error);
  if (certain) certain_highs_.push_back(value + number.error);
  for (std::size_t slot = 0; slot < chosen_.size(); ++slot) {
    if (chosen_[slot] != j_index) continue;
    for (std::size_t a = 0; a < payloads_.size(); ++a) {
      const Choice::Payload& payload = choice_.payloads[a];
      for (int d = 0; d < payload.width; ++d) {
        double& error = payloads_[a][slot * std::size_t(payload.width) + std::size_t(d)];
        error = std::max(error, of(payload.first + d).error);
      }
    }
  }
}

// True if the set of the `best` smallest candidates is certain. At least `best` certain candidates have an upper bound
// <= limit; the set is certain if no other candidate has a lower bound <= limit.
bool ChoiceError::is_decided(int best) const {
  const auto count = std::size_t(best);
  if (count == 0) return true;
  if (certain_highs_.size() < count) return certain_highs_.size() == lows_.size();
  const double limit = certain_highs_[count - 1];
  return std::size_t(std::ranges::upper_bound(lows_, limit) - lows_.begin()) == count;
}

void ChoiceError::report(const std::function<void(int, double)>& set) {
  std::ranges::sort(lows_);
  std::ranges::sort(certain_highs_);
  for (int slot = 0; slot < choice_.slots; ++slot) {
    const bool decided = is_decided(slot) && is_decided(slot + 1);
    set(choice_.first + slot, decided ? 0 : kUnbounded);
    for (std::size_t a = 0; a < payloads_.size(); ++a) {
      const Choice::Payload& payload = choice_.payloads[a];
      for (int d = 0; d < payload.width; ++d) {
        const int c = slot * payload.width + d;
        set(payload.first + c, decided ? payloads_[a][std::size_t(c)] : kUnbounded);
      }
    }
  }
}

}  // namespace nbcc
