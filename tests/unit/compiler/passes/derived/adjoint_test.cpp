// Adjoint pipelines against differences of a number made of the first pipeline's outputs, all by the interpreter.
#include "compiler/passes/derived/adjoint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "compiler/ir/interpret.h"
#include "compiler/ir/text/pipeline_text.h"
#include "compiler/source/parse.h"
#include "tests/support/random_smooth.h"

namespace nbcc {
namespace {

using Columns = std::vector<std::vector<double>>;  // [component][particle]

// Arrays by the names of fields, as callers have them.
struct Arrays {
  std::map<std::string, Columns> of;
  std::int64_t ni = 0, nj = 0;
};

std::vector<const Field*> fields_of(const Pipeline& pipeline, Role role) {
  std::vector<const Field*> result;
  for (const Field& field : pipeline.fields)
    if (field.role == role) result.push_back(&field);
  return result;
}

OracleInput input_of(const Pipeline& pipeline, const Arrays& arrays) {
  OracleInput input;
  input.ni = arrays.ni, input.nj = arrays.nj;
  const auto gather = [&](Role role, Columns& columns) {
    columns.resize(std::size_t(pipeline.components(role)));
    for (const Field* field : fields_of(pipeline, role))
      for (std::size_t c = 0; c < std::size_t(field->components()); ++c)
        columns[std::size_t(field->first) + c] = arrays.of.at(field->name)[c];
  };
  gather(Role::InputI, input.i);
  gather(Role::InputJ, input.j);
  Columns params;
  gather(Role::Param, params);
  for (const auto& column : params) input.params.push_back(column[0]);
  return input;
}

void run(const Pipeline& pipeline, Arrays& arrays) {
  const OracleOutput out = interpret(pipeline, input_of(pipeline, arrays));
  for (const Field* field : fields_of(pipeline, Role::Output))
    arrays.of[field->name] =
        Columns(out.values.begin() + field->first, out.values.begin() + field->first + field->components());
}

class Case {
 public:
  Case(const std::string& text, std::int64_t ni, std::int64_t nj) : pipeline_(parse(Source{"case", text})) {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> any(0.4, 1.6);
    arrays_.ni = ni, arrays_.nj = nj;
    for (const Field& field : pipeline_.fields) {
      const std::int64_t count = field.role == Role::InputI || field.role == Role::Output ? ni
                                 : field.role == Role::InputJ                             ? nj
                                                                                          : 1;
      Columns columns(std::size_t(field.components()));
      for (auto& column : columns)
        for (std::int64_t k = 0; k < count; ++k)
          column.push_back(is_floating(field.type) ? any(random) : double(random() % 3));
      arrays_.of[(field.role == Role::Output ? "d_" : "") + field.name] = columns;
    }
  }

  // xi and xj are one array, and so on.
  void set_same(const std::string& a, const std::string& b) { arrays_.of[b] = arrays_.of[a], same_[a] = b; }

  // L = sum over i of d_NAME NAME; with `magnitudes` the sum of |d_NAME NAME|
  double number(const Arrays& arrays, bool magnitudes = false) const {
    Arrays copy = arrays;
    run(pipeline_, copy);
    double sum = 0;
    for (const Field* field : fields_of(pipeline_, Role::Output)) {
      if (!is_floating(field->type)) continue;
      for (std::size_t c = 0; c < std::size_t(field->components()); ++c)
        for (std::size_t k = 0; k < copy.of[field->name][c].size(); ++k) {
          const double term = copy.of["d_" + field->name][c][k] * copy.of[field->name][c][k];
          sum += magnitudes ? std::fabs(term) : term;
        }
    }
    return sum;
  }

