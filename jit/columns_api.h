// A function of the Python package's own, not part of the public interface (nbcc.h): package and library are of one
// version.
#pragma once
#include "runtime/api/nbcc.h"

extern "C" {

// The text of a pipeline that sums for `count` columns of an input of j (compiler/passes/derived/columns.h), in a
// report.
NBCC_API nbcc_status nbcc_columns_text(const char* text, const char* name, const char* vector, const char* output,
                                       int count, nbcc_report** report, nbcc_error** error);

}  // extern "C"
