// Array views and exceptions of the C++ interface. Included by nbcc.hpp.
#pragma once
#include <array>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "runtime/api/nbcc.h"

namespace nbcc {
inline namespace v0 {

// An nbcc_status other than NBCC_OK. what() is the entire message, with all diagnostics of a pipeline's text.
class Error : public std::runtime_error {
 public:
  Error(nbcc_status status, const std::string& message) : std::runtime_error(message), status_(status) {}
  nbcc_status status() const noexcept { return status_; }

 private:
  nbcc_status status_;
};

// NBCC_INTERRUPTED: the progress callback has asked for an interrupt.
class Interrupted : public Error {
 public:
  explicit Interrupted(const std::string& message) : Error(NBCC_INTERRUPTED, message) {}
};

namespace detail {

template <typename T>
struct ElementOf;
template <>
struct ElementOf<float> : std::integral_constant<nbcc_element, NBCC_FLOAT> {};
template <>
struct ElementOf<double> : std::integral_constant<nbcc_element, NBCC_DOUBLE_ELEMENT> {};
template <typename T>
  requires(std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) == 4)
struct ElementOf<T> : std::integral_constant<nbcc_element, NBCC_INT32> {};
template <typename T>
  requires(std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) == 8)
struct ElementOf<T> : std::integral_constant<nbcc_element, NBCC_INT64> {};

template <typename T>
concept Complex = std::is_same_v<T, std::complex<typename T::value_type>>;

}  // namespace detail

// Element types of arrays: float, double, 32- and 64-bit signed integers, const or not.
template <typename T>
concept ArrayElement = requires { detail::ElementOf<std::remove_cv_t<T>>::value; };

// A contiguous range whose memory outlives the full expression: a vector or array that is an lvalue, or a span.
template <typename R>
concept ArrayRange =
    std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && std::ranges::borrowed_range<R> &&
    ArrayElement<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

// A strided view of an array of particles. The caller owns the memory, which must outlive the runs that use it.
struct View {
  nbcc_view where{};
  bool read_only = false;
};

// Views `count` particles from *first on; strides in bytes. By default the array is a contiguous array of
// numbers. For a member of an array of structs: view(&p[0].x, n, sizeof(P)); if the member is a vector, its components
// are contiguous by default; otherwise component_stride is the distance between components.
template <ArrayElement T>
View view(T* first, std::int64_t count, std::int64_t stride = sizeof(T), std::int64_t component_stride = sizeof(T)) {
  using Plain = std::remove_cv_t<T>;
  return {{const_cast<Plain*>(first), detail::ElementOf<Plain>::value, count, stride, component_stride},
          std::is_const_v<T>};
}

// Views `count` complex numbers from *first on, for a field that is complex or a vec2; the stride is in bytes.
template <ArrayElement T>
View view(std::complex<T>* first, std::int64_t count, std::int64_t stride = sizeof(std::complex<T>)) {
  return view(reinterpret_cast<T*>(first), count, stride, sizeof(T));
}
template <ArrayElement T>
View view(const std::complex<T>* first, std::int64_t count, std::int64_t stride = sizeof(std::complex<T>)) {
  return view(reinterpret_cast<const T*>(first), count, stride, sizeof(T));
}

// Views an (N, width) array in row-major order: the components of a particle are contiguous. Throws Error if the size
// of `array` is not a multiple of `width`.
template <ArrayRange R>
View rows(R&& array, std::int64_t width) {
  const std::int64_t size = std::int64_t(std::ranges::size(array));
  if (width < 1 || size % width != 0) {
    throw Error(NBCC_ERROR_USAGE, "an array of " + std::to_string(size) + " numbers has no whole number of rows of " +
                                      std::to_string(width));
  }
  constexpr std::int64_t bytes = sizeof(std::ranges::range_value_t<R>);
  return view(std::ranges::data(array), size / width, width * bytes, bytes);
}

