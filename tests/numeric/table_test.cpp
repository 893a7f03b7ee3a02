// Params that are read at run-time indices: elements at and (clamped) beyond their ends, interpolation, and that a run
// sees the values that were set last. On every device of this machine, from rows that registers hold to the longest.
#include "compiler/table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/random_source.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

using Reals = std::vector<double>;
using Numbers = std::vector<int>;

ArrayView view(Reals& values) { return {values.data(), Element::Double, std::int64_t(values.size()), 8, 0}; }
ArrayView view(Numbers& values) { return {values.data(), Element::Int32, std::int64_t(values.size()), 4, 0}; }

void on_every_device(const std::string& text,
                     const std::function<void(std::shared_ptr<const Kernel>, const std::string&)>& test) {
  const Pipeline pipeline = parse({"table.pipe", text});
  for (const auto& [isa, precision] : isas_with_precisions(text.size())) {
    const Options options{.precision = precision};
    CpuDevice device(1, isa, cpu_toolchain(), "", "");
    test(device.load(build_cpu_kernel(pipeline, options, isa, "")), describe(options, isa));
  }
  for (const Precision precision : sampled({Precision::Single, Precision::Mixed, Precision::Double}, 3, text.size())) {
    CudaShim shim;
    CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
    test(device.load(build_cuda_kernel(pipeline, {.precision = precision}, "")),
         "shim, " + std::string(name(precision)));
  }
}

// Whole numbers, so that every precision has them.
Reals numbered(int count) {
  Reals values;
  for (int k = 0; k < count; ++k) values.push_back(k % 1000 + 1);
  return values;
}

// What a type that leads out of the table finds.
int within(int type, int count) { return std::clamp(type, 0, count - 1); }

// Sums of w * e[ti][tj], of 300 j and some i.
TEST(Tables, ClampedRowsAndColumnsFindTheEnds) {
  for (const int types : {1, 3, 8, 15, 31, 200}) {
    const std::string text = "input_i int ti; input_j int tj; input_j real w; param real e[" + std::to_string(types) +
                             "][" + std::to_string(types) +
                             "];\noutput(sum) double s; output(max) real m;\ns += double(w * e[ti][tj]); m = max(m, "
                             "e[ti][tj]);\nvoid finish() { s += double(e[1000000][ti]); }";
    if (types > 3 && types < 31 && types != 8) continue;
    std::string fitted = text;
    fitted.replace(fitted.find("1000000"), 7, std::to_string(types - 1));
    on_every_device(fitted, [types](const std::shared_ptr<const Kernel>& kernel, const std::string& where) {
      Reals e = numbered(types * types), w(300);
      Numbers ti{-2000000000, -1, 0, types / 2, types - 1, types, 2000000000}, tj(300);
      for (int j = 0; j < 300; ++j) w[std::size_t(j)] = j % 3, tj[std::size_t(j)] = j * 7 % (types + 9) - 4;
      Reals s(ti.size()), m(ti.size());
      SumState sum(kernel);
      sum.bind("ti", view(ti)), sum.bind("tj", view(tj)), sum.bind("w", view(w));
      sum.bind("s", view(s)), sum.bind("m", view(m));
      for (const double factor : {1.0, 2.0}) {
        for (double& value : e) value *= factor;
        sum.set_param("e", e);
        sum.run({.clamp = true});
        sum.wait();
        for (std::size_t i = 0; i < ti.size(); ++i) {
          const auto row = std::size_t(within(ti[i], types) * types);
          double expected = e[std::size_t((types - 1) * types + within(ti[i], types))], most = 0;
          for (std::size_t j = 0; j < tj.size(); ++j) {
            const double element = e[row + std::size_t(within(tj[j], types))];
            expected += w[j] * element;
            most = std::max(most, element);
          }
          EXPECT_EQ(s[i], expected) << where << ", " << types << " types, i " << i;
          EXPECT_EQ(m[i], most) << where;
        }
      }
    });
  }
}

