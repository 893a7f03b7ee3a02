// What is done with one pair of particles, and with each particle before and behind its pairs, as statements of CUDA
// C++: load, compute, guard, accumulate, reduce, finish. Knows nothing of loops, tiles and j-splits: those are the
// frame's, which names what the statements read and write:
//   own[r], sum[r], part[r]   an i-particle in registers, its sums, and its terms of one tile
//   cold[...]                 what of the i-particles only pairs within a cutoff read, in shared memory
//   i, j                      positions in the caller's arrays of a particle that is loaded
//   staged[k], first_j        j-particles in shared memory, and the position of the first
//   self[r]                   where in the tile i itself stands; may_be_self: false in a loop that does not meet it
// Neighbours stand anywhere, and the frame loads them:
//   other                     a j-particle in registers; other.number is its position in the caller's array
//   self[r]                   that of i itself
//   kMinimumImage                   a constant; false where no pair stands across an edge of a periodic box
// Part of emit_cuda. What may stand in the text is tested by tests/unit/emit_cuda_test.cpp.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "compiler/emit/cuda/launch_configs.h"
#include "compiler/emit/finish.h"
#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"
#include "compiler/options.h"

namespace nbcc {

using TemplateHoles = std::map<std::string, std::string>;

// Of a frame that meets all j tile by tile in their order, or one that meets those that a search has found.
// Or that the caller lists: then params stand apart, as `param`, a j may be shifted as it is loaded, and a listed
// pair's inputs are those of number p.
enum class CudaPairs : std::uint8_t { All, Neighbours, Listed };

struct CudaPairBody {
  std::string uniform;             // values of constants and params
  std::string load_i, stage_j;     // of one particle
  std::string prepass_j, prepass;  // of a pair behind a cutoff: the bit that it misses goes into reject_mask[r]
  std::string pair_j, pair;        // of a j-particle, for all i of a thread; of the pair with one of them
  std::string sentinel;            // members of the JParticle `other` that stands behind the last one
  std::string flush;               // from the terms of a tile to the sums
  CudaPairs pairs = CudaPairs::All;
  TemplateHoles structs;    // of templates/cuda_particles.cuh.in: what a pair reads and is added to
  std::set<int> j_columns;  // members of JParticle, by the plan's number
  bool tests_self = false;  // self[r] is read
  bool two_loops = false;   // ... and `may_be_self`: tiles without an i of the block, nearly all, need no test
  bool has_cold_data = false;
  CudaNeeds needs;
  int pair_statements = 0;  // instructions of the loop for one i, about
};

// `images` are nodes that differ from others, differences of positions, only where a pair stands across an edge.
// `places` are components of j, each with its axis, that listed ranges may shift.
CudaPairBody cuda_pair_body(const Pipeline& pipeline, const Plan& plan, const Options& options, CudaPairs pairs,
                            const std::map<NodeId, NodeId>& images = {}, const std::map<int, int>& places = {});

// Of the statements in double precision: those of finish() and those of a search.
ScalarSpelling cuda_scalar_spelling(CudaPairs pairs = CudaPairs::All);

// From sums to results: the holes of the struct Partial and of what is done with it, reduce and finish.
void cuda_partial(const Pipeline& pipeline, const Plan& plan, CudaPairs pairs, TemplateHoles& holes);

}  // namespace nbcc
