// Pipeline of copies -> what callers and the runtime know of it.
#pragma once
#include "compiler/kernel_source.h"
#include "compiler/passes/derived/every_image.h"

namespace nbcc {

CopiesLayout copies_layout(const CopiesPipeline& copies);

}  // namespace nbcc