// Kernels may hold such side by side: tables that fit into a GPU's shared memory and larger ones, behind a cutoff, and
// where rows are chosen by j or by both.
TEST(Tables, ManyMayBeReadAtTheSamePlace) {
  for (const int types : {8, 100}) {
    const std::string size = "[" + std::to_string(types) + "][" + std::to_string(types) + "]";
    const std::string text =
        "input_i int ti; input_j int tj; input_j real w; param real a" + size + "; param real b" + size +
        "; param vec3 c" + size + "; param index n" + size + "; param real r" + size +
        ";\noutput(sum) double s; output(sum) vec3 v; output(sum) index most; output(sum) real t;\n"
        "skip_if(w >= r[ti][tj]);\ns += double(w * a[ti][tj] + b[ti][tj]); v += c[ti][tj];\n"
        "most += n[tj][ti]; t += r[(ti + tj) / 2][tj];";
    on_every_device(text, [types](const std::shared_ptr<const Kernel>& kernel, const std::string& where) {
      const int count = types * types;
      const Reals a = numbered(count), c = numbered(3 * count);
      Reals b(a.rbegin(), a.rend()), n, r;
      for (int k = 0; k < count; ++k) n.push_back(k % 77 - 20), r.push_back(k % 5);
      Reals w(300);
      Numbers ti{-5, 0, types / 2, types - 1, types}, tj(300);
      for (int j = 0; j < 300; ++j) w[std::size_t(j)] = j % 4, tj[std::size_t(j)] = j * 7 % (types + 9) - 4;
      Reals s(ti.size()), v(3 * ti.size()), most(ti.size()), t(ti.size());
      SumState sum(kernel);
      sum.bind("ti", view(ti)), sum.bind("tj", view(tj)), sum.bind("w", view(w));
      sum.bind("s", view(s)), sum.bind("most", view(most)), sum.bind("t", view(t));
      sum.bind("v", {v.data(), Element::Double, std::int64_t(ti.size()), 24, 8});
      sum.set_param("a", a), sum.set_param("b", b), sum.set_param("c", c), sum.set_param("n", n), sum.set_param("r", r);
      sum.run({.clamp = true});
      sum.wait();
      for (std::size_t i = 0; i < ti.size(); ++i) {
        double of_s = 0, of_most = 0, of_t = 0;
        Reals of_v(3);
        for (std::size_t j = 0; j < tj.size(); ++j) {
          const int row = within(ti[i], types), column = within(tj[j], types);
          const auto at = std::size_t(row * types + column);
          if (w[j] >= r[at]) continue;
          of_s += w[j] * a[at] + b[at];
          for (std::size_t x = 0; x < 3; ++x) of_v[x] += c[3 * at + x];
          of_most += n[std::size_t(column * types + row)];
          of_t += r[std::size_t(within((ti[i] + tj[j]) / 2, types) * types + column)];
        }
        const std::string which = where + ", " + std::to_string(types) + " types, i " + std::to_string(i);
        EXPECT_EQ(s[i], of_s) << which;
        EXPECT_EQ(Reals(v.begin() + std::ptrdiff_t(3 * i), v.begin() + std::ptrdiff_t(3 * i + 3)), of_v) << which;
        EXPECT_EQ(most[i], of_most) << which;
        EXPECT_EQ(t[i], of_t) << which;
      }
    });
  }
}