  // By Richardson's extrapolation, and how far its last steps are apart.
  std::pair<double, double> difference(const std::string& name, std::size_t c, std::size_t k) const {
    const auto f = [&](double step) {
      Arrays moved = arrays_;
      moved.of[name][c][k] += step;
      if (same_.contains(name)) moved.of[same_.at(name)][c][k] += step;
      return number(moved);
    };
    const auto central = [&](double h) { return (f(h) - f(-h)) / (2 * h); };
    const double h = 4e-4, a = central(h), b = central(h / 2), d = central(h / 4);
    const double ab = (4 * b - a) / 3, bd = (4 * d - b) / 3;
    return {(16 * bd - ab) / 15, std::fabs(bd - ab) + 0x1p-52 * number(arrays_, true) / h};
  }

  // The arrays of the adjoint pipeline with its outputs.
  Arrays outputs_of(const Adjoint& adjoint, const AdjointChoice& choice) const {
    Arrays known = arrays_, arrays = arrays_;
    run(forward_pipeline(pipeline_, choice).pipeline, known);
    if (adjoint.side == AdjointSide::J) std::swap(arrays.ni, arrays.nj);
    arrays.of.clear();
    for (const auto& [field, meaning, of, partner] : adjoint.fields)
      if (field.role != Role::Output)
        arrays.of[field.name] = known.of.at(meaning == AdjointMeaning::Given ? "d_" + of : of);
    run(parse(Source{"adjoint", pipeline_text(adjoint.pipeline)}), arrays);  // callers get the text
    return arrays;
  }

  std::vector<double> derivative(AdjointSide side, const std::string& name) const {
    return outputs_of(adjoint_pipeline(pipeline_, {}, side), {}).of.at(name)[0];
  }

  // Each derivative that the side has, and how many there were.
  int compare(AdjointSide side, const AdjointChoice& choice = {}) {
    const Adjoint adjoint = adjoint_pipeline(pipeline_, choice, side);
    Arrays arrays = outputs_of(adjoint, choice);
    int compared = 0;
    for (const auto& [output, meaning, name, partner] : adjoint.fields) {
      if (output.role != Role::Output) continue;
      const bool is_param = pipeline_.find(name)->role == Role::Param;
      for (std::size_t c = 0; c < std::size_t(output.components()); ++c) {
        const std::vector<double>& found = arrays.of[output.name][c];
        double sum = 0;
        for (const double part : found) sum += part;
        if (is_param) {
          EXPECT_EQ(std::int64_t(found.size()), choice.params_of_each_i ? arrays.ni : 1) << name;
        }
        for (std::size_t k = 0; k < (is_param ? 1 : found.size()); ++k) {
          const auto [expected, error] = difference(name, c, k);
          EXPECT_NEAR(is_param ? sum : found[k], expected, 8 * error) << name << " " << c << " of " << k;
          ++compared;
        }
      }
    }
    if (side == AdjointSide::I && !choice.params_of_each_i) {
      AdjointChoice each_i = choice;
      each_i.params_of_each_i = true;
      compare(side, each_i);
    }
    return compared;
  }

  const Pipeline& pipeline() const { return pipeline_; }
  Arrays arrays_;

