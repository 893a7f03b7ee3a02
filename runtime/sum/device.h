// What the runtime asks of a device: turn a kernel's text into something that runs, and run sums with it.
// A device is one file pair (cpu_device, ...); nothing outside of it knows which one it is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "compiler/kernel_source.h"
#include "runtime/sum/dispatch.h"
#include "runtime/sum/lists.h"
#include "runtime/sum/pack.h"
#include "runtime/sum/progress.h"
#include "runtime/sum/tables.h"

namespace nbcc {

// How much of the packed j-particles of a sum's last run still holds.
enum class JReuse : std::uint8_t {
  None,      // the caller's arrays must be read again
  Packed,    // the packed columns hold, the derived ones do not (a param or the offset has changed)
  Prepared,  // everything holds
};

// What a run does of a sum whose j come in parts, from run to run: what the parts before have accumulated is kept by
// the Summation, and finish() and the outputs wait for the last one.
enum class JPart : std::uint8_t { Whole, First, Next, Last };
constexpr bool begins(JPart part) { return part == JPart::Whole || part == JPart::First; }
constexpr bool ends(JPart part) { return part == JPart::Whole || part == JPart::Last; }

// One run, already checked: every bound view has the right count, every index lies inside its set.
struct SumRequest {
  std::span<const ArrayView> views;  // parallel to KernelSource::fields; an unwanted output has no data
  std::span<const double> params;    // KernelSource::params values, and behind them those of tables
  const Tables* tables = nullptr;    // null: the kernel has none
  std::int64_t nj = 0;
  std::int64_t i_begin = 0, i_count = 0;  // the chosen i: a range, or
  const std::int64_t* i_list = nullptr;   // i_count indices
  std::int64_t i_offset = 0, j_offset = 0;
  bool accumulate = false;
  JPart j_part = JPart::Whole;
  JReuse reuse = JReuse::None;
  double skin = 0;              // what a search finds is kept until somebody has moved by half of it; 0: not at all
  bool may_be_captured = true;  // into a graph of a GPU
  bool check_indices = true;    // of tables, which must not lead out of them
  const ListedParticles* listed = nullptr;   // whose indices count; null: those of all chosen i, and of all j
  bool lists_chosen_i = false;               // all i are chosen, so that of these, too, only the listed ones count
  bool keep_j = false;                       // what is made of the j-particles now will be asked for again
  std::uint64_t binding = 0;                 // another number whenever `views` has changed
  const LeftOut* left_out = nullptr;         // pairs that do not act; null: none
  std::span<const double> params_of_groups;  // of listed groups: [group][param]; empty: those of the run
  // The caller's number of each group, for messages; empty: 0, 1, 2, ...
  std::span<const std::int64_t> group_numbers;
  // Of a run that several devices do together. The i here are this one's; or they are all, of which it takes its share
  // of the groups that a search or lists make. What decides the order of terms goes by the whole run.
  struct Share {
    std::int64_t i_of_run = 0;  // 0: the run is not shared
    double from = 0, to = 1;    // the part of the whole that is this device's; another's begins where this one ends
    // The first of `count` things that are this device's, and behind its last.
    std::int64_t begin(std::int64_t count) const { return std::int64_t(double(count) * from); }
    std::int64_t end(std::int64_t count) const { return std::int64_t(double(count) * to); }
  } share;
  std::int64_t i_of_run() const { return share.i_of_run > 0 ? share.i_of_run : i_count; }
  void* stream = nullptr;        // of a GPU: the caller's stream, null for the legacy default one
  Progress* progress = nullptr;  // asked during the run; null: nobody interrupts it. Not when the run is captured
};

// What was done in the runs of a sum that were over neighbours, since the sum was made. The seconds are the clock's;
// where several threads work on lists and sums at once, these share the time as they share the work.
struct SumStatistics {
  std::int64_t pairs_tested = 0;  // by kernels
  std::int64_t searches = 0;      // those runs that did not find what they had kept
  std::int64_t runs = 0;          // all of them
  std::int64_t pairs_within = 0;  // the proved reach, in the last run; 0 if that was over all pairs
  struct Seconds {
    double locate = 0;  // pack particles and find their places
    double sort = 0;    // them into trees, and the packed ones into their order
    double lists = 0;   // of j for the groups of i, and their particles put side by side
    double sums = 0;    // over these, to the caller's arrays
  } seconds;
};

// The working memory of one sum on one device, kept from run to run. Used by one thread at a time.
struct Summation {
  virtual ~Summation() = default;
  // Sums over the pairs that dispatch() has found. Writes the outputs only when nothing can fail any more, or nothing
  // but the device itself where it stores them. Outputs may alias inputs. A device that computes by itself may return
  // before the work is done where all arrays are in its memory.
  virtual void run(const SumRequest& request, AllPairs pairs) = 0;
  // Before a run that checks them: throws UsageError where an index leads out of its table. A GPU finds that while it
  // runs, and reports it when the work is waited for or the next run begins.
  virtual void check_indices(const SumRequest&) {}
  // Throws UsageError where it must search and cannot.
  virtual void run(const SumRequest& request, Neighbours neighbours);
  // Whether such a search may pay, by what is known before any particle is read and dispatch() has not asked.
  virtual bool search_may_pay(const SumRequest&) const { return true; }
  // All i are chosen.
  virtual void run(const SumRequest& request, Listed listed) = 0;
  virtual void run(const SumRequest& request, ListedPairs listed) = 0;
  // Copies from the host's memory or the device's.
  virtual void fetch(void* to, const void* from, std::size_t bytes) const;
  // The pairs within the proved reach, but for those left out. Throws UsageError where it cannot search.
  virtual FoundPairs find_pairs(const SumRequest& request);
  // Returns when the work of all runs is done. Throws DeviceError if it failed, and Interrupted, where `progress` is
  // not null and asks for that; the work then goes on.
  virtual void wait(Progress* /*progress*/) {}
  // Whether the indices of a list can be read, and so checked, here.
  virtual bool can_read(const std::int64_t* list) const { return list != nullptr; }
  // Counts the pairs within reach, which takes longer than a run.
  virtual SumStatistics statistics() const { return {}; }
  // Numbers of the launch configuration that runs take from now on; zeros leave the choice. Only GPUs have one.
  virtual void set_launch(const LaunchConfig&) {}
  // In which a run of this size is done, all zeros where there is no choice. Throws UsageError: there can be no such
  // kernel.
  virtual LaunchConfig launch_for(std::int64_t /*ni*/, std::int64_t /*nj*/) { return {}; }
};

// A kernel that is ready to run. Outlives the device that loaded it; may be shared by threads.
struct Kernel {
  explicit Kernel(KernelSource kernel_source) : source(std::move(kernel_source)) {}
  virtual ~Kernel() = default;
  // The kernel must outlive what it returns.
  virtual std::unique_ptr<Summation> start() const = 0;
  // Of source.nearest; null: there is none.
  virtual std::shared_ptr<const Kernel> nearest() const { return nullptr; }

  const KernelSource source;
};

class KernelDevice {
 public:
  virtual ~KernelDevice() = default;
  virtual const std::string& name() const = 0;  // for people: "cpu, avx2, 2 threads"
  // From memory, else from the disk cache, else compiled. Throws DeviceError, and where the device's compiler refuses
  // the text InternalError (CPU) or TextRefused (CUDA).
  virtual std::shared_ptr<const Kernel> load(KernelSource source) = 0;

  // Memory whose arrays runs read and write where they are, aligned to 64 bytes at least; for 0 bytes not null either.
  // Throws DeviceError without so much of it.
  virtual void* allocate(std::size_t bytes) = 0;
  // The same of the host's memory, which the caller reads and writes as well.
  virtual void* allocate_shared(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  // Whether an address is in memory that is the device's and not the host's own.
  virtual bool holds(const void* memory) = 0;
  // Between either kind of memory and the host's: begin when what runs were given before in the default stream is done,
  // and return when done themselves. Throw DeviceError.
  virtual void write(void* to, const void* from_host, std::size_t bytes) = 0;
  virtual void read(void* to_host, const void* from, std::size_t bytes) = 0;
};

}  // namespace nbcc
