// The copies of every_image() in the memory of a device, made there as copies_of() (image_copies.h) makes them on the
// host, with the same bits. The host reads their number alone. Tested by tests/numeric/every_image_test.cpp.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/sum/derived/image_copies.h"
#include "runtime/sum/run/device_copies.h"
#include "templates/cuda/frames/cuda_copy_data.h"

namespace nbcc {

// What the copies of a run depend on besides arrays.
struct ImageLattice {
  PeriodicVectors periods;                      // in the units of the reach
  std::array<std::vector<double>, 3> in_given;  // the reduced basis in the units of positions
  std::vector<double> unit;                     // [axis] from positions to the units of the reach
  double rounding = 0;                          // as for copies_of()
};

class DeviceImages {
 public:
  // `callers`: the kernel as callers see it, with copies(); `search`: of the kernel over copies. Both must outlive
  // this.
  DeviceImages(const KernelSource& callers, const SearchLayout& search) : callers_(callers), search_(search) {}
  // Makes the copies of a run. False: the host must make them, or report what is wrong with the particles.
  bool make(DeviceCopies& device, const SumRequest& request, const ImageLattice& lattice);
  void forget() { made_on_ = nullptr; }

  // The last copies. Arrays are in the memory of the device.
  std::int64_t count() const { return count_; }
  std::int64_t made() const { return made_; }  // changes whenever the copies are others
  const std::int64_t* of() const { return reinterpret_cast<const std::int64_t*>(of_); }
  ArrayView place_of_i() const { return rows(place_i_, count_of_i_); }
  ArrayView place_of_j() const { return rows(place_j_, count_); }
  ArrayView shift_of_j() const { return rows(shift_j_, count_); }
  ArrayView copied() const { return {copied_, Element::Int64, count_, 8, 8}; }
  ArrayView moved_i() const { return multiples(moved_given_i_, count_of_i_); }
  ArrayView moved_j() const { return multiples(moved_given_, count_); }
  // Array numbers of the device from this one on are free.
  static constexpr std::size_t kFirstFree = 64;

 private:
  bool evaluate(DeviceCopies& device, const SumRequest& request, bool of_i);
  bool holds(DeviceCopies& device, const SumRequest& request, const ImageLattice& lattice);
  bool find_copies(DeviceCopies& device);
  void place(DeviceCopies& device, std::int64_t j_offset);
  ArrayView rows(double* at, std::int64_t count) const {
    return {at, Element::Double, count, 8 * std::int64_t(cell_.axes), 8};
  }
  static ArrayView multiples(copy_data::Moves* at, std::int64_t count) {
    return {at, Element::Int32, count, sizeof(copy_data::Moves), 4};
  }

  const KernelSource& callers_;
  const SearchLayout& search_;
  copy_data::Cell cell_{};
  // Formulas as the device has them.
  std::array<std::vector<std::byte>, 2> formulas_;
  const DeviceCopies* formulas_on_ = nullptr;
  // What the copies were made for: positions and reaches are kept in one half of the arrays.
  const DeviceCopies* made_on_ = nullptr;
  std::optional<ImageLattice> made_for_;
  double skin_ = 0, uniform_ = 0;
  bool second_half_ = false;  // of the arrays of positions: where those of the current run are
  std::int64_t count_of_i_ = 0, count_of_j_ = 0, count_ = 0, made_ = 0;
  copy_data::Side i_{}, j_{};
  copy_data::Side then_i_{}, then_j_{};
  copy_data::Summary* summary_ = nullptr;
  long long *of_ = nullptr, *copied_ = nullptr;
  copy_data::Moves *moved_ = nullptr, *moved_given_ = nullptr, *moved_given_i_ = nullptr;
  double *place_i_ = nullptr, *place_j_ = nullptr, *shift_j_ = nullptr;
};

}  // namespace nbcc
