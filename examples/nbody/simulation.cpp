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
      advance_(open_sum(device, "examples/support/advance.pipe", NBCC_DOUBLE)) {
  m_.write(times_g(mass_, settings.G));
  x_.write(start.bodies.x);
  v_.write(start.bodies.v);
  const auto bind_inputs = [&](nbcc::Sum& sum) {
    sum.bind("xi", x_.view()).bind("xj", x_.view()).bind("mj", m_.view());
    sum.set("eps2", settings.eps * settings.eps);
  };
  bind_inputs(force_);
  force_.bind("acc", a_.view()).tolerance(settings.tolerance);
  if (settings.has_energy_sum()) {
    force_.ignore("pot");
    energy_.emplace(open_sum(device, "examples/nbody/force.pipe", NBCC_DOUBLE));
    bind_inputs(*energy_);
    energy_->bind("pot", potential_.view()).ignore("acc").tolerance(settings.energy_tolerance.value_or(0));
  } else {
    force_.bind("pot", potential_.view());
  }
  advance_.bind("xi", x_.view()).bind("vi", v_.view()).bind("ai", a_.view());
  advance_.bind("x", x_.view()).bind("v", v_.view()).counts(count_, 0);
  // The potential of a state with accelerations is not known yet.
  if (start.acceleration.empty() || !energy_) sum(force_);
  if (!start.acceleration.empty()) a_.write(start.acceleration);
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

nbcc_statistics Simulation::statistics() {
  force_.wait();
  return force_.statistics();
}

std::optional<nbcc_statistics> Simulation::energy_statistics() {
  if (settings_.energy_tolerance.value_or(0) == 0) return {};
  return energy_->statistics();
}

double Simulation::pairs_per_step() {
  const double far = settings_.tolerance > 0 ? statistics().pairs_per_i : 0;
  return double(count_) * (far > 0 ? far : double(count_));
}

Totals Simulation::totals() {
  if (energy_) sum(*energy_);
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
