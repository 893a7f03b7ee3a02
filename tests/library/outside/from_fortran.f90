! A compiled library from Fortran: both flavours, outputs left out, errors in words.
program from_fortran
  use, intrinsic :: iso_c_binding
  use forces
  use everything, only: nearest_neighbour
  use nbcc
  implicit none
  integer(c_int64_t), parameter :: one = 1, two = 2
  real(c_double) :: xi(3, 1) = 0, xj(3, 2) = 0, mj(2) = [1, 4], acc(3, 1), pot(1)
  real(c_float) :: xif(3, 1) = 0, xjf(3, 2) = 0, force(3, 1), energy(1), virial(1)
  real(c_double) :: box(3) = 1d30
  integer :: failures = 0

  xj(1, 1) = 1
  xj(2, 2) = 2
  call expect(gravity(one, xi, two, xj, mj, 0d0, acc, pot) == 0, "gravity")
  call expect(all(abs(acc(:, 1) - [1, 1, 0]) < 1d-6) .and. abs(pot(1) + 3) < 1d-6, "its values")
  acc = 0
  call expect(gravity(one, xi, two, xj, mj, 0d0, acc) == 0, "gravity without pot")
  call expect(abs(acc(2, 1) - 1) < 1d-6, "its values without pot")

  xjf(1, 1) = 5
  xjf(1, 2) = 1
  call expect(lennard_jones(one, xif, two, xjf, 1d0, 1d0, 3d0, 0d0, box, force, energy, virial) == 0, "lennard_jones")
  call expect(abs(force(1, 1) + 24) < 1e-4 .and. abs(virial(1) - 12) < 1e-4, "its values")

  call expect(gravity(-one, xi, two, xj, mj, 0d0, acc, pot) /= 0, "a negative count")
  call expect(index(nbcc_message(), "-1") > 0, "what is said of a negative count")

  block
    integer(c_int64_t) :: near(1)
    call expect(nearest_neighbour(one, xif, two, xjf, 0_c_int32_t, near) == 0, "nearest_neighbour")
    call expect(near(1) == 1, "its value")
  end block
  call handles()
  if (failures > 0) error stop 1

contains

  subroutine handles()
    type(c_ptr) :: device, pipeline, sum, error
    type(nbcc_device_options) :: one_thread
    type(nbcc_run_options) :: onto
    type(nbcc_statistics) :: statistics
    one_thread%threads = 1
    onto%accumulate = 1
    acc = 10
    call expect(nbcc_device_open("cpu" // c_null_char, one_thread, device, error) == NBCC_OK, "opening a device")
    call expect(gravity_open(device, pipeline, error) == NBCC_OK, "opening a pipeline")
    call expect(nbcc_sum_create(pipeline, sum) == NBCC_OK, "a sum")
    call expect(nbcc_sum_run(sum, error=error) == NBCC_ERROR_USAGE, "a sum without arrays")
    call expect(index(nbcc_error_text(error), "xi") > 0, "what is said of it")
    call nbcc_error_free(error)
    call expect(gravity_bind(sum, one, xi, two, xj, mj, 0d0, acc, error=error) == NBCC_OK, "binding")
    call expect(nbcc_sum_run(sum, onto) == NBCC_OK, "running")
    call expect(abs(acc(1, 1) - 11) < 1d-6, "a sum that is accumulated")
    call expect(nbcc_sum_get_statistics(sum, statistics) == NBCC_OK, "statistics")
    call expect(nbcc_text(statistics%method) == "all pairs" .and. len(nbcc_text(statistics%reason)) > 0, "the method")
    call nbcc_sum_destroy(sum)
    call nbcc_pipeline_close(pipeline)
    call nbcc_device_close(device)
  end subroutine

  subroutine expect(is_so, what)
    logical, intent(in) :: is_so
    character(len=*), intent(in) :: what
    if (is_so) return
    print *, "wrong: ", what
    failures = failures + 1
  end subroutine
end program
