// `nbcc run` with trajectories: one frame, all frames, and the box of each frame.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "particles/files/particle_files.h"
#include "tests/support/command.h"

namespace nbcc::test {
namespace {

using testing::HasSubstr;
using Doubles = std::vector<double>;

// The sum of the distances along x, and the length of the box, so that all is exact.
class CommandFrames : public testing::Test, public Shell {
 protected:
  CommandFrames() {
    write("d.pipe",
          "input_i vec3 xi; input_j vec3 xj; param vec3 box = vec3(1e2, 1e2, 1e2); output(sum) real d; output(max) "
          "real side;\n"
          "vec3 dx = nearest_image(xj - xi, box);\nif (dx.x > 0.0) d += dx.x;\nside = max(side, box.x + 1e3 * box.y + "
          "1e6 * box.z);\n");
    // Frame k has the time step 10 k, two atoms at a distance of 1, 2 and 3, and a box with sides of
    // 10 k, 11 k and 12 k. `side` has the three sides as groups of digits.
    std::string dump, xyz;
    for (const int k : {1, 2, 3}) {
      const std::string n = std::to_string(k);
      dump +=
          "ITEM: TIMESTEP\n" + std::to_string(10 * (k - 1)) + "\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp pp\n";
      std::vector<std::string> sides;
      for (const int side : {10, 11, 12}) sides.push_back(std::to_string(k * side));
      for (const std::string& side : sides) dump += "0 " + side + "\n";
      dump += "ITEM: ATOMS id type x y z\n7 1 0 0 0\n8 1 " + n + " 0 0\n";
      xyz += "2\nLattice=\"" + sides[0] + " 0 0 0 " + sides[1] + " 0 0 0 " + sides[2] +
             "\" Properties=pos:R:3\n0 0 0\n" + n + " 0 0\n";
    }
    write("a.lammpstrj", dump);
    write("a.extxyz", xyz);
  }

