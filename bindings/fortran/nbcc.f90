! The parts of nbcc's C interface that sums of compiled pipelines need, for Fortran: devices, sums, runs, errors. nbcc.h
! describes each function under the same name. Compile this file with your program.
!
!   use nbcc
!   use forces                        ! made by nbcc compile --fortran
!   type(c_ptr) :: device, pipeline, sum, error
!   if (nbcc_device_open("cuda"//c_null_char, device=device, error=error) /= NBCC_OK) print *, nbcc_error_text(error)
!   if (gravity_open(device, pipeline, error) /= NBCC_OK) ...
!   if (nbcc_sum_create(pipeline, sum, error) /= NBCC_OK) ...
!   if (gravity_bind(sum, n, x, n, x, m, eps2, acc, pot, error) /= NBCC_OK) ...
!   if (nbcc_sum_run(sum, error=error) /= NBCC_OK) ...
!
! Handles are type(c_ptr). Names of devices and of fields end with c_null_char.
module nbcc
  use, intrinsic :: iso_c_binding
  implicit none
  private

  integer(c_int), parameter, public :: NBCC_OK = 0, NBCC_ERROR_INPUT = 1, NBCC_ERROR_USAGE = 2, NBCC_ERROR_DEVICE = 3, &
    NBCC_INTERRUPTED = 4, NBCC_ERROR_INTERNAL = 101

  type, bind(C), public :: nbcc_device_options
    integer(c_size_t) :: size = 40             ! of this type
    integer(c_int) :: threads = 0
    type(c_ptr) :: isa = c_null_ptr, cache_dir = c_null_ptr, dump_dir = c_null_ptr
  end type

  type, bind(C), public :: nbcc_run_options
    integer(c_size_t) :: size = 56             ! of this type
    integer(c_int64_t) :: i_begin = 0, i_count = -1
    type(c_ptr) :: i_list = c_null_ptr
    integer(c_int) :: accumulate = 0
    type(c_ptr) :: stream = c_null_ptr
    integer(c_int) :: part = 0                 ! for a sum over the j in several runs
    integer(c_int) :: clamp = 0                ! 1: an index outside of a table is clamped to the nearest end
  end type

  type, bind(C), public :: nbcc_far_choice     ! for experiments
    integer(c_size_t) :: size = 24             ! of this type
    integer(c_int) :: order = 0, leaf = 0
    real(c_double) :: separation = 0
  end type

  ! The first members of nbcc_statistics of nbcc.h.
  type, bind(C), public :: nbcc_statistics
    integer(c_size_t) :: size = 128            ! of this type
    integer(c_int64_t) :: pairs_tested = 0, searches = 0, runs = 0, pairs_within = 0
    real(c_double) :: seconds_locate = 0, seconds_sort = 0, seconds_lists = 0, seconds_sums = 0
    type(c_ptr) :: method = c_null_ptr, reason = c_null_ptr   ! C strings; convert with nbcc_text
    ! Of a run with a tolerance, else 0:
    real(c_double) :: tolerance = 0, error = 0, largest_error = 0, error_of_sum = 0
    integer(c_int64_t) :: sampled = 0          ! number of i whose errors were measured
  end type

  public :: nbcc_device_open, nbcc_device_close, nbcc_pipeline_close
  public :: nbcc_sum_create, nbcc_sum_destroy, nbcc_sum_run, nbcc_sum_wait, nbcc_sum_warning
  public :: nbcc_sum_keep_j, nbcc_sum_j_changed, nbcc_sum_set_offsets, nbcc_sum_set_progress, nbcc_progress
  public :: nbcc_sum_get_statistics, nbcc_text, nbcc_sum_set_tolerance, nbcc_sum_set_symmetric
  integer(c_int), parameter, public :: NBCC_SYMMETRIC_AUTO = 0, NBCC_SYMMETRIC_OFF = 1, NBCC_SYMMETRIC_ALWAYS = 2, &
    NBCC_SYMMETRIC_LISTED = 3
  public :: nbcc_error_free, nbcc_error_text

  ! Callback of nbcc_sum_set_progress: done is the fraction of the work that is done; a result other than 0 interrupts.
  abstract interface
    integer(c_int) function nbcc_progress(data, done) bind(C)
      import
      type(c_ptr), value :: data
      real(c_double), value :: done
    end function
  end interface

  interface
    integer(c_int) function nbcc_device_open(name, options, device, error) bind(C)
      import
      character(kind=c_char), intent(in) :: name(*)
      type(nbcc_device_options), intent(in), optional :: options
      type(c_ptr), intent(out) :: device
      type(c_ptr), intent(out), optional :: error
    end function
    subroutine nbcc_device_close(device) bind(C)
      import
      type(c_ptr), value :: device
    end subroutine
    subroutine nbcc_pipeline_close(pipeline) bind(C)
      import
      type(c_ptr), value :: pipeline
    end subroutine
    integer(c_int) function nbcc_sum_create(pipeline, sum, error) bind(C)
      import
      type(c_ptr), value :: pipeline
      type(c_ptr), intent(out) :: sum
      type(c_ptr), intent(out), optional :: error
    end function
    subroutine nbcc_sum_destroy(sum) bind(C)
      import
      type(c_ptr), value :: sum
    end subroutine
    integer(c_int) function nbcc_sum_run(sum, options, error) bind(C)
      import
      type(c_ptr), value :: sum
      type(nbcc_run_options), intent(in), optional :: options
      type(c_ptr), intent(out), optional :: error
    end function
    integer(c_int) function nbcc_sum_wait(sum, error) bind(C)
      import
      type(c_ptr), value :: sum
      type(c_ptr), intent(out), optional :: error
    end function
    ! The k-th warning (from 0) of the last run, a C string; a null pointer if there are fewer.
    type(c_ptr) function nbcc_sum_warning(sum, k) bind(C)
      import
      type(c_ptr), value :: sum
      integer(c_int), value :: k
    end function
    integer(c_int) function nbcc_sum_keep_j(sum, keep, error) bind(C)
      import
      type(c_ptr), value :: sum
      integer(c_int), value :: keep
      type(c_ptr), intent(out), optional :: error
    end function
    integer(c_int) function nbcc_sum_j_changed(sum, error) bind(C)
      import
      type(c_ptr), value :: sum
      type(c_ptr), intent(out), optional :: error
    end function
    integer(c_int) function nbcc_sum_set_offsets(sum, i_offset, j_offset, error) bind(C)
      import
      type(c_ptr), value :: sum
      integer(c_int64_t), value :: i_offset, j_offset
      type(c_ptr), intent(out), optional :: error
    end function
    ! For libraries that were compiled with --with tolerance.
    integer(c_int) function nbcc_sum_set_tolerance(sum, tolerance, experiment, error) bind(C)
      import
      type(c_ptr), value :: sum
      real(c_double), value :: tolerance
      type(nbcc_far_choice), intent(in), optional :: experiment
      type(c_ptr), intent(out), optional :: error
    end function
    ! For libraries that were compiled with --with symmetric.
    integer(c_int) function nbcc_sum_set_symmetric(sum, choice, error) bind(C)
      import
      type(c_ptr), value :: sum
      integer(c_int), value :: choice
      type(c_ptr), intent(out), optional :: error
    end function
    integer(c_int) function nbcc_sum_get_statistics(sum, statistics, error) bind(C)
      import
      type(c_ptr), value :: sum
      type(nbcc_statistics), intent(inout) :: statistics
      type(c_ptr), intent(out), optional :: error
    end function
    ! progress is c_funloc(callback), or c_null_funptr for none.
    integer(c_int) function nbcc_sum_set_progress(sum, progress, data, error) bind(C)
      import
      type(c_ptr), value :: sum
      type(c_funptr), value :: progress
      type(c_ptr), value :: data
      type(c_ptr), intent(out), optional :: error
    end function
    subroutine nbcc_error_free(error) bind(C)
      import
      type(c_ptr), value :: error
    end subroutine
    type(c_ptr) function message_of(error) bind(C, name="nbcc_error_message")
      import
      type(c_ptr), value :: error
    end function
    integer(c_size_t) function length_of(text) bind(C, name="strlen")
      import
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! The message of an error; "" for a null pointer. Does not free the error.
  function nbcc_error_text(error) result(message)
    type(c_ptr), intent(in) :: error
    character(len=:), allocatable :: message
    message = nbcc_text(message_of(error))
  end function

  ! Converts a C string.
  function nbcc_text(address) result(message)
    type(c_ptr), intent(in) :: address
    character(len=:), allocatable :: message
    character(kind=c_char), pointer :: text(:)
    integer :: k
    call c_f_pointer(address, text, [length_of(address)])
    allocate (character(len=size(text)) :: message)
    do k = 1, size(text)
      message(k:k) = text(k)
    end do
  end function
end module
