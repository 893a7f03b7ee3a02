// `nbcc run`: which file formats, which binding, what is written, and that nothing is ever half written.
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
using testing::IsEmpty;
using testing::Not;
using Doubles = std::vector<double>;

// A shell with a Plummer sphere of 200 in plummer.npz.
class CommandRun : public testing::Test, public Shell {
 protected:
  CommandRun() { EXPECT_EQ(nbcc("make-ic plummer --n 200 --seed 3 -o plummer.npz").code, 0); }

  // The outputs of a run, by name, or the message.
  Doubles column(const std::string& name, const std::string& file) const {
    const ParticleTable table = read_particles(path(file));
    const ParticleColumn* const found = table.find(name);
    if (!found) {
      ADD_FAILURE() << file << " has no column " << name << " but " << table.column_names();
      return {};
    }
    return std::get<Doubles>(convert(*found, ElementType::Double).data);
  }

  Doubles acc_of(const std::string& words, const std::string& file = "out.npz", const std::string& name = "acc") const {
    const Outcome outcome = nbcc("run $pipelines/gravity.pipe " + words + " --force -o " + file);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, IsEmpty());
    return outcome.code == 0 ? column(name, file) : Doubles();
  }
};

TEST_F(CommandRun, IndicesThatLeadOutOfATableAreErrorsUnlessTheyAreClamped) {
  write("types.pipe",
        "input_i real x; input_i int t; input_j real xj; param real e[2]; output(sum) real s;\ns += e[t] * (xj - x);");
  write("p.txt", "# x t\n1 0\n2 1\n4 2\n");
  const Outcome refused = nbcc("run types.pipe --i p.txt --param e=1,10 -o out.txt");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("t is 2 for i-particle 2, but table 'e' of pipeline 'types' (line 2) has 2 elements"));
  EXPECT_FALSE(std::filesystem::exists(path("out.txt")));
  EXPECT_EQ(nbcc("run types.pipe --i p.txt --param e=1,10 --clamp -o out.txt").code, 0);
  EXPECT_EQ(column("s", "out.txt"), (Doubles{4, 10, -50}));
  EXPECT_EQ(nbcc("verify types.pipe --i p.txt --param e=1,10 --clamp").code, 0);
  EXPECT_EQ(nbcc("verify types.pipe --i p.txt --param e=1,10").code, 2);
}

TEST_F(CommandRun, WritesOutputsWithIdsAndProvenance) {
  acc_of("--i plummer.npz --param eps2=0.01");
  const ParticleTable table = read_particles(path("out.npz"));
  EXPECT_EQ(table.column_names(), "id, acc[3], pot");
  EXPECT_EQ(table.rows, 200);
  EXPECT_EQ(table.columns[1].type(), ElementType::Double);
  acc_of("--i plummer.npz --param eps2=0.01", "out.txt");
  const std::string text = read("out.txt"), header = text.substr(0, text.find("# id acc[3] pot\n"));
  EXPECT_THAT(header, HasSubstr("/gravity.pipe --i plummer.npz --param eps2=0.01 --force -o out.txt\n"));
  EXPECT_THAT(header, HasSubstr("# param eps2: 0.01\n"));
}

TEST_F(CommandRun, UpdateKeepsWhatIsThere) {
  for (const std::string file : {"plummer.npz", "in.txt", "in.h5"}) {
    ASSERT_EQ(nbcc("make-ic plummer --n 200 --seed 3 --force -o " + file).code, 0);
    const std::string words = "run $pipelines/gravity.pipe --i " + file;
    const Doubles expected = acc_of("--i " + file), places = column("x", file);
    for (int k = 0; k < 2; ++k) {  // the second time the outputs are there
      const Outcome outcome = nbcc(words + " --update");
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      const ParticleTable table = read_particles(path(file));
      EXPECT_EQ(table.column_names(), "id, m, x[3], v[3], acc[3], pot") << file;
      EXPECT_NE(table.find_attribute("model"), nullptr);
      EXPECT_EQ(*table.find_attribute("pipeline"), "gravity");
      EXPECT_EQ(column("acc", file), expected);
      EXPECT_EQ(column("x", file), places);
    }
    // Other params; elsewhere.
    EXPECT_EQ(nbcc(words + " --param eps2=1 --update -o other.npz --force").code, 0);
    EXPECT_EQ(column("acc", file), expected);
    EXPECT_NE(column("acc", "other.npz"), expected);
    EXPECT_EQ(column("x", "other.npz"), places);
  }
}

