// `nbcc run`, check, verify and emit with totals: tables, attributes, --total, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "particles/files/numpy/npz.h"
#include "particles/files/particle_files.h"
#include "tests/support/command.h"

namespace nbcc::test {
namespace {

using testing::HasSubstr;
using Doubles = std::vector<double>;

// A pipeline with sums and totals of three stars.
class CommandRunTotals : public testing::Test, public Shell {
 protected:
  CommandRunTotals() {
    const std::string inputs = "input_i vec3 xi; input_i real mi; input_j vec3 xj; input_j real mj;\n";
    write("stars.txt", "# x[3] m\n0 0 0 1\n3 0 0 1\n3 1 0 2\n");
    write("both.pipe", inputs +
                           "output(sum) real s; output(total) real energy; output(total) vec3 square;\n"
                           "output(total, count) int n; output(total) real a[2];\n"
                           "vec3 d = xj - xi; s += mj; energy += mi * mj; square += d * d; n += mj > 1; a[0] += 1;\n"
                           "a[1] += mi; void finish() { if (mi > 1) energy += mi; }");
    write("alone.pipe", inputs +
                            "output(total) vec3 square; output(total, min) real least;\n"
                            "vec3 d = xj - xi; square += d * d; least = min(least, dot(d, d));");
    write("lengths.pipe",
          inputs + "output(total) real e; output(total) real a[2]; e += mi * mj; a[0] += xi.x; a[1] += xj.y;");
  }