TEST(Tables, VectorsAndWholeNumbersAreLookedUpToo) {
  on_every_device(
      "input_j int k; param vec3 c[40]; param int n[40]; param bool b[40]; param index far[3];\n"
      "output(sum) vec3 s; output(sum) int count; output(max) index most;\n"
      "if (b[k]) { s += c[k]; count += n[k]; }\nmost = max(most, far[k]);",
      [](const std::shared_ptr<const Kernel>& kernel, const std::string& where) {
        Reals c = numbered(120), n(40), b(40), far{5, 0x1p40, 7};
        Numbers k(100);
        for (int j = 0; j < 40; ++j) n[std::size_t(j)] = j - 20, b[std::size_t(j)] = j % 2;
        Reals expected(3);
        double counted = 0;
        for (int j = 0; j < 100; ++j) {
          const int at = j % 50 - 5, found = within(at, 40);
          k[std::size_t(j)] = at;
          if (found % 2 == 0) continue;
          for (int x = 0; x < 3; ++x) expected[std::size_t(x)] += c[std::size_t(3 * found + x)];
          counted += n[std::size_t(found)];
        }
        Reals s(3), count(1), most(1);
        SumState sum(kernel);
        sum.set_counts(1, 100);
        sum.bind("k", view(k));
        sum.bind("s", {s.data(), Element::Double, 1, 24, 8});
        sum.bind("count", view(count)), sum.bind("most", view(most));
        sum.set_param("c", c), sum.set_param("n", n), sum.set_param("b", b), sum.set_param("far", far);
        sum.run({.clamp = true});
        sum.wait();
        EXPECT_EQ(s, expected) << where;
        EXPECT_EQ(count[0], counted) << where;
        EXPECT_EQ(most[0], 0x1p40) << where;
      });
}

// A spline is any cubic that its elements are of; a line between elements is any line. Beyond the ends both stay there.
TEST(Tables, SplinesAreExactForCubicsAndHoldTheirEnds) {
  on_every_device(
      "input_i real s; input_j real one; param real cubic[2][60]; param real line[1500]; param vec2 v[4];\n"
      "output(sum) real c; output(sum) real l; output(sum) vec2 p;\n"
      "c += one * spline(cubic[1], s); l += one * table(line, s); p += one * spline(v, s);",
      [](const std::shared_ptr<const Kernel>& kernel, const std::string& where) {
        const double epsilon =
            kernel->source.accumulators.empty() || where.find("double") == std::string::npos ? 1.2e-7 : 2.3e-16;
        const auto f = [](double x) { return ((0.001 * x - 0.06) * x + 0.5) * x + 3; };
        Reals cubic(120, 77.0), line(1500), v(8);
        for (int k = 0; k < 60; ++k) cubic[std::size_t(60 + k)] = f(k);
        for (int k = 0; k < 1500; ++k) line[std::size_t(k)] = 2 - 0.25 * k;
        for (int k = 0; k < 4; ++k) v[std::size_t(2 * k)] = f(k), v[std::size_t(2 * k + 1)] = k * k;
        Reals s{-1e30, -1, 0, 0.25, 1.5, 2.75, 3, 17.125, 58.5, 59, 60, 1499, 1e30, HUGE_VAL, -HUGE_VAL, NAN}, one{1};
        Reals c(s.size()), l(s.size()), p(2 * s.size());
        SumState sum(kernel);
        sum.bind("s", view(s)), sum.bind("one", view(one)), sum.bind("c", view(c)), sum.bind("l", view(l));
        sum.bind("p", {p.data(), Element::Double, std::int64_t(s.size()), 16, 8});
        sum.set_param("cubic", cubic), sum.set_param("line", line), sum.set_param("v", v);
        sum.run();
        sum.wait();
        for (std::size_t i = 0; i < s.size(); ++i) {
          if (std::isnan(s[i])) {
            EXPECT_TRUE(std::isnan(c[i]) && std::isnan(l[i])) << where;
            continue;
          }
          const double x = std::clamp(s[i], 0.0, 59.0), y = std::clamp(s[i], 0.0, 3.0);
          EXPECT_NEAR(c[i], f(x), 200 * epsilon) << where << ", s = " << s[i];
          EXPECT_NEAR(l[i], 2 - 0.25 * std::clamp(s[i], 0.0, 1499.0), 800 * epsilon) << where << ", s = " << s[i];
          EXPECT_NEAR(p[2 * i], f(y), 20 * epsilon) << where;
          EXPECT_NEAR(p[2 * i + 1], y * y, 40 * epsilon) << where;
        }
      });
}