TEST_F(CommandRun, UpdateLosesNothing) {
  const std::string before = read("plummer.npz");
  const auto refused = [&](const std::string& words, int code) {
    const Outcome outcome = nbcc("run $pipelines/gravity.pipe " + words);
    EXPECT_EQ(outcome.code, code) << words << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(refused("--i plummer.npz --columns id,m,x --update", 2), HasSubstr("may be lost"));
  EXPECT_THAT(refused("--i - --update", 2), HasSubstr("standard input cannot be written to"));
  EXPECT_THAT(refused("--i plummer.npz --update --param eps2=no", 2), Not(IsEmpty()));
  EXPECT_THAT(refused("--i plummer.npz --update --param eps2=@", 2), HasSubstr("write eps2=@FILE"));
  EXPECT_THAT(refused("--i plummer.npz", 2), HasSubstr("no output is chosen for the results"));
  EXPECT_EQ(read("plummer.npz"), before);
  // An HDF5 file of another program's.
  ParticleTable table = read_particles(path("plummer.npz"));
  table.attributes.clear();
  write_particles(path("others.h5"), table);
  const std::string others = read("others.h5");
  EXPECT_THAT(refused("--i others.h5 --update", 2), HasSubstr("was not written by nbcc"));
  EXPECT_THAT(refused("--i others.h5 --update -o ./others.h5 --force", 2), HasSubstr("was not written by nbcc"));
  EXPECT_EQ(read("others.h5"), others);
  EXPECT_EQ(nbcc("run $pipelines/gravity.pipe --i others.h5 --update -o more.h5").code, 0);
}

TEST_F(CommandRun, TotalsAreThoseOfTheColumns) {
  const std::string words = "run $pipelines/gravity.pipe --i plummer.npz --total ";
  const nlohmann::json totals = nlohmann::json::parse(nbcc(words + "--json -o out.npz").out);
  const Doubles pot = column("pot", "out.npz"), acc = column("acc", "out.npz");
  double sum = 0, of_y = 0;
  for (const double x : pot) sum += x;
  for (std::size_t k = 1; k < acc.size(); k += 3) of_y += acc[k];
  EXPECT_NEAR(totals["pot"]["total"], sum, 1e-12 * std::abs(sum));
  EXPECT_NEAR(totals["acc[1]"]["total"], of_y, 1e-10);
  EXPECT_EQ(totals["pot"]["least"], *std::ranges::min_element(pot));
  EXPECT_EQ(totals["pot"]["greatest"], *std::ranges::max_element(pot));
  EXPECT_NE(read_particles(path("out.npz")).find_attribute("total acc 1"), nullptr);
  const std::string text = nbcc(words).out;
  EXPECT_EQ(text.find("output "), 0u);
  EXPECT_EQ(std::ranges::count(text, '\n'), 5);
  EXPECT_EQ(nbcc(words + "-o -").code, 2);
}

TEST_F(CommandRun, SaysWhatASearchDid) {
  const std::string words = "run $pipelines/lennard_jones.pipe --i plummer.npz --param rc=0.3 --pairs cutoff -o - ";
  const Outcome outcome = nbcc(words + "--statistics"), as_json = nbcc(words + "--statistics --json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("neighbours: 1 search in 1 run; pairs a run: "));
  const nlohmann::json found = nlohmann::json::parse(as_json.err);
  EXPECT_EQ(found["runs"], 1);
  EXPECT_GE(found["pairs_within"], 200);  // each at least itself
  EXPECT_LE(found["pairs_tested"], 200 * 200);
  EXPECT_THAT(nbcc(words).err, IsEmpty());
  EXPECT_EQ(nbcc(words + "--json").code, 2);
}

TEST_F(CommandRun, PlansWithoutRunning) {
  const std::string words = "run $pipelines/lennard_jones.pipe --i plummer.npz --param rc=0.3 --plan --device cpu ";
  const Outcome all = nbcc(words), cutoff = nbcc(words + "--pairs cutoff");
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out,
              HasSubstr("method: all pairs (costs as much as 4e+04 pairs; search: costs as much as 3e+05 pairs)\n"));
  EXPECT_THAT(all.out, HasSubstr("\ncpu: "));
  EXPECT_THAT(cutoff.out, HasSubstr("method: search (pairs = cutoff; all pairs: costs as much as 4e+04 pairs)\n"));
  EXPECT_EQ(nbcc("run $pipelines/gravity.pipe --i plummer.npz --param eps2=0 --plan --pairs cutoff").code, 2);
}

TEST_F(CommandRun, SumsToATolerance) {
  ASSERT_EQ(nbcc("make-ic plummer --n 20000 -o many.npz").code, 0);
  const std::string words =
      "run $pipelines/gravity.pipe --i many.npz --param eps2=1e-4 --tolerance 1e-3 --precision single --device cpu ";
  const Outcome outcome = nbcc(words + "--statistics -o sums.npz"),
                as_json = nbcc(words + "--statistics --json -o - --format text"), plan = nbcc(words + "--plan");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("method: far field ("));
  EXPECT_THAT(outcome.err, HasSubstr("\nfar field: tolerance 0.001, error of 3355 sampled i "));
  const nlohmann::json found = nlohmann::json::parse(as_json.err);
  EXPECT_EQ(found["method"], "far field");
  EXPECT_EQ(found["far_field"]["tolerance"], 1e-3);
  EXPECT_GT(found["far_field"]["error"], 0);
  EXPECT_LE(found["far_field"]["error"], 1e-3);
  EXPECT_EQ(found["far_field"]["sampled"], 3355);
  EXPECT_LT(found["far_field"]["pairs_per_i"], 20000);
  EXPECT_EQ(found["far_field"]["precision"], "single");
  EXPECT_GT(found["far_field"]["seconds_first"], 0);
  EXPECT_THAT(plan.out, HasSubstr("method: far field ("));
  EXPECT_THAT(plan.out, HasSubstr(" bytes of working memory\n"));
}

