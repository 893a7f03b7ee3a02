/* The names with an underscore, as C programs for Sapporo2 declare and call them. The program's status is the number of
 * the first expectation that failed, 0 if none did. */
#include <math.h>

#include "bindings/grape/nbcc_g6.h"

#define EXPECT(number, condition) \
  if (!(condition)) return number

int main(void) {
  int cluster = 3, nj = 2, ni = 1, address, index[2] = {70, 5}, near, pipe = 0, room = 4, count, list[4];
  double at = 0.5, dt = 1, ti = 1.5, mass = 3, eps2 = 0, h2 = 100, unit = 51;
  double x[2][3] = {{0, 0, 0}, {1, 0, 0}}, v[2][3] = {{0, 0, 0}, {1, 0, 0}}, zero[3] = {0, 0, 0};
  double acc[1][3] = {{0}}, jerk[1][3] = {{0}}, pot[1] = {0};
  EXPECT(1, g6_open_(&cluster) == 0);
  EXPECT(2, g6_npipes_() >= 1);
  EXPECT(3, g6_set_tunit_(&unit) == 0 && g6_set_xunit_(&unit) == 0);
  for (address = 0; address < nj; ++address)
    EXPECT(4, g6_set_j_particle_(&cluster, &address, &index[address], &at, &dt, &mass, zero, zero, zero, v[address],
                                 x[address]) == 0);
  EXPECT(5, g6_set_ti_(&cluster, &ti) == 0);
  g6calc_firsthalf_(&cluster, &nj, &ni, index, x, v, acc, jerk, pot, &eps2, &h2);
  EXPECT(6, g6calc_lasthalf_(&cluster, &nj, &ni, index, x, v, &eps2, &h2, acc, jerk, pot) == 0);
  /* The other one is at 2 by then: 3/4; jerk 3 (1/8 - 3 (2) 2 / 32). */
  EXPECT(7, fabs(acc[0][0] - 0.75) < 1e-6 && fabs(jerk[0][0] + 0.75) < 1e-6 && fabs(pot[0] + 1.5) < 1e-6);
  EXPECT(8, g6calc_lasthalf2_(&cluster, &nj, &ni, index, x, v, &eps2, &h2, acc, jerk, pot, &near) == 0 && near == 5);
  EXPECT(9, g6_read_neighbour_list_(&cluster) == 0);
  EXPECT(10, g6_get_neighbour_list_(&cluster, &pipe, &room, &count, list) == 0 && count == 1 && list[0] == 5);
  EXPECT(11, g6_reset_(&cluster) == 0 && g6_reset_fofpga_(&cluster) == 0);
  EXPECT(12, g6_initialize_jp_buffer_(&cluster, &nj) == 0 && g6_flush_jp_buffer_(&cluster) == 0);
  EXPECT(13, g6_close_(&cluster) == 0);
  EXPECT(14, g6_close_(&cluster) < 0 && nbcc_g6_last_error()[0] != 0);
  return 0;
}