 private:
  Pipeline pipeline_;
  std::map<std::string, std::string> same_;
};

constexpr const char* kGravity = R"(
input_i vec3 xi; input_j vec3 xj; input_j real mj; param real eps2 = 0.3;
output(sum) vec3 acc; output(sum) real pot;
vec3 dx = xj - xi; real r2 = dot(dx, dx) + eps2; real mri = mj * rsqrt(r2);
acc += mri / r2 * dx; pot -= mri;
)";

TEST(adjoint, of_sums_by_inputs_of_i_and_params) { EXPECT_EQ(Case(kGravity, 4, 6).compare(AdjointSide::I), 13); }
TEST(adjoint, of_sums_by_inputs_of_j) { EXPECT_EQ(Case(kGravity, 4, 6).compare(AdjointSide::J), 24); }
TEST(adjoint, by_what_is_chosen) {
  EXPECT_EQ(Case(kGravity, 4, 6).compare(AdjointSide::J, {{"acc", "pot"}, {"mj"}}), 6);
}

TEST(adjoint, of_one_set_is_one_sum) {
  Case gravity(kGravity, 5, 5);
  gravity.set_same("xi", "xj");
  EXPECT_EQ(gravity.compare(AdjointSide::OneSet), 20);
}

// The difference of a particle and itself is 0, where these functions have no derivative or have a rule for one.
TEST(adjoint, of_one_set_is_the_sum_of_both_sides_at_edges) {
  for (const char* term : {"fabs(d)",          "fabs(-d) * d",        "min(d, 0.0)",        "max(d, 0.0)",
                           "min(-d, 0.0)",     "min(d, -d)",          "max(d, -d)",         "min(xi, xj)",
                           "max(xj, xi)",      "min(fabs(d), d * d)", "sqrt(d * d)",        "hypot(d, 0.0)",
                           "hypot(d, d)",      "pow(d, 2.0)",         "pow(fabs(d), 1.0)",  "copysign(1.0, d) * d",
                           "d > 0.0 ? d : -d", "d < 0.0 ? 0.0 : d",   "d == 0.0 ? xi : xj", "atan2(d, 1.0) * fabs(d)",
                           "round(d) * d",     "fmod(d, 0.5)"}) {
    Case edges(
        std::string("input_i real xi; input_j real xj; output(sum) real e; real d = xj - xi; e += ") + term + ";", 4,
        4);
    edges.set_same("xi", "xj");
    const std::vector<double> both = edges.derivative(AdjointSide::OneSet, "d_xi");
    const std::vector<double> by_i = edges.derivative(AdjointSide::I, "d_xi");
    const std::vector<double> by_j = edges.derivative(AdjointSide::J, "d_xj");
    for (std::size_t k = 0; k < both.size(); ++k) {
      const double sum = by_i[k] + by_j[k];
      EXPECT_TRUE(std::isnan(sum) ? std::isnan(both[k]) : std::fabs(both[k] - sum) < 1e-12)
          << term << ": " << both[k] << " instead of " << sum;
    }
  }
}

// The text has one every_image() for both directions, also where components of the difference are constants.
TEST(adjoint, of_one_set_with_images_has_a_text) {
  for (const char* difference :
       {"vec2 d = vec2(every_image(xj.x - xi.x, side), 0.0)", "vec2 d = every_image(xj - xi, side)",
        "vec3 d = every_image(vec3(xj.x - xi.x, xj.y - xi.y, 0.0), vec3(side, side, 0.0))"}) {
    const Pipeline pipeline =
        parse(Source{"case", std::string("input_i vec2 xi; input_j vec2 xj; param real side; output(sum) real e;") +
                                 difference + "; real r2 = dot(d, d); skip_if(r2 >= 1.0); e += r2;"});
    const Pipeline adjoint = adjoint_pipeline(pipeline, {}, AdjointSide::OneSet).pipeline;
    EXPECT_NO_THROW(parse(Source{"adjoint", pipeline_text(adjoint)})) << difference;
  }
}

constexpr const char* kLennardJones = R"(
input_i vec3 xi; input_j vec3 xj; param real rc = 1.1; param vec3 box = vec3(3, 3.5, 4);
output(sum) real energy;
vec3 dx = nearest_image(xj - xi, box); real r2 = dot(dx, dx);
skip_if(i_index == j_index || r2 >= rc * rc);
real s6 = 0.001 / (r2 * r2 * r2);
energy += s6 * (s6 - 1.0);
)";

TEST(adjoint, of_a_symmetric_energy_costs_little_more_than_its_gradient) {
  Case energy(kLennardJones, 6, 6);
  energy.set_same("xi", "xj");
  EXPECT_EQ(energy.compare(AdjointSide::OneSet), 18);
  const int one_side = count_operations(adjoint_pipeline(energy.pipeline(), {}, AdjointSide::J).pipeline);
  EXPECT_LE(count_operations(adjoint_pipeline(energy.pipeline(), {}, AdjointSide::OneSet).pipeline), one_side + 1);
}

