! near.f90: made by nbcc from gravity.pipe, nearest_neighbour.pipe (single precision, fast math); do not edit.
!
! Each pipeline P is a function P() whose arguments are its fields in order of declaration; all real arrays are either
! real(c_double) or real(c_float). If no input is a real array, the outputs are real(c_double). P() sums for every i-particle
! over all j-particles, or over the listed pairs if the pipeline has inputs or results of pairs; on all cores of the CPU or on
! the GPU in the environment variable NBCC_DEVICE (cuda, cuda:1). It overwrites the outputs.
! The number of i-particles, ni, is the argument before the first field of the i-particles (inputs and outputs); nj is the
! argument before the first field of the j-particles. The last index of an array is the particle. An output may be omitted
! if all later outputs are omitted or passed by name.
! A pipeline with inputs or results of pairs sums over the pairs that are listed: those of i-particle k (from 1) are the
! entries first(k) + 1, ..., first(k + 1) of the arrays of pairs, and j has their j-particles. As in C, `first` and `j` count
! from 0. P_bind() without `first` and `j` keeps the pairs of an earlier call; with `j` alone it fails.
!
! The result is 0 or a status (see nbcc.h); nbcc_message() then returns the error message. nbcc_warning() returns warnings
! about the results of the last call, such as a cutoff beyond half of the periodic box.
!
! For GPUs, streams, particles that stay packed etc.: P_open() opens the pipeline P on a device, and P_bind() binds all
! arrays of a sum. The module nbcc (nbcc.f90, installed with nbcc) has the other functions.
module near
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: nbcc_message, nbcc_warning
  public :: gravity
  public :: gravity_open
  public :: gravity_bind
  public :: nearest_neighbour
  public :: nearest_neighbour_open
  public :: nearest_neighbour_bind

  ! gravity.pipe: softened Newtonian gravity, G = 1
  !
  !   acc_i = sum_j m_j (x_j - x_i) / (|x_j - x_i|^2 + eps2)^(3/2),   pot_i = -sum_j m_j / (|x_j - x_i|^2 + eps2)^(1/2)
  !
  ! Units: any in which G = 1 (Henon units: M = 1, E = -1/4). pot is per unit of the receiving mass.
  ! The pair of a particle with itself adds nothing to acc and -m_i/eps to pot; potential.pipe excludes it.
  ! Flops: 38 an interaction, the convention of Hamada & Iitaka (2007), counted with square root and division.
  ! Literature: L. Greengard & V. Rokhlin, J. Comput. Phys. 73 (1987) 325; S. J. Aarseth, Gravitational N-Body
  ! Simulations (2003); T. Hamada & T. Iitaka, The Chamomile Scheme, arXiv:astro-ph/0703100.
  !
  !   ni          number of i-particles
  !   xi(3, ni)   position of the receiving particle
  !   nj          number of j-particles
  !   xj(3, nj)   position of the acting particle
  !   mj(nj)      its mass
  !   eps2        softening length squared; uniform, may be changed at run time; in the pipeline 0.0001
  !   acc(3, ni)  acceleration
  !   pot(ni)     potential, with the particle's own; potential.pipe is without it, also for eps2 = 0
  interface gravity
    integer(c_int) function nbcc_d_gravity(ni, xi, nj, xj, mj, eps2, acc, pot) &
        bind(C, name="gravity")
      import
      integer(c_int64_t), value :: ni
      real(c_double), intent(in) :: xi(3, *)
      integer(c_int64_t), value :: nj
      real(c_double), intent(in) :: xj(3, *)
      real(c_double), intent(in) :: mj(*)
      real(c_double), value :: eps2
      real(c_double), intent(inout), optional :: acc(3, *)
      real(c_double), intent(inout), optional :: pot(*)
    end function
    integer(c_int) function nbcc_f_gravity(ni, xi, nj, xj, mj, eps2, acc, pot) &
        bind(C, name="gravity_f")
      import
      integer(c_int64_t), value :: ni
      real(c_float), intent(in) :: xi(3, *)
      integer(c_int64_t), value :: nj
      real(c_float), intent(in) :: xj(3, *)
      real(c_float), intent(in) :: mj(*)
      real(c_double), value :: eps2
      real(c_float), intent(inout), optional :: acc(3, *)
      real(c_float), intent(inout), optional :: pot(*)
    end function
  end interface
  interface gravity_bind
    integer(c_int) function nbcc_d_gravity_bind(sum, ni, xi, nj, xj, mj, eps2, acc, pot, &
        error) &
        bind(C, name="gravity_bind")
      import
      type(c_ptr), value :: sum
      integer(c_int64_t), value :: ni
      real(c_double), intent(in) :: xi(3, *)
      integer(c_int64_t), value :: nj
      real(c_double), intent(in) :: xj(3, *)
      real(c_double), intent(in) :: mj(*)
      real(c_double), value :: eps2
      real(c_double), intent(inout), optional :: acc(3, *)
      real(c_double), intent(inout), optional :: pot(*)
      type(c_ptr), intent(out), optional :: error
    end function
    integer(c_int) function nbcc_f_gravity_bind(sum, ni, xi, nj, xj, mj, eps2, acc, pot, &
        error) &
        bind(C, name="gravity_bind_f")
      import
      type(c_ptr), value :: sum
      integer(c_int64_t), value :: ni
      real(c_float), intent(in) :: xi(3, *)
      integer(c_int64_t), value :: nj
      real(c_float), intent(in) :: xj(3, *)
      real(c_float), intent(in) :: mj(*)
      real(c_double), value :: eps2
      real(c_float), intent(inout), optional :: acc(3, *)
      real(c_float), intent(inout), optional :: pot(*)
      type(c_ptr), intent(out), optional :: error
    end function
  end interface
  interface
    integer(c_int) function gravity_open(device, pipeline, error) &
        bind(C, name="gravity_open")
      import
      type(c_ptr), value :: device
      type(c_ptr), intent(out) :: pipeline
      type(c_ptr), intent(out), optional :: error
    end function
  end interface

  ! nearest_neighbour.pipe: for every i the nearest j and its distance
  !
  !   near_i = argmin_j |x_j - x_i|,   dist_i = |x_near - x_i|
  !
  ! Of equal distances the lowest j wins; without any j the answers are -1 and infinity.
  ! Units: dist in those of xi. self = 0 is for queries into another set, where equal indices mean nothing.
  ! Literature: F. P. Preparata & M. I. Shamos, Computational Geometry (1985), chapter 5.
  !
  !   ni         number of i-particles
  !   xi(3, ni)  position of the asking particle
  !   nj         number of j-particles
  !   xj(3, nj)  position of a candidate
  !   self       1: i and j are one set, and no particle is its own neighbour; 0: two sets; in the pipeline 1
  !   near(ni)   index of the nearest
  !   dist(ni)   its distance
  interface nearest_neighbour
    integer(c_int) function nbcc_d_nearest_neighbour(ni, xi, nj, xj, self, near, &
        dist) &
        bind(C, name="nearest_neighbour")
      import
      integer(c_int64_t), value :: ni
      real(c_double), intent(in) :: xi(3, *)
      integer(c_int64_t), value :: nj
      real(c_double), intent(in) :: xj(3, *)
      integer(c_int32_t), value :: self
      integer(c_int64_t), intent(inout), optional :: near(*)
      real(c_double), intent(inout), optional :: dist(*)
    end function
    integer(c_int) function nbcc_f_nearest_neighbour(ni, xi, nj, xj, self, near, &
        dist) &
        bind(C, name="nearest_neighbour_f")
      import
      integer(c_int64_t), value :: ni
      real(c_float), intent(in) :: xi(3, *)
      integer(c_int64_t), value :: nj
      real(c_float), intent(in) :: xj(3, *)
      integer(c_int32_t), value :: self
      integer(c_int64_t), intent(inout), optional :: near(*)
      real(c_float), intent(inout), optional :: dist(*)
    end function
  end interface
  interface nearest_neighbour_bind
    integer(c_int) function nbcc_d_nearest_neighbour_bind(sum, ni, xi, nj, xj, self, near, dist, &
        error) &
        bind(C, name="nearest_neighbour_bind")
      import
      type(c_ptr), value :: sum
      integer(c_int64_t), value :: ni
      real(c_double), intent(in) :: xi(3, *)
      integer(c_int64_t), value :: nj
      real(c_double), intent(in) :: xj(3, *)
      integer(c_int32_t), value :: self
      integer(c_int64_t), intent(inout), optional :: near(*)
      real(c_double), intent(inout), optional :: dist(*)
      type(c_ptr), intent(out), optional :: error
    end function
    integer(c_int) function nbcc_f_nearest_neighbour_bind(sum, ni, xi, nj, xj, self, near, dist, &
        error) &
        bind(C, name="nearest_neighbour_bind_f")
      import
      type(c_ptr), value :: sum
      integer(c_int64_t), value :: ni
      real(c_float), intent(in) :: xi(3, *)
      integer(c_int64_t), value :: nj
      real(c_float), intent(in) :: xj(3, *)
      integer(c_int32_t), value :: self
      integer(c_int64_t), intent(inout), optional :: near(*)
      real(c_float), intent(inout), optional :: dist(*)
      type(c_ptr), intent(out), optional :: error
    end function
  end interface
  interface
    integer(c_int) function nearest_neighbour_open(device, pipeline, error) &
        bind(C, name="nearest_neighbour_open")
      import
      type(c_ptr), value :: device
      type(c_ptr), intent(out) :: pipeline
      type(c_ptr), intent(out), optional :: error
    end function
  end interface

  interface
    type(c_ptr) function nbcc_last_error_text() bind(C, name="nbcc_last_error")
      import
    end function
    type(c_ptr) function nbcc_last_warning_text() bind(C, name="nbcc_last_warning")
      import
    end function
    integer(c_size_t) function nbcc_length_of(text) bind(C, name="strlen")
      import
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! The error message of the last call that failed.
  function nbcc_message() result(message)
    character(len=:), allocatable :: message
    message = nbcc_text_at(nbcc_last_error_text())
  end function

  ! The warnings of the last call, one per line; empty if there are none.
  function nbcc_warning() result(message)
    character(len=:), allocatable :: message
    message = nbcc_text_at(nbcc_last_warning_text())
  end function

  function nbcc_text_at(address) result(message)
    type(c_ptr), intent(in) :: address
    character(len=:), allocatable :: message
    character(kind=c_char), pointer :: text(:)
    integer :: k
    call c_f_pointer(address, text, [nbcc_length_of(address)])
    allocate (character(len=size(text)) :: message)
    do k = 1, size(text)
      message(k:k) = text(k)
    end do
  end function
end module
