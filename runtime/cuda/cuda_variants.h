// The variants of a CUDA kernel as a device compiles them: a source, the macros that select code in it, and a launch
// configuration. One table of frames, so that a compiled library holds what a device asks for.
// Tested by tests/unit/emit_cuda_test.cpp and compiled_library_test.cpp.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

// Names one program of a kernel.
struct CudaVariant {
  Frame frame = Frame::AllPairs;
  LaunchConfig config;          // without j_splits
  bool exclusions = false;      // its nbcc_interact skips the pairs of a CudaLeftOutTable
  bool reads_in_place = false;  // its j are read from the caller's arrays by each block, and may be shifted
  auto operator<=>(const CudaVariant&) const = default;
};

// Which macros a frame's source knows.
struct CudaFrame {
  Frame frame;
  bool exclusions, reads_in_place;
};
constexpr CudaFrame kCudaFrames[] = {
    {Frame::AllPairs, true, false},     {Frame::Search, true, false},       {Frame::Lists, true, true},
    {Frame::ListedPairs, false, false}, {Frame::IndexChecks, false, false},
};

// What the compiler sees. The kernel has a variant of that frame.
inline std::string source_of(const KernelSource& kernel, const CudaVariant& variant) {
  return std::string(variant.exclusions ? "#define NBCC_LEAVES_OUT\n" : "") +
         (variant.reads_in_place ? "#define NBCC_READS_IN_PLACE\n" : "") + kernel.find(variant.frame)->source;
}

// True for the configurations of all pairs beside the source's own: a device takes them for the sums, by their size, in
// which they are faster.
inline bool is_choice_by_size(const KernelSource& kernel, const CudaVariant& variant) {
  return variant.frame == Frame::AllPairs && variant.config != kernel.find(variant.frame)->launches.front();
}

// Every variant that a device may ask for.
inline std::vector<CudaVariant> all_variants(const KernelSource& kernel) {
  std::vector<CudaVariant> all;
  for (const KernelVariant& variant : kernel.variants) {
    const CudaFrame& frame = *std::ranges::find(kCudaFrames, variant.frame, &CudaFrame::frame);
    for (const bool exclusions : {false, true}) {
      if (exclusions && !frame.exclusions) continue;
      for (const LaunchConfig& config : variant.launches) all.push_back({variant.frame, config, exclusions, false});
      if (frame.reads_in_place) all.push_back({variant.frame, variant.launches.front(), exclusions, true});
    }
  }
  return all;
}

}  // namespace nbcc