TEST(adjoint, of_logsumexp_and_softmax) {
  const char* text = R"(
input_i vec3 q; input_j vec3 k; input_j vec3 v; param real scale = 0.7;
output(logsumexp) real z; output(softmax) vec3 y;
real logit = scale * dot(q, k);
z = logsumexp(z, 0.5 * logit * logit);
y = softmax(y, logit, v * q.x);
)";
  EXPECT_EQ(Case(text, 4, 5).compare(AdjointSide::I), 13);
  EXPECT_EQ(Case(text, 4, 5).compare(AdjointSide::J), 30);
}

TEST(adjoint, of_extremes_goes_to_the_pair_that_was_chosen) {
  const char* text = R"(
input_i vec3 xi; input_j vec3 xj; output(min) real near; output(max) vec2 far;
vec3 dx = xj - xi; near = min(near, dot(dx, dx)); far = max(far, vec2(dx.x * dx.y, dx.z));
)";
  EXPECT_EQ(Case(text, 4, 5).compare(AdjointSide::I), 12);
  EXPECT_EQ(Case(text, 4, 5).compare(AdjointSide::J), 15);
}

// The two nearest j and their payloads; finish() changes the indices.
TEST(adjoint, of_payloads_goes_to_the_pairs_that_were_chosen) {
  const char* text = R"(
input_i vec3 xi; input_j vec3 xj; input_j real mj; output(argmin) index near[2]; output(at) real r[2];
output(at) vec3 there[2]; output(argmax) index far; output(at) real m;
skip_if(i_index == j_index);
vec3 dx = xj - xi; real r2 = dot(dx, dx); near = argmin(near, r2); r = at(near, sqrt(r2)); there = at(near, mj * dx);
far = argmax(far, r2 * mj); m = at(far, mj * mj * r2);
)";
  const std::string finished = text + std::string("void finish() { near[0] = near[0] + 1; m = m * r[1]; }");
  for (const std::string& one : {std::string(text), finished}) {
    EXPECT_EQ(Case(one, 4, 5).compare(AdjointSide::I), 12);
    EXPECT_EQ(Case(one, 4, 5).compare(AdjointSide::J), 20);
    Case one_set(one, 5, 5);
    one_set.set_same("xi", "xj");
    EXPECT_EQ(one_set.compare(AdjointSide::OneSet), 20);
  }
}

TEST(adjoint, of_products_with_factors_that_are_0) {
  const char* text = R"(
input_i real xi; input_j real xj; input_j int kj; output(product) real p; output(product) vec2 q;
real d = xj - xi; p *= kj == 1 ? d * d * d : 1.0 + d; q.x *= xi * xj; q.y *= kj == 2 ? xi : xj - xi + 2.0;
void finish() { p = p + p * p + q.x; }
)";
  for (const int zeros : {0, 1, 2}) {
    Case product(text, 4, 5);
    for (int k = 0; k < zeros; ++k) {
      product.arrays_.of["xj"][0][std::size_t(k)] = 0.5 + 0.25 * k;
      product.arrays_.of["xi"][0][std::size_t(k)] = 1.5 + 0.25 * k;  // 1 + d = 0
      product.arrays_.of["kj"][0][std::size_t(k)] = 0;
    }
    EXPECT_EQ(product.compare(AdjointSide::I), 4);
    EXPECT_EQ(product.compare(AdjointSide::J), 5);
  }
  Case two_of_one(text, 3, 4);
  two_of_one.arrays_.of["xj"][0] = {1.5, 1.5, 0.75, 1.25};
  two_of_one.arrays_.of["kj"][0] = {0, 0, 0, 0};
  two_of_one.arrays_.of["xi"][0] = {2.5, 1, 1.75};  // for the first i two factors are 0, for the last one is
  EXPECT_EQ(two_of_one.compare(AdjointSide::I), 3);
  EXPECT_EQ(two_of_one.compare(AdjointSide::J), 4);
}

