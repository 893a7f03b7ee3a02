// The program's own pictures: frames, a movie, the window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "examples/nbody/draw/image.h"

namespace examples {
namespace {

namespace fs = std::filesystem;

class PicturesTest : public testing::Test {
 protected:
  PicturesTest() { fs::create_directories(folder_); }
  ~PicturesTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  // Its exit code; what it writes is in output_ and errors_.
  int run(const std::string& command) {
    const int status = std::system((command + " >" + path("out") + " 2>" + path("err")).c_str());
    const auto read = [&](const char* name) {
      std::ostringstream text;
      text << std::ifstream(path(name)).rdbuf();
      return text.str();
    };
    output_ = read("out");
    errors_ = read("err");
    return WEXITSTATUS(status);
  }
  bool has(const std::string& program) { return run("command -v " + program) == 0; }
  // True: this machine cannot do it, and the program says so.
  bool is_missing(int code) const { return code == 3 && errors_.find("nbody: ") == 0; }

  fs::path folder_ = fs::temp_directory_path() / ("nbody_pictures." + std::to_string(getpid()));
  std::string output_, errors_;
};

struct Colour {
  long red = 0, green = 0, blue = 0;
  long light() const { return red + green + blue; }
};
// All light of a part of a picture, of which the corners are given in its width and height.
Colour light(const Image& image, double left, double top, double right, double bottom) {
  Colour sum;
  for (int y = int(top * image.height); y < int(bottom * image.height); ++y) {
    for (int x = int(left * image.width); x < int(right * image.width); ++x) {
      const std::uint8_t* const p = &image.rgb[std::size_t(3 * (y * image.width + x))];
      sum.red += p[0];
      sum.green += p[1];
      sum.blue += p[2];
    }
  }
  return sum;
}

// Two bodies at rest on the left, a fast one on the right; in so short a time none feels another.
constexpr const char* kBodies = "# m x[3] v[3]\n1 -1 0.2 0 0 0 0\n1 -1 -0.2 0 0 0 0\n2 1 0 0 0 40 0\n";

TEST_F(PicturesTest, FramesShowTheBodies) {
  const std::string bodies = write("bodies.txt", kBodies);
  const int code = run(NBODY " " + bodies +
                       " --quiet --dt 0.001 --end 0.004 --every 0.004 --frame-every 0.002 --size 240 160 --frames " +
                       path("frames"));
  if (is_missing(code)) GTEST_SKIP() << errors_;
  ASSERT_EQ(code, 0) << errors_;
  EXPECT_NE(errors_.find(" draws; positions pass through the host\n"), std::string::npos) << errors_;
  for (const char* name : {"frames/frame-0000.png", "frames/frame-0001.png", "frames/frame-0002.png"}) {
    const Image image = read_png(path(name));
    EXPECT_EQ(image.width, 240);
    EXPECT_EQ(image.height, 160);
    // Those at rest are blue, the fast one red.
    const Colour left = light(image, 0, 0, 0.5, 1), right = light(image, 0.5, 0, 1, 1);
    EXPECT_GT(left.blue, 2 * left.red);
    EXPECT_GT(right.red, 2 * right.blue);
    // All are inside, and the border is black.
    EXPECT_GT(light(image, 0.05, 0.05, 0.95, 0.95).light(), 500);
    EXPECT_EQ(light(image, 0, 0, 1, 0.05).light() + light(image, 0, 0.95, 1, 1).light(), 0);
    EXPECT_EQ(light(image, 0, 0, 0.05, 1).light() + light(image, 0.95, 0, 1, 1).light(), 0);
  }
  EXPECT_FALSE(fs::exists(path("frames/frame-0003.png")));
  // It moves upwards.
  const auto height = [&](const char* name) {
    const Image image = read_png(path(name));
    double sum = 0, all = 0;
    for (int y = 0; y < image.height; ++y) {
      const double row = double(light(image, 0.5, double(y) / image.height, 1, (y + 1.001) / image.height).light());
      sum += row * y;
      all += row;
    }
    return -sum / all;
  };
  EXPECT_GT(height("frames/frame-0002.png"), height("frames/frame-0000.png") + 2);
}

TEST_F(PicturesTest, TheFirstBodiesAreDrawnAlone) {
  const std::string bodies = write("bodies.txt", kBodies);
  const auto picture = [&](const std::string& options) {
    const int code = run(NBODY " " + bodies + " --quiet --end 0 --size 240 160 --frames " + path("frames") + options);
    if (is_missing(code)) return Image{};
    EXPECT_EQ(code, 0) << errors_;
    return read_png(path("frames/frame-0000.png"));
  };
  const Image all = picture("");
  if (all.width == 0) GTEST_SKIP() << errors_;
  // The fast third body is red; the camera follows the two others, which are at rest, and so blue.
  const Image two = picture(" --draw 2"), farther = picture(" --draw 2 --zoom 0.5"),
              darker = picture(" --draw 2 --brightness 0.5");
  EXPECT_GT(light(all, 0, 0, 1, 1).red, 1000);
  const Colour blue = light(two, 0, 0, 1, 1);
  EXPECT_GT(blue.blue, 2 * blue.red);
  EXPECT_NEAR(double(light(darker, 0, 0, 1, 1).light()) / double(blue.light()), 0.5, 0.2);
  const auto highest = [](const Image& image) {
    for (int y = 0; y < image.height; ++y)
      if (light(image, 0, double(y) / image.height, 1, (y + 1.001) / image.height).light() > 0) return y;
    return image.height;
  };
  EXPECT_GT(highest(farther), highest(two) + 20);
  EXPECT_EQ(run(NBODY " " + bodies + " --end 0 --frames " + path("frames") + " --draw 4"), 2);
  EXPECT_NE(errors_.find("--draw: expected at most 3, the number of bodies, got 4"), std::string::npos) << errors_;
}

TEST_F(PicturesTest, PicturesASecondAreCounted) {
  const int code = run(NBODY " --benchmark --draw-steps --n 64,200 --size 64 48");
  if (is_missing(code)) GTEST_SKIP() << errors_;
  ASSERT_EQ(code, 0) << errors_;
  double n = 0, rate = 0, interactions = 0;
  int rows = 0;
  std::istringstream lines(output_);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#') || std::sscanf(line.c_str(), "%lf chosen %lf %lf", &n, &rate, &interactions) != 3)
      continue;
    ++rows;
    EXPECT_GT(rate, 0);
    EXPECT_NEAR(interactions, 1e-9 * n * n * rate, 0.01 * interactions) << line;
  }
  EXPECT_EQ(rows, 2) << output_;
}

TEST_F(PicturesTest, AMovieHasEveryFrame) {
  if (!has("ffmpeg") || !has("ffprobe")) GTEST_SKIP() << "there is no ffmpeg";
  const std::string bodies = write("bodies.txt", kBodies);
  const int code =
      run(NBODY " " + bodies + " --quiet --end 0.5 --frame-every 0.0625 --size 64 48 --movie " + path("bodies.mp4"));
  if (is_missing(code)) GTEST_SKIP() << errors_;
  ASSERT_EQ(code, 0) << errors_;
  ASSERT_EQ(run("ffprobe -v error -count_frames -show_entries stream=width,height,nb_read_frames -of csv=p=0 " +
                path("bodies.mp4")),
            0);
  EXPECT_EQ(output_, "64,48,9\n");
}

TEST_F(PicturesTest, WhatCannotBeIsSaid) {
  const std::string bodies = write("bodies.txt", kBodies);
  EXPECT_EQ(run(NBODY " " + bodies + " --movie x.mp4 --size 63 48"), 2);
  EXPECT_EQ(errors_, "nbody: a movie by ffmpeg needs an even --size\n");
  EXPECT_EQ(run("DISPLAY= WAYLAND_DISPLAY= " NBODY " " + bodies + " --viewer"), 3);
  EXPECT_EQ(errors_.find("nbody: "), 0U) << errors_;
  const int code = run("PATH=/nowhere " NBODY " " + bodies + " --quiet --movie " + path("bodies.mp4"));
  EXPECT_EQ(code, 3);
  write("file", "");
  if (run(NBODY " " + bodies + " --quiet --frames " + path("file/frames")) != 3) {
    EXPECT_NE(errors_.find("cannot make the folder"), std::string::npos) << errors_;
  }
}

// Two vortices of equal strength turn about each other with the angular velocity (strength of both) / (2 pi d^2).
constexpr const char* kVortices =
    "input_i vec2 xi;\ninput_j vec2 xj;\ninput_j real gj;\noutput(sum) vec2 u;\noutput(sum) real near;\n"
    "vec2 d = xi - xj;\nreal r2 = dot(d, d);\nskip_if(r2 == 0.0);\nu += gj / (2.0 * pi * r2) * vec2(-d.y, d.x);\nnear "
    "+= 1.0 / r2;\n";

TEST_F(PicturesTest, VorticesOfAPipelineTurn) {
  const std::string pipeline = write("vortices.pipe", kVortices);
  const std::string vortices = write("vortices.txt", "# x[2] g\n1 0 1\n-1 0 1\n");
  // A quarter of a turn: pi / 2 = t * 2 / (2 pi 4), so that t = 2 pi^2.
  const int code = run(NBODY " " + vortices + " --pipeline " + pipeline +
                       " --as velocity --colour g --colour-range 0 1 --dt 0.09869604401089358 --end 19.739208802178716 "
                       "--precision double --size 200 200 --frames " +
                       path("frames") + " --every 19.739208802178716");
  if (is_missing(code)) GTEST_SKIP() << errors_;
  ASSERT_EQ(code, 0) << errors_;
  const auto spread = [&](const char* name) {
    const Image image = read_png(path(name));
    const Colour middle = light(image, 0.4, 0, 0.6, 1), centre = light(image, 0, 0.4, 1, 0.6);
    EXPECT_GT(middle.red + centre.red, 2 * (middle.blue + centre.blue));  // g = 1 is the upper limit
    return double(middle.light()) / double(std::max(1L, centre.light()));
  };
  EXPECT_LT(spread("frames/frame-0000.png"), 0.01);  // to the left and right of the centre
  EXPECT_GT(spread("frames/frame-0001.png"), 100);   // below and above
}

// A charge of -2 at distance 1 from a fixed, heavy one of 1: with m = 2 it circles at speed 1, period 2 pi.
TEST_F(PicturesTest, ChargesOfAPipelineCircle) {
  const std::string charges = write("charges.txt", "# m x[3] v[3] q\n1e9 0 0 0 0 0 0 1\n2 1 0 0 0 1 0 -2\n");
  const std::string run_charges = NBODY " " + charges +
                                  " --pipeline " NBODY_ROOT
                                  "/pipelines/coulomb.pipe --moves field --as force --precision double --end "
                                  "3.141592653589793 --dt 0.0031415926535897933 --every 3.1 --colour pot";
  ASSERT_EQ(run(run_charges + " --factor q"), 0) << errors_;
  // The fixed charge sees the potential -2, the other one 1, at the start and to half a turn later; the root mean
  // square speed is sqrt(1 / 2).
  int rows = 0;
  double time = 0, speed = 0, least = 0, most = 0;
  std::istringstream lines(output_);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#') || std::sscanf(line.c_str(), "%lf %lf %lf %lf", &time, &speed, &least, &most) != 4)
      continue;
    ++rows;
    EXPECT_NEAR(speed, std::sqrt(0.5), 1e-4) << line;
    EXPECT_NEAR(least, -2, 1e-4) << line;
    EXPECT_NEAR(most, 1, 1e-4) << line;
  }
  EXPECT_EQ(rows, 3) << output_;
  EXPECT_EQ(run(run_charges + " --factor charge"), 2);
  EXPECT_NE(errors_.find("has no column 'charge' for --factor; it has m, q, v, x"), std::string::npos) << errors_;
}

