// Riemann's problem of an ideal gas, exactly: what follows when two uniform states meet at x = 0.
#pragma once

namespace examples {

struct GasState {
  double rho = 1, v = 0, p = 1;
};

class Riemann {
 public:
  // Throws UsageError for states that are none, or that part so fast that a vacuum opens between them.
  Riemann(const GasState& left, const GasState& right, double gamma);

  // Between the two waves lie two states of one pressure and velocity, which a contact separates.
  double p() const { return p_; }
  double v() const { return v_; }
  // A wave that goes left or right: a shock, whose head and tail are one, or a rarefaction. Speeds are those of the
  // frame in which the states are given.
  struct Wave {
    bool is_shock = false;
    double rho = 0;  // behind it
    double head = 0, tail = 0;
  };
  const Wave& left() const { return left_; }
  const Wave& right() const { return right_; }

  GasState at(double x_over_t) const;

 private:
  GasState behind(const GasState& ahead, const Wave& wave, double side, double s) const;

  GasState ahead_left_, ahead_right_;
  double gamma_, p_ = 0, v_ = 0;
  Wave left_, right_;
};

}  // namespace examples
