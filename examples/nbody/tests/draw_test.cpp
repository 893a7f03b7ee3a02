// Bodies drawn off screen, by Mesa's EGL and by OSMesa: where they are, in which colour, how bright.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "examples/nbody/draw/camera.h"
#include "examples/nbody/draw/offscreen.h"
#include "examples/nbody/draw/sprites.h"
#include "examples/support/failure.h"

namespace examples {
namespace {

constexpr int kWidth = 160, kHeight = 120;

struct Pixel {
  int red = 0, green = 0, blue = 0;
  int light() const { return red + green + blue; }
};

Pixel at(const Image& image, int x, int y) {
  const std::uint8_t* const p = &image.rgb[std::size_t(3 * (y * image.width + x))];
  return {p[0], p[1], p[2]};
}

struct Spot {
  double x = 0, y = 0, light = 0;  // the centre of light, in pixels from the upper left
};
Spot spot(const Image& image) {
  Spot found;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const double light = at(image, x, y).light();
      found.x += light * (x + 0.5);
      found.y += light * (y + 0.5);
      found.light += light;
    }
  }
  if (found.light > 0) found.x /= found.light, found.y /= found.light;
  return found;
}

class DrawTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::string reasons;
    std::unique_ptr<OffscreenContext> context = GetParam() == "EGL" ? open_egl({}, reasons) : open_osmesa(reasons);
    if (!context) GTEST_SKIP() << reasons;
    screen_ = std::make_unique<Offscreen>(std::move(context), reasons, kWidth, kHeight);
  }

  // Four numbers of each body: its place and its speed.
  Image draw(const std::vector<float>& bodies) {
    const Sprites sprites(screen_->gl(), std::int64_t(bodies.size() / 4));
    screen_->gl().BindBuffer(GL_ARRAY_BUFFER, sprites.buffer());
    screen_->gl().BufferSubData(GL_ARRAY_BUFFER, 0, std::ptrdiff_t(bodies.size() * sizeof(float)), bodies.data());
    sprites.draw(camera_, look_, {0, 0, kWidth, kHeight});
    return screen_->read();
  }

  std::unique_ptr<Offscreen> screen_;
  Camera camera_;  // four units before the origin
  SpriteLook look_{.radius = 0.1, .fast = 2, .brightness = 0.5};
};

TEST_P(DrawTest, WithoutBodiesAllIsBlack) {
  const Image image = draw({});
  EXPECT_EQ(image.width, kWidth);
  EXPECT_EQ(image.height, kHeight);
  EXPECT_EQ(std::count(image.rgb.begin(), image.rgb.end(), 0), 3 * kWidth * kHeight);
}

TEST_P(DrawTest, ABodyInTheMiddleIsASoftSpotThere) {
  const Image image = draw({0, 0, 0, 1});
  EXPECT_NEAR(spot(image).x, kWidth / 2, 0.1);
  EXPECT_NEAR(spot(image).y, kHeight / 2, 0.1);
  // Its radius is 0.1 / (0.4 * 4) of half the height.
  const double radius = 0.1 / (kHalfView * 4) * kHeight / 2;
  const int y = kHeight / 2, x = kWidth / 2;
  EXPECT_GT(at(image, x, y).light(), at(image, x + int(0.5 * radius), y).light());
  EXPECT_GT(at(image, x + int(0.5 * radius), y).light(), at(image, x + int(0.9 * radius), y).light());
  EXPECT_EQ(at(image, x + int(radius) + 2, y).light(), 0);
}

TEST_P(DrawTest, RightAndUpAreWhereTheyShouldBe) {
  const double to_pixels = kHeight / 2 / (kHalfView * 4);
  const Spot found = spot(draw({0.8F, 0.4F, 0, 1}));
  EXPECT_NEAR(found.x, kWidth / 2 + 0.8 * to_pixels, 0.5);
  EXPECT_NEAR(found.y, kHeight / 2 - 0.4 * to_pixels, 0.5);
}

TEST_P(DrawTest, TheColourTellsTheSpeed) {
  const auto colour = [&](float speed) { return at(draw({0, 0, 0, speed}), kWidth / 2, kHeight / 2); };
  const Pixel slow = colour(0), middle = colour(1), fast = colour(2), faster = colour(50);
  EXPECT_GT(slow.blue, 2 * slow.red);
  EXPECT_GT(fast.red, 2 * fast.blue);
  EXPECT_LT(std::max({middle.red, middle.green, middle.blue}) - std::min({middle.red, middle.green, middle.blue}),
            middle.red / 5);
  EXPECT_EQ(faster.red, fast.red);
}

TEST_P(DrawTest, LightAddsUp) {
  look_.brightness = 0.25;
  const int one = at(draw({0, 0, 0, 1}), kWidth / 2, kHeight / 2).red;
  EXPECT_NEAR(at(draw({0, 0, 0, 1, 0, 0, 0, 1}), kWidth / 2, kHeight / 2).red, 2 * one, 2);
  EXPECT_GT(one, 50);
}

