// Sums over every periodic image within a cutoff, on any device. A kernel of a pipeline with every_image() is one for
// copies of particles (compiler/passes/derived/every_image.h). Each run makes the copies, on the host or, of arrays
// in a device's memory, there (device_images.h): it moves the i into one cell, copies each j for each of its images
// that may be within reach, and runs the kernel over i and the copies. On a CPU runs in large boxes need no copies
// (nearest_images.h). Tested by tests/numeric/every_image_test.cpp.
#pragma once
#include <memory>

#include "runtime/sum/plan/device.h"

namespace nbcc {

// The kernel as callers see it: with their fields, and sums that make the copies. A kernel without copies is returned
// unchanged.
std::shared_ptr<const Kernel> with_images(std::shared_ptr<const Kernel> kernel);

}  // namespace nbcc
