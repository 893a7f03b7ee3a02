// Columns of a particle -> their order in a struct, and its size. Entry points: struct_order(), struct_bytes().
#include "compiler/emit/cuda/pair/cuda_struct.h"

#include <algorithm>

namespace nbcc {
namespace {

int bytes_of(int column, const std::vector<Column>& columns) {
  return int(size_of(columns[std::size_t(column)].element));
}

}  // namespace

std::vector<int> struct_order(const std::set<int>& members, const std::set<int>& first,
                              const std::vector<Column>& columns) {
  std::vector<int> order(members.begin(), members.end());
  const auto rank = [&](int column) { return std::pair(first.count(column) == 0, -bytes_of(column, columns)); };
  std::ranges::stable_sort(order, [&](int a, int b) { return rank(a) < rank(b); });
  return order;
}

int struct_bytes(const std::vector<int>& order, const std::vector<Column>& columns) {
  int bytes = 0;
  for (const int column : order) {
    const int own = bytes_of(column, columns);
    bytes = (bytes + own - 1) / own * own + own;
  }
  return bytes;
}

}  // namespace nbcc
