! The shared numeric cases through a compiled library's module, for arrays of real(c_double) and of real(c_float); and
! what the functions say to arguments that are wrong.
!
!   from_fortran CASES single|mixed|double      the precision of the library
!
! An argument's length is not seen by the library here: its arrays are of assumed size, as those of bind(C) are.
module cases_of_double
  use case_file
  use cases
  implicit none
  private
  public :: run_all
  integer, parameter :: wp = c_double
  real(c_double), parameter :: rounding = 0
contains
  include "from_fortran_pipelines.inc"
end module

module cases_of_float
  use case_file
  use cases
  implicit none
  private
  public :: run_all
  integer, parameter :: wp = c_float
  real(c_double), parameter :: rounding = epsilon(1.0_c_float)
contains
  include "from_fortran_pipelines.inc"
end module

! The function as C sees it: a null pointer may be given to it.
module plain_gravity
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function gravity_of_pointers(ni, xi, nj, xj, mj, eps2, acc, pot) bind(C, name="gravity")
      import
      integer(c_int64_t), value :: ni, nj
      type(c_ptr), value :: xi, xj, mj, acc, pot
      real(c_double), value :: eps2
    end function
  end interface
end module

program from_fortran
  use case_file
  use cases_of_double, only: run_all_of_double => run_all
  use cases_of_float, only: run_all_of_float => run_all
  implicit none
  call open_cases()
  call run_all_of_double()
  rewind (unit)
  call run_all_of_float()
  close (unit)
  call wrong_arguments()
  print "(3a, i0, a, i0, a)", "Fortran, ", trim(precision), ": ", done, " cases, ", failures, " failures"
  if (done == 0 .or. failures > 0) error stop 1

contains

  subroutine wrong_arguments()
    use cases
    use nbcc
    use plain_gravity
    integer(c_int64_t), parameter :: one = 1, two = 2
    real(c_double), target :: xi(3, 2) = 0, xj(3, 1) = 1, mj(1) = 1, acc(3, 2) = 7, pot(2) = 7
    type(c_ptr) :: device, pipe, sum, error
    call expect(gravity(-two, xi, one, xj, mj, 0d0, acc, pot) == NBCC_ERROR_USAGE, "a negative number of i")
    call expect(index(nbcc_message(), "-2") > 0, "what is said of it")
    call expect(gravity(two, xi, -one, xj, mj, 0d0, acc, pot) == NBCC_ERROR_USAGE, "a negative number of j")
    call expect(gravity_of_pointers(two, c_null_ptr, one, c_loc(xj), c_loc(mj), 0d0, c_loc(acc), c_loc(pot)) == &
                NBCC_ERROR_USAGE, "no xi")
    call expect(gravity_of_pointers(two, c_loc(xi), one, c_loc(xj), c_null_ptr, 0d0, c_loc(acc), c_loc(pot)) == &
                NBCC_ERROR_USAGE, "no mj")
    call expect(index(nbcc_message(), "mj") > 0, "what is said of no mj")

    call expect(nbcc_device_open("gpu" // c_null_char, device=device) /= NBCC_OK, "a device that does not exist")
    call expect(nbcc_device_open("cpu" // c_null_char, device=device) == NBCC_OK, "opening a device")
    call expect(gravity_open(device, pipe) == NBCC_OK, "opening a pipeline")
    call expect(nbcc_sum_create(pipe, sum) == NBCC_OK, "a sum")
    call expect(gravity_bind(sum, two, xi, -one, xj, mj, 0d0, acc, pot, error) == NBCC_ERROR_USAGE, &
                "binding a negative number")
    call expect(index(nbcc_error_text(error), "-1") > 0, "what is said of binding it")
    call nbcc_error_free(error)
    call expect(nbcc_sum_run(sum) == NBCC_ERROR_USAGE, "a run without arrays")
    call nbcc_sum_destroy(sum)
    call nbcc_pipeline_close(pipe)
    call nbcc_device_close(device)
    call expect(all(acc == 7) .and. all(pot == 7), "outputs after mistakes")
  end subroutine
end program