// Views a (width, N) array in row-major order: all first components, then all second components. Throws as rows().
template <ArrayRange R>
View columns(R&& array, std::int64_t width) {
  View result = rows(array, width);
  constexpr std::int64_t bytes = sizeof(std::ranges::range_value_t<R>);
  result.where.stride = bytes;
  result.where.component_stride = result.where.count * bytes;
  return result;
}

// The array arguments of compiled pipelines' functions: shape (count, Width), row-major. Converts from contiguous
// ranges (vector, array, span) of T or, if Width is not 1, of std::array<T, Width>, or for complex numbers of
// std::complex<T>; T is const for an input. The caller owns the memory.
template <ArrayElement T, int Width, bool IsComplex = false>
class Rows {
 public:
  using Row = std::array<std::remove_const_t<T>, Width>;

  // An output to be ignored.
  Rows() = default;

  // Throws Error if the size is not a multiple of Width.
  template <ArrayRange R>
    requires std::is_convertible_v<std::remove_reference_t<std::ranges::range_reference_t<R>> (*)[], T (*)[]>
  Rows(R&& numbers) : data_(std::ranges::data(numbers)), count_(rows(numbers, Width).where.count), is_wanted_(true) {}

  template <std::ranges::contiguous_range R>
    requires std::ranges::sized_range<R> && std::ranges::borrowed_range<R> &&
                 std::is_same_v<std::ranges::range_value_t<R>, Row> &&
                 (std::is_const_v<T> || !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)
  Rows(R&& array)
      : data_(reinterpret_cast<T*>(std::ranges::data(array))),
        count_(std::int64_t(std::ranges::size(array))),
        is_wanted_(true) {}

  template <std::ranges::contiguous_range R>
    requires std::ranges::sized_range<R> && std::ranges::borrowed_range<R> && IsComplex &&
                 std::is_same_v<std::ranges::range_value_t<R>, std::complex<std::remove_const_t<T>>> &&
                 (std::is_const_v<T> || !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)
  Rows(R&& numbers) : data_(reinterpret_cast<T*>(std::ranges::data(numbers))), is_wanted_(true) {
    const std::int64_t size = std::int64_t(std::ranges::size(numbers));
    if (size % (Width / 2) != 0)
      throw Error(NBCC_ERROR_USAGE, "an array of " + std::to_string(size) +
                                        " complex numbers has no whole number of rows of " + std::to_string(Width / 2));
    count_ = size / (Width / 2);
  }

  T* data() const { return data_; }
  std::int64_t count() const { return count_; }  // particles
  bool is_wanted() const { return is_wanted_; }

 private:
  T* data_ = nullptr;
  std::int64_t count_ = 0;
  bool is_wanted_ = false;
};

namespace detail {

struct RowCount {
  const char* argument;
  std::int64_t count;
  bool is_wanted;
};

// The number of particles of one side, or of listed pairs, which `rows` names; throws Error if the arguments disagree.
inline std::int64_t count_of(const char* pipeline, std::initializer_list<RowCount> arguments,
                             const char* rows = "particles") {
  const RowCount* first = nullptr;
  for (const RowCount& one : arguments) {
    if (!one.is_wanted) continue;
    if (!first) first = &one;
    if (one.count != first->count) {
      throw Error(NBCC_ERROR_USAGE, std::string(pipeline) + ": '" + one.argument + "' has " +
                                        std::to_string(one.count) + " " + rows + ", but '" + first->argument +
                                        "' has " + std::to_string(first->count));
    }
  }
  return first ? first->count : 0;
}

// Throws Error if the argument `first` of listed pairs does not have ni + 1 numbers. Without i-particles it may be
// empty.
inline void check_listed(const char* pipeline, std::int64_t count, std::int64_t ni) {
  if (count == ni + 1 || (count == 0 && ni == 0)) return;
  throw Error(NBCC_ERROR_USAGE, std::string(pipeline) + ": 'first' has " + std::to_string(count) +
                                    " numbers, expected " + std::to_string(ni + 1) + " for " + std::to_string(ni) +
                                    " i-particles");
}

}  // namespace detail

}  // namespace v0
}  // namespace nbcc
