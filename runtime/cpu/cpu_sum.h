// A sum on the CPU: blocks of i-particles against tiles of packed j-particles, shared out to threads.
//
// The order in which terms join is fixed by nj and the kernel alone, so that a result does not depend on the number
// of threads, nor on which other i are asked for: tiles join a segment in order, segments join the total in order.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/cpu/cpu_toolchain.h"
#include "runtime/sum/device.h"
#include "runtime/sum/pack.h"

namespace nbcc {

class ThreadPool;

class CpuSummation final : public Summation {
 public:
  // All three must outlive this object.
  CpuSummation(const KernelSource& source, const CpuCode& code, ThreadPool& pool);
  void run(const SumRequest& request) override;

  // The shape of the work, in i-particles and in tiles; public for the tests.
  static constexpr std::int64_t kBlock = 64;
  static constexpr std::int64_t kSegmentTiles = 8;
  // i-particles (in packed positions) that are in work at once, where their results cannot be stored block by block;
  // bounds the memory of a run.
  static constexpr std::int64_t kSuperblock = 1 << 20;

 private:
  // i-particles that one call of the kernel takes: packed positions [begin, end).
  struct Block {
    std::int64_t begin, end;
    std::int64_t i_offset;  // i_index less the position
    Picked picked;
  };
  // Sums of one set of blocks: a row per output component, then one per kept index.
  struct Rows {
    double* base;
    std::int64_t stride;  // from row to row
    std::int64_t origin;  // the position of the first element
  };
  struct Worker {
    std::vector<double*> acc, arg;
    AlignedBuffer partial;
  };

  // Where a packed column comes from; parallel to the kernel's columns.
  struct Origin {
    std::size_t field = 0;
    int component = 0;
    bool begins_three = false;  // this column and the next two are of a vector's components, whole and of one element
  };
  static std::vector<Origin> origins(const KernelSource& source, FieldLayout::Role role);

  static void pack_side(const SumRequest& request, const std::vector<Column>& columns,
                        const std::vector<Origin>& origins, const Picked& picked, const PackedColumns& to,
                        std::int64_t position);
  void prepare_j(const SumRequest& request);
  void size_buffers(const SumRequest& request);
  bool shares_segments() const;
  std::int64_t block_size(const SumRequest& request) const;
  bool may_store_at_once(const SumRequest& request) const;
  bool next_blocks(const SumRequest& request);
  void sum_and_store_blocks(const SumRequest& request);
  void sum_by_blocks(const SumRequest& request);
  void sum_by_segments(const SumRequest& request);
  void write_outputs(const SumRequest& request);

  void sum_block(const SumRequest& request, const Block& block, Worker& worker);
  void begin_block(const SumRequest& request, const Block& block, Worker& worker);
  void sum_segment(const SumRequest& request, const Block& block, std::int64_t segment, const Rows& rows,
                   Worker& worker);
  void reset(const Block& block, const Rows& rows) const;
  void join(const Block& block, const Rows& part, const Rows& total) const;
  void finish_block(const SumRequest& request, const Block& block, Worker& worker);
  void store_block(const SumRequest& request, const Block& block) const;
  nbcc_kernel_arguments arguments(const SumRequest& request, const Block& block, const Rows& rows,
                                  Worker& worker) const;
  Rows totals() const;

  // `body` for each of `count` items, on several threads if `nanoseconds` of work are worth it.
  void for_each(std::int64_t count, double nanoseconds, const std::function<void(std::int64_t, int)>& body);

  const KernelSource& source_;
  const CpuCode& code_;
  ThreadPool& pool_;
  const std::int64_t grain_;  // blocks begin at multiples of it
  const std::vector<Origin> i_origins_, j_origins_;
  std::vector<std::int64_t> index_row_;  // per output component; -1: keeps none
  std::int64_t rows_ = 0;

  PackedColumns i_, j_;
  AlignedBuffer totals_, partials_;
  std::vector<Worker> workers_;
  std::vector<std::int64_t> sorted_;  // i_list in order, where the kernel needs i_index

  // Of the run in progress.
  bool stores_at_once_ = false;              // each thread works in positions of its own, a block at a time
  std::int64_t block_ = 0, limit_ = 0;       // i-particles in a block; positions in work at once
  std::int64_t row_stride_ = 0;              // of totals_
  std::int64_t part_stride_ = 0, wave_ = 0;  // of partials_: positions of a row; segments that it holds
  std::int64_t segments_ = 0;
  double nanoseconds_ = 0;  // estimate of the whole
  std::int64_t taken_ = 0;  // chosen i that have been put into blocks
  std::vector<Block> blocks_;
};

}  // namespace nbcc