TEST_F(CommandRun, ATolerancesObstaclesAreNamed) {
  const std::string gravity = "run $pipelines/gravity.pipe --i plummer.npz --param eps2=1e-4 --total ";
  const Outcome few = nbcc(gravity + "--tolerance 1e-3 --statistics");
  EXPECT_EQ(few.code, 0);
  EXPECT_THAT(few.err, HasSubstr("method: all pairs (costs as much as 4e+04 pairs; far field: costs as much as "));
  EXPECT_EQ(nbcc(gravity + "--tolerance 0").out, nbcc(gravity).out);
  for (const std::string wrong : {"-1", "2", "nan"}) {
    const Outcome outcome = nbcc(gravity + "--tolerance=" + wrong);
    EXPECT_EQ(outcome.code, 2) << wrong;
    EXPECT_EQ(outcome.err, "nbcc: tolerance: it must be 0 (none) or from 1e-14 to 1, got " + wrong + "\n");
  }
  EXPECT_EQ(nbcc(gravity + "--tolerance small").code, 2);
  const Outcome none = nbcc("run $pipelines/lennard_jones.pipe --i plummer.npz --param rc=1 --total --tolerance 1e-3");
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err,
              testing::StartsWith(
                  "nbcc: tolerance: pipeline 'lennard_jones' has no far field: a cutoff: pairs are found by search"));
}

