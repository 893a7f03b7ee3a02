// The functions of nbcc_g6.h with a trailing underscore, as Fortran calls them: all arguments by address. Each calls
// the C function.
#include "bindings/grape/nbcc_g6.h"

extern "C" {

int g6_open_(const int* clusterid) { return g6_open(*clusterid); }
int g6_close_(const int* clusterid) { return g6_close(*clusterid); }
int g6_reset_(const int* clusterid) { return g6_reset(*clusterid); }
int g6_reset_fofpga_(const int* clusterid) { return g6_reset_fofpga(*clusterid); }
int g6_npipes_(void) { return g6_npipes(); }
int g6_set_tunit_(const void*) { return g6_set_tunit(0); }
int g6_set_xunit_(const void*) { return g6_set_xunit(0); }
int g6_set_neighbour_list_sort_mode_(const int* mode) { return g6_set_neighbour_list_sort_mode(*mode); }
int g6_initialize_jp_buffer_(const int* clusterid, const int* size) {
  return g6_initialize_jp_buffer(*clusterid, *size);
}
int g6_flush_jp_buffer_(const int* clusterid) { return g6_flush_jp_buffer(*clusterid); }
int g6_setup_njdata_(const int* clusterid, const int* nj) { return g6_setup_njdata(*clusterid, *nj); }

int g6_set_j_particle_(const int* clusterid, const int* address, const int* index, const double* tj, const double* dtj,
                       const double* mass, const double k18[3], const double j6[3], const double a2[3],
                       const double v[3], const double x[3]) {
  return g6_set_j_particle(*clusterid, *address, *index, *tj, *dtj, *mass, k18, j6, a2, v, x);
}

int g6_set_ti_(const int* clusterid, const double* ti) { return g6_set_ti(*clusterid, *ti); }

void g6calc_firsthalf_(const int* clusterid, const int* nj, const int* ni, const int index[], const double xi[][3],
                       const double vi[][3], const double aold[][3], const double jold[][3], const double phiold[],
                       const double* eps2, const double h2[]) {
  g6calc_firsthalf(*clusterid, *nj, *ni, index, xi, vi, aold, jold, phiold, *eps2, h2);
}

int g6calc_lasthalf_(const int* clusterid, const int* nj, const int* ni, const int index[], const double xi[][3],
                     const double vi[][3], const double* eps2, const double h2[], double acc[][3], double jerk[][3],
                     double pot[]) {
  return g6calc_lasthalf(*clusterid, *nj, *ni, index, xi, vi, *eps2, h2, acc, jerk, pot);
}

int g6calc_lasthalf2_(const int* clusterid, const int* nj, const int* ni, const int index[], const double xi[][3],
                      const double vi[][3], const double* eps2, const double h2[], double acc[][3], double jerk[][3],
                      double pot[], int nnbindex[]) {
  return g6calc_lasthalf2(*clusterid, *nj, *ni, index, xi, vi, *eps2, h2, acc, jerk, pot, nnbindex);
}

int g6_read_neighbour_list_(const int* clusterid) { return g6_read_neighbour_list(*clusterid); }

int g6_get_neighbour_list_(const int* clusterid, const int* ipipe, const int* maxlength, int* nblen, int nbl[]) {
  return g6_get_neighbour_list(*clusterid, *ipipe, *maxlength, nblen, nbl);
}
}
