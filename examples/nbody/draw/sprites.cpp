// Bodies in a buffer of OpenGL -> spots of light in the current picture. Entry points: Sprites, look_for(). How bodies
// come into the buffer is vertices.cpp's.
#include "examples/nbody/draw/sprites.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace examples {
namespace {

// A spot that would be smaller than three pixels is drawn with three, and fainter.
constexpr const char* kVertexShader = R"(#version 330 core
layout(location = 0) in vec4 body;  // position, speed
uniform mat4 to_clip;
uniform float pixels;  // across a spot at distance 1
uniform float fast, brightness;
out vec3 light;
void main() {
  gl_Position = to_clip * vec4(body.xyz, 1.0);
  float size = pixels / gl_Position.w;
  gl_PointSize = clamp(size, 3.0, 256.0);
  float t = clamp(body.w / fast, 0.0, 1.0);
  vec3 slow = vec3(0.15, 0.35, 1.0), middle = vec3(1.0, 0.95, 0.9), red = vec3(1.0, 0.25, 0.08);
  vec3 colour = t < 0.5 ? mix(slow, middle, 2.0 * t) : mix(middle, red, 2.0 * t - 1.0);
  light = colour * brightness * min(1.0, size * size / 9.0);
}
)";

constexpr const char* kFragmentShader = R"(#version 330 core
in vec3 light;
out vec4 pixel;
void main() {
  vec2 p = 2.0 * gl_PointCoord - 1.0;
  float r2 = dot(p, p);
  if (r2 > 1.0) discard;
  float soft = 1.0 - r2;
  pixel = vec4(light * soft * soft, 1.0);
}
)";

unsigned compile(const Gl& gl, GLenum kind, const char* text) {
  const unsigned shader = gl.CreateShader(kind);
  gl.ShaderSource(shader, 1, &text, nullptr);
  gl.CompileShader(shader);
  int done = 0;
  gl.GetShaderiv(shader, GL_COMPILE_STATUS, &done);
  if (done) return shader;
  char log[1024] = "";
  gl.GetShaderInfoLog(shader, sizeof log, nullptr, log);
  gl.DeleteShader(shader);
  throw std::runtime_error(std::string("OpenGL refuses a shader: ") + log);
}

unsigned link(const Gl& gl, unsigned vertex, unsigned fragment) {
  const unsigned program = gl.CreateProgram();
  gl.AttachShader(program, vertex);
  gl.AttachShader(program, fragment);
  gl.LinkProgram(program);
  gl.DeleteShader(vertex);
  gl.DeleteShader(fragment);
  int done = 0;
  gl.GetProgramiv(program, GL_LINK_STATUS, &done);
  if (done) return program;
  char log[1024] = "";
  gl.GetProgramInfoLog(program, sizeof log, nullptr, log);
  gl.DeleteProgram(program);
  throw std::runtime_error(std::string("OpenGL refuses the shaders: ") + log);
}

}  // namespace

SpriteLook look_for(const Bodies& bodies, const Camera& camera) {
  SpriteLook look;
  double square = 0;
  for (const double component : bodies.v) square += component * component;
  const double n = std::max(1.0, double(bodies.count()));
  if (square > 0) look.fast = 2 * std::sqrt(square / n);
  // The more bodies, the smaller and the fainter each.
  look.radius = camera.distance * std::clamp(0.12 / std::cbrt(n), 0.0015, 0.015);
  look.brightness = std::clamp(18 / std::sqrt(n), 0.12, 1.0);
  return look;
}

Sprites::Sprites(const Gl& gl, std::int64_t count) : gl_(gl), count_(count) {
  const unsigned vertex = compile(gl, GL_VERTEX_SHADER, kVertexShader);
  program_ = link(gl, vertex, compile(gl, GL_FRAGMENT_SHADER, kFragmentShader));
  gl.GenVertexArrays(1, &array_);
  gl.BindVertexArray(array_);
  gl.GenBuffers(1, &buffer_);
  gl.BindBuffer(GL_ARRAY_BUFFER, buffer_);
  gl.BufferData(GL_ARRAY_BUFFER, std::max<std::ptrdiff_t>(1, count) * 4 * std::ptrdiff_t(sizeof(float)), nullptr,
                GL_DYNAMIC_DRAW);
  gl.EnableVertexAttribArray(0);
  gl.VertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 4 * sizeof(float), nullptr);
  gl.BindVertexArray(0);
}

Sprites::~Sprites() {
  gl_.DeleteBuffers(1, &buffer_);
  gl_.DeleteVertexArrays(1, &array_);
  gl_.DeleteProgram(program_);
}

void Sprites::draw(const Camera& camera, const SpriteLook& look, const Rectangle& pixels) const {
  gl_.Viewport(pixels.left, pixels.bottom, pixels.width, pixels.height);
  gl_.ClearColor(0, 0, 0, 1);
  gl_.Clear(GL_COLOR_BUFFER_BIT);
  gl_.Disable(GL_DEPTH_TEST);
  gl_.Enable(GL_PROGRAM_POINT_SIZE);
  gl_.Enable(GL_BLEND);
  gl_.BlendFunc(GL_ONE, GL_ONE);
  gl_.UseProgram(program_);
  const std::array<float, 16> to_clip = camera.to_clip(double(pixels.width) / pixels.height);
  gl_.UniformMatrix4fv(gl_.GetUniformLocation(program_, "to_clip"), 1, GL_FALSE, to_clip.data());
  const auto set = [&](const char* name, double value) {
    gl_.Uniform1f(gl_.GetUniformLocation(program_, name), float(value));
  };
  set("pixels", look.radius * std::min(pixels.width, pixels.height) / kHalfView);
  set("fast", look.fast);
  set("brightness", look.brightness);
  gl_.BindVertexArray(array_);
  gl_.DrawArrays(GL_POINTS, 0, GLsizei(count_));
  gl_.BindVertexArray(0);
}

}  // namespace examples