// A cutoff beyond half of the box, and a file whose box the pipeline does not have, are named once each on standard
// error; results and exit code stay as they are.
TEST_F(CommandRun, WarnsOfImagesThatAreNotCounted) {
  write("gas.extxyz",
        "2\nLattice=\"6.6 0 0 0 6.6 0 0 0 6.6\" Properties=species:S:1:pos:R:3 pbc=\"T T T\"\nAr 0 0 0\nAr 1 0 0\n");
  const std::string words = "run $pipelines/lennard_jones.pipe --i gas.extxyz --types Ar --total --param ";
  const Outcome right = nbcc(words + "rc=3 --param box=6.6,6.6,6.6"),
                far = nbcc(words + "rc=5 --param box=6.6,6.6,6.6"), other = nbcc(words + "rc=3 --param box=10,6.6,6.6");
  EXPECT_THAT(right.err, IsEmpty());
  EXPECT_EQ(far.code, 0);
  EXPECT_EQ(
      far.err,
      "nbcc: warning: pipeline 'lennard_jones': the cutoff of 5 is more than half of the periodic box 6.6 x 6.6 x "
      "6.6, whose shortest period is 6.6: only the nearest image of each pair is counted, others within the cutoff "
      "are missing; every_image() counts them\n");
  EXPECT_EQ(other.err,
            "nbcc: warning: gas.extxyz is of particles in a periodic box of 6.6 x 6.6 x 6.6, but the box of pipeline "
            "'lennard_jones' is 10 x 6.6 x 6.6: its params were not set from the file\n");
  EXPECT_THAT(nbcc("run $pipelines/gravity_acc.pipe --bind mj=type --types Ar --i gas.extxyz -o a.npz").err,
              HasSubstr("but pipeline 'gravity_acc' takes no nearest image"));
}

TEST_F(CommandRun, EveryFormatInAndOutGivesTheSameNumbers) {
  const Doubles expected = acc_of("--i plummer.npz");
  ASSERT_EQ(expected.size(), 600u);
  for (const std::string format : {"txt", "csv", "h5", "npz"}) {
    ASSERT_EQ(nbcc("make-ic plummer --n 200 --seed 3 --force -o in." + format).code, 0);
    EXPECT_EQ(acc_of("--i in." + format, "out." + format), expected) << format;
  }
}

// The manual: columns that no field asks for are left alone.
TEST_F(CommandRun, ColumnsThatNoFieldAsksForDoNotMatter) {
  const Doubles expected = acc_of("--i plummer.npz");
  ParticleTable table = read_particles(path("plummer.npz"));
  table.columns.push_back({"steps", 1, std::vector<std::int32_t>(7)});
  const std::string odd = encode_npz(table, "odd.npz");
  write("odd.npz", odd);
  EXPECT_EQ(acc_of("--i odd.npz"), expected);
  EXPECT_EQ(acc_of("--i odd.npz --bind xi=x,xj=x,mj=m"), expected);
  const Outcome absent = nbcc("run $pipelines/gravity.pipe --i odd.npz --bind mj=mass -o no.npz");
  EXPECT_EQ(absent.code, 2);
  EXPECT_THAT(absent.err, HasSubstr("steps"));
}

TEST_F(CommandRun, APipeThatNobodyWritesToIsNamed) {
  const Outcome outcome = line("mkfifo lonely; \"$nbcc\" check lonely");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("cannot read lonely: it is a pipe"));
}

TEST_F(CommandRun, AResultBeyondTheLimitOfFilesIsAnErrorOfThatFile) {
  const Outcome outcome = line("ulimit -f 1; \"$nbcc\" run $pipelines/gravity.pipe --i plummer.npz -o out.npz");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("out.npz: cannot be written: File too large"));
}

