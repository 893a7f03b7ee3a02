// A gas from one time to a later one: every part of a step is a sum, of which the host sees six numbers.
//
// Smoothing lengths follow the density, by iteration at each step; then come the forces. The entry point is Gas. It
// knows nothing of what flows.
#include "examples/sph/gas.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "examples/support/open_sum.h"

namespace examples {
namespace {

struct Binding {
  const char* field;
  const DeviceArray<double>& array;
};

void bind(nbcc::Sum& sum, std::initializer_list<Binding> all) {
  for (const Binding& one : all) sum.bind(one.field, one.array.view());
}

}  // namespace

void Particles::add(double m, const std::array<double, 3>& at, const std::array<double, 3>& velocity, double energy,
                    double smoothing) {
  mass.push_back(m);
  x.insert(x.end(), at.begin(), at.end());
  v.insert(v.end(), velocity.begin(), velocity.end());
  u.push_back(energy);
  h.push_back(smoothing);
}

Gas::Gas(const nbcc::Device& device, const Particles& start, const GasSettings& settings)
    : settings_(settings),
      count_(std::int64_t(start.count())),
      m_(device, count_),
      x_(device, count_, 3),
      v_(device, count_, 3),
      u_(device, count_),
      v_ahead_(device, count_, 3),
      u_ahead_(device, count_),
      acc_(device, count_, 3),
      dudt_(device, count_),
      pot_(device, count_),
      h_(device, count_),
      rho_(device, count_),
      omega_(device, count_),
      pres_(device, count_),
      sound_(device, count_),
      vsig_(device, count_),
      change_(device, count_),
      totals_(device, 6),
      density_(open_sum(device, "examples/sph/density.pipe", settings.precision)),
      force_(open_sum(device, "examples/sph/force.pipe", settings.precision)),
      gravity_(open_sum(device, "pipelines/gravity_acc.pipe", settings.precision)),
      potential_(open_sum(device, "pipelines/potential.pipe", NBCC_DOUBLE)),
      advance_(open_sum(device, "examples/sph/advance.pipe", NBCC_DOUBLE)),
      total_(open_sum(device, "examples/sph/totals.pipe", NBCC_DOUBLE)) {
  m_.write(start.mass);
  x_.write(start.x);
  v_.write(start.v);
  u_.write(start.u);
  h_.write(start.h);
  bind(density_, {{"xi", x_}, {"xj", x_}, {"mi", m_}, {"mj", m_}, {"hi", h_}, {"ui", u_ahead_}});
  bind(density_,
       {{"h", h_}, {"rho", rho_}, {"omega", omega_}, {"pres", pres_}, {"sound", sound_}, {"change", change_}});
  bind(force_, {{"xi", x_}, {"vi", v_ahead_}, {"ui", u_ahead_}, {"hi", h_}});
  bind(force_, {{"rhoi", rho_}, {"presi", pres_}, {"ci", sound_}, {"omegai", omega_}});
  bind(force_, {{"xj", x_}, {"vj", v_ahead_}, {"uj", u_ahead_}, {"hj", h_}, {"mj", m_}});
  bind(force_, {{"rhoj", rho_}, {"presj", pres_}, {"cj", sound_}, {"omegaj", omega_}});
  bind(force_, {{"acc", acc_}, {"dudt", dudt_}, {"vsig", vsig_}});
  bind(gravity_, {{"xi", x_}, {"xj", x_}, {"mj", m_}, {"acc", acc_}});
  bind(potential_, {{"xi", x_}, {"xj", x_}, {"mj", m_}, {"pot", pot_}});
  bind(advance_, {{"xi", x_}, {"vi", v_}, {"ai", acc_}, {"ui", u_}, {"dudti", dudt_}});
  bind(advance_, {{"x", x_}, {"v", v_}, {"u", u_}, {"v_ahead", v_ahead_}, {"u_ahead", u_ahead_}});
  advance_.counts(count_, 0);
  bind(total_, {{"mj", m_}, {"vj", v_}, {"aj", acc_}, {"uj", u_}, {"potj", pot_}});
  bind(total_, {{"hj", h_}, {"vsigj", vsig_}, {"changej", change_}});
  const char* const numbers[] = {"step", "change", "reach", "kinetic", "thermal", "potential"};
  for (std::size_t k = 0; k < 6; ++k) total_.bind(numbers[k], nbcc::view(totals_.data() + k, 1));
  for (nbcc::Sum* sum : {&density_, &force_, &advance_}) sum->set("box", settings.box);
  for (nbcc::Sum* sum : {&gravity_, &potential_}) sum->set("eps2", settings.eps * settings.eps);
  density_.set("eta", settings.eta).set("gamma", settings.gamma);
  force_.set("alpha", settings.alpha).set("beta", settings.beta).set("conductivity", settings.conductivity);
  total_.set("courant", settings.courant);
  advance(0, 0);
  evaluate(1e-5);
  add_up();
}

void Gas::step(double until) {
  const bool is_last = time_ + now_.step >= until;
  const double dt = is_last ? until - time_ : now_.step;
  if (!(time_ + dt > time_)) throw std::runtime_error("time stands still at " + std::to_string(time_));
  advance(dt / 2, dt);
  evaluate(1e-3);
  advance(dt / 2, 0);
  add_up();
  time_ = is_last ? until : time_ + dt;
  ++steps_;
}

// Newton's iteration: after a step of h by a share of `tolerance`, it is wrong by about the square of that.
void Gas::settle(double tolerance) {
  for (int round = 0; round < 100; ++round) {
    density_.run();
    add_up();
    const double room = *std::min_element(settings_.box.begin(), settings_.box.end()) / 2;
    if (now_.reach >= room)
      throw std::runtime_error("a particle reaches as far as " + std::to_string(now_.reach) +
                               ", and half of the box is " + std::to_string(room) + ": take more cells across");
    if (now_.change < tolerance) return;
  }
  throw std::runtime_error("no smoothing length fits the density at time " + std::to_string(time_));
}

void Gas::evaluate(double tolerance) {
  settle(tolerance);
  force_.run();
  if (settings_.has_gravity) gravity_.accumulate();
}

void Gas::advance(double kick, double drift) { advance_.set("kick", kick).set("drift", drift).run(); }

void Gas::add_up() {
  total_.run();
  const std::vector<double> all = totals_.all();
  now_ = {all[0], all[1], all[2], all[3], all[4], all[5]};
}

Totals Gas::totals() {
  if (settings_.has_gravity) potential_.run();
  add_up();
  return now_;
}

Particles Gas::particles() const { return {m_.all(), x_.all(), v_.all(), u_.all(), h_.all(), rho_.all()}; }

}  // namespace examples
