// The near image of a j that is nearest to an i. Used for excluded pairs. Tested by
// tests/unit/runtime/far/periodic/periodic_cell_test.cpp.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "runtime/far/periodic/periodic_cell.h"

namespace nbcc {

class NearestImage {
 public:
  // `cell` must outlive this object; shifts[image]: those of the near images.
  NearestImage(const PeriodicCell& cell, std::span<const CellVector> shifts);
  // The number of the image, of a j at position_j[axis]; both positions are in the cell. At equal distances the lowest
  // number; 0 of non-finite positions.
  int number(const double* position_i, const double* position_j) const;

 private:
  const PeriodicCell& cell_;
  std::vector<CellVector> shifts_;
  std::map<CellImage, int> numbers_;
  double surely_nearest_ = 0;  // squared distance below which no other image is nearer
};

}  // namespace nbcc