TEST_F(CommandRun, ReadsStandardInputAndWritesStandardOutput) {
  const Outcome outcome = line(
      "\"$nbcc\" run $pipelines/gravity.pipe --i - -o - < plummer.npz > piped.txt && "
      "\"$nbcc\" run $pipelines/gravity.pipe --j plummer.npz -o - --format npz > piped.npz");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Doubles expected = acc_of("--i plummer.npz");
  EXPECT_EQ(column("acc", "piped.txt"), expected);
  EXPECT_EQ(column("acc", "piped.npz"), expected);
}

TEST_F(CommandRun, BindsByNameAndByOverride) {
  const Doubles expected = acc_of("--i plummer.npz");
  EXPECT_EQ(acc_of("--i plummer.npz --bind xi=x,xj=x --bind mj=m"), expected);
  // The acceleration is linear in the masses, and powers of two are exact.
  Doubles halves = expected;
  for (double& acc : halves) acc *= 0.5;
  EXPECT_EQ(acc_of("--i plummer.npz --bind mj=0.5*m"), halves);
  EXPECT_EQ(acc_of("--i plummer.npz --bind 'mj = m / 2'"), halves);
  ASSERT_EQ(line("\"$nbcc\" make-ic plummer --n 200 --seed 3 -o - | grep -v '^#' > bare.txt").code, 0);
  EXPECT_EQ(acc_of("--i bare.txt --columns id,m,x[3],v[3]"), expected);
  EXPECT_EQ(acc_of("--i bare.txt --columns _,m,east,north,up,_[3] --bind xi[0]=east,xi[1]=north,xi[2]=up "
                   "--bind xj[0]=east,xj[1]=north,xj[2]=up"),
            expected);
  EXPECT_EQ(acc_of("--i bare.txt --bind xi=data[2],xj=data[2],mj=data[1]"), expected);
}

TEST_F(CommandRun, BindsAPlainArrayInOrderOfDeclaration) {
  write("plain.txt", "0 0 0 2\n1 0 0 3\n");
  const Doubles softened = acc_of("--i plain.txt --param eps2=1e-12");
  EXPECT_NEAR(softened[0], 3, 1e-5);
  EXPECT_NEAR(softened[3], -2, 1e-5);
  const Outcome narrow = nbcc("run $pipelines/gravity_jerk.pipe --i plain.txt -o new.npz");
  EXPECT_EQ(narrow.code, 2);
  EXPECT_THAT(narrow.err, HasSubstr("4 numbers per particle"));
  write("wide.txt", "0 0 0 2 9\n1 0 0 3 9\n");
  EXPECT_THAT(nbcc("run $pipelines/gravity.pipe --i wide.txt -o new.npz").err, HasSubstr("the last number"));
}

TEST_F(CommandRun, BothDialectsGiveTheSameSums) {
  // Columns of the i: position and softening length squared; of the j: position and mass.
  ASSERT_EQ(line("\"$nbcc\" make-ic plummer --n 200 --seed 3 -o - | grep -v '^#' > rows.txt; "
                 "awk '{print $3, $4, $5, 1e-4}' rows.txt > i.txt; awk '{print $3, $4, $5, $2}' rows.txt > j.txt")
                .code,
            0);
  ASSERT_EQ(nbcc("run $pipelines/cunbody_gravity.pipe --i i.txt --j j.txt --precision double -o a.npy").code, 0);
  const ParticleTable a = read_particles(path("a.npy"));
  ASSERT_EQ(a.column_names(), "data[3]") << "the acceleration";
  const auto& numbers = std::get<Doubles>(a.columns[0].data);
  ASSERT_EQ(nbcc("run $pipelines/gravity.pipe --i plummer.npz --precision double --param eps2=1e-4 -o b.npz").code, 0);
  const Doubles b = column("acc", "b.npz");
  for (std::size_t k = 0; k < b.size(); ++k) EXPECT_NEAR(numbers[k], b[k], 1e-12 * std::abs(b[k]) + 1e-12) << k;
  // Numbered fields take named columns piece by piece.
  ASSERT_EQ(nbcc("run $pipelines/cunbody_gravity.pipe --i i.txt --j plummer.npz --bind INPUT_J[0]=x,INPUT_J[3]=m "
                 "--precision double -o c.npz")
                .code,
            0);
  EXPECT_EQ(column("OUTPUT", "c.npz"), numbers);
}

