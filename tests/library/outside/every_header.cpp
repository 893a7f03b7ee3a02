// The header of all pipelines together; and of one whose fields are whole numbers, the types and values.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "everything.hpp"

int main() {
  const std::vector<float> x{0, 0, 0, 1, 0, 0, 5, 0, 0};
  std::vector<std::int64_t> near(3);
  std::vector<float> distance(3);
  everything::nearest_neighbour(x, x, std::int32_t(1), near, distance);
  if (near == std::vector<std::int64_t>{1, 0, 1} && distance == std::vector<float>{1, 1, 4}) return 0;
  std::puts("nearest_neighbour is wrong");
  return 1;
}
