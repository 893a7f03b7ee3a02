#include "runtime/sum/plan/derived_sum.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "runtime/cpu/cpu_device.h"
#include "tests/support/fake_toolchain.h"

namespace nbcc {
namespace {

using From = FieldBinding::From;

// The fake kernel as a kernel derived from itself: inputs of j and params are the caller's, those of i and `acc` are
// made, other outputs are ignored.
class DerivedSumTest : public testing::Test {
 protected:
  DerivedSumTest() {
    for (const FieldLayout& field : kernel_->source.fields) {
      const bool is_made = field.role == Role::InputI || field.name == "acc";
      const bool is_ignored = field.role == Role::Output && !is_made;
      bind_.push_back({is_made ? From::Made : is_ignored ? From::Ignored : From::Caller, field.name});
      views_.push_back({x_.data(), Element::Double, field.role == Role::InputJ ? 5 : 4, 24, 8});
    }
    caller_.views = views_;
    caller_.params = params_;
    caller_.ni = caller_.i_count = 4;
    caller_.nj = 5;
    caller_.i_offset = 7;
    caller_.accumulate = true;
    caller_.skin = 3;
    caller_.pairs = PairChoice::Cutoff;
    caller_.binding = 1;
  }
  std::size_t at(std::string_view name) const {
    const auto& fields = kernel_->source.fields;
    return std::size_t(std::ranges::find(fields, name, &FieldLayout::name) - fields.begin());
  }

  CpuDevice device_{1, detect_isa(), std::make_shared<test::FakeToolchain>(), "", ""};
  std::shared_ptr<const Kernel> kernel_ = device_.load(test::fake_source());
  std::vector<FieldBinding> bind_;
  std::vector<double> x_ = std::vector<double>(15, 1.0), made_ = std::vector<double>(12, 2.0), params_{0.5, 2.0};
  std::vector<ArrayView> views_;
  SumRequest caller_;
};

TEST_F(DerivedSumTest, FieldsHaveTheCallersArraysOrMadeOnes) {
  DerivedSum sum(kernel_, bind_, kernel_->source);
  const MadeArray made[] = {{"xi", {made_.data(), Element::Double, 4, 24, 8}}};
  const SumRequest bound = sum.bind(caller_, made);
  EXPECT_EQ(bound.views[at("xj")].data, x_.data());
  EXPECT_EQ(bound.views[at("xi")].data, made_.data());
  EXPECT_EQ(bound.views[at("acc")].data, nullptr);
  EXPECT_EQ(bound.views[at("pot")].data, nullptr);
  ASSERT_EQ(bound.params.size(), 2u);
  EXPECT_EQ(bound.params[0], 0.5);
}

TEST_F(DerivedSumTest, WhatConcernsTheRunIsKeptAndItsMethodIsNot) {
  DerivedSum sum(kernel_, bind_, kernel_->source);
  const SumRequest bound = sum.bind(caller_, {});
  EXPECT_EQ(bound.ni, 4);
  EXPECT_EQ(bound.nj, 5);
  EXPECT_EQ(bound.i_offset, 7);
  EXPECT_TRUE(bound.accumulate);
  EXPECT_EQ(bound.skin, 0);
  EXPECT_EQ(bound.pairs, PairChoice::Auto);
  EXPECT_EQ(bound.lists, nullptr);
}

// Devices keep what they know of arrays as long as the number of the binding is the same.
TEST_F(DerivedSumTest, TheBindingChangesWithTheArraysAlone) {
  DerivedSum sum(kernel_, bind_, kernel_->source);
  const MadeArray made[] = {{"xi", {made_.data(), Element::Double, 4, 24, 8}}};
  const std::uint64_t first = sum.bind(caller_, made).binding;
  EXPECT_EQ(sum.bind(caller_, made).binding, first);
  const std::uint64_t without = sum.bind(caller_, {}).binding;
  EXPECT_NE(without, first);
  ++caller_.binding;  // the caller has bound an array anew, perhaps at the same address
  EXPECT_NE(sum.bind(caller_, {}).binding, without);
}

TEST_F(DerivedSumTest, AnArrayForNoFieldIsAnError) {
  DerivedSum sum(kernel_, bind_, kernel_->source);
  const MadeArray made[] = {{"nbcc_none", {}}};
  EXPECT_THROW(sum.bind(caller_, made), std::logic_error);
}

TEST_F(DerivedSumTest, RowsOfDerivedKernelsAreMadeAndLoadedOnce) {
  EXPECT_EQ(kernel_->derived("symmetric").obstacle, "the library has no kernel for it");  // the fake has no compiler
  EXPECT_EQ(derived_sum(*kernel_, "symmetric", "symmetric"), nullptr);
  class One final : public Derivations {
   public:
    explicit One(const KernelSource& source) {
      row_.kernels.push_back({"one", std::make_shared<const KernelSource>(source), {}});
    }
    const DerivedKernels& row(std::string_view, Precision) const override { return row_; }

   private:
    DerivedKernels row_;
  };
  KernelSource source = test::fake_source();
  source.derivations = std::make_shared<const One>(source);
  const std::shared_ptr<const Kernel> kernel = device_.load(std::move(source));
  const std::shared_ptr<const Kernel> one = kernel->load_derived("any", "one");
  ASSERT_TRUE(one);
  EXPECT_EQ(kernel->load_derived("any", "one"), one);
  EXPECT_EQ(kernel->load_derived("any", "other"), nullptr);
}

}  // namespace
}  // namespace nbcc
