// What can be measured, each as one table.
#pragma once
#include "bench/generated.h"
#include "bench/report.h"

namespace nbcc::bench {

void measure_compile_times(const Setup& setup, Report& report);  // first: it includes what a process pays once
void measure_side_by_side(const Setup& setup, Report& report);
void measure_shapes(const Setup& setup, Report& report);
void measure_small_sets(const Setup& setup, Report& report);
void measure_symmetric(const Setup& setup, Report& report);
void measure_threads(const Setup& setup, Report& report);
void measure_precisions(const Setup& setup, Report& report);
void measure_roots(const Setup& setup, Report& report);
void measure_spellings(const Setup& setup, Report& report);
void measure_portable(const Setup& setup, Report& report);
void measure_functions(const Setup& setup, Report& report);
void measure_accuracy(const Setup& setup, Report& report);
void measure_sequential(const Setup& setup, Report& report);

}  // namespace nbcc::bench
