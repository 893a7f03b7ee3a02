// Controls <-> Dear ImGui. Entry points: Controls::press(), draw_panel(). Simulates nothing.
#include "examples/nbody/viewer/panel.h"

#include <imgui.h>

#include <algorithm>

namespace examples {
namespace {

constexpr double kRange = 64;  // of the time step, both ways
constexpr float kWidth = 200;  // pixels of a line of text

void draw_simulators(Controls& controls, const std::vector<Simulator>& simulators) {
  if (!ImGui::BeginCombo("simulator (s)", simulators[std::size_t(controls.simulator)].label.c_str())) return;
  for (int k = 0; k < int(simulators.size()); ++k) {
    if (ImGui::Selectable(simulators[std::size_t(k)].label.c_str(), k == controls.simulator)) controls.simulator = k;
  }
  ImGui::EndCombo();
}

// ImGui takes what is smaller than the last digit shown for zero.
void slide(const char* label, double& value, double least, double most, const char* format = "%.4f") {
  ImGui::SliderScalar(label, ImGuiDataType_Double, &value, &least, &most, format, ImGuiSliderFlags_Logarithmic);
}

}  // namespace

void Controls::press(char key, int simulators) {
  if (key == ' ') paused = !paused;
  if (key == '.') paused = one_step = true;
  if (key == 's') simulator = (simulator + 1) % simulators;
  if (key == '+') dt = std::min(2 * dt, first_dt * kRange);
  if (key == '-') dt = std::max(dt / 2, first_dt / kRange);
  if (key == 'r') reset_camera = true;
  if (key == 'q' || key == '\x1b') quit = true;
}

int draw_panel(Controls& controls, const Telling& telling, const std::vector<Simulator>& simulators) {
  ImGui::SetNextWindowPos({0, 0});
  ImGui::Begin("n-body", nullptr, ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoMove);
  ImGui::Text("%lld bodies, t = %.4f", static_cast<long long>(telling.bodies), telling.time);
  ImGui::Text("%.1f pictures/s", telling.pictures_per_second);
  if (telling.counts_interactions) {
    ImGui::Text("%.4g G interactions/s", 1e-9 * telling.interactions_per_second);
    ImGui::Text("%.4g GFLOP/s", 20e-9 * telling.interactions_per_second);
  }
  ImGui::PushTextWrapPos(kWidth);
  ImGui::TextUnformatted(telling.device.c_str());
  ImGui::TextUnformatted(telling.path.c_str());
  if (!telling.problem.empty()) ImGui::TextColored({1, 0.4F, 0.3F, 1}, "%s", telling.problem.c_str());
  ImGui::PopTextWrapPos();
  ImGui::Separator();
  ImGui::PushItemWidth(90);
  draw_simulators(controls, simulators);
  ImGui::Checkbox("pause (space)", &controls.paused);
  ImGui::SameLine();
  if (ImGui::Button("one step (.)")) controls.paused = controls.one_step = true;
  slide("time step (+ -)", controls.dt, controls.first_dt / kRange, controls.first_dt * kRange, "%.9f");
  ImGui::SliderInt("steps per picture", &controls.steps, 1, 64);
  slide("size of a body", controls.look.radius, 1e-4, 10);
  slide("brightness", controls.look.brightness, 0.01, 4);
  slide(telling.red.c_str(), controls.look.fast, 1e-3, 1e3);
  if (ImGui::Button("camera back (r)")) controls.reset_camera = true;
  ImGui::PopItemWidth();
  // Folded to its title, it covers no bodies.
  const float covered = ImGui::IsWindowCollapsed() ? 0 : ImGui::GetWindowWidth();
  ImGui::End();
  return int(covered * ImGui::GetIO().DisplayFramebufferScale.x);
}

}  // namespace examples