TEST(adjoint, of_splines_has_a_text) {
  const char* text = R"(
input_i vec3 xi; input_i int ti; input_j vec3 xj; input_j int tj; param real v[3][8]; param vec2 w[6];
output(sum) real e; vec3 d = xj - xi; real r = sqrt(dot(d, d));
e += spline(v[ti], 2.0 * r) + spline(w, r).y * spline(w, 3.0 * r).x + spline(v[(ti + tj) % 3], r * r);
)";
  Case spline(text, 4, 5);
  EXPECT_EQ(spline.compare(AdjointSide::I, {{}, {"xi"}}), 12);
  for (const AdjointSide side : {AdjointSide::I, AdjointSide::J}) {
    const Pipeline adjoint =
        adjoint_pipeline(spline.pipeline(), {{}, {side == AdjointSide::I ? "xi" : "xj"}}, side).pipeline;
    const Pipeline again = parse(Source{"case", pipeline_text(adjoint)});
    EXPECT_EQ(pipeline_text(again), pipeline_text(adjoint));
    Arrays arrays = spline.arrays_, second;
    if (side == AdjointSide::J) std::swap(arrays.ni, arrays.nj);
    second = arrays;
    run(adjoint, arrays);
    run(again, second);
    const char* const result = side == AdjointSide::I ? "d_xi" : "d_xj";
    EXPECT_EQ(arrays.of.at(result), second.of.at(result));
  }
}

TEST(adjoint, goes_through_finish) {
  const char* text = R"(
input_i real xi; input_i real bi; input_j real xj; param real p = 1.3;
output(sum) real s; output(sum) real t; output(count) int n;
real d = xj - xi; s += d * d * p; t += exp(-d * d); n += d > 0.0;
void finish() { real a = s; s = a * t * bi + p * xi * xi; t = t / (1.0 + a * a) + n; }
)";
  EXPECT_EQ(Case(text, 4, 5).compare(AdjointSide::I), 9);
  EXPECT_EQ(Case(text, 4, 5).compare(AdjointSide::J), 5);
}

TEST(adjoint, goes_through_a_finish_that_makes_an_output_of_extremes) {
  const char* text = R"(
input_i real xi; input_i real bi; input_j real xj;
output(sum) real s; output(max) real m; output(argmin) index n; output(at) real w; output(softmax) real y;
real d = xj - xi; s += d * d; m = max(m, xj * bi); n = argmin(n, d * d); w = at(n, xj); y = softmax(y, d, xj);
void finish() { s = s * m * y + bi; }
)";
  Case only_s(text, 4, 5);
  for (const char* other : {"d_m", "d_w", "d_y"}) only_s.arrays_.of[other] = {std::vector<double>(4)};
  EXPECT_EQ(only_s.compare(AdjointSide::I, {{"s"}, {}}), 8);
  EXPECT_EQ(only_s.compare(AdjointSide::J, {{"s"}, {}}), 5);
  const Pipeline forward = forward_pipeline(Case(text, 4, 5).pipeline(), {{"s"}, {}}).pipeline;
  EXPECT_EQ(forward.find("raw_w")->follows, forward.find("raw_n")->first);
}

TEST(adjoint, gives_its_outputs_names_that_are_free) {
  const Pipeline first = parse(Source{"case",
                                      "input_i real x; input_j real y; param real d_x = 1; output(softmax) real m;"
                                      "m = softmax(m, x * y, d_x * y);"});
  const Pipeline adjoint = adjoint_pipeline(first, {{}, {"x"}}, AdjointSide::I).pipeline;
  EXPECT_NE(adjoint.find("dd_x"), nullptr);
  const Pipeline second = adjoint_pipeline(adjoint_pipeline(first, {{"m", "z_m"}, {"x"}}, AdjointSide::I).pipeline,
                                           {{}, {"z_m", "d_m"}}, AdjointSide::I)
                              .pipeline;
  EXPECT_NE(second.find("dd_z_m"), nullptr);
  EXPECT_EQ(second.find("d_z_m")->role, Role::InputI);
}

