! The same in Fortran. first and j count from 0, as in C.
program from_fortran
  use, intrinsic :: iso_c_binding
  use expectations
  use nbcc
  use pairs, only: contacts, contacts_open, contacts_bind, differences, excess, links, springs, nbcc_message
  implicit none
  integer(c_int64_t), parameter :: n = 3, count = 4
  integer(c_int64_t) :: first(n + 1), j(count), numbers(count)
  integer(c_int32_t) :: ints(n)
  real(c_double) :: x(3, n), a(n), before(3, count), history(3, count), force(3, n), pull
  real(c_float) :: x_f(3, n), before_f(3, count), history_f(3, count)
  complex(c_double) :: k(count), pulls(n)
  real(c_double) :: r(count), total(n)
  type(c_ptr) :: device, pipeline, sum_of_pairs

  x = reshape([0d0, 0d0, 0d0, 1d0, 0d0, 0d0, 0d0, 2d0, 0d0], [3, 3])
  a = [1d0, 2d0, 3d0]
  first = [0, 2, 2, 4]
  j = [1, 2, 0, 1]
  before = spread([1d0, 0d0, 1d0], 2, 4)
  call expect(contacts(n, x, n, x, first, count, j, before, history, force, pull) == 0)
  call expect(all(history == reshape([1.5d0, 0d0, 1d0, 1d0, 1d0, 1d0, 1d0, -1d0, 1d0, 0d0, 0d0, 0d0], [3, 4])))
  call expect(all(force(:, 1) == history(:, 1) + history(:, 2)))
  call expect(all(force(:, 2) == 0))
  call expect(all(force(:, 3) == history(:, 3)))
  call expect(pull == 9.25d0)
  x_f = real(x, c_float)
  before_f = 1
  call expect(contacts(n, x_f, n, x_f, first, count, j, before_f, history_f) == 0)
  call expect(history_f(1, 1) == 1.5 .and. history_f(1, 4) == 0)
  call expect(links(n, a, n, a, 10d0, first, count, j, numbers=numbers) == 0)
  call expect(all(numbers == [1, 2, 200, 201]))
  k = [(1d0, 2d0), (3d0, 4d0), (5d0, 6d0), (7d0, 8d0)]
  call expect(springs(n, a, n, a, first, count, j, k, pulls) == 0)
  call expect(pulls(1) == (7d0, 10d0))
  call expect(contacts(n, x, n, x, first, count + 1, j, before, history) /= 0)
  call expect(index(nbcc_message(), "first[3], the last, is 4, but there are 5 entries of j") > 0)
  ints = [10, 20, 30]
  call expect(differences(n, ints, n, ints, first, count, j, r) == 0)
  call expect(all(r == [-10d0, -20d0, 20d0, 10d0]))
  call expect(excess(n, ints, n, ints, total) == 0)
  call expect(all(total == [-30d0, 0d0, 30d0]))

  ! A handle keeps its pairs.
  call expect(nbcc_device_open("cpu"//c_null_char, device=device) == 0)
  call expect(contacts_open(device, pipeline) == 0)
  call expect(nbcc_sum_create(pipeline, sum_of_pairs) == 0)
  call expect(contacts_bind(sum_of_pairs, n, x, n, x, first, count, j, before, history, force) == 0)
  call expect(contacts_bind(sum_of_pairs, n, x, n, x, pairs=count, before=before, history=history, force=force) == 0)
  call expect(contacts_bind(sum_of_pairs, n, x, n, x, pairs=count, j=j, before=before, history=history) == 2)
  force = 7
  call expect(nbcc_sum_run(sum_of_pairs) == 0)
  call expect(force(1, 1) == 2.5d0)
  call nbcc_sum_destroy(sum_of_pairs)
  call nbcc_pipeline_close(pipeline)
  call nbcc_device_close(device)
  if (failed) stop 1
end program
