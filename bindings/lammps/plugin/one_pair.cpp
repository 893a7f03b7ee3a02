// One pair of atoms -> its force and energy, as Pair::single() of LAMMPS returns them. Part of Interaction. Entry
// point: of_pair().
//
// The two atoms are a system of their own, in which each acts on the other. So the sum shows whether both forces are
// opposite, and the energy needs no rule about halves.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "bindings/lammps/plugin/interaction.h"

namespace nbcc_lammps {
namespace {

// Forces that differ by more than this part of their size are not opposite, or not along the line of both atoms.
constexpr double kSymmetryTolerance = 1e-9;

}  // namespace

// The sum over both atoms, in double precision.
struct Interaction::OnePair {
  OnePair(const std::string& text, const std::string& path)
      : device("cpu", {.threads = 1}),
        pipeline(nbcc::Pipeline::from_text(device, text, path, {.precision = NBCC_DOUBLE})),
        sum(pipeline) {}
  nbcc::Device device;
  nbcc::Pipeline pipeline;
  nbcc::Sum sum;
  std::vector<double> force = std::vector<double>(6), energy = std::vector<double>(2);
  std::vector<double> special_lj = std::vector<double>(2), special_coul = std::vector<double>(2);
  std::map<std::string, const void*> bound;  // quantity -> array
  int params_number = -1;
};

OfPair Interaction::of_pair(const std::map<std::string, Quantity>& of_two, double special_lj, double special_coul) {
  if (!one_pair_) {
    if (has_finish_)
      refuse("finish() makes results of sums over all pairs of an atom, so a pair alone has no force or energy");
    one_pair_ = std::make_shared<OnePair>(text_, path_);
    nbcc::Sum& sum = one_pair_->sum;
    ignore_outputs(sum);
    sum.bind(meaning_of_output_.at("force"), nbcc::rows(one_pair_->force, 3));
    if (has_result("energy")) sum.bind(meaning_of_output_.at("energy"), nbcc::rows(one_pair_->energy, 1));
    if (find("special_lj")) sum.bind("special_lj", one_pair_->special_lj);
    if (find("special_coul")) sum.bind("special_coul", one_pair_->special_coul);
    sum.listed_pairs(std::vector<std::int64_t>{0, 1, 2}, std::vector<std::int64_t>{1, 0});
  }
  OnePair& pair = *one_pair_;
  for (const auto& [name, meaning] : meaning_of_input_) {
    const Quantity& two = of_two.at(meaning);
    if (pair.bound[name] == two.data) continue;
    bind_input(pair.sum, name, two, 2);
    pair.bound[name] = two.data;
  }
  if (pair.params_number != params_number_) give_params(pair.sum);
  pair.params_number = params_number_;
  pair.special_lj.assign(2, special_lj);
  pair.special_coul.assign(2, special_coul);
  pair.sum.run();
  const double* const x = static_cast<const double*>(of_two.at("x").data);
  const double d[3] = {x[0] - x[3], x[1] - x[4], x[2] - x[5]};
  const double* const f = pair.force.data();
  const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  OfPair found{(f[0] * d[0] + f[1] * d[1] + f[2] * d[2]) / r2, pair.energy[0] + pair.energy[1]};
  const double largest = std::max(std::abs(*std::max_element(f, f + 6)), std::abs(*std::min_element(f, f + 6)));
  for (std::size_t c = 0; c < 3; ++c) {
    if (std::abs(f[c] + f[3 + c]) > kSymmetryTolerance * largest)
      refuse("the forces on both atoms of a pair are not opposite, so a pair has no single force");
    if (std::abs(f[c] - found.force_over_r * d[c]) > kSymmetryTolerance * largest)
      refuse("the force of a pair is not along the line between its atoms, so it has no single number");
  }
  return found;
}

}  // namespace nbcc_lammps