TEST(adjoint, of_fields_with_the_names_that_it_would_give) {
  const char* text = R"(
input_i real i; input_i real raw_e; input_j real i_j; input_j real at_m; param real d_i = 1.3;
output(sum) real e; output(max) real m; output(softmax) real y; output(sum) real z_y;
real d = i_j - i; e += d * d * d_i; m = max(m, at_m * d); y = softmax(y, d, at_m); z_y += at_m * raw_e;
void finish() { e = e * m * y + raw_e; z_y = z_y * e; }
)";
  EXPECT_EQ(Case(text, 4, 5).compare(AdjointSide::I), 9);
  EXPECT_EQ(Case(text, 4, 5).compare(AdjointSide::J), 10);
  Case one_set(text, 5, 5);
  one_set.set_same("i", "i_j");
  EXPECT_EQ(one_set.compare(AdjointSide::OneSet), 15);
}

TEST(adjoint, of_one_set_through_finish) {
  Case rooted(
      "input_i real xi; input_j real xj; output(sum) real a; real d = xj - xi; a += 1.0 / (d * d + 0.2);"
      "void finish() { a = sqrt(a); }",
      5, 5);
  rooted.set_same("xi", "xj");
  EXPECT_EQ(rooted.compare(AdjointSide::OneSet), 5);
}

TEST(adjoint, pairs_the_fields_of_one_set_one_to_one) {
  const Pipeline pipeline =
      parse(Source{"case",
                   "input_i real x; input_i real x_i; input_j real x_j; input_j real x_k_i; output(sum) real s; "
                   "s += x * x_i * x_j * x_k_i;"});
  EXPECT_EQ(partner_of(pipeline, *pipeline.find("x_i")), pipeline.find("x_j"));
  EXPECT_EQ(partner_of(pipeline, *pipeline.find("x_j")), pipeline.find("x_i"));
  EXPECT_EQ(partner_of(pipeline, *pipeline.find("x")), nullptr);
}

TEST(adjoint, of_outputs_under_guards_of_their_own) {
  const char* text = R"(
input_i vec2 xi; input_j vec2 xj; output(sum) real s; output(sum) real t;
vec2 dx = xj - xi; real r2 = dot(dx, dx);
if (r2 < 0.25) s += sqrt(0.25 - r2) * r2;
if (r2 > 0.09) t += r2 * dx.x;
)";
  EXPECT_EQ(Case(text, 5, 6).compare(AdjointSide::I), 10);
  EXPECT_EQ(Case(text, 5, 6).compare(AdjointSide::J), 12);
}

TEST(adjoint, by_the_elements_of_a_table) {
  const char* text = R"(
input_i real xi; input_i int ti; input_j real xj; input_j int tj; param real eps[3][3]; output(sum) real s;
real d = xj - xi; s += eps[ti][tj] * eps[tj][ti] * d * d;
)";
  EXPECT_EQ(Case(text, 5, 6).compare(AdjointSide::I), 14);
}

// Read in finish() at a constant and at other indices, by an output, and in both graphs.
TEST(adjoint, by_the_elements_of_a_table_that_finish_reads) {
  const std::string fields =
      "input_i real xi; input_i int ki; input_j real xj; input_j int kj; param real t[3]; param real e[3][2];\n"
      "output(sum) real s; output(min) real n;\n";
  const auto compared = [&](const std::string& text) {
    return Case(fields + "n = min(n, xi * xj);\n" + text, 5, 6).compare(AdjointSide::I);
  };
  EXPECT_EQ(compared("s += xj * xi; void finish() { s = s * t[ki] + t[2] * e[ki][1]; }"), 14);
  EXPECT_EQ(compared("s += t[kj] * e[ki][kj % 2] * xj; void finish() { s = s + t[int(s) % 3] * n + table(t, xi); }"),
            14);
  EXPECT_EQ(compared("real w = e[ki][0]; s += w * xj; void finish() { if (w > 1.0) s = s * w; else s = s * t[1]; }"),
            14);
}