TEST_F(CommandRun, AnNpyFileHoldsTheOutputsSideBySide) {
  acc_of("--i plummer.npz");
  const Doubles acc = column("acc", "out.npz"), pot = column("pot", "out.npz");
  const Doubles all = acc_of("--i plummer.npz", "out.npy", "data");
  ASSERT_EQ(all.size(), 800u);
  EXPECT_EQ(all[4 * 7], acc[3 * 7]);
  EXPECT_EQ(all[4 * 7 + 3], pot[7]);
}

TEST_F(CommandRun, WritesSingleNumbersOnRequest) {
  const Doubles whole = acc_of("--i plummer.npz"), single = acc_of("--i plummer.npz --single-output");
  EXPECT_EQ(read_particles(path("out.npz")).find("acc")->type(), ElementType::Float);
  EXPECT_EQ(single[5], double(float(whole[5])));
}

TEST_F(CommandRun, IntegralOutputsStayIntegers) {
  ASSERT_EQ(nbcc("run $pipelines/nearest_neighbour.pipe --i plummer.npz -o near.npz").code, 0);
  EXPECT_EQ(read_particles(path("near.npz")).find("near")->type(), ElementType::Int64);
}

TEST_F(CommandRun, DifferentSetsOnTheTwoSides) {
  write("i.txt", "# id xi[3]\n7 0 0 0\n");
  write("j.txt", "# xj[3] mj\n2 0 0 8\n0 4 0 16\n");
  const Doubles acc = acc_of("--i i.txt --j j.txt --param eps2=0 --precision double");
  ASSERT_EQ(acc.size(), 3u);
  EXPECT_NEAR(acc[0], 2, 1e-12);
  EXPECT_NEAR(acc[1], 1, 1e-12);
  EXPECT_EQ(column("id", "out.npz"), Doubles{7});
}

TEST_F(CommandRun, EmptySetsAreFine) {
  write("none.txt", "# x[3] m\n");
  EXPECT_THAT(acc_of("--i none.txt"), IsEmpty());
  EXPECT_EQ(acc_of("--i plummer.npz --j none.txt"), Doubles(600));
}

TEST_F(CommandRun, ThreadsAndTerminalsDoNotChangeTheNumbers) {
  const Doubles expected = acc_of("--i plummer.npz --threads 1");
  EXPECT_EQ(acc_of("--i plummer.npz --threads 3"), expected);
  // On a terminal the i come in ranges, for the progress bar.
  if (line("command -v script").code != 0) GTEST_SKIP() << "no script(1) here to make a terminal with";
  ASSERT_EQ(nbcc("make-ic plummer --n 3000 -o many.npz").code, 0);
  EXPECT_EQ(line("script -qec '\"$nbcc\" run $pipelines/gravity.pipe --i many.npz -o tty.npz' /dev/null").code, 0);
  EXPECT_EQ(column("acc", "tty.npz"), acc_of("--i many.npz"));
}

TEST_F(CommandRun, RefusesToOverwriteWithoutForce) {
  write("old.npz", "mine");
  const Outcome refused = nbcc("run $pipelines/gravity.pipe --i plummer.npz -o old.npz");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--force"));
  EXPECT_EQ(read("old.npz"), "mine");
  EXPECT_EQ(nbcc("run $pipelines/gravity.pipe --i plummer.npz -o old.npz --force").code, 0);
  EXPECT_EQ(read_particles(path("old.npz")).rows, 200);
}

