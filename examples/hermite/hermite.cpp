// Blocks of bodies -> the same bodies, a step later. Its entry point is Hermite. Who is moved when is decided in
// block_steps.cpp.
#include "examples/hermite/hermite.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "examples/support/open_sum.h"

namespace examples {
namespace {

double length(const std::vector<double>& of, std::size_t particle) {
  return std::hypot(of[3 * particle], of[3 * particle + 1], of[3 * particle + 2]);
}

// Not 0, by which the correction divides, even where nobody pulls.
double total_mass(const std::vector<double>& mass, const Ranks* ranks) {
  double sum = 0;
  for (const double m : mass) sum += std::fabs(m);
  if (ranks) ranks->add_up({&sum, 1});
  return std::max(sum, 1e-300);
}

const std::string kJerkMixed = "examples/hermite/jerk_mixed.pipe";

std::string force_of(const HermiteSettings& settings) {
  if (settings.order == 6) return "pipelines/gravity_snap.pipe";
  return settings.precision == NBCC_MIXED && settings.eps > 0 ? kJerkMixed : "pipelines/gravity_jerk.pipe";
}

// Tells how long it is since it was last asked.
class Watch {
 public:
  double lap() {
    const Clock::time_point before = std::exchange(last_, Clock::now());
    return std::chrono::duration<double>(last_ - before).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

}  // namespace

double step_that_divides(double interval, double longest) {
  return interval / std::ceil(interval / longest * (1 - 1e-12));
}

Hermite::Hermite(const nbcc::Device& device, const Bodies& bodies, const HermiteSettings& settings, Ranks* ranks)
    : ranks_(ranks),
      settings_(settings),
      mass_(bodies.mass),
      wanted_(mass_.size()),
      blocks_(settings.largest, settings.finest),
      statistics_(bodies.count()),
      m_(device, bodies.count(), 1),
      t_(device, bodies.count(), 1),
      x_(device, bodies.count(), 3),
      v_(device, bodies.count(), 3),
      a_(device, bodies.count(), 3),
      j_(device, bodies.count(), 3),
      s_(device, bodies.count(), 3),
      c_(device, settings.order == 6 ? bodies.count() : 0, 3),
      x_now_(device, bodies.count(), 3),
      v_now_(device, bodies.count(), 3),
      a_now_(device, bodies.count(), 3),
      a_new_(device, bodies.count(), 3),
      j_new_(device, bodies.count(), 3),
      s_new_(device, bodies.count(), 3),
      potential_(device, bodies.count(), 1),
      step_(device, bodies.count(), 1, true),
      block_(device, bodies.count(), 1, true),
      predict_(open_sum(device, "examples/hermite/predict" + std::to_string(settings.order) + ".pipe", NBCC_DOUBLE)),
      force_(open_sum(device, force_of(settings), settings.precision)),
      correct_(open_sum(device, "examples/hermite/correct" + std::to_string(settings.order) + ".pipe", NBCC_DOUBLE)),
      exact_(open_sum(device, "pipelines/gravity_jerk.pipe", NBCC_DOUBLE)) {
  if (!device.name().starts_with("cpu")) {
    list_.emplace(device, bodies.count());
    send_.emplace(open_sum(device, "examples/hermite/send.pipe", NBCC_DOUBLE));
    send_->bind("from", block_.view()).bind("to", list_->view()).counts(bodies.count(), 0);
  }
  bind();
  compile();
  m_.write(times_g(bodies.mass, settings.G));
  x_.write(bodies.x);
  v_.write(bodies.v);
  start(device);
}

void Hermite::bind() {
  const std::int64_t count = statistics_.count();
  predict_.bind("x0", x_.view()).bind("v0", v_.view()).bind("a0", a_.view()).bind("j0", j_.view());
  predict_.bind("t0", t_.view()).bind("x", x_now_.view()).bind("v", v_now_.view());
  force_.bind("xi", x_now_.view()).bind("vi", v_now_.view());
  force_.bind("xj", x_now_.view()).bind("vj", v_now_.view()).bind("mj", m_.view());
  force_.bind("acc", a_new_.view()).bind("jerk", j_new_.view());
  correct_.bind("x0", x_.view()).bind("v0", v_.view()).bind("a0", a_.view()).bind("j0", j_.view());
  correct_.bind("t0", t_.view()).bind("a1", a_new_.view()).bind("j1", j_new_.view());
  correct_.bind("x", x_.view()).bind("v", v_.view()).bind("a", a_.view()).bind("j", j_.view());
  correct_.bind("t", t_.view()).bind("step", step_.view());
  if (settings_.order == 6) {
    predict_.bind("s0", s_.view()).bind("c0", c_.view()).bind("a", a_now_.view());
    force_.bind("ai", a_now_.view()).bind("aj", a_now_.view()).bind("snap", s_new_.view());
    correct_.bind("s0", s_.view()).bind("s1", s_new_.view()).bind("s", s_.view()).bind("c", c_.view());
  } else {
    force_.bind("pot", potential_.view());
    if (force_of(settings_) == kJerkMixed) force_.bind("mi", m_.view());
    correct_.bind("p1", potential_.view()).set("mass", settings_.G * total_mass(mass_, ranks_));
  }
  exact_.bind("xi", x_.view()).bind("vi", v_.view()).bind("xj", x_.view()).bind("vj", v_.view());
  exact_.bind("mj", m_.view()).bind("pot", potential_.view()).ignore("acc").ignore("jerk");
  for (nbcc::Sum* sum : {&force_, &exact_}) sum->set("eps2", settings_.eps * settings_.eps);
  for (nbcc::Sum* sum : {&predict_, &correct_}) sum->set("unit", blocks_.tick()).counts(count, 0);
  // Where a step is so short that rounding is all that tells the forces of its ends apart, steps must not become
  // shorter still for that.
  const double noise = settings_.precision == NBCC_SINGLE  ? 0x1p-19
                       : settings_.precision == NBCC_MIXED ? 0x1p-23
                                                           : 0x1p-50;
  correct_.set("eta", settings_.eta).set("noise", noise);
}

// A GPU's kernels are cut for the size of a block, and compiled when they are first wanted: here, where nobody measures
// the time, for bodies that are not yet there.
void Hermite::compile() {
  const std::int64_t count = statistics_.count();
  double most = double(count);
  if (ranks_) {  // as they are dealt out
    ranks_->add_up({&most, 1});
    most = std::ceil(most / ranks_->count());
  }
  predict_.set("now", 0).run();
  for (std::int64_t block = 1;; block += block / 4 + 1) {
    if (send_) send_->run(0, std::min(block, count));
    run(force_, nullptr, std::min(block, count));
    correct_.set("now", 1).run(0, std::min(block, count));
    if (double(block) >= most) break;
  }
  correct_.wait();
  for (Numbers* field : {&t_, &x_, &v_, &a_, &j_, &s_, &c_}) field->clear();
}

void Hermite::start(const nbcc::Device& device) {
  nbcc::Sum sum = open_sum(device, "pipelines/gravity_snap.pipe", NBCC_DOUBLE);
  sum.bind("xi", x_.view()).bind("vi", v_.view()).bind("ai", a_.view());
  sum.bind("xj", x_.view()).bind("vj", v_.view()).bind("aj", a_.view()).bind("mj", m_.view());
  sum.bind("acc", a_new_.view()).bind("jerk", j_new_.view()).bind("snap", s_new_.view());
  sum.set("eps2", settings_.eps * settings_.eps);
  run(sum);
  sum.wait();
  // The snap needs accelerations, which the same sum has told.
  a_.write(a_new_.all());
  run(sum);
  sum.wait();
  j_.write(j_new_.all());
  s_.write(s_new_.all());
  const std::vector<double> a = a_.all(), j = j_.all(), s = s_.all();
  const double eta = settings_.eta_start > 0 ? settings_.eta_start : settings_.eta / 10;
  for (std::size_t k = 0; k < wanted_.size(); ++k) {
    const double acc = length(a, k), jerk = length(j, k), snap = length(s, k);
    // Where one of them happens to be near 0, their ratio tells no time; this one does.
    const double time = snap > 0 ? std::sqrt(acc / snap + jerk * jerk / (snap * snap)) : settings_.largest;
    wanted_[k] = float(eta * std::clamp(jerk > 0 ? acc / jerk : 4 * time, time / 4, 4 * time));
  }
  blocks_.begin(wanted_);
  find_next();
}

void Hermite::run(nbcc::Sum& sum, const std::int64_t* list, std::int64_t count) {
  if (ranks_)
    ranks_->run(sum, list, count);
  else
    sum.run_device_list(list, count);
}

std::vector<double> Hermite::of_all(const std::vector<double>& mine, int width) const {
  return ranks_ ? ranks_->collect(mine, width) : mine;
}

void Hermite::find_next() {
  next_ = {blocks_.next(), blocks_.next_count()};
  if (ranks_) next_ = ranks_->earliest(next_);
}

void Hermite::go_to(double time) {
  // By largest steps: far from 0, a time in ticks is rounded to one at which nobody meets.
  const std::int64_t last = std::llround(time / settings_.largest) << settings_.finest;
  while (next_.time <= last) take_block();
}

void Hermite::take_block() {
  Watch watch;
  Seconds took;
  const double now = double(next_.time);
  // Of all, so that it can begin while the block is found.
  predict_.set("now", now).run();
  wait_if_apart(predict_);
  took.prediction = watch.lap();
  blocks_.go(next_.time);  // of this rank maybe nobody
  const std::vector<std::int64_t>& block = blocks_.block();
  const auto count = std::int64_t(block.size());
  took.host = watch.lap();
  const std::int64_t* const list = send(block);
  took.list = watch.lap();
  run(force_, list, count);
  wait_if_apart(force_);
  took.force = watch.lap();
  correct_.set("now", now).run_device_list(list, count);
  statistics_.count(block);
  correct_.wait();
  took.correction = watch.lap();
  fetch_steps(block);
  took.steps = watch.lap();
  blocks_.end_block(wanted_);
  const std::int64_t moved = next_.count;
  find_next();
  took.host += watch.lap();
  statistics_.add(moved, took);
}

// Where the device finds the list. A GPU copies it to itself: many of its threads read it, and at the end of the bus it
// would be far from them.
const std::int64_t* Hermite::send(const std::vector<std::int64_t>& block) {
  std::ranges::copy(block, block_.data());
  if (!send_) return block_.data();
  send_->run(0, std::int64_t(block.size()));
  wait_if_apart(*send_);
  return list_->data();
}

// The results of particle k stand at k, whichever are asked for.
void Hermite::fetch_steps(const std::vector<std::int64_t>& block) {
  const float* const steps = step_.data();
  wanted_.resize(block.size());
  std::ranges::transform(block, wanted_.begin(), [=](std::int64_t particle) { return steps[particle]; });
}

void Hermite::wait_if_apart(nbcc::Sum& sum) {
  if (settings_.apart) sum.wait();
}

Statistics Hermite::statistics() const {
  Statistics all = statistics_;
  const std::vector<double> mine(all.steps_of_each().begin(), all.steps_of_each().end()), steps = of_all(mine, 1);
  all.set_steps_of_each({steps.begin(), steps.end()});
  return all;
}

Energies Hermite::energies() {
  run(exact_);
  exact_.wait();
  const std::vector<double> v = v_.all(), potential = potential_.all();
  Energies all;
  for (std::size_t k = 0; k < mass_.size(); ++k) {
    const double speed = length(v, k);
    all.kinetic += 0.5 * mass_[k] * speed * speed;
    all.potential += 0.5 * mass_[k] * potential[k];
  }
  if (ranks_) {
    ranks_->add_up({&all.kinetic, 1});
    ranks_->add_up({&all.potential, 1});
  }
  return all;
}

}  // namespace examples
