// A run -> the pairs that it sums over, decided before any particle is read. A device has a run() for each
// answer (device.h). Decided elsewhere: lists and listed pairs of the caller come first (SumState::pairs_of_run),
// nearest neighbours are searched by NearestSum::pays (nearest.cpp), batches by BatchSums::choose, which asks
// dispatch() for each batch; and the device sums over all pairs where its own estimate says that a search which it need
// not do is slower.
#pragma once
#include <cstdint>
#include <string_view>
#include <variant>

#include "compiler/kernel_source.h"

namespace nbcc {

// What the caller asks for. Auto: a search where it is faster.
enum class PairChoice : std::uint8_t { Auto, All, Cutoff };
constexpr std::string_view name(PairChoice choice) {
  return choice == PairChoice::Auto ? "auto" : choice == PairChoice::All ? "all" : "cutoff";
}

// Every j of the set acts on every chosen i. Pairs that a text guards against are among them: its kernel leaves them
// out.
struct AllPairs {};

// Those j that a search finds within the reach that is proved of the kernel's guards, which stay in the kernel: the
// same sums in another order. The device sees the particles and so decides whether that is faster, unless it `must`.
struct Neighbours {
  bool must = false;
};

struct Lists;
struct PairRows;

// The j of the ranges that the caller has given each group of i.
struct Listed {
  const Lists* lists = nullptr;
};

// Pairs that the caller has listed one by one.
struct ListedPairs {
  const PairRows* rows = nullptr;
};

using Pairs = std::variant<AllPairs, Neighbours, Listed, ListedPairs>;

// Whether a search is worth trying, by what is known before any particle is read. Where it must be done, somebody has
// checked that something is proved.
inline Pairs dispatch(const KernelSource& kernel, PairChoice choice, std::int64_t ni, std::int64_t nj) {
  constexpr std::int64_t kFewI = 500, kFewJ = 1500;  // are summed over sooner than sorted
  if (choice == PairChoice::Cutoff) return Neighbours{true};
  if (choice == PairChoice::All || kernel.search.axes == 0 || nj < kFewJ || ni < kFewI) return AllPairs{};
  return Neighbours{};
}

}  // namespace nbcc
