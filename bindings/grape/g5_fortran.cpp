// The functions of nbcc_g5.h with a trailing underscore, as Fortran calls them: all arguments by address. Each calls
// the C function.
#include "bindings/grape/nbcc_g5.h"

extern "C" {

void g5_open_(void) { g5_open(); }
void g5_close_(void) { g5_close(); }
int g5_get_number_of_pipelines_(void) { return g5_get_number_of_pipelines(); }
int g5_get_number_of_pipelines_per_board_(void) { return g5_get_number_of_pipelines_per_board(); }
int g5_get_number_of_real_pipelines_(void) { return g5_get_number_of_real_pipelines(); }
int g5_get_jmemsize_(void) { return g5_get_jmemsize(); }
int g5_get_number_of_boards_(void) { return g5_get_number_of_boards(); }
int g5_get_firstcluster_(void) { return g5_get_firstcluster(); }
double g5_get_pcibus_freq_(void) { return g5_get_pcibus_freq(); }
void g5_set_range_(const double* xmin, const double* xmax, const double* mmin) { g5_set_range(*xmin, *xmax, *mmin); }
void g5_get_range_(double* xmin, double* xmax, double* mmin) { g5_get_range(xmin, xmax, mmin); }
void g5_set_eta_(const double* eta) { g5_set_eta(*eta); }
void g5_set_cutoff_table_(double (*ffunc)(double), const double* fcut, const double* fcor, double (*pfunc)(double),
                          const double* pcut, const double* pcor) {
  g5_set_cutoff_table(ffunc, *fcut, *fcor, pfunc, *pcut, *pcor);
}

void g5_set_xmj_(const int* adr, const int* nj, const double xj[][3], const double mj[]) {
  g5_set_xmj(*adr, *nj, xj, mj);
}
void g5_set_jp_(const int* adr, const int* nj, const double mj[], const double xj[][3]) {
  g5_set_jp(*adr, *nj, mj, xj);
}
void g5_set_xj_(const int* adr, const int* nj, const double xj[][3]) { g5_set_xj(*adr, *nj, xj); }
void g5_set_mj_(const int* adr, const int* nj, const double mj[]) { g5_set_mj(*adr, *nj, mj); }
void g5_set_n_(const int* n) { g5_set_n(*n); }
void g5_set_eps_to_all_(const double* eps) { g5_set_eps_to_all(*eps); }
void g5_set_eps2_to_all_(const double* eps2) { g5_set_eps2_to_all(*eps2); }
void g5_set_eps_(const int* ni, const double eps[]) { g5_set_eps(*ni, eps); }
void g5_set_eps2_(const int* ni, const double eps2[]) { g5_set_eps2(*ni, eps2); }
void g5_set_xi_(const int* ni, const double xi[][3]) { g5_set_xi(*ni, xi); }
void g5_run_(void) { g5_run(); }
void g5_get_force_(const int* ni, double a[][3], double p[]) { g5_get_force(*ni, a, p); }
void g5_calculate_force_on_x_(const double x[][3], double a[][3], double p[], const int* ni) {
  g5_calculate_force_on_x(x, a, p, *ni);
}

void g5_set_xmjmc_(const int* devid, const int* adr, const int* nj, const double xj[][3], const double mj[]) {
  g5_set_xmjMC(*devid, *adr, *nj, xj, mj);
}
void g5_set_jpmc_(const int* devid, const int* adr, const int* nj, const double mj[], const double xj[][3]) {
  g5_set_jpMC(*devid, *adr, *nj, mj, xj);
}
void g5_set_xjmc_(const int* devid, const int* adr, const int* nj, const double xj[][3]) {
  g5_set_xjMC(*devid, *adr, *nj, xj);
}
void g5_set_mjmc_(const int* devid, const int* adr, const int* nj, const double mj[]) {
  g5_set_mjMC(*devid, *adr, *nj, mj);
}
void g5_set_nmc_(const int* devid, const int* n) { g5_set_nMC(*devid, *n); }
void g5_set_eps_to_allmc_(const int* devid, const double* eps) { g5_set_eps_to_allMC(*devid, *eps); }
void g5_set_eps2_to_allmc_(const int* devid, const double* eps2) { g5_set_eps2_to_allMC(*devid, *eps2); }
void g5_set_epsmc_(const int* devid, const int* ni, const double eps[]) { g5_set_epsMC(*devid, *ni, eps); }
void g5_set_eps2mc_(const int* devid, const int* ni, const double eps2[]) { g5_set_eps2MC(*devid, *ni, eps2); }
void g5_set_ximc_(const int* devid, const int* ni, const double xi[][3]) { g5_set_xiMC(*devid, *ni, xi); }
void g5_runmc_(const int* devid) { g5_runMC(*devid); }
void g5_get_forcemc_(const int* devid, const int* ni, double a[][3], double p[]) { g5_get_forceMC(*devid, *ni, a, p); }
void g5_calculate_force_on_xmc_(const int* devid, const double x[][3], double a[][3], double p[], const int* ni) {
  g5_calculate_force_on_xMC(*devid, x, a, p, *ni);
}
}
