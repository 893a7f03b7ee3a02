// The errors of searches for pairs, on every device. Entry points: check_query(), check_report().
#include <cmath>
#include <limits>
#include <string>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/pairs/pair_search.h"

namespace nbcc {
namespace {

using namespace pair_search;

constexpr double kLeast[] = {0x1p-63, 0x1p-511};  // of float, of double
const double kLargest[] = {std::sqrt(double(std::numeric_limits<float>::max())),
                           std::sqrt(std::numeric_limits<double>::max())};

// Throws the error of the first problem of a report.
class Problems {
 public:
  Problems(const Report& report, const Search& s, bool is_double, const ReadArray& read)
      : report_(report), s_(s), is_double_(is_double), read_(read) {}

  void systems() const {
    if (const unsigned word = report_.bad_table; word != 0)
      throw UsageError(fmt::format(
          "neighbours: cutoff of types {} and {}: expected 0, or {:.3g} to {}, the largest cutoff, got {}",
          ~word / s_.types, ~word % s_.types, s_.least_cutoff, s_.cutoff, value(s_.cutoff_of_types, ~word)));
    if (const unsigned word = report_.flat_cell; word != 0)
      throw UsageError(fmt::format(
          "neighbours: cell {}: expected finite vectors that are independent along the periodic axes, got {}, {}, {}",
          ~word, vector(s_.cells + 9ll * ~word), vector(s_.cells + 9ll * ~word + 3),
          vector(s_.cells + 9ll * ~word + 6)));
  }
  void particles(int which) const {
    const Side& side = s_.side[which];
    const char* const array = which == 1 || s_.one_set ? "x" : "y";
    if (const unsigned word = report_.bad_system[which]; word != 0)
      throw UsageError(fmt::format("neighbours: particle {} of {}: expected a batch from 0 to {}, got {}", ~word, array,
                                   s_.systems - 1, value(side.system, ~word)));
    if (const unsigned word = report_.bad_type[which]; word != 0)
      throw UsageError(fmt::format("neighbours: particle {} of {}: expected a type from 0 to {}, got {}", ~word, array,
                                   s_.types - 1, value(side.type, ~word)));
    if (const unsigned word = report_.non_finite[which]; word != 0)
      throw UsageError(fmt::format(
          "neighbours: particle {} of {}: expected a finite position, less than 2^29 cells away and within {} along "
          "open axes, got {}",
          ~word, array, kMaxOpen, is_double_ ? position<double>(side, ~word) : position<float>(side, ~word)));
  }
  void pairs() const {
    if (const unsigned word = report_.bad_cutoff; word != 0)
      throw UsageError(
          fmt::format("neighbours: particle {} of x: expected a cutoff of 0, or {:.3g} to {}, the largest one, got {}",
                      ~word, s_.least_cutoff, s_.cutoff, value(s_.cutoff_of_i, ~word)));
    if (const unsigned word = report_.small_cell; word != 0) {
      const System system = value(s_.system, ~word);
      double cells = 0;
      for (int k = 0; k < 3; ++k)
        if (system.periodic[k]) cells = std::fmax(cells, system.reach[k] / system.bins[k]);
      throw UsageError(
          fmt::format("neighbours: cell {}: expected a cutoff of less than {} cells along an axis, got {:.6g} cells",
                      ~word, kMaxImage - 1, cells));
    }
    if (report_.long_row != 0)
      throw UsageError(fmt::format("neighbours: particle {} of x: expected at most {} pairs on a GPU, got more",
                                   ~report_.long_row, kMaxRow));
  }

 private:
  template <typename T>
  T value(const T* array, std::int64_t k) const {
    T number;
    read_(&number, array + k, sizeof number);
    return number;
  }
  std::string vector(const double* v) const {
    return fmt::format("({}, {}, {})", value(v, 0), value(v, 1), value(v, 2));
  }
  template <typename T>
  std::string position(const Side& side, std::int64_t particle) const {
    T x[3];
    for (int c = 0; c < 3; ++c) read_(&x[c], side.x + particle * side.stride + c * side.component_stride, sizeof(T));
    return fmt::format("({}, {}, {})", x[0], x[1], x[2]);
  }

  const Report& report_;
  const Search& s_;
  bool is_double_;
  const ReadArray& read_;
};

}  // namespace

double least_cutoff(bool is_double) { return kLeast[is_double ? 1 : 0]; }

void check_query(const Search& s, bool is_double) {
  if (const double largest = kLargest[is_double ? 1 : 0]; !(s.cutoff >= s.least_cutoff && s.cutoff <= largest))
    throw UsageError(fmt::format(
        "neighbours: expected a cutoff from {:.3g} to {:.3g}, whose square is a number of the precision of x, got {}",
        s.least_cutoff, largest, s.cutoff));
  for (const int which : {1, 0})
    if (s.side[which].count > 0 && !s.side[which].x)
      throw UsageError(fmt::format("neighbours: {}: expected positions of {} particles, got a null pointer",
                                   which == 1 ? "x" : "y", s.side[which].count));
  if (s.cutoff_of_types && (s.types < 1 || s.types > kMaxTypes))
    throw UsageError(fmt::format("neighbours: expected cutoffs of 1 to {} types, got {} types", kMaxTypes, s.types));
  if (s.excluded_first && !s.excluded_j)
    throw UsageError("neighbours: expected excluded_j with excluded_first, got a null pointer");
  if (s.excluded_j && !s.excluded_first)
    throw UsageError("neighbours: expected excluded_first with excluded_j, got a null pointer");
}

void check_report(const Report& report, const Search& s, bool is_double, const ReadArray& read) {
  const Problems problems(report, s, is_double, read);
  problems.systems();
  for (const int which : {1, 0}) problems.particles(which);
  problems.pairs();
}

}  // namespace nbcc
