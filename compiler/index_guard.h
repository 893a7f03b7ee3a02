// How a pipeline's guards depend on a comparison of i_index with j_index. Plain data, which compiler and runtime share.
#pragma once
#include <cstdint>

namespace nbcc {

enum class IndexGuard : std::uint8_t {
  None,   // pairs of equal indices may contribute
  Equal,  // no pair of equal indices contributes, as after skip_if(i_index == j_index)
  Order,  // other pairs are excluded by the order of their indices as well, as after skip_if(i_index >= j_index)
};

}  // namespace nbcc
