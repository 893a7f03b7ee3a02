// The pipelines of the library as they were when this was built, so that the program runs where the sources are not.
#pragma once
#include <string_view>

namespace nbcc::bench {

std::string_view embedded_pipeline(std::string_view name);  // empty if there is none

}  // namespace nbcc::bench
