// nbcc_check_text, nbcc_emit_text and what tells of the library and the machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "runtime/api/nbcc.h"
#include "runtime/api/nbcc.hpp"

namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kSum =
    "input_i vec3 xi;\ninput_j vec3 xj;\ninput_j real mj;\noutput(sum) real s;\ns += dot(xi, xj);\n";
constexpr const char* kWrong = "input_i vec3 xi;\noutput(sum) real s;\ns += foo(xi);\ns += bar;\n";

struct Report {
  nbcc_report* handle = nullptr;
  nbcc_error* error = nullptr;
  nbcc_status status = NBCC_OK;
  ~Report() {
    nbcc_report_free(handle);
    nbcc_error_free(error);
  }
  std::string text() const { return nbcc_report_text(handle); }
  std::string message() const { return nbcc_error_message(error); }
  nbcc_diagnostic diagnostic(int k) const {
    nbcc_diagnostic one{};
    EXPECT_EQ(nbcc_report_diagnostic(handle, k, &one), 0);
    return one;
  }
};

void check(const char* text, const char* name, Report& report) {
  report.status = nbcc_check_text(text, name, &report.handle, &report.error);
}

void emit(const char* stage, const nbcc_pipeline_options* options, const char* isa, Report& report) {
  report.status = nbcc_emit_text(kSum, "sum.pipe", stage, options, isa, &report.handle, &report.error);
}

TEST(CApiReport, WritesPipelinesOfDerivatives) {
  const char* const text =
      "input_i real xi; input_j real xj; input_j real mj; output(sum) real s;\ns += mj * xi * xj;\n";
  Report report;
  report.status = nbcc_adjoint_text(text, "sum.pipe", NBCC_ADJOINT_J, nullptr, "mj", &report.handle, &report.error);
  ASSERT_EQ(report.status, NBCC_OK);
  EXPECT_NE(report.text().find("d_mj += "), std::string::npos) << report.text();
  EXPECT_EQ(report.text().find("d_xj"), std::string::npos);
  EXPECT_EQ(nbcc::Pipeline::adjoint_text(text, NBCC_ADJOINT_J, "", "mj"), report.text());
  Report parsed;
  check(report.text().c_str(), "adjoint.pipe", parsed);
  EXPECT_EQ(parsed.status, NBCC_OK);

  Report refused;
  refused.status = nbcc_adjoint_text(text, "sum.pipe", NBCC_ADJOINT_I, "t", nullptr, &refused.handle, &refused.error);
  EXPECT_EQ(refused.status, NBCC_ERROR_USAGE);
  EXPECT_EQ(refused.message(), "pipeline 'sum' has no output 't'");
  EXPECT_EQ(refused.handle, nullptr);
  Report no_side;
  no_side.status =
      nbcc_adjoint_text(text, "sum.pipe", nbcc_adjoint_side(9), nullptr, nullptr, &no_side.handle, &no_side.error);
  EXPECT_EQ(no_side.status, NBCC_ERROR_USAGE);
}

TEST(CApiReport, TellsWhatEachFieldOfAnAdjointHolds) {
  // The names raw_e and e_j are taken.
  const char* const text =
      "input_i real x; input_j real x_j; input_i real e_j; output(sum) real e; output(sum) real raw_e;\n"
      "e += x * x_j; raw_e += x_j;\nvoid finish() { e = sqrt(e) * e_j; }\n";
  const auto fields = [&](nbcc_adjoint_side side, const char* of) {
    Report report;
    report.status = nbcc_adjoint_text(text, "sum.pipe", side, of, nullptr, &report.handle, &report.error);
    EXPECT_EQ(report.status, NBCC_OK) << report.message();
    std::string told;
    nbcc_adjoint_field field;
    for (int k = 0; nbcc_report_adjoint_field(report.handle, k, &field) == 0; ++k) {
      EXPECT_NE(report.text().find(std::string(" ") + field.name + ";"), std::string::npos) << report.text();
      told += std::string(field.name) + " " + std::to_string(field.meaning) + " " + field.of +
              (*field.partner ? std::string(" ") + field.partner : "") + "\n";
    }
    return told;
  };
  EXPECT_EQ(fields(NBCC_ADJOINT_FORWARD, "e"),
            "x 0 x x_j\nx_j 0 x_j x\ne_j 0 e_j\ne 0 e\nraw_e 0 raw_e\n"
            "raw_e_2 2 raw_e_2\nraw_raw_e 2 raw_raw_e\n");
  EXPECT_EQ(
      fields(NBCC_ADJOINT_ONE_SET, "e"),
      "x 0 x x_j\ne_j 0 e_j\nd_e 1 e\nraw_e_2 2 raw_e_2\nraw_raw_e 2 raw_raw_e\n"
      "x_j 0 x_j x\ne_j_j 0 e_j\nd_e_j 1 e\nraw_e_2_j 2 raw_e_2\nraw_raw_e_j 2 raw_raw_e\nd_x 3 x\ndd_e_j 3 e_j\n");
  const auto held = nbcc::Pipeline::adjoint_fields(text, NBCC_ADJOINT_J, "e", "x_j");
  EXPECT_EQ(held.back().of, "x_j");
  EXPECT_EQ(held.back().meaning, NBCC_ADJOINT_DERIVATIVE);
  Report other;
  check(kSum, nullptr, other);
  EXPECT_EQ(nbcc_report_adjoint_field_count(other.handle), 0);
  EXPECT_EQ(nbcc_report_adjoint_field_count(nullptr), 0);
}

