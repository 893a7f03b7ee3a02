// Fibres take turns in the order asked for, meet, and can be abandoned.
#include "tests/support/fibres.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nbcc::test {
namespace {

// Every fibre writes its letter, waits and writes it again.
struct Letters : FibreScript {
  explicit Letters(Fibres& of) : fibres(of) {}
  void body(int k) override {
    text += char('a' + k);
    if (k != leaves_early) fibres.wait(k);
    text += char('A' + k);
  }
  std::vector<int> turns(int round) override { return round == 0 ? std::vector{0, 1, 2} : std::vector{2, 1, 0}; }
  void before_turn(int k) override { text += char('0' + k); }
  bool meet(const std::vector<int>& tags) override {
    text += '|';
    met = tags;
    return go_on;
  }

  Fibres& fibres;
  std::string text;
  std::vector<int> met;
  int leaves_early = -1;
  bool go_on = true;
};

TEST(fibres, take_turns_in_the_order_asked_for) {
  Fibres fibres;
  Letters letters(fibres);
  fibres.run(3, letters);
  EXPECT_EQ(letters.text, "0a1b2c|2C1B0A");
  EXPECT_EQ(letters.met, (std::vector{0, 1, 2}));
}

TEST(fibres, one_that_has_ended_gets_no_more_turns) {
  Fibres fibres;
  Letters letters(fibres);
  letters.leaves_early = 1;
  fibres.run(3, letters);
  EXPECT_EQ(letters.text, "0a1bB2c|2C0A");
  EXPECT_EQ(letters.met, (std::vector{0, -1, 2}));
}

TEST(fibres, begin_anew_after_they_were_abandoned) {
  Fibres fibres;
  Letters abandoned(fibres), again(fibres);
  abandoned.go_on = false;
  fibres.run(3, abandoned);
  EXPECT_EQ(abandoned.text, "0a1b2c|");
  fibres.run(3, again);
  EXPECT_EQ(again.text, "0a1b2c|2C1B0A");
}

TEST(fibres, have_stacks_of_their_own) {
  struct Deep : FibreScript {
    explicit Deep(Fibres& of) : fibres(of) {}
    void body(int k) override {
      volatile int local[1000];
      for (int n = 0; n < 1000; ++n) local[n] = k;
      fibres.wait(0);
      for (int n = 0; n < 1000; ++n) wrong += local[n] != k;
    }
    std::vector<int> turns(int) override {
      std::vector<int> all(200);
      for (int k = 0; k < 200; ++k) all[std::size_t(k)] = k;
      return all;
    }
    void before_turn(int) override {}
    bool meet(const std::vector<int>&) override { return true; }
    Fibres& fibres;
    int wrong = 0;
  };
  Fibres fibres;
  Deep deep(fibres);
  fibres.run(200, deep);
  EXPECT_EQ(deep.wrong, 0);
}

}  // namespace
}  // namespace nbcc::test
