// One run of a sum, checked: what it reads, which pairs it is asked for, and where its results go. Plain data.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/kernel_source.h"
#include "runtime/sum/lists.h"
#include "runtime/sum/pack.h"
#include "runtime/sum/progress.h"
#include "runtime/sum/tables.h"

namespace nbcc {

// Which pairs the caller asks for. Auto: the method that costs least.
enum class PairChoice : std::uint8_t { Auto, All, Cutoff };
constexpr std::string_view name(PairChoice choice) {
  return choice == PairChoice::Auto ? "auto" : choice == PairChoice::All ? "all" : "cutoff";
}

// How much of the packed j-particles of a sum's last run still holds.
enum class JReuse : std::uint8_t {
  None,      // the caller's arrays must be read again
  Packed,    // the packed columns hold, the derived ones do not (a param or the offset has changed)
  Prepared,  // everything holds
};

// A sum whose j come in parts, from run to run: the accumulators outlive a run, and finish() and the outputs wait for
// the last one.
enum class JPart : std::uint8_t { Whole, First, Next, Last };
constexpr bool begins(JPart part) { return part == JPart::Whole || part == JPart::First; }
constexpr bool ends(JPart part) { return part == JPart::Whole || part == JPart::Last; }

// Every bound view has the right count, every index lies inside its set.
struct SumRequest {
  std::span<const ArrayView> views;       // parallel to KernelSource::fields; an unwanted output has no data
  std::span<const double> params;         // KernelSource::params values, and behind them those of tables
  const Tables* tables = nullptr;         // null: the kernel has none
  std::int64_t ni = 0, nj = 0;            // of the sets
  std::int64_t i_begin = 0, i_count = 0;  // the chosen i: a range, or
  const std::int64_t* i_list = nullptr;   // i_count indices
  std::int64_t i_offset = 0, j_offset = 0;
  bool accumulate = false;
  JPart j_part = JPart::Whole;
  JReuse reuse = JReuse::None;
  double skin = 0;              // what a search finds is kept until a particle has moved by half of it; 0: not at all
  bool may_be_captured = true;  // into a graph of a GPU
  bool check_indices = true;    // of tables: an index beyond its table is an error

  // The pairs. At most one of `lists` and `listed_pairs` is given; neither: `pairs` chooses.
  PairChoice pairs = PairChoice::Auto;
  const Lists* lists = nullptr;              // groups of i with ranges of j, or batches; all i are chosen
  const PairRows* listed_pairs = nullptr;    // pairs one by one
  const LeftOut* left_out = nullptr;         // excluded pairs, as kernels test for them; null: none
  const PairRows* excluded_rows = nullptr;   // the same pairs, as the caller lists them
  std::span<const double> params_of_groups;  // of listed groups: [group][param]; empty: those of the run

  const ListedParticles* listed = nullptr;  // particles whose indices are checked; null: all chosen i, and all j
  bool lists_chosen_i = false;              // all i are chosen, so that of these, too, only the listed ones are checked
  bool keep_j = false;                      // the next run will ask for the packed j-particles of this one
  std::uint64_t binding = 0;                // another number whenever `views` has changed

  // The share of one of several devices in a run: `i_count` is the share's own, or all i are chosen and the device
  // takes its share of the groups that a search or lists make. The order of terms follows from the entire run.
  struct Share {
    std::int64_t i_of_run = 0;  // chosen i of the entire run; 0: the run is not shared
    double from = 0, to = 1;    // fractions of the run; the next device's share begins where this one ends
    std::int64_t epoch = 0;     // another number for another decomposition; what a search has kept holds within one
    // The first of `count` things that belong to the share, and the one behind its last.
    std::int64_t begin(std::int64_t count) const { return std::int64_t(double(count) * from); }
    std::int64_t end(std::int64_t count) const { return std::int64_t(double(count) * to); }
  } share;
  std::int64_t i_of_run() const { return share.i_of_run > 0 ? share.i_of_run : i_count; }

  void* stream = nullptr;        // of a GPU: the caller's stream, null for the legacy default one
  Progress* progress = nullptr;  // asked during the run; null: it is not interrupted. Not when the run is captured
};

}  // namespace nbcc
