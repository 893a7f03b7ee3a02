// Bodies on the host -> bodies on a device that move there. Its entry point is Simulation. Writes no files.
#include "examples/nbody/simulation.h"

#include "examples/support/open_sum.h"

namespace examples {

Simulation::Simulation(const nbcc::Device& device, const State& start, const Settings& settings, Ranks* ranks)
    : ranks_(ranks),
      settings_(settings),
      count_(start.bodies.count()),
      steps_(start.step),
      mass_(start.bodies.mass),
      m_(device, count_),
      x_(device, count_, 3),
      v_(device, count_, 3),
      a_(device, count_, 3),
      potential_(device, count_),
      force_(open_sum(device, "examples/nbody/force.pipe", settings.precision)),
      exact_(open_sum(device, "examples/nbody/force.pipe", NBCC_DOUBLE)),
      advance_(open_sum(device, "examples/support/advance.pipe", NBCC_DOUBLE)) {
  m_.write(mass_);
  x_.write(start.bodies.x);
  v_.write(start.bodies.v);
  for (nbcc::Sum* sum : {&force_, &exact_}) {
    sum->bind("xi", x_.view()).bind("xj", x_.view()).bind("mj", m_.view());
    sum->set("eps2", settings.eps * settings.eps);
  }
  force_.bind("acc", a_.view()).ignore("pot");
  exact_.bind("pot", potential_.view()).ignore("acc");
  advance_.bind("xi", x_.view()).bind("vi", v_.view()).bind("ai", a_.view());
  advance_.bind("x", x_.view()).bind("v", v_.view()).counts(count_, 0);
  if (start.acceleration.empty())
    sum(force_);
  else
    a_.write(start.acceleration);
}

// What a step needs is put into the device's stream; nobody waits for it.
void Simulation::step(double dt) {
  const bool verlet = settings_.damping == 1;
  advance(verlet ? dt / 2 : dt, dt, settings_.damping);
  sum(force_);
  if (verlet) advance(dt / 2, 0, 1);
  ++steps_;
}

void Simulation::advance(double kick, double drift, double damping) {
  advance_.set("kick", kick).set("drift", drift).set("damping", damping).run();
}

State Simulation::state() const { return {steps_, {mass_, x_.all(), v_.all()}, a_.all()}; }

Totals Simulation::totals() {
  sum(exact_);
  const std::vector<double> x = x_.all(), v = v_.all(), potential = potential_.all();
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
  if (ranks_) {
    ranks_->add_up({&all.kinetic, 1});
    ranks_->add_up({&all.potential, 1});
    ranks_->add_up(all.momentum);
    ranks_->add_up(all.angular_momentum);
  }
  return all;
}

}  // namespace examples
