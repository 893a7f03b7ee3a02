// Bodies on the host -> bodies on a device that move there. Doors: Simulation, open_sum(). Writes no files.
#include "examples/nbody/simulation.h"

namespace examples {

nbcc::Sum open_sum(const nbcc::Device& device, const char* name, nbcc_precision precision) {
  const std::string path = std::string(NBCC_SOURCE_DIR "/examples/") + name;
  return nbcc::Sum(nbcc::Pipeline::from_file(device, path, {.precision = precision}));
}

Simulation::Simulation(const nbcc::Device& device, const Checkpoint& start, const Settings& settings)
    : device_(device),
      settings_(settings),
      count_(start.bodies.count()),
      steps_(start.step),
      mass_(start.bodies.mass),
      m_(field(1)),
      x_(field(3)),
      v_(field(3)),
      a_(field(3)),
      potential_(field(1)),
      force_(open_sum(device, "nbody/force.pipe", settings.precision)),
      exact_(open_sum(device, "nbody/force.pipe", NBCC_DOUBLE)),
      advance_(open_sum(device, "support/advance.pipe", NBCC_DOUBLE)) {
  write(m_, mass_);
  write(x_, start.bodies.x);
  write(v_, start.bodies.v);
  for (nbcc::Sum* sum : {&force_, &exact_}) {
    sum->bind("xi", view(x_, 3)).bind("xj", view(x_, 3)).bind("mj", view(m_, 1));
    sum->set("eps2", settings.eps * settings.eps);
  }
  force_.bind("acc", view(a_, 3)).ignore("pot");
  exact_.bind("pot", view(potential_, 1)).ignore("acc");
  advance_.bind("xi", view(x_, 3)).bind("vi", view(v_, 3)).bind("ai", view(a_, 3));
  advance_.bind("x", view(x_, 3)).bind("v", view(v_, 3)).counts(count_, 0);
  if (start.acceleration.empty())
    force_.run();
  else
    write(a_, start.acceleration);
}

// What a step needs is put into the device's stream; nobody waits for it.
void Simulation::step(double dt) {
  const bool verlet = settings_.damping == 1;
  advance(verlet ? dt / 2 : dt, dt, settings_.damping);
  force_.run();
  if (verlet) advance(dt / 2, 0, 1);
  ++steps_;
}

void Simulation::advance(double kick, double drift, double damping) {
  advance_.set("kick", kick).set("drift", drift).set("damping", damping).run();
}

Checkpoint Simulation::state() { return {steps_, 0, {mass_, read(x_, 3), read(v_, 3)}, read(a_, 3)}; }

Totals Simulation::totals() {
  exact_.run();
  const std::vector<double> x = read(x_, 3), v = read(v_, 3), potential = read(potential_, 1);
  Totals all;
  for (std::size_t k = 0; k < mass_.size(); ++k) {
    const double m = mass_[k], *const r = &x[3 * k], *const u = &v[3 * k];
    all.kinetic += 0.5 * m * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    all.potential += 0.5 * m * potential[k];
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t d = (c + 1) % 3, e = (c + 2) % 3;
      all.momentum[c] += m * u[c];
      all.angular_momentum[c] += m * (r[d] * u[e] - r[e] * u[d]);
    }
  }
  return all;
}

Simulation::Field Simulation::field(int width) const {
  return std::make_unique<nbcc::DeviceMemory>(device_, sizeof(double) * std::size_t(width * count_));
}
void Simulation::write(const Field& to, const std::vector<double>& from) {
  to->write(0, from.data(), sizeof(double) * from.size());
}
std::vector<double> Simulation::read(const Field& from, int width) {
  std::vector<double> values(std::size_t(width * count_));
  from->read(0, values.data(), sizeof(double) * values.size());
  return values;
}
nbcc::View Simulation::view(const Field& of, int width) const {
  return nbcc::view(static_cast<double*>(of->data()), count_, width * std::int64_t(sizeof(double)));
}

}  // namespace examples