// sin(x) at 0, 0.5, ... 3: from SciPy 1.17.1's CubicSpline with its default ends ("not-a-knot").
TEST(Tables, SplinesAreThoseOfSciPy) {
  Reals y;
  for (int k = 0; k <= 6; ++k) y.push_back(std::sin(k * 0.5));
  const auto coefficients = spline_coefficients(y);
  const auto at = [&](double s) {
    const auto k = std::size_t(std::min(int(s), 5));
    const double u = s - double(k);
    return ((coefficients[3][k] * u + coefficients[2][k]) * u + coefficients[1][k]) * u + coefficients[0][k];
  };
  EXPECT_NEAR(at(0.3), 0.15027071425034902, 1e-15);
  EXPECT_NEAR(at(2.5), 0.948860740499329, 1e-15);
  EXPECT_NEAR(at(5.9), 0.19096000492279686, 1e-15);
}

TEST(Tables, OfTwoAndThreeElementsAreALineAndAParabola) {
  const auto line = spline_coefficients(Reals{1, 4});
  EXPECT_EQ(line[0][0], 1);
  EXPECT_EQ(line[1][0], 3);
  EXPECT_EQ(line[2][0], 0);
  EXPECT_EQ(line[3][0], 0);
  const auto parabola = spline_coefficients(Reals{0, 1, 4});
  for (int k = 0; k < 2; ++k) {
    EXPECT_NEAR(parabola[1][std::size_t(k)], 2 * k, 1e-15);
    EXPECT_NEAR(parabola[2][std::size_t(k)], 1, 1e-15);
    EXPECT_NEAR(parabola[3][std::size_t(k)], 0, 1e-15);
  }
}

// One spline goes through all elements: an infinite one, or one too large, would make NaN of every value.
TEST(Tables, SplinesAreFiniteOrRefused) {
  struct Shape {
    const char *declared, *read;
    int rows, columns, components;
  };
  const Shape shapes[] = {{"real t[9]", "spline(t, s)", 1, 9, 1},
                          {"real t[3][5]", "spline(t[1], s)", 3, 5, 1},
                          {"vec2 t[4]", "spline(t, s).y", 1, 4, 2}};
  int refused = 0, finite = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomSource random(seed);
    const Shape& shape = shapes[random.below(3)];
    const Precision precision = random.chance(50) ? Precision::Single : Precision::Double;
    const Pipeline pipeline =
        parse({"table.pipe", std::string("input_i real s; input_j real one; output(sum) double v; param ") +
                                 shape.declared + ";\nv += double(one * " + shape.read + ");"});
    const Isa isa = runnable_isas().back();
    CpuDevice device(1, isa, cpu_toolchain(), "", "");
    SumState sum(device.load(build_cpu_kernel(pipeline, {.precision = precision}, isa, "")));
    const int count = shape.rows * shape.columns * shape.components;
    Reals values(static_cast<std::size_t>(count), 1.0);
    const int where = random.below(count), entry = where / shape.components;
    const bool extreme = random.chance(50);
    values[std::size_t(where)] =
        extreme ? std::pow(10.0, random.between(30, 308)) : random.pick<double>({HUGE_VAL, -HUGE_VAL, NAN});
    try {
      sum.set_param("t", values);
    } catch (const UsageError& refusal) {
      ++refused;
      const std::string name = shape.rows > 1 ? fmt::format("[{}][{}]", entry / shape.columns, entry % shape.columns)
                                              : fmt::format("[{}]", entry);
      EXPECT_TRUE(extreme || std::string(refusal.what()).find("its entry " + name + " is ") != std::string::npos)
          << refusal.what();
      continue;
    }
    EXPECT_TRUE(extreme) << "seed " << seed;
    Reals s{0, 0.3, 1.7, 2.5, 3, 7.9}, one{1}, v(s.size());
    sum.bind("s", view(s)), sum.bind("one", view(one)), sum.bind("v", view(v));
    sum.run();
    sum.wait();
    for (const double each : v)
      EXPECT_TRUE(std::isfinite(each)) << "seed " << seed << ": " << values[std::size_t(where)];
    ++finite;
  }
  EXPECT_GT(refused, 10);
  EXPECT_GT(finite, 3);
  // A table that no spline goes through takes what any param takes.
  const Pipeline pipeline =
      parse({"table.pipe", "input_j real x; param real t[4]; output(min) real m; m = min(m, table(t, x));"});
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  SumState sum(device.load(build_cpu_kernel(pipeline, {}, isa, "")));
  EXPECT_NO_THROW(sum.set_param("t", Reals{1, HUGE_VAL, 2, 3}));
}

