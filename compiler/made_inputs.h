// The names of the inputs that the compiler adds to a pipeline, and the runtime gives: to one over copies of particles
// (passes/derived/every_image.h, runtime/sum/derived/every_image.h). Only those that are needed are there, places and
// shifts always.
#pragma once

namespace nbcc {

inline constexpr const char* kPlaceOfI = "nbcc_place_i";  // [axes] positions of i, moved into one cell
inline constexpr const char* kPlaceOfJ = "nbcc_place_j";  // [axes] positions of j, moved into the same cell
inline constexpr const char* kShiftOfJ = "nbcc_shift_j";  // [axes] from a j in the cell to its copy
inline constexpr const char* kCopiedJ = "nbcc_copied_j";  // the j_index of the copied particle
inline constexpr const char* kMovedI = "nbcc_moved_i";    // [3] by how many of each periodic vector i was moved
inline constexpr const char* kMovedJ = "nbcc_moved_j";
// Pipelines over pairs (passes/derived/pair_values.h, runtime/sum/derived/pair_values.h) have the indices of a pair's
// particles.
inline constexpr const char* kIndexOfI = "nbcc_index_i";
inline constexpr const char* kIndexOfJ = "nbcc_index_j";
inline constexpr const char* kCopyOf = "nbcc_copy_";  // before the name of an argmin: the copy that it found

}  // namespace nbcc
