// What the shim's compiler makes and its driver loads: cuModuleLoadData is given no length, so the image tells its own.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace nbcc::test {

inline constexpr char kShimImageMark[] = "nbcc shim image";  // and its final zero

inline std::string shim_image(const std::string& shared_object) {
  const std::uint64_t bytes = shared_object.size();
  std::string image(kShimImageMark, sizeof kShimImageMark);
  image.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  return image + shared_object;
}

// The shared object in an image; empty if it is none. Whatever it is, it ends with a zero, as strings do.
inline std::string_view shim_image_object(const void* image) {
  const char* const at = static_cast<const char*>(image);
  if (std::strcmp(at, kShimImageMark) != 0) return {};
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at + sizeof kShimImageMark, sizeof bytes);
  return {at + sizeof kShimImageMark + sizeof bytes, bytes};
}

}  // namespace nbcc::test
