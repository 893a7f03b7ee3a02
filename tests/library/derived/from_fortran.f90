! A tolerance and each pair once, from Fortran.
program from_fortran
  use, intrinsic :: iso_c_binding
  use expectations
  use nbcc
  use derived
  implicit none
  integer, parameter :: n = 8000
  real(c_double) :: x(3, n), m(n), acc(3, n), pot(n), exact(n)
  type(c_ptr) :: device, pipeline, sum_of, error
  type(nbcc_statistics) :: found

  call random_number(x)
  m = 1d0 / n
  call expect(nbcc_device_open("cpu"//c_null_char, device=device, error=error) == NBCC_OK)
  call expect(gravity_open(device, pipeline, error) == NBCC_OK)
  call expect(nbcc_sum_create(pipeline, sum_of, error) == NBCC_OK)
  call expect(gravity_bind(sum_of, int(n, c_int64_t), x, int(n, c_int64_t), x, m, 1d-4, acc, exact, error) == NBCC_OK)
  call expect(nbcc_sum_set_symmetric(sum_of, NBCC_SYMMETRIC_ALWAYS, error) == NBCC_OK)
  call expect(nbcc_sum_run(sum_of, error=error) == NBCC_OK)
  call expect(nbcc_sum_get_statistics(sum_of, found) == NBCC_OK)
  call expect(nbcc_text(found%method) == "symmetric")
  call expect(gravity_bind(sum_of, int(n, c_int64_t), x, int(n, c_int64_t), x, m, 1d-4, acc, pot, error) == NBCC_OK)
  call expect(nbcc_sum_set_tolerance(sum_of, 1d-2, error=error) == NBCC_OK)
  call expect(nbcc_sum_run(sum_of, error=error) == NBCC_OK)
  call expect(nbcc_sum_get_statistics(sum_of, found) == NBCC_OK)
  call expect(nbcc_text(found%method) == "far field")
  call expect(found%tolerance == 1d-2 .and. found%sampled > 0 .and. found%error <= 1d-2)
  call expect(sqrt(sum((pot / exact - 1)**2) / n) < 1.3d-2)
  call expect(nbcc_sum_set_tolerance(sum_of, 2d0, error=error) == NBCC_ERROR_USAGE)
  call expect(nbcc_error_text(error) == "tolerance: it must be 0 (none) or from 1e-14 to 1, got 2")
  call nbcc_error_free(error)
  call nbcc_sum_destroy(sum_of)
  call nbcc_pipeline_close(pipeline)
  call nbcc_device_close(device)
  if (failed) stop 1
end program
