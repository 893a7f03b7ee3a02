// One run of a sum as plain data, already checked: inputs, pairs and outputs.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/kernel_source.h"
#include "runtime/sum/request/lists.h"
#include "runtime/sum/request/pack.h"
#include "runtime/sum/request/progress.h"
#include "runtime/sum/request/tables.h"

namespace nbcc {

class FarPeers;        // far_peers.h
class HistogramWords;  // histograms.h

// The caller's choice of pair methods. Auto: the method with the least cost.
enum class PairChoice : std::uint8_t { Auto, All, Cutoff };
constexpr std::string_view name(PairChoice choice) {
  return choice == PairChoice::Auto ? "auto" : choice == PairChoice::All ? "all" : "cutoff";
}

// Whether each pair of one set is computed once, for both of its particles, in sums over all pairs and in searches on
// the CPU. Auto: if that costs less. Always: wherever it is possible. Listed: each listed pair acts on both of its
// particles, so that the caller lists it once.
enum class SymmetricChoice : std::uint8_t { Auto, Off, Always, Listed };
constexpr std::string_view name(SymmetricChoice choice) {
  constexpr std::string_view kNames[] = {"auto", "off", "always", "listed"};
  return kNames[std::size_t(choice)];
}

// How much of the packed j-particles of the sum's last run is still valid.
enum class JReuse : std::uint8_t {
  None,      // the caller's arrays must be read again
  Packed,    // the packed columns are valid, the derived columns are not (a param or the offset has changed)
  Prepared,  // all columns are valid
};

// A sum may get its j in several runs (parts): the accumulators are kept between the runs, and only the last run
// applies finish() and writes the outputs.
enum class JPart : std::uint8_t { Whole, First, Next, Last };
constexpr bool begins(JPart part) { return part == JPart::Whole || part == JPart::First; }
constexpr bool ends(JPart part) { return part == JPart::Whole || part == JPart::Last; }

// Groups of the caller's lists, or batches, that have tables of their own in common.
struct TablesOfGroups {
  std::vector<std::int64_t> groups;
  std::vector<double> params;  // as SumRequest::params
  std::unique_ptr<const Tables> tables;
};

// Every bound view has the right count; every index is within its array.
struct SumRequest {
  std::span<const ArrayView> views;       // parallel to KernelSource::fields; an unwanted output has no data
  std::span<const double> params;         // KernelSource::params values, then KernelSource::table_params values
  const Tables* tables = nullptr;         // null: the kernel has none
  std::int64_t ni = 0, nj = 0;            // number of bound particles
  std::int64_t i_begin = 0, i_count = 0;  // the chosen i: [i_begin, i_begin + i_count), or
  const std::int64_t* i_list = nullptr;   // ... i_count indices, if not null
  std::int64_t i_offset = 0, j_offset = 0;
  bool accumulate = false;
  HistogramWords* histograms = nullptr;  // to which the run's terms are added; null: the kernel has none
  JPart j_part = JPart::Whole;
  std::string_view sums_are_of = {};  // the method that keeps the sums of the earlier parts; "": the device does
  JReuse reuse = JReuse::None;
  double skin = 0;              // neighbour lists are kept until a particle has moved by half the skin; 0: not kept
  bool may_be_captured = true;  // GPU: the run may be captured into a CUDA graph
  bool check_indices = true;    // an index outside of its table is an error

  // The pairs. At most one of `lists` and `listed_pairs` is given; if neither is, `pairs` chooses.
  PairChoice pairs = PairChoice::Auto;
  SymmetricChoice symmetric = SymmetricChoice::Auto;
  const Lists* lists = nullptr;             // groups of i with ranges of j, or batches; of a method: the chosen i alone
  const PairRows* listed_pairs = nullptr;   // pairs listed one by one
  const Exclusions* exclusions = nullptr;   // excluded pairs, in the form that kernels test; null: none
  const PairRows* excluded_rows = nullptr;  // the same pairs, as the caller lists them
  std::span<const double> params_of_groups;          // [group][param], for groups or batches; empty: `params` for all
  std::span<const TablesOfGroups> tables_of_groups;  // of all groups; empty: `tables` for all

  const ListedParticles* listed = nullptr;  // particles whose table indices are checked; null: all chosen i, and all j
  bool lists_chosen_i = false;              // check only the i of `listed`; false: check all chosen i
  bool keep_j = false;                      // the next run may reuse the packed j-particles of this run
  std::uint64_t binding = 0;                // changes whenever `views` changes

  // The work share of one device in a run on several devices: either i_count is the share's number of i, or all i are
  // chosen and the device takes a share of the groups of a search or of lists. Terms are added in the order of the
  // entire run, so results do not depend on the shares.
  struct Share {
    std::int64_t i_of_run = 0;  // number of chosen i of the entire run; 0: the run is not shared
    double from = 0, to = 1;    // fractions of the run; the next device's share begins at `to`
    std::int64_t epoch = 0;     // id of the decomposition; kept neighbour lists are valid for one decomposition only
    // The share has the items [begin, end) of `count` items.
    std::int64_t begin(std::int64_t count) const { return std::int64_t(double(count) * from); }
    std::int64_t end(std::int64_t count) const { return std::int64_t(double(count) * to); }
  } share;
  std::int64_t i_of_run() const { return share.i_of_run > 0 ? share.i_of_run : i_count; }
  // Rows of accumulators that are kept between launches or parts: one for each chosen i, over lists one for each i.
  std::int64_t accumulator_rows() const { return lists ? ni : i_count; }

  void* stream = nullptr;        // GPU: the caller's CUDA stream; null: the legacy default stream
  Progress* progress = nullptr;  // polled during the run, except while it is captured; null: no interrupts
  FarPeers* peers = nullptr;     // processes that sum over the same j for other i; null: none
};

}  // namespace nbcc