// Batches with tables of their own, two of them with the same: all i, then some.
TEST(Tables, MayDifferForEachBatch) {
  const std::string text =
      "input_j int k; param real t[3]; param real w; output(sum) real s; output(min) real m;\n"
      "s += w * t[k]; m = min(m, w * t[k]); void finish() { s += 1; }";
  on_every_device(text, [](std::shared_ptr<const Kernel> kernel, const std::string& what) {
    Reals s(30, 100), m(30, 1), tables{1, 2, 3, 5, 7, 11, 1, 2, 3};
    const Reals weights{2, 1, 3};
    Numbers k;
    std::vector<std::int64_t> of_i, of_j, some{29, 4, 12, 3};
    for (int j = 0; j < 90; ++j) k.push_back(j * 7 % 3), of_j.push_back(j < 20 ? 0 : j < 50 ? 1 : 2);
    for (int i = 0; i < 30; ++i) of_i.push_back(i / 10);
    SumState sum(kernel);
    sum.bind("k", view(k)), sum.bind("s", view(s)), sum.bind("m", view(m));
    EXPECT_THROW(sum.set_param_of_groups("t", tables), UsageError);  // of no batches
    sum.set_batches(3, 30, of_i.data(), 90, of_j.data());
    sum.set_param_of_groups("t", tables);
    sum.set_param_of_groups("w", weights);
    sum.run({.i_count = 4, .i_list = some.data(), .accumulate = true});
    sum.wait();
    const auto expect = [&](std::size_t i, double before, double least) {
      double total = before + 1;
      const auto b = std::size_t(of_i[i]);
      for (std::size_t j = 0; j < 90; ++j) {
        if (of_j[j] != of_i[i]) continue;
        const double term = weights[b] * tables[3 * b + std::size_t(k[j])];
        total += term;
        least = std::min(least, term);
      }
      EXPECT_EQ(s[i], total) << what << ", i " << i;
      EXPECT_EQ(m[i], least) << what << ", i " << i;
    };
    for (const std::int64_t i : some) expect(std::size_t(i), 100, 1);
    EXPECT_EQ(s[5], 100) << what;
    std::fill_n(tables.begin() + 3, 3, 4.0);
    sum.set_param_of_groups("t", tables);
    sum.run();
    sum.wait();
    for (std::size_t i = 0; i < 30; ++i) expect(i, 0, HUGE_VAL);
    EXPECT_THROW(sum.run({.part = JPart::First}), UsageError);
  });
}

// Results of groups with one table would be stored before those with the next are summed.
TEST(Tables, OfGroupsKeepResultsApartFromInputs) {
  const std::string text = "input_i real a; input_j int k; param real t[2]; output(sum) real s; s += a * t[k];";
  on_every_device(text, [](std::shared_ptr<const Kernel> kernel, const std::string& what) {
    Reals a{1, 2}, s(2), different{1, 2, 3, 4};
    Numbers k{0, 1};
    const std::vector<std::int64_t> of{0, 1};
    SumState sum(kernel);
    sum.bind("a", view(a)), sum.bind("k", view(k)), sum.bind("s", view(a));
    sum.set_batches(2, 2, of.data(), 2, of.data());
    sum.set_param_of_groups("t", different);
    EXPECT_THROW(sum.run(), UsageError) << what;
    EXPECT_EQ(a, Reals({1, 2})) << what;
    sum.bind("s", view(s));
    sum.run();
    sum.wait();
    EXPECT_EQ(s, Reals({1, 8})) << what;
  });
}

}  // namespace
}  // namespace nbcc::test