TEST_P(DrawTest, MuchLightKeepsItsColour) {
  std::vector<float> many;
  for (int k = 0; k < 40; ++k) many.insert(many.end(), {0, 0, 0, 0});
  const Pixel one = at(draw({0, 0, 0, 0}), kWidth / 2, kHeight / 2), all = at(draw(many), kWidth / 2, kHeight / 2);
  EXPECT_EQ(all.blue, 255);
  EXPECT_NEAR(double(all.red) / all.blue, double(one.red) / one.blue, 0.03);
  look_.brightness = 1e5;  // beyond half floats
  EXPECT_EQ(at(draw(many), kWidth / 2, kHeight / 2).blue, 255);
}

TEST_P(DrawTest, WhatIsBehindTheCameraOrNoNumberIsNotDrawn) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(spot(draw({0, 0, 5, 1, nan, nan, nan, 1, 100, 0, 0, 1})).light, 0);
}

TEST_P(DrawTest, ASpotThatIsTooSmallIsFainterInstead) {
  look_.radius = 0.012;
  const double small = spot(draw({0, 0, 0, 1})).light;
  look_.radius = 0.006;
  EXPECT_NEAR(spot(draw({0, 0, 0, 1})).light / small, 0.25, 0.05);
}

INSTANTIATE_TEST_SUITE_P(Of, DrawTest, testing::Values("EGL", "OSMesa"), [](const auto& info) { return info.param; });

// Where a point of the world is in the picture: -1 to 1, to the right and upwards.
std::array<double, 2> seen(const Camera& camera, const std::array<double, 3>& x) {
  const std::array<float, 16> m = camera.to_clip(1);
  double clip[4];
  for (std::size_t r = 0; r < 4; ++r)
    clip[r] = double(m[r]) * x[0] + double(m[4 + r]) * x[1] + double(m[8 + r]) * x[2] + double(m[12 + r]);
  EXPECT_GT(clip[3], 0);
  return {clip[0] / clip[3], clip[1] / clip[3]};
}

TEST(Camera, CirclesAroundItsTarget) {
  Camera camera{.distance = 3, .target = {1, 2, 3}};
  camera.orbit(0.7, 0.4);
  EXPECT_NEAR(seen(camera, {1, 2, 3})[0], 0, 1e-6);
  EXPECT_NEAR(seen(camera, {1, 2, 3})[1], 0, 1e-6);
  EXPECT_GT(seen(camera, {1, 2.5, 3})[1], 0);  // upwards stays upwards
}

TEST(Camera, AQuarterToTheRightLooksAlongX) {
  Camera camera;
  camera.orbit(std::acos(-1.0) / 2, 0);
  // From the right of the origin, what lay behind it is now at the right, and what was at the right before it.
  EXPECT_GT(seen(camera, {0, 0, -1})[0], 0.5);
  EXPECT_NEAR(seen(camera, {1, 0, 0})[0], 0, 1e-6);
}

TEST(Camera, DoesNotTurnOver) {
  Camera camera;
  camera.orbit(0, 100);
  EXPECT_LT(camera.elevation, std::acos(-1.0) / 2);
  EXPECT_GT(seen(camera, {0, 0, -1})[1], 0);
}

TEST(Camera, ComesNearer) {
  Camera camera;
  camera.approach(2);
  EXPECT_NEAR(seen(camera, {0, 0.4, 0})[1], 0.4 / (kHalfView * 2), 1e-6);
}

TEST(Camera, ANarrowPictureShowsAsMuchToTheSide) {
  const std::array<float, 16> high = Camera().to_clip(0.5), square = Camera().to_clip(1);
  EXPECT_FLOAT_EQ(high[0], square[0]);
  EXPECT_FLOAT_EQ(high[5], square[5] / 2);
}

TEST(Camera, SeesTheBodiesThatItIsFor) {
  const Bodies bodies{{1, 1, 2}, {1, 0, 0, -1, 0, 0, 4, 4, 0}, {}};
  const Camera camera = camera_for(bodies);
  EXPECT_EQ(camera.target, (std::array<double, 3>{2, 2, 0}));
  for (std::size_t k = 0; k < 3; ++k) {
    const auto [right, up] = seen(camera, {bodies.x[3 * k], bodies.x[3 * k + 1], bodies.x[3 * k + 2]});
    EXPECT_LT(std::hypot(right, up), 1) << k;
  }
  EXPECT_GT(camera_for({{1}, {7, 8, 9}, {0, 0, 0}}).distance, 0);
}

TEST(Look, FollowsTheSpeeds) {
  const Bodies bodies{{1, 1}, {0, 0, 0, 1, 0, 0}, {3, 0, 0, 0, 4, 0}};
  EXPECT_NEAR(look_for(bodies, {}).fast, 2 * std::sqrt(12.5), 1e-12);
}

TEST(Offscreen, TellsWhyNothingDraws) {
  try {
    Offscreen(nullptr, " no EGL; no OSMesa", 10, 10);
    FAIL();
  } catch (const Missing& missing) {
    EXPECT_STREQ(missing.what(), "nothing here draws pictures off screen: no EGL; no OSMesa");
  }
}

}  // namespace
}  // namespace examples