TEST_F(PicturesTest, WhatAPipelineCannotShowIsNamed) {
  const std::string pipeline = write("vortices.pipe", kVortices), good = write("good.txt", "# x[2] g\n1 0 1\n-1 0 1\n");
  const auto problem = [&](const std::string& options, int expected = 2) {
    EXPECT_EQ(run(NBODY " " + options), expected) << options;
    return errors_;
  };
  using testing::HasSubstr;
  EXPECT_THAT(problem(good + " --pipeline " + pipeline + " --moves w"),
              HasSubstr("--moves: expected the name of an output of two or three components, got 'w'; the pipeline's "
                        "outputs: u, near"));
  EXPECT_THAT(problem(good + " --pipeline " + pipeline + " --colour w"),
              HasSubstr("--colour: expected speed, a column or an output of one component, got 'w'"));
  EXPECT_THAT(problem(good + " --pipeline " + pipeline + " --param rc"),
              HasSubstr("--param: expected NAME=NUMBER, got 'rc'"));
  EXPECT_THAT(problem(write("no_g.txt", "# x[2]\n1 0\n") + " --pipeline " + pipeline),
              HasSubstr("has no column 'g' for input 'gj' of the pipeline; it has x"));
  EXPECT_THAT(problem(write("bad.txt", "# x[2] g\n1 0 1\n1 0\n") + " --pipeline " + pipeline, 1),
              HasSubstr("bad.txt:3: a row of 2 numbers, where the first has 3"));
  EXPECT_THAT(problem(write("none.txt", "1 0 1\n") + " --pipeline " + pipeline, 1),
              HasSubstr("none.txt:1: a row of 3 numbers"));
  EXPECT_THAT(problem(good + " --pipeline " + pipeline + " --compare"), HasSubstr("--pipeline is for pictures"));
  EXPECT_THAT(problem(good + " --pipeline " + pipeline + " --as velocity --factor g"),
              HasSubstr("--factor multiplies accelerations and forces: give no --as velocity, or no --factor"));
  EXPECT_THAT(problem(write("vector_g.txt", "# x[2] g[2]\n1 0 1 2\n") + " --pipeline " + pipeline + " --colour g"),
              HasSubstr("--colour: column 'g' has several numbers of each particle"));
  EXPECT_THAT(problem(good + " --pipeline " + pipeline + " --eps 0.1"), HasSubstr("--eps excludes --pipeline"));
  EXPECT_THAT(problem(good + " --colour g"), HasSubstr("--pipeline"));
}

