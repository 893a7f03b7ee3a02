// What a force function sees of FDPS: its types, and the order in which it calls. A tree walk is replaced by lists that
// the test makes; how they are handed over, by which threads, and how long they live is as in FDPS:
//
//  - the functors are copied once, and all threads call that copy at once, each for groups of i of its own: first for
//  the
//    particles of a group's list, then for its superparticles, either of which may be none;
//  - MultiWalk fills the lists of the next walks, over those of the walks before, ahead of retrieving these.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace ParticleSimulator {

using S32 = std::int32_t;
using S64 = long long;
using F32 = float;
using F64 = double;

template <class T>
class Vector3 {
 public:
  T x, y, z;
  Vector3() : x(0), y(0), z(0) {}
  Vector3(T s) : x(s), y(s), z(s) {}
  Vector3(T x_, T y_, T z_) : x(x_), y(y_), z(z_) {}
  T& operator[](int k) { return (&x)[k]; }
  const T& operator[](int k) const { return (&x)[k]; }
  Vector3 operator-(const Vector3& o) const { return {x - o.x, y - o.y, z - o.z}; }
  T operator*(const Vector3& o) const { return x * o.x + y * o.y + z * o.z; }
};
using F32vec = Vector3<F32>;
using F64vec = Vector3<F64>;

class SPJMonopole {
 public:
  F64 mass;
  F64vec pos;
  F64 getCharge() const { return mass; }
  F64vec getPos() const { return pos; }
};

// Which particles and superparticles act on a group of i-particles.
struct Group {
  S32 first, count;
  std::vector<S32> epj, spj;
};

template <class Epi, class Epj, class Spj, class Force>
class TreeForForce {
 public:
  std::vector<Epi> epi;
  std::vector<Epj> epj;
  std::vector<Spj> spj;
  std::vector<Force> force;
  std::vector<Group> groups;

  template <class EpEp, class EpSp>
  void calcForce(EpEp pfunc_ep_ep, EpSp pfunc_ep_sp, int n_thread, bool clear = true) {
    prepare(clear);
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < n_thread; ++t) {
      threads.emplace_back([&] {
        std::vector<Epj> epj_for_force;
        std::vector<Spj> spj_for_force;
        for (std::size_t g; (g = next++) < groups.size();) {
          const Group& group = groups[g];
          gather(epj, group.epj, epj_for_force);
          gather(spj, group.spj, spj_for_force);
          Force* const forces = force.data() + group.first;
          pfunc_ep_ep(epi.data() + group.first, group.count, epj_for_force.data(), S32(epj_for_force.size()), forces);
          pfunc_ep_sp(epi.data() + group.first, group.count, spj_for_force.data(), S32(spj_for_force.size()), forces);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  // Of a short-range force.
  template <class EpEp>
  void calcForce(EpEp pfunc_ep_ep, int n_thread) {
    calcForce(pfunc_ep_ep, [](const Epi*, S32, const Spj*, S32, Force*) {}, n_thread);
  }

  template <class Dispatch, class Retrieve>
  S32 calcForceMultiWalk(Dispatch pfunc_dispatch, Retrieve pfunc_retrieve, S32 n_walk_limit, bool with_spj,
                         bool clear = true) {
    prepare(clear);
    std::vector<Epi*> epi_per_walk(static_cast<std::size_t>(n_walk_limit));
    std::vector<Epj*> epj_per_walk(epi_per_walk.size());
    std::vector<Spj*> spj_per_walk(epi_per_walk.size());
    std::vector<S32> n_epj(epi_per_walk.size()), n_spj(epi_per_walk.size());
    std::vector<Force*> forces[2];
    std::vector<S32> n_epi[2];
    for (int lane = 0; lane < 2; ++lane) {
      forces[lane].resize(epi_per_walk.size());
      n_epi[lane].resize(epi_per_walk.size());
    }
    S32 ret = 0, n_walk_before = 0;
    int lane = 0;
    for (std::size_t begin = 0; begin < groups.size(); begin += std::size_t(n_walk_limit), lane = 1 - lane) {
      const S32 n_walk = S32(std::min(groups.size() - begin, std::size_t(n_walk_limit)));
      std::vector<S32> epj_list, spj_list;
      for (S32 w = 0; w < n_walk; ++w) {
        const Group& group = groups[begin + std::size_t(w)];
        epj_list.insert(epj_list.end(), group.epj.begin(), group.epj.end());
        spj_list.insert(spj_list.end(), group.spj.begin(), group.spj.end());
      }
      gather(epj, epj_list, epj_for_walks_);
      gather(spj, spj_list, spj_for_walks_);
      std::size_t epj_at = 0, spj_at = 0;
      for (S32 w = 0; w < n_walk; ++w) {
        const Group& group = groups[begin + std::size_t(w)];
        const std::size_t k = std::size_t(w);
        epi_per_walk[k] = epi.data() + group.first;
        forces[lane][k] = force.data() + group.first;
        n_epi[lane][k] = group.count;
        epj_per_walk[k] = epj_for_walks_.data() + epj_at;
        spj_per_walk[k] = spj_for_walks_.data() + spj_at;
        epj_at += n_epj[k] = S32(group.epj.size());
        spj_at += n_spj[k] = S32(group.spj.size());
      }
      if (n_walk_before > 0) ret += pfunc_retrieve(0, n_walk_before, n_epi[1 - lane].data(), forces[1 - lane].data());
      if (with_spj) {
        ret += pfunc_dispatch(0, n_walk, (const Epi**)epi_per_walk.data(), n_epi[lane].data(),
                              (const Epj**)epj_per_walk.data(), n_epj.data(), (const Spj**)spj_per_walk.data(),
                              n_spj.data());
      } else {
        ret += pfunc_dispatch(0, n_walk, (const Epi**)epi_per_walk.data(), n_epi[lane].data(),
                              (const Epj**)epj_per_walk.data(), n_epj.data());
      }
      n_walk_before = n_walk;
    }
    if (n_walk_before > 0) ret += pfunc_retrieve(0, n_walk_before, n_epi[1 - lane].data(), forces[1 - lane].data());
    return ret;
  }

 private:
  void prepare(bool clear) {
    force.resize(epi.size());
    for (Force& one : force) {
      if (clear) one.clear();
    }
  }
  // Into the same memory again and again.
  template <class J>
  static void gather(const std::vector<J>& all, const std::vector<S32>& chosen, std::vector<J>& list) {
    list.clear();
    for (const S32 k : chosen) list.push_back(all[std::size_t(k)]);
  }

  std::vector<Epj> epj_for_walks_;
  std::vector<Spj> spj_for_walks_;
};

}  // namespace ParticleSimulator
namespace PS = ParticleSimulator;