TEST_F(CommandRun, AnInterruptLeavesNothingBehind) {
  ASSERT_EQ(nbcc("make-ic cube --n 300000 -o big.npz").code, 0);
  const int before = count();
  // 9e10 pairs take far longer than the half second. On a terminal with the callback of its bar, which it shows later.
  for (const char* command : {"timeout -s TERM 0.5 \"$nbcc\" run $pipelines/gravity.pipe --i big.npz -o new.npz",
                              "timeout -s INT 0.5 \"$nbcc\" run $pipelines/gravity.pipe --i big.npz -o new.npz"}) {
    for (const bool on_terminal : {false, true}) {
      if (on_terminal && line("command -v script").code != 0) continue;
      const std::string quoted = std::string("script -qec '") + command + "' /dev/null";
      EXPECT_EQ(line(on_terminal ? quoted : command).code, 124);
      EXPECT_EQ(count(), before);
    }
  }
}

TEST_F(CommandRun, SaysWhichResultsAreNotFinite) {
  const Outcome outcome = nbcc("run $pipelines/gravity.pipe --i plummer.npz --param eps2=0 -o out.npz");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("nbcc: warning: pipeline 'gravity': output 'acc' is NaN or infinite in 200 "
                                           "of 200 rows, first for i = 0; the cause is the pair of the particle with"),
                                 HasSubstr("itself: soften the pair, or write skip_if(i_index == j_index)")));
}

TEST_F(CommandRun, WarnsOfAnIndexGuardBetweenTwoFiles) {
  ASSERT_EQ(nbcc("make-ic plummer --n 300 --seed 4 -o others.npz").code, 0);
  write("pairs.pipe",
        "input_i vec3 xi;\ninput_j vec3 xj;\noutput(count) int n;\nskip_if(i_index == j_index);\n"
        "n += dot(xj - xi, xj - xi) < 1.0;\n");
  EXPECT_THAT(nbcc("run pairs.pipe --i plummer.npz -o a.npz").err, Not(HasSubstr("warning")));
  EXPECT_THAT(nbcc("run pairs.pipe --i plummer.npz --j others.npz -o b.npz").err,
              HasSubstr("i (200 particles) and j (300 particles) are two sets of particles, and a guard that compares "
                        "i_index with j_index excludes the pairs (k, k), k = 0 to 199,"));
  EXPECT_THAT(nbcc("verify pairs.pipe --random 100").err, Not(HasSubstr("two sets")));
}

struct BadBinding {
  const char* words;
  const char* message;
};

class RunRefuses : public CommandRun, public testing::WithParamInterface<BadBinding> {};

TEST_P(RunRefuses, AndSaysWhatIsThere) {
  const Outcome outcome =
      nbcc(std::string("run $pipelines/gravity.pipe --i plummer.npz -o new.npz ") + GetParam().words);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().message));
  EXPECT_EQ(count(), 1);
}

INSTANTIATE_TEST_SUITE_P(
    CommandRun, RunRefuses,
    testing::Values(BadBinding{"--bind q=x", "there is no input 'q'; there are xi[3] and xj[3], mj"},
                    BadBinding{"--bind xi=y", "there is no column 'y' in plummer.npz, which has id, m, x[3], v[3]"},
                    BadBinding{"--bind mj=x", "do not fit mj"}, BadBinding{"--bind xi", "is not of the form"},
                    BadBinding{"--bind xi[0]=m", "only 1 of the 3 components of 'xi'"},
                    BadBinding{"--bind xi=x[2]", "has 3 numbers per particle (from 0 on)"},
                    BadBinding{"--columns x[3]", "finds no column 'mj' or 'm' in plummer.npz, which has x[3]"},
                    BadBinding{"--param eps=1", "has no field 'eps'; its fields are xi, xj, mj, eps2"},
                    BadBinding{"--param eps2=1,2", "takes 1 value, got 2"},
                    BadBinding{"--param eps2=small", "'small' is not a number"},
                    BadBinding{"--param eps2=true", "only a bool is true or false, and it is of type real"},
                    BadBinding{"--columns id,m,x[3", "x[3"}));

}  // namespace
}  // namespace nbcc::test