class ViewerTest : public PicturesTest {
 protected:
  // The picture after so many; empty where there is no window.
  Image watch(const std::string& options) {
    const std::string bodies = write("bodies.txt", kBodies), shot = path("shot.png");
    const int code = run("xvfb-run -a -s '-screen 0 800x600x24' " NBODY " " + bodies +
                         " --dt 1e-5 --viewer --size 720 480 --screenshot " + shot + " " + options);
    if (is_missing(code)) return {};
    EXPECT_EQ(code, 0) << errors_;
    return code == 0 ? read_png(shot) : Image();
  }
  void SetUp() override {
    if (!has("xvfb-run")) GTEST_SKIP() << "there is no xvfb-run";
  }
};

// Light without colour, as text has it, in the part of the window where the controls are.
int grey_pixels(const Image& image) {
  int count = 0;
  for (int y = 0; y < image.height / 2; ++y) {
    for (int x = 0; x < image.width / 2; ++x) {
      const std::uint8_t* const p = &image.rgb[std::size_t(3 * (y * image.width + x))];
      count += p[0] > 200 && p[0] == p[1] && p[1] == p[2];
    }
  }
  return count;
}

TEST_F(ViewerTest, ShowsBodiesAndControls) {
  const Image image = watch("--pictures 3");
  if (image.width == 0) GTEST_SKIP() << errors_;
  EXPECT_EQ(image.width, 720);
  EXPECT_EQ(image.height, 480);
  EXPECT_GT(grey_pixels(image), 500);
  // All bodies are beside the controls.
  EXPECT_EQ(light(image, 0.33, 0, 0.345, 1).light(), 0);
  EXPECT_GT(light(image, 0.345, 0, 0.5, 1).blue, 500);
  const Colour right = light(image, 0.5, 0, 1, 1);
  EXPECT_GT(right.red, 2 * right.blue);
  EXPECT_GT(right.light(), 500);
  EXPECT_EQ(light(image, 0.97, 0, 1, 1).light(), 0);
}

