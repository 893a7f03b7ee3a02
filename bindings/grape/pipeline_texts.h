// The pipelines of this folder, as they were when the library was built.
#pragma once

namespace nbcc::grape {

extern const char* const kForceText;    // g6.pipe
extern const char* const kPredictText;  // predict.pipe
extern const char* const kGravityText;  // g5.pipe

}  // namespace nbcc::grape