TEST(adjoint, of_random_pipelines_is_that_of_differences) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const std::string text = test::random_smooth_text(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    Case(text, 3, 4).compare(AdjointSide::I);
    Case(text, 3, 4).compare(AdjointSide::J);
    Case one_set(text, 4, 4);
    for (const char* const name : {"x", "v", "k"}) one_set.set_same(name + std::string("i"), name + std::string("j"));
    one_set.compare(AdjointSide::OneSet);
    if (testing::Test::HasFailure()) break;  // one text is enough
  }
}

TEST(adjoint, of_an_adjoint_is_the_second_derivative) {
  const Case first(kGravity, 3, 4);
  const Pipeline adjoint = adjoint_pipeline(first.pipeline(), {{"pot"}, {"mj"}}, AdjointSide::J).pipeline;
  const Pipeline second = adjoint_pipeline(adjoint, {{"d_mj"}, {"xi"}}, AdjointSide::J).pipeline;
  // By the names that the first one gave: xi is an input of j there, and of i in the second one.
  EXPECT_EQ(second.find("xi")->role, Role::InputI);
  EXPECT_EQ(second.find("d_d_mj")->role, Role::InputJ);
  EXPECT_EQ(second.find("d_xi")->role, Role::Output);
}

std::string refusal(const char* text, const AdjointChoice& choice, AdjointSide side) {
  try {
    adjoint_pipeline(parse(Source{"case", text}), choice, side);
  } catch (const InvalidAdjoint& invalid) {
    return invalid.message;
  }
  return "";
}

TEST(adjoint, says_what_it_cannot_do) {
  EXPECT_EQ(refusal(kGravity, {{"force"}, {}}, AdjointSide::I), "pipeline 'case' has no output 'force'");
  EXPECT_EQ(refusal(kGravity, {{}, {"pot"}}, AdjointSide::I), "pipeline 'case' has no input or param 'pot'");
  EXPECT_EQ(refusal(kGravity, {{}, {"mj"}}, AdjointSide::I),
            "pipeline 'case' has no input or param to differentiate by");
  EXPECT_EQ(refusal("input_i real x; input_j real y; output(total, product) real p; p *= x + y;", {}, AdjointSide::I),
            "output 'p' is an output(total, product), which nbcc does not differentiate");
  EXPECT_EQ(
      refusal("input_i real x; input_j real y; output(total, min) real m; m = min(m, x + y);", {}, AdjointSide::I),
      "output 'm' is an output(total, min): give 'i_m', its values of each i in the forward pipeline, instead");
  EXPECT_EQ(
      refusal("input_i real x; input_j real y; output(sum) real g[2000]; g[j_index] += x * y;", {}, AdjointSide::I),
      "output 'g' is a histogram of each i of 2000 elements; one of at most 1024 is differentiated");
  EXPECT_EQ(refusal("OUTPUT[0] += INPUT_I[0] * INPUT_J[0];", {}, AdjointSide::I),
            "pipeline 'case' is in the dialect of CUNBODY-1; derivatives need named fields");
  EXPECT_EQ(refusal("input_i int k; input_j real y; output(sum) real s; s += k * y;", {{}, {"k"}}, AdjointSide::I),
            "'k' has an integer type, and integers have no derivatives");
  EXPECT_EQ(refusal("input_i real x; input_j real y; param real t[2000]; output(sum) real s; s += x * y * t[i_index];",
                    {}, AdjointSide::I),
            "2001 derivatives at once; at most 1024 are made");
}

}  // namespace
}  // namespace nbcc