TEST(CApiReport, TellsTheErrorsOfAText) {
  Report report;
  check(kWrong, "wrong.pipe", report);
  EXPECT_EQ(report.status, NBCC_ERROR_INPUT);
  ASSERT_EQ(nbcc_report_diagnostic_count(report.handle), 2);
  const nbcc_diagnostic first = report.diagnostic(0);
  EXPECT_EQ(first.severity, NBCC_SEVERITY_ERROR);
  EXPECT_EQ(first.line, 3);
  EXPECT_EQ(first.column, 6);
  EXPECT_STREQ(first.message, "use of undeclared identifier 'foo'");
  EXPECT_STREQ(first.rendered, "wrong.pipe:3:6: error: use of undeclared identifier 'foo'\ns += foo(xi);\n     ^\n");
  EXPECT_EQ(report.text(), std::string(first.rendered) + report.diagnostic(1).rendered);
  EXPECT_EQ(report.message(), report.text());
  nbcc_diagnostic none;
  EXPECT_EQ(nbcc_report_diagnostic(report.handle, 2, &none), -1);
  EXPECT_EQ(nbcc_report_diagnostic(report.handle, -1, &none), -1);
}

TEST(CApiReport, TellsTheWarningsOfATextThatCompiles) {
  Report report;
  check(kSum, nullptr, report);
  EXPECT_EQ(report.status, NBCC_OK);
  ASSERT_EQ(nbcc_report_diagnostic_count(report.handle), 1);
  EXPECT_EQ(report.diagnostic(0).severity, NBCC_SEVERITY_WARNING);
  EXPECT_THAT(report.text(), StartsWith("pipeline.pipe:3:14: warning: input_j 'mj' is declared and never used\n"));
}

TEST(CApiReport, EmitsEveryStage) {
  const auto text = [](const char* stage, const char* isa) {
    Report report;
    emit(stage, nullptr, isa, report);
    EXPECT_EQ(report.status, NBCC_OK) << report.message();
    EXPECT_EQ(nbcc_report_diagnostic_count(report.handle), 1);
    return report.text();
  };
  EXPECT_THAT(text("ir", nullptr), HasSubstr("mul.real"));
  EXPECT_THAT(text("optimized", nullptr), HasSubstr("s +="));
  EXPECT_THAT(text("cpu", "sse2"), HasSubstr("nbcc_interact"));
  EXPECT_THAT(text("asm", "sse2"), HasSubstr("nbcc_interact:"));
  EXPECT_THAT(text("cuda", nullptr), HasSubstr("__global__"));
}

TEST(CApiReport, EmitsWithTheOptions) {
  nbcc_pipeline_options options{};
  options.size = sizeof options;
  options.precision = NBCC_DOUBLE;
  Report single, as_double, wrong;
  emit("cpu", nullptr, "avx2", single);
  emit("cpu", &options, "avx2", as_double);
  EXPECT_NE(single.text(), as_double.text());
  const int no_math = 7;
  std::memcpy(&options.math, &no_math, sizeof no_math);
  emit("cpu", &options, "avx2", wrong);
  EXPECT_EQ(wrong.status, NBCC_ERROR_USAGE);
}

TEST(CApiReport, WrongArgumentsAreUsageErrors) {
  Report stage, isa, text, place;
  emit("sass", nullptr, nullptr, stage);
  EXPECT_EQ(stage.status, NBCC_ERROR_USAGE);
  EXPECT_EQ(
      stage.message(),
      "there is no stage 'sass'; there are ir, optimized, cpu, cpu-symmetric, asm, cuda, cuda-search, cuda-lists, "
      "cuda-pairs, cuda-symmetric, cuda-half and cuda-two-halves");
  EXPECT_EQ(stage.handle, nullptr);
  emit("cpu", nullptr, "mmx", isa);
  EXPECT_EQ(isa.status, NBCC_ERROR_USAGE);
  check(nullptr, "a.pipe", text);
  EXPECT_EQ(text.message(), "text is a null pointer");
  EXPECT_EQ(nbcc_check_text(kSum, nullptr, nullptr, &place.error), NBCC_ERROR_USAGE);
  EXPECT_EQ(place.message(), "report is a null pointer");
  EXPECT_EQ(nbcc_check_text(kSum, nullptr, nullptr, nullptr), NBCC_ERROR_USAGE);
}

TEST(CApiReport, NoReportSaysNothing) {
  EXPECT_STREQ(nbcc_report_text(nullptr), "");
  EXPECT_EQ(nbcc_report_diagnostic_count(nullptr), 0);
  nbcc_report_free(nullptr);
}

TEST(CApiReport, TellsTheVersion) {
  const std::string version = std::to_string(NBCC_VERSION_MAJOR) + "." + std::to_string(NBCC_VERSION_MINOR) + "." +
                              std::to_string(NBCC_VERSION_PATCH);
  EXPECT_EQ(nbcc_version(), version);
}

TEST(CApiReport, CountsTheGpusOrTellsWhyThereAreNone) {
  int count = -1;
  nbcc_error* error = nullptr;
  const nbcc_status status = nbcc_cuda_count(&count, &error);
  EXPECT_GE(count, 0);
  EXPECT_EQ(status == NBCC_OK, error == nullptr);
  if (status != NBCC_OK) {
    EXPECT_EQ(status, NBCC_ERROR_DEVICE);
    EXPECT_STRNE(nbcc_error_message(error), "");
  }
  nbcc_error_free(error);
  EXPECT_EQ(nbcc_cuda_count(nullptr, nullptr), NBCC_ERROR_USAGE);
}

}  // namespace
