// The operator through which all but the near images of a periodic sum act. Plain data.
#pragma once
#include <string>
#include <vector>

#include "runtime/far/periodic/periodic_tables.h"

namespace nbcc {

// What acts from outside the near images (periodic_tables.h): matrix[component][point a][point b].
struct FarOperator {
  // A weight acts on a sum through a component; one that is 0 everywhere is none. In the order of the sums.
  struct Component {
    int sum = 0, weight = 0;
    bool operator==(const Component&) const = default;
  };
  int sums = 0;
  std::vector<Component> components;
  std::string convention;  // decays and conventions by output, for users: "pot: decay 1, degree 2 fitted, mean zero
                           // ...; field: ..."
  PeriodicTables tables;
  std::vector<double> matrix;
};

}  // namespace nbcc
