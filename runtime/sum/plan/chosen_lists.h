// Lists of the caller for some of their i. A method that sums over lists takes all i of them, so a run over some i has
// lists of its own: the same groups and ranges of j, without the other i. Where groups have tables of their own, the
// groups of each table are such a run. Tested by tests/numeric/lists_test.cpp.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/sum/plan/device.h"

namespace nbcc {

// The chosen i in host memory. Throws DeviceError if they are in the memory of a GPU whose work is being captured.
std::vector<std::int64_t> chosen_i(const SumRequest& request, const Summation& sum);
// The tables of one group: an element of request.tables_of_groups, which has some.
const TablesOfGroups& tables_of(const SumRequest& request, std::int64_t group);

class ChosenLists {
 public:
  // The method "lists" of a device, for all i and for some. `sum` and this object must outlive it.
  PairMethod method(PairMethod of_device, const Summation& sum);
  // The steps of a run with `method` over these i. They refer to memory of this object, until the next call.
  std::vector<RunStep> steps(const PairMethod& method, const SumRequest& request, std::vector<std::int64_t> particles);

 private:
  // The caller's lists for `particles` alone.
  struct Some {
    std::optional<Lists> lists;
    std::int64_t number = 0;  // of the caller's lists
    std::vector<std::int64_t> particles;
  };
  static RunStep step(Some& some, const PairMethod& method, SumRequest request, std::vector<std::int64_t> particles);

  PairMethod of_device_;
  std::vector<Some> some_;  // one, or one for each element of SumRequest::tables_of_groups
};

}  // namespace nbcc
