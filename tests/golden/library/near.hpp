// near.hpp: made by nbcc from gravity.pipe, nearest_neighbour.pipe (single precision, fast math); do not edit.
//
// The functions of near.h for arrays with lengths. nbcc::Rows<T, n> converts from any contiguous range (span, vector,
// array) of T or, if n is not 1, of std::array<T, n>; T is const for inputs. The numbers of particles are the numbers of
// rows. The pairs that a pipeline with inputs or results of pairs sums over are two arrays, as near.h explains them;
// without i-particles `first` may be empty. A total is a pointer to a number or to a std::array of numbers. Pass {} for an
// output to ignore it. On failure the functions throw nbcc::Error, and no output has been written. P_open() opens the
// pipeline P on any device, for nbcc::Sum.
#pragma once
#include <nbcc/nbcc.hpp>

#include "near.h"

namespace near {

// gravity.pipe: softened Newtonian gravity, G = 1
inline void gravity(nbcc::Rows<const double, 3> xi, nbcc::Rows<const double, 3> xj, nbcc::Rows<const double, 1> mj,
    double eps2, nbcc::Rows<double, 3> acc, nbcc::Rows<double, 1> pot) {
  const std::int64_t ni = nbcc::detail::count_of("gravity", {{"xi", xi.count(), true},
      {"acc", acc.count(), acc.is_wanted()}, {"pot", pot.count(), pot.is_wanted()}});
  const std::int64_t nj = nbcc::detail::count_of("gravity", {{"xj", xj.count(), true}, {"mj", mj.count(), true}});
  const int nbcc_result = ::gravity(ni, reinterpret_cast<const double (*)[3]>(xi.data()), nj,
      reinterpret_cast<const double (*)[3]>(xj.data()), mj.data(), eps2, reinterpret_cast<double (*)[3]>(acc.data()),
      pot.data());
  if (nbcc_result != NBCC_OK) throw nbcc::Error(nbcc_status(nbcc_result), nbcc_last_error());
}
inline void gravity(nbcc::Rows<const float, 3> xi, nbcc::Rows<const float, 3> xj, nbcc::Rows<const float, 1> mj,
    double eps2, nbcc::Rows<float, 3> acc, nbcc::Rows<float, 1> pot) {
  const std::int64_t ni = nbcc::detail::count_of("gravity", {{"xi", xi.count(), true},
      {"acc", acc.count(), acc.is_wanted()}, {"pot", pot.count(), pot.is_wanted()}});
  const std::int64_t nj = nbcc::detail::count_of("gravity", {{"xj", xj.count(), true}, {"mj", mj.count(), true}});
  const int nbcc_result = ::gravity_f(ni, reinterpret_cast<const float (*)[3]>(xi.data()), nj,
      reinterpret_cast<const float (*)[3]>(xj.data()), mj.data(), eps2, reinterpret_cast<float (*)[3]>(acc.data()),
      pot.data());
  if (nbcc_result != NBCC_OK) throw nbcc::Error(nbcc_status(nbcc_result), nbcc_last_error());
}
inline nbcc::Pipeline gravity_open(const nbcc::Device& device) {
  nbcc_pipeline* pipeline = nullptr;
  nbcc_error* error = nullptr;
  const nbcc_status status = ::gravity_open(device.get(), &pipeline, &error);
  nbcc::detail::check(status, error);
  return nbcc::Pipeline(pipeline);
}

// nearest_neighbour.pipe: for every i the nearest j and its distance
inline void nearest_neighbour(nbcc::Rows<const double, 3> xi, nbcc::Rows<const double, 3> xj, std::int32_t self,
    nbcc::Rows<std::int64_t, 1> near, nbcc::Rows<double, 1> dist) {
  const std::int64_t ni = nbcc::detail::count_of("nearest_neighbour", {{"xi", xi.count(), true},
      {"near", near.count(), near.is_wanted()}, {"dist", dist.count(), dist.is_wanted()}});
  const std::int64_t nj = nbcc::detail::count_of("nearest_neighbour", {{"xj", xj.count(), true}});
  const int nbcc_result = ::nearest_neighbour(ni, reinterpret_cast<const double (*)[3]>(xi.data()), nj,
      reinterpret_cast<const double (*)[3]>(xj.data()), self, near.data(), dist.data());
  if (nbcc_result != NBCC_OK) throw nbcc::Error(nbcc_status(nbcc_result), nbcc_last_error());
}
inline void nearest_neighbour(nbcc::Rows<const float, 3> xi, nbcc::Rows<const float, 3> xj, std::int32_t self,
    nbcc::Rows<std::int64_t, 1> near, nbcc::Rows<float, 1> dist) {
  const std::int64_t ni = nbcc::detail::count_of("nearest_neighbour", {{"xi", xi.count(), true},
      {"near", near.count(), near.is_wanted()}, {"dist", dist.count(), dist.is_wanted()}});
  const std::int64_t nj = nbcc::detail::count_of("nearest_neighbour", {{"xj", xj.count(), true}});
  const int nbcc_result = ::nearest_neighbour_f(ni, reinterpret_cast<const float (*)[3]>(xi.data()), nj,
      reinterpret_cast<const float (*)[3]>(xj.data()), self, near.data(), dist.data());
  if (nbcc_result != NBCC_OK) throw nbcc::Error(nbcc_status(nbcc_result), nbcc_last_error());
}
inline nbcc::Pipeline nearest_neighbour_open(const nbcc::Device& device) {
  nbcc_pipeline* pipeline = nullptr;
  nbcc_error* error = nullptr;
  const nbcc_status status = ::nearest_neighbour_open(device.get(), &pipeline, &error);
  nbcc::detail::check(status, error);
  return nbcc::Pipeline(pipeline);
}

}  // namespace near
