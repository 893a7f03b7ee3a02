// Pipeline of copies -> what callers and the runtime know of it.
#pragma once
#include "compiler/kernel_source.h"
#include "compiler/passes/every_image.h"

namespace nbcc {

// `given`: the caller's pipeline, from which `copies` was made.
CopiesLayout copies_layout(const Pipeline& given, const CopiesPipeline& copies);

}  // namespace nbcc
