// Turns the exception being handled into a message on standard error and an exit code. Entry point: report_failure().
// Does not end the process: main() returns the code.
#include "cli/report/failure.h"

#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string_view>

#include "cli/report/near_page.h"
#include "compiler/text/diagnostic.h"
#include "compiler/text/own_stack.h"
#include "compiler/text/source.h"
#include "particles/file_error.h"
#include "runtime/api/nbcc.hpp"
#include "runtime/error.h"

namespace nbcc {
namespace {

int internal_error(std::string_view message) {
  // Messages of the C interface already have this prefix.
  constexpr std::string_view prefix = "internal error: ";
  if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
  fmt::print(stderr,
             "nbcc: {}{}\nThis is a bug in nbcc. Please report it with the command, the pipeline and what `nbcc info` "
             "prints.\n",
             prefix, message);
  return kInternalError;
}

int said(ExitCode code, const char* message) {
  fmt::print(stderr, "nbcc: {}\n", message);
  return code;
}

}  // namespace

int report_failure() {
  try {
    throw;
  } catch (const CompileError& e) {
    fmt::print(stderr, "{}{}", e.what(), help_line(e.diagnostics));
    return kInputWrong;
  } catch (const Error& e) {
    if (e.status() == NBCC_ERROR_INTERNAL) return internal_error(e.what());
    if (e.status() != NBCC_ERROR_INPUT) return said(e.status() == NBCC_ERROR_DEVICE ? kNoDevice : kUsage, e.what());
    fmt::print(stderr, "{}", e.what());  // diagnostics, which contain file and line
    return kInputWrong;
  } catch (const SourceUnreadable& e) {
    return said(kUsage, e.what());
  } catch (const FileError& e) {
    return said(kUsage, e.what());
  } catch (const UsageError& e) {
    return said(kUsage, e.what());
  } catch (const DeviceError& e) {
    return said(kNoDevice, e.what());
  } catch (const StackRefused& e) {
    return said(kNoDevice, e.what());
  } catch (const std::bad_alloc&) {
    return said(kNoDevice, "out of memory");
  } catch (const std::exception& e) {
    return internal_error(e.what());
  } catch (...) {
    return internal_error("an exception of unknown type");
  }
}

}  // namespace nbcc
