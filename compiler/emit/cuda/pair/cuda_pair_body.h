// Statements in CUDA C++ for one pair of particles and for each particle before and after its pairs: load, compute,
// guard, accumulate, reduce, finish. Loops, tiles and j-splits belong to the frame, which defines the variables that
// the statements read and write:
//   own[r], sum[r], part[r]   the thread's r-th i-particle, in registers; its sums; its terms of one tile
//   cold[...]                 ICold: values of the i-particles that only hits of a cutoff read, in shared memory
//   i, j                      index in the caller's arrays of a particle that is loaded
//   staged[k], first_j        j-particles in shared memory; index of the first
//   self[r]                   index of i itself in the tile; may_be_self: false in a loop over a tile without i itself
// CudaPairs::Symmetric, in addition to these:
//   back                      the reactions of the j-particle
// CudaPairs::Neighbours and Listed, whose j come in any order and are loaded by the frame:
//   other                     a j-particle in registers; other.number is its index in the caller's array
//   self[r]                   index of i itself
//   kMinimumImage             constant; false if no pair crosses a periodic boundary
// Part of emit_cuda. Tested by tests/unit/compiler/emit/cuda/emit_cuda_test.cpp.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "compiler/emit/cuda/launch/launch_configs.h"
#include "compiler/emit/finish.h"
#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"
#include "compiler/options.h"

namespace nbcc {

using TemplateHoles = std::map<std::string, std::string>;

// The pairs that a frame visits. All: all j, tile by tile, in order. Neighbours: the j that a search finds. Listed: the
// caller's lists; params are read from the pointer `param`, a j may be shifted as it is loaded, and p is the index of a
// listed pair. Symmetric: tiles of j, for pairs that add to both of their particles.
enum class CudaPairs : std::uint8_t { All, Neighbours, Listed, Symmetric };

struct CudaPairBody {
  std::string uniform;             // nodes of constants and params alone
  std::string load_i, stage_j;     // load one particle
  std::string prepass_j, prepass;  // cutoff test of a pair, shifted into reject_mask[r]
  std::string pair_j, pair;        // once per j, for all i of a thread; once per pair
  std::string sentinel;            // sets the JParticle `other` to the padding entry behind the last j
  std::string flush;               // adds the terms of a tile to the sums
  CudaPairs pairs = CudaPairs::All;
  TemplateHoles structs;    // holes of templates/cuda/frames/cuda_particles.cuh.in: IParticle, JParticle, sums
  std::set<int> j_columns;  // columns of the plan that are members of JParticle
  bool tests_self = false;  // self[r] is read
  bool two_loops = false;   // so is may_be_self: most tiles contain no i of the block and need no test
  bool has_cold_data = false;
  CudaNeeds needs;
  int pair_statements = 0;  // approximate number of instructions of the pair loop for one i
  int pair_doubles = 0;     // those in double precision
};

// `images`: minimum image -> difference of positions, which is equal unless the pair crosses a periodic boundary.
// `positions`: component of j -> axis, for the components that shifts of listed ranges are added to.
CudaPairBody cuda_pair_body(const Pipeline& pipeline, const Plan& plan, const Options& options, CudaPairs pairs,
                            const std::map<NodeId, NodeId>& images = {}, const std::map<int, int>& positions = {});

// Spelling of the statements in double precision: of finish() and of a search.
ScalarSpelling cuda_scalar_spelling(CudaPairs pairs = CudaPairs::All);

// Fills the holes for the struct Partial and the statements on it: reduce and finish.
void cuda_partial(const Pipeline& pipeline, const Plan& plan, CudaPairs pairs, TemplateHoles& holes);

// The lvalue in a Partial `all` of an output component; "": an output array, which its frame stores.
std::string cuda_result(const Plan& plan, int component);

}  // namespace nbcc