  Doubles results(const std::string& file, const std::string& column = "d") const {
    return std::get<Doubles>(read_particles(path(file)).find(column)->data);
  }
  Outcome run(const std::string& words) const { return nbcc("run d.pipe --precision double " + words); }
  std::string refused(const std::string& words) const {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << words << outcome.err;
    return outcome.err;
  }
};

TEST_F(CommandFrames, AFrameIsChosenByItsIndex) {
  for (const char* file : {"a.lammpstrj", "a.extxyz"}) {
    const std::string i = std::string(" --i ") + file;
    const struct {
      const char* frame;
      double distance;
    } cases[] = {{"0", 1}, {"2", 3}, {"-1", 3}, {"-3", 1}, {"1", 2}};
    for (const auto& [frame, distance] : cases) {
      const Outcome outcome = run("--force -o o.txt --box box --frame " + std::string(frame) + i);
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_EQ(outcome.err, "");
      EXPECT_EQ(results("o.txt"), (Doubles{distance, 0})) << file << frame;
      EXPECT_EQ(results("o.txt", "side"), (Doubles{12011010 * distance, 12011010 * distance})) << file << frame;
    }
    EXPECT_EQ(nbcc("verify d.pipe --frame 1" + i).code, 0);
  }
  EXPECT_EQ(*read_particles(path("o.txt")).find_attribute("frame"), "1");
}

TEST_F(CommandFrames, SeveralFramesNeedAChoice) {
  EXPECT_EQ(refused("-o o.txt --i a.lammpstrj"),
            "nbcc: a.lammpstrj: it has 3 frames (TIMESTEP 0 to 20): say --frame N, from 0 to 2, or --frame -1 for the "
            "last, or --frames for all\n");
  EXPECT_THAT(refused("-o o.txt --i a.extxyz"), HasSubstr("a.extxyz: it has 3 frames: say --frame N, from 0 to 2"));
  EXPECT_EQ(nbcc("verify d.pipe --i a.extxyz").err,
            "nbcc: a.extxyz: it has 3 frames: say --frame N, from 0 to 2, or --frame -1 for the last\n");
  EXPECT_THAT(refused("-o o.txt --i a.extxyz --frame 3"),
              HasSubstr("--frame 3: a.extxyz has 3 frames, from 0 to 2, or from -1, the last, to -3"));
  EXPECT_THAT(refused("-o o.txt --i a.extxyz --frame -4"), HasSubstr("--frame -4: a.extxyz has 3 frames"));
  EXPECT_THAT(refused("-o o.txt --i a.extxyz --frame last"), HasSubstr("--frame: 'last' is not a whole number"));
  EXPECT_EQ(run("-o o.txt --i a.extxyz --frame 1 --frames").code, 2);
  write("p.txt", "# x y z\n0 0 0\n");
  EXPECT_THAT(refused("-o o.txt --i p.txt --frame 0"), HasSubstr("dump files of LAMMPS; p.txt has no frames"));
  EXPECT_FALSE(std::filesystem::exists(path("o.txt")));
}

TEST_F(CommandFrames, EachFrameGetsAFile) {
  const Outcome outcome = run("--i a.lammpstrj --frames --box box -o o.npz");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const int k : {0, 1, 2}) {
    const std::string file = "o." + std::to_string(k) + ".npz";
    EXPECT_EQ(results(file), (Doubles{k + 1.0, 0}));
    EXPECT_EQ(results(file, "side")[0], 12011010 * (k + 1));
    EXPECT_EQ(*read_particles(path(file)).find_attribute("frame"), std::to_string(k));
    EXPECT_EQ(*read_particles(path(file)).find_attribute("TIMESTEP"), std::to_string(10 * k));
  }
  EXPECT_FALSE(std::filesystem::exists(path("o.npz")));
  // No file is written if one of them exists.
  std::filesystem::remove(path("o.0.npz"));
  EXPECT_THAT(refused("--i a.lammpstrj --frames -o o.npz"), HasSubstr("o.1.npz: exists already"));
  EXPECT_FALSE(std::filesystem::exists(path("o.0.npz")));
  EXPECT_THAT(refused("--i a.lammpstrj --frames -o -"), HasSubstr("--frames writes a file for each frame"));
  EXPECT_EQ(run("--i a.lammpstrj --frames --update -o with_d.txt").code, 0);
  EXPECT_EQ(read_particles(path("with_d.2.txt")).column_names(), "id, type, x[3], d, side");
}

TEST_F(CommandFrames, NumbersOfFramesHaveOneWidth) {
  std::string many;
  for (int k = 0; k < 11; ++k) many += "1\n\nH 0 0 " + std::to_string(k) + "\n";
  write("many.xyz", many);
  ASSERT_EQ(run("--i many.xyz --frames -o out/../o.b.txt").code, 2);  // there is no folder `out`
  ASSERT_EQ(run("--i many.xyz --frames -o o.b.txt").code, 0);
  EXPECT_TRUE(std::filesystem::exists(path("o.b.00.txt")));
  EXPECT_TRUE(std::filesystem::exists(path("o.b.10.txt")));
}

TEST_F(CommandFrames, TotalsOfFramesAreOneTable) {
  const Outcome text = run("--i a.lammpstrj --frames --total"),
                json = run("--i a.lammpstrj --frames --total --json --box box");
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(std::count(text.out.begin(), text.out.end(), '\n'), 1 + 3 * 2);
  EXPECT_TRUE(text.out.starts_with(" frame output  ")) << text.out;
  EXPECT_THAT(text.out, HasSubstr("\n     1 d                                       2"));
  ASSERT_EQ(json.code, 0) << json.err;
  EXPECT_THAT(json.out, HasSubstr("\"TIMESTEP\": 20,\n    \"frame\": 2,\n"));
  EXPECT_TRUE(json.out.starts_with("[")) << json.out;
  // The box of the files differs from the param, which is said once.
  EXPECT_EQ(json.err, "");
  EXPECT_THAT(text.err, HasSubstr("a.lammpstrj is of particles in a periodic box of 10 x 11 x 12, but"));
}

// i and j of one file are of one frame; a file of one frame serves every frame of the other.
TEST_F(CommandFrames, BothSidesAreOfTheSameFrame) {
  write("one.xyz", "1\n\nH 5 0 0\n");
  ASSERT_EQ(run("--i a.extxyz --j a.lammpstrj --frame 1 -o o.txt").code, 0);
  EXPECT_EQ(results("o.txt"), (Doubles{2, 0}));
  write("near.xyz", "1\n\nH 1 0 0\n");
  ASSERT_EQ(run("--i near.xyz --j a.lammpstrj --frames -o p.txt").code, 0);
  EXPECT_EQ(results("p.0.txt"), (Doubles{0}));
  EXPECT_EQ(results("p.2.txt"), (Doubles{2}));
  ASSERT_EQ(run("--i a.lammpstrj --j one.xyz --frames -o q.txt").code, 0);
  EXPECT_EQ(results("q.0.txt"), (Doubles{5, 4}));
  EXPECT_EQ(results("q.2.txt"), (Doubles{5, 2}));
  write("two.xyz", "1\n\nH 5 0 0\n1\n\nH 6 0 0\n");
  EXPECT_THAT(
      refused("--i a.extxyz --j two.xyz --frame 0 -o r.txt"),
      HasSubstr("a.extxyz has 3 frames, but two.xyz has 2: files with several frames must have the same number"));
  EXPECT_EQ(run("--i one.xyz --frame -1 -o one.txt").code, 0);
}

TEST_F(CommandFrames, BoxesThatDoNotFitTheParamsAreRefused) {
  const std::string head = "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS ",
                    atoms = "ITEM: ATOMS x y z\n0 0 0\n";
  write("open.dump", head + "pp pp ff\n0 4\n0 4\n0 4\n" + atoms);
  write("tilted.dump", head + "xy xz yz pp pp pp\n0 5 1\n0 4 0\n0 4 0\n" + atoms);
  write("none.xyz", "1\n\nH 0 0 0\n");
  EXPECT_THAT(refused("--box box -o o.txt --i open.dump"),
              HasSubstr("--box box: the box of open.dump is not periodic in z: set the params by --param"));
  EXPECT_THAT(refused("--box box -o o.txt --i tilted.dump"),
              HasSubstr("the box of tilted.dump has the vectors (4, 0, 0), (1, 4, 0), (0, 0, 4), which need three "
                        "params: --box a,b,c"));
  EXPECT_THAT(refused("--box box -o o.txt --i none.xyz"), HasSubstr("--box box: none.xyz states no periodic box"));
  EXPECT_THAT(refused("--box a,b -o o.txt --i tilted.dump"), HasSubstr("--box: 'a,b' is not a param for the lengths"));
  write("t.pipe",
        "input_i vec3 xi; input_j vec3 xj; param vec3 a; param vec3 b; param vec3 c; output(max) real u;\n"
        "u = max(u, b.x + c.z);\nvec3 d = nearest_image(xj - xi, a, b, c);\nif (dot(d, d) > 1e6) u = max(u, 1e9);\n");
  const Outcome tilted = nbcc("run t.pipe --box a,b,c -o t.txt --i tilted.dump");
  ASSERT_EQ(tilted.code, 0) << tilted.err;
  EXPECT_EQ(results("t.txt", "u"), (Doubles{5}));
}

TEST_F(CommandFrames, DumpsAreNotWrittenTo) {
  const std::string before = read("a.lammpstrj");
  write("dump.5", read("a.lammpstrj").substr(0, before.find("ITEM: TIMESTEP", 1)));
  EXPECT_THAT(refused("--i a.lammpstrj --frame 0 --update"),
              HasSubstr("a.lammpstrj: files of the ending .lammpstrj are"));
  EXPECT_THAT(refused("--i dump.5 --update"), HasSubstr("dump.5 is of a format that nbcc reads but does not write"));
  ASSERT_EQ(run("--i dump.5 --update -o o.txt").code, 0);
  EXPECT_EQ(read_particles(path("o.txt")).column_names(), "id, type, x[3], d, side");
  EXPECT_EQ(read("a.lammpstrj"), before);
}

TEST_F(CommandFrames, BoxAndParamDoNotSetTheSame) {
  const std::string i = "--i a.lammpstrj --frame 0 --total ";
  EXPECT_THAT(refused(i + "--box box --param box=5,5,5"), HasSubstr("param 'box' is set by --box and by --param"));
  EXPECT_THAT(refused(i + "--box box,box,box"), HasSubstr("'box' is named twice"));
  EXPECT_THAT(refused(i + "--box ''"), HasSubstr("it is empty"));
  EXPECT_THAT(refused("--i a.lammpstrj --total --frame ''"), HasSubstr("it is empty"));
}

TEST_F(CommandFrames, FramesOfOtherTimesAreNotPaired) {
  std::string other = read("a.lammpstrj");
  other.replace(other.find("TIMESTEP\n10\n") + 9, 2, "77");
  write("b.lammpstrj", other);
  EXPECT_THAT(refused("--i a.lammpstrj --j b.lammpstrj --frames --total"),
              HasSubstr("frame 1 of a.lammpstrj is of TIMESTEP 10, that of b.lammpstrj of TIMESTEP 77"));
  EXPECT_EQ(run("--i a.lammpstrj --j b.lammpstrj --frame 0 --total").code, 0);
}

// The second frame has an open side, which --box refuses.
TEST_F(CommandFrames, AFrameThatFailsKeepsTheTotalsBeforeIt) {
  std::string text = read("a.lammpstrj");
  text.replace(text.find("pp pp pp", text.find("TIMESTEP\n10\n")), 8, "pp pp ff");
  write("c.lammpstrj", text);
  const Outcome outcome = run("--i c.lammpstrj --frames --box box --total -o c.csv");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("frame 1 of 3 failed; the results of the frames before it are kept"));
  EXPECT_THAT(outcome.out, HasSubstr("     0 d "));
  EXPECT_TRUE(std::filesystem::exists(path("c.0.csv")));
  EXPECT_FALSE(std::filesystem::exists(path("c.1.csv")));
}

// The user's own words have the names of keys of the record.
TEST_F(CommandFrames, WordsOfAFileAreNotReplacedByTheRecord) {
  write("m.extxyz", "1\nProperties=pos:R:3 method=PBE command=mine\n0 0 0\n");
  const Outcome outcome = run("--i m.extxyz --update -o m.txt");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string text = read("m.txt");
  EXPECT_THAT(text, HasSubstr("file method: PBE"));
  EXPECT_THAT(text, HasSubstr("file command: mine"));
}

}  // namespace
}  // namespace nbcc::test
