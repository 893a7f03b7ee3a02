// A command line -> an exit code. Its entry point is run_program().
#include "examples/support/program.h"

#include <cmath>
#include <cstdio>
#include <new>

#include "examples/support/failure.h"
#include "runtime/api/nbcc.hpp"

namespace examples {
namespace {

CLI::Validator number_that(const char* type, const char* wanted, bool (*is_right)(double)) {
  return CLI::Validator(
      [=](const std::string& word) {
        double number = 0;
        const bool is_number = CLI::detail::lexical_cast(word, number) && std::isfinite(number);
        return is_number && is_right(number) ? "" : "'" + word + "' is not " + wanted;
      },
      type);
}

int failed(const CLI::App& app, const char* what, int exit_code) {
  std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), what);
  return exit_code;
}

}  // namespace

int run_program(CLI::App& app, int count, char** words, const std::function<void()>& body) {
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    body();
    return 0;
  } catch (const nbcc::Error& error) {
    return failed(app, error.what(), error.status());
  } catch (const UsageError& error) {
    return failed(app, error.what(), 2);
  } catch (const Missing& error) {
    return failed(app, error.what(), 3);
  } catch (const std::bad_alloc&) {
    return failed(app, "there is not so much memory", 2);
  } catch (const std::exception& error) {
    return failed(app, error.what(), 1);
  }
}

CLI::Option* add_device(CLI::App& app, std::string& device) {
  return app.add_option("--device", device, "cpu, cuda, cuda:N, or several GPUs: cuda:0,2, cuda:all")
      ->capture_default_str();
}

CLI::Option* add_precision(CLI::App& app, nbcc_precision& precision, const std::string& text) {
  const auto take = [&precision](const std::string& name) {
    precision = name == "single" ? NBCC_SINGLE : name == "mixed" ? NBCC_MIXED : NBCC_DOUBLE;
  };
  return app.add_option_function<std::string>("--precision", take, text)
      ->check(CLI::IsMember({"single", "mixed", "double"}))
      ->default_str(name_of(precision));
}

const char* name_of(nbcc_precision precision) {
  return precision == NBCC_SINGLE ? "single" : precision == NBCC_MIXED ? "mixed" : "double";
}

CLI::Validator positive() {
  return number_that("POSITIVE", "a number above 0", [](double x) { return x > 0; });
}
CLI::Validator not_negative() {
  return number_that("NONNEGATIVE", "a number of at least 0", [](double x) { return x >= 0; });
}
CLI::Validator finite() {
  return number_that("NUMBER", "a number", [](double) { return true; });
}
CLI::Validator tolerance() {
  return number_that("TOLERANCE", "0 (all pairs), or a number from 1e-14 to 1",
                     [](double x) { return x == 0 || (x >= 1e-14 && x <= 1); });
}

}  // namespace examples
