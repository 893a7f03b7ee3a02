// The row "far" of derived kernels: those of a far field (runtime/far/), and how their fields correspond. Plain data.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/derived_kernels.h"
#include "compiler/made_inputs.h"

namespace nbcc {

// Output component `output` of the pipeline, before finish(), is the sum over its parts of factor * sum.
struct FarPart {
  int output = 0;
  int factor = -1;  // output of `targets`; -1: 1
  int sum = 0;      // output of `distant`
};

// Where the fields of a kernel have the names and shapes of the pipeline's, the caller's arrays are bound to them.
struct FarKernels : DerivedFacts {
  std::string text;                       // for users: "linear in mj, both sides"
  std::string_view precision;             // of `distant` and `near`
  bool raised = false;                    // `precision` is higher than the pipeline's
  int axes = 0;                           // coordinates of a position
  int weights = 0;                        // weights of a j
  std::vector<std::string> weight_names;  // for users: "mj", "fj.x"
  int factors = 0;                        // factors of an i
  int sums = 0;                           // sums of `distant`
  bool both_sides = true;      // false: the factors of i are inputs of `distant`, so that there are no grids of i
  bool needs_one_set = false;  // an i and a j of one index must be at one position
  std::vector<FarPart> parts;
  // The periodic vectors of a periodic sum, [vector][axis]. `distant`, `measured`, `near`, `excluded` and `sample` then
  // have places in one cell (made_inputs.h), to which lists add shifts.
  std::optional<std::array<std::vector<Formula>, 3>> periods;
  const char* position_of_i() const { return periods ? kPlaceOfI : "nbcc_position_i"; }  // input of `distant`
  const char* position_of_j() const { return periods ? kPlaceOfJ : "nbcc_position_j"; }
  int centres = 0;  // inputs nbcc_centre of `sources` and `targets`: means of the outputs of `means`
  // Without pairs: for each particle nbcc_position[axes], and nbcc_weights or nbcc_factors. The inputs of j are inputs
  // of i here.
  KernelSource sources, targets;
  std::optional<KernelSource> means;  // the sums over all j of the values that are centred; if there are centres
  // nbcc_position_i[axes], nbcc_factors_i; nbcc_position_j[axes], nbcc_weights_j -> nbcc_sums
  KernelSource distant;
  KernelSource measured;  // the same in double precision, from which errors of interpolation are measured
  KernelSource near;      // the pipeline without finish()
  KernelSource excluded;  // `near` with opposite signs, which takes excluded pairs out of distant sums
  // The same in double precision, with one more output for each output NAME: nbcc_size_NAME, the sum of the terms'
  // magnitudes (for vectors, their lengths).
  KernelSource sample;
  KernelSource finish;  // without pairs: an input nbcc_total[outputs] of i, the sums -> the outputs
};

}  // namespace nbcc
