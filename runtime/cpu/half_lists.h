// Lists of neighbours for the kernel that computes each pair of one set once (templates/cpu/cpu_half_lists.cpp.in):
// each two i share a list of vectors of j, with the i themselves and later particles. Tested by
// tests/numeric/half_lists_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/kernel_source.h"
#include "runtime/search/particle_tree.h"

namespace nbcc {

// A call of the kernel: the i of one piece, and some of the vectors of j near them.
struct HalfList {
  // Positions of the i of one piece: [piece * kPiece, (piece + 1) * kPiece), without those after the last particle.
  static constexpr std::int64_t kPiece = kHalfListVectors;

  std::vector<int> vectors;          // ascending; number v stands for the positions [v * lanes, (v + 1) * lanes)
  std::vector<std::uint16_t> first;  // [b]: where the list of the b-th two i begins in `near`
  std::vector<std::uint8_t> near;    // indices in `vectors`
  bool has_own = false;              // `vectors` begins with the vectors of the piece's i
};

// Calls body(from, count) for each run of consecutive vectors: vectors[from] to vectors[from] + count - 1.
template <typename Body>
void for_runs(std::span<const int> vectors, const Body& body) {
  for (std::size_t from = 0, count = 0; from < vectors.size(); from += count) {
    for (count = 1; from + count < vectors.size() && vectors[from + count] == vectors[from] + int(count);) ++count;
    body(from, count);
  }
}

// Makes the half lists of pieces. An object is used by one thread at a time.
class HalfLists {
 public:
  // The boxes of all vectors, as of_piece() needs them.
  static std::vector<BoundingBox> boxes_of_vectors(const ParticleTree& tree, int lanes, const ForEach& for_each);
  // The lists of a piece: together all vectors that may have a particle near an i of the piece.
  std::vector<HalfList> of_piece(const ParticleTree& tree, std::span<const BoundingBox> boxes, std::int64_t piece,
                                 int lanes);

 private:
  typedef float Floats __attribute__((vector_size(16)));
  static constexpr std::size_t kFloats = sizeof(Floats) / sizeof(float);

  // Vectors and their boxes, relative to some centre: [axis][k], [k]. Rounded such that no distance grows.
  struct Boxes {
    void clear(std::size_t capacity, std::size_t axes);
    void add(int value, std::size_t axes, const Vector3& away, const Vector3& half, bool is_placed,
             double squared_reach);
    void end();
    void append_near(std::size_t first, std::size_t axes, const Vector3& from, const Vector3& half,
                     std::vector<int>& found) const;
    std::size_t count = 0;
    std::vector<int> values;
    std::array<std::vector<float>, kMaxAxes> low, high;
    std::vector<float> reach2;  // an upper bound of the squared reach
  };
  struct Placed {
    Vector3 away;
    bool is_sure;  // no other image is within reach
  };
  static Placed place(const SearchSpace& space, const BoundingBox& from, const BoundingBox& box, double reach);
  void find_near_piece(const ParticleTree& tree, std::span<const BoundingBox> boxes, std::int64_t piece, int lanes);
  void find_near_leaf(const ParticleTree& tree, std::span<const BoundingBox> boxes, std::int64_t leaf, int lanes);
  void find(const ParticleTree& tree, std::span<const BoundingBox> boxes, std::int64_t piece, int lanes);

  BoundingBox piece_;  // of the piece's i
  Boxes near_piece_, near_leaf_;
  std::vector<int> leaves_, of_leaf_;  // near the piece; vectors near the leaf
  std::vector<int> found_;             // vectors near each two i of the piece, one after another
  std::vector<int> ends_;              // [b]: where the vectors of the b-th two i end
  std::vector<int> vectors_;           // all of found_, ascending
  std::vector<int> places_;            // [vector]: its index in vectors_; -1: not there
};

}  // namespace nbcc