  Doubles column(const std::string& name, const std::string& file) const {
    const ParticleTable table = read_particles(path(file));
    const ParticleColumn* const found = table.find(name);
    return found ? std::get<Doubles>(convert(*found, ElementType::Double).data) : Doubles();
  }
};

TEST_F(CommandRunTotals, AreAttributesBesideOtherOutputs) {
  for (const std::string file : {"out.npz", "out.h5", "out.txt"}) {
    const Outcome outcome = nbcc("run both.pipe --i stars.txt -o " + file);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const ParticleTable table = read_particles(path(file));
    EXPECT_EQ(table.column_names(), "s");
    const std::pair<const char*, const char*> expected[] = {
        {"total energy", "18"}, {"total square", "36, 4, 0"}, {"total n", "3"}, {"total a", "9, 12"}};
    for (const auto& [key, value] : expected) {
      ASSERT_NE(table.find_attribute(key), nullptr) << key;
      EXPECT_EQ(*table.find_attribute(key), value) << key;
    }
  }
  for (const std::string words : {"", "--total "}) {
    ASSERT_EQ(nbcc("run both.pipe --i stars.txt --update --force -o more.txt " + words).code, 0);
    const ParticleTable table = read_particles(path("more.txt"));
    EXPECT_EQ(table.column_names(), "x[3], m, s");
    EXPECT_EQ(*table.find_attribute("total square"), "36, 4, 0");
    EXPECT_EQ(table.find_attribute("total square 0"), nullptr);
    EXPECT_EQ(table.find_attribute("total s") != nullptr, words == "--total ");
  }
}

TEST_F(CommandRunTotals, AreTheTableIfThereIsNothingElse) {
  ASSERT_EQ(nbcc("run alone.pipe --i stars.txt -o out.npz").code, 0);
  const ParticleTable table = read_particles(path("out.npz"));
  EXPECT_EQ(table.rows, 1);
  EXPECT_EQ(table.column_names(), "square[3], least");
  EXPECT_EQ(column("square", "out.npz"), (Doubles{36, 4, 0}));
  EXPECT_EQ(column("least", "out.npz"), (Doubles{0}));
  ASSERT_EQ(nbcc("run alone.pipe --i stars.txt -o out.npy").code, 0);
  EXPECT_EQ(read_particles(path("out.npy")).columns[0].components, 4);
}

TEST_F(CommandRunTotals, ArePrinted) {
  const std::string words = "run both.pipe --i stars.txt --total";
  EXPECT_EQ(nbcc(words).out,
            "output                              total                    least                 greatest\n"
            "s                                      12                        4                        4\n"
            "energy                                 18\n"
            "square[0]                              36\n"
            "square[1]                               4\n"
            "square[2]                               0\n"
            "n                                       3\n"
            "a[0]                                    9\n"
            "a[1]                                   12\n");
  const nlohmann::json json = nlohmann::json::parse(nbcc(words + " --json").out);
  EXPECT_EQ(json["energy"], (nlohmann::json{{"total", 18}}));
  EXPECT_EQ(json["square[1]"], (nlohmann::json{{"total", 4}}));
  EXPECT_EQ(json["s"], (nlohmann::json{{"total", 12}, {"least", 4}, {"greatest", 4}}));
}

TEST_F(CommandRunTotals, ThatFitInNoTableAreRefused) {
  const int before = count();
  const Outcome lengths = nbcc("run lengths.pipe --i stars.txt -o out.npz");
  EXPECT_EQ(lengths.code, 2);
  EXPECT_THAT(lengths.err, HasSubstr("the totals 'e' and 'a' have 1 and 2 elements, so that no table has both"));
  const Outcome update = nbcc("run alone.pipe --i stars.txt --update");
  EXPECT_EQ(update.code, 2);
  EXPECT_THAT(update.err,
              HasSubstr("--update: stars.txt: all outputs are totals, which the i-particles have no column for"));
  EXPECT_EQ(count(), before);
  EXPECT_EQ(nbcc("run lengths.pipe --i stars.txt --total").code, 0);
}

// A histogram has a row for each element, or is an attribute of all its elements.
TEST_F(CommandRunTotals, AreHistograms) {
  const std::string inputs = "input_i vec3 xi; input_j vec3 xj; input_j real mj;\n";
  const std::string terms =
      "output(total) index n[1100]; output(total) real g[1100]; vec3 d = xj - xi; int k = int(d.x + d.y) + 2;\n"
      "n[k] += 1; g[k] += mj;\n";
  write("counts.pipe", inputs + terms);
  write("more.pipe", inputs + terms + "output(total) int few[4]; output(sum) real s; few[k] += k; s += mj;");
  const Outcome alone = nbcc("run counts.pipe --i stars.txt -o counts.npz --statistics");
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_THAT(alone.out + alone.err, HasSubstr("histograms: 4 terms named no element and were not counted"));
  const ParticleTable table = read_particles(path("counts.npz"));
  EXPECT_EQ(table.column_names(), "n, g");
  EXPECT_EQ(table.rows, 1100);
  Doubles n(1100), g(1100);
  n[1] = 1, g[1] = 1, n[2] = 3, g[2] = 4, n[3] = 1, g[3] = 2, n[5] = 1, g[5] = 1, n[6] = 1, g[6] = 2;
  EXPECT_EQ(column("n", "counts.npz"), n);
  EXPECT_EQ(column("g", "counts.npz"), g);

  ASSERT_EQ(nbcc("run more.pipe --i stars.txt -o more.npz").code, 0);
  const ParticleTable more = read_particles(path("more.npz"));
  EXPECT_EQ(more.column_names(), "s");
  ASSERT_NE(more.find_attribute("total few"), nullptr);
  EXPECT_EQ(*more.find_attribute("total few"), "0, 1, 6, 3");
  EXPECT_EQ(more.find_attribute("total n")->substr(0, 21), "0, 1, 3, 1, 0, 1, 1, ");
  EXPECT_THAT(nbcc("run more.pipe --i stars.txt --total").out,
              HasSubstr("few[2]                                  6\nfew[3]                                  3\n"));
  EXPECT_EQ(nbcc("verify more.pipe --i stars.txt").code, 0);
  EXPECT_THAT(nbcc("run more.pipe --i stars.txt --tolerance 1e-3 --total").err, HasSubstr("'n'"));
}

TEST_F(CommandRunTotals, AreShownByCheckAndVerified) {
  const Outcome check = nbcc("check both.pipe");
  EXPECT_THAT(check.out, HasSubstr("output(total)         vec3     square\n  output(total, count)  int      n\n"));
  const Outcome verify = nbcc("verify both.pipe --i stars.txt");
  EXPECT_EQ(verify.code, 0) << verify.out << verify.err;
  // The forward pipeline of derivatives is a text that compiles.
  const Outcome forward = nbcc("emit both.pipe --stage adjoint --side forward --of energy");
  EXPECT_EQ(forward.code, 0) << forward.err;
  write("forward.pipe", forward.out);
  EXPECT_THAT(nbcc("run forward.pipe --i stars.txt --total").out,
              HasSubstr("\nenergy                                 18\n"));
}

}  // namespace
}  // namespace nbcc::test
