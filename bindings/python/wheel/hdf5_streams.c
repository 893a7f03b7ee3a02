// The variables hdf5_stdout and hdf5_stderr, which replace the C library's stdout and stderr in HDF5's archive. HDF5
// uses them only if its printing of errors is turned on, which nbcc never does.
#include <stdio.h>

FILE *hdf5_stdout, *hdf5_stderr;

__attribute__((constructor)) static void set_streams(void) {
  hdf5_stdout = stdout;
  hdf5_stderr = stderr;
}
