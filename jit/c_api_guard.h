// What the [jit] functions of nbcc.h share: every exception becomes a status, and options are read with care.
#pragma once
#include <string>

#include "compiler/options.h"
#include "compiler/text/diagnostic.h"
#include "compiler/text/own_stack.h"
#include "compiler/text/source.h"
#include "runtime/api/handles.h"

namespace nbcc {

// Runs the body; every exception becomes a status with a message.
template <typename Body>
nbcc_status guarded_compile(nbcc_error** error, Body body) noexcept {
  try {
    if (error) *error = nullptr;
    body();
    return NBCC_OK;
  } catch (const CompileError& e) {
    return fail(error, NBCC_ERROR_INPUT, e.what());
  } catch (const SourceUnreadable& e) {
    return fail(error, NBCC_ERROR_USAGE, e.what());
  } catch (const StackRefused& e) {
    return fail(error, NBCC_ERROR_DEVICE, e.what());
  } catch (...) {
    return fail_with_current_exception(error);
  }
}

inline void require(const void* pointer, const char* what) {
  if (!pointer) throw UsageError(std::string(what) + " is a null pointer");
}

// Throws UsageError for a number that is no precision, math or root. null means the defaults.
Options compile_options(const nbcc_pipeline_options* given);

}  // namespace nbcc
