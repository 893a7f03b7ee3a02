// The order of pairs of blocks: every pair once, no block twice in a round, each block's partners in one order.
#include "runtime/cpu/pair_rounds.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/thread_pool.h"

namespace nbcc {
namespace {

TEST(PairRounds, HaveEveryPairOnceAndEachBlockOnceInARound) {
  for (std::int64_t blocks = 0; blocks < 20; ++blocks) {
    const PairRounds rounds(blocks);
    std::set<std::pair<std::int64_t, std::int64_t>> pairs;
    std::map<std::int64_t, std::set<std::int64_t>> of_round;
    std::int64_t before = 0;
    for (std::int64_t item = 0; item < rounds.items(); ++item) {
      const auto [i, j] = rounds.pair(item);
      EXPECT_GE(rounds.round(item), before);
      before = rounds.round(item);
      EXPECT_TRUE(of_round[before].insert(i).second) << blocks << " blocks, item " << item;
      if (j >= blocks) continue;
      EXPECT_LE(i, j);
      if (i != j) EXPECT_TRUE(of_round[before].insert(j).second) << blocks << " blocks, item " << item;
      EXPECT_TRUE(pairs.emplace(i, j).second);
    }
    EXPECT_EQ(std::int64_t(pairs.size()), blocks * (blocks + 1) / 2);
    for (const auto& [round, met] : of_round) EXPECT_EQ(std::int64_t(met.size()), blocks) << round;
  }
}

std::vector<std::vector<std::int64_t>> partners(int threads, std::int64_t blocks) {
  ThreadPool pool(threads);
  PairRounds rounds(blocks);
  std::vector<std::vector<std::int64_t>> met(static_cast<std::size_t>(blocks));
  pool.parallel_for(rounds.items(), [&](std::int64_t item) {
    rounds.work(item, [&](PairRounds::Pair pair) {
      met[std::size_t(pair.i)].push_back(pair.j);  // no other thread has these blocks
      if (pair.i != pair.j) met[std::size_t(pair.j)].push_back(pair.i);
    });
  });
  return met;
}

TEST(PairRounds, GiveEachBlockItsPartnersInOneOrderForAnyNumberOfThreads) {
  for (const std::int64_t blocks : {1, 2, 3, 8, 33}) {
    const auto alone = partners(1, blocks);
    for (const auto& met : alone) EXPECT_EQ(std::int64_t(met.size()), blocks);
    for (const int threads : {2, 3, 8}) EXPECT_EQ(partners(threads, blocks), alone) << blocks << " blocks";
  }
}

TEST(PairRounds, EndWhenABodyThrows) {
  for (int round = 0; round < 50; ++round) {
    ThreadPool pool(4);
    PairRounds rounds(9);
    EXPECT_THROW(pool.parallel_for(rounds.items(),
                                   [&](std::int64_t item) {
                                     rounds.work(item, [&](PairRounds::Pair pair) {
                                       if (pair.i == 3 && pair.j == 7) throw std::runtime_error("stop");
                                     });
                                   }),
                 std::runtime_error);
  }
}

}  // namespace
}  // namespace nbcc