TEST_F(ViewerTest, ShowsThePipelinesParticles) {
  const std::string pipeline = write("vortices.pipe", kVortices);
  const std::string vortices = write("vortices.txt", "# x[2] g\n1 0 1\n-1 0 -1\n"), shot = path("shot.png");
  const int code =
      run("xvfb-run -a -s '-screen 0 800x600x24' " NBODY " " + vortices + " --pipeline " + pipeline +
          " --as velocity --colour g --dt 1e-5 --viewer --size 720 480 --pictures 3 --keys s --screenshot " + shot);
  if (is_missing(code)) GTEST_SKIP() << errors_;
  ASSERT_EQ(code, 0) << errors_;
  const Image image = read_png(shot);
  const Colour left = light(image, 0.345, 0, 0.65, 1), right = light(image, 0.7, 0, 1, 1);
  EXPECT_GT(left.blue, 2 * left.red);
  EXPECT_GT(right.red, 2 * right.blue);
  EXPECT_GT(grey_pixels(image), 500);
}

TEST_F(ViewerTest, KeysAreObeyed) {
  const Image moving = watch("--pictures 60");
  if (moving.width == 0) GTEST_SKIP() << errors_;
  const Image paused = watch("--pictures 60 --keys ' '"), faster = watch("--pictures 60 --keys '++++'");
  const auto height = [](const Image& image) {
    for (int y = 0; y < image.height; ++y)
      if (light(image, 0.6, double(y) / image.height, 1, (y + 1.001) / image.height).light() > 0) return -y;
    return -image.height;
  };
  EXPECT_GT(height(faster), height(moving));
  EXPECT_GT(height(moving), height(paused));
  // Ends at once; the next simulator of the CPU goes on from where the bodies are.
  EXPECT_EQ(watch("--keys q").width, 720);
  const Image other = watch("--pictures 60 --keys ' ss.'");
  EXPECT_LE(std::abs(height(other) - height(paused)), 1);
}

}  // namespace
}  // namespace examples
