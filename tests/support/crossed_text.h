// Random pipelines for runs that cross features (crossed_run.h): a family for each pair method and kind of pipeline of
// the table of capabilities, with results of every kind. Entry point: crossed_text().
//
// Positions are multiples of 1/64, so that squared distances, cutoffs and comparisons are exact in every precision;
// all else is continuous, so that expect() bounds it.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/ir/ir.h"
#include "tests/support/random_source.h"

namespace nbcc::test {

enum class TextFamily : std::uint8_t {
  AllPairs,    // every pair adds something
  Cutoff,      // pairs within a cutoff, in an open space or by minimum images
  Nearest,     // arguments of minima of a distance
  BothEnds,    // sums that one set computes from both ends
  Far,         // sums with a far field
  Wide,        // sums whose pairs have products of long vectors
  Derivative,  // the adjoint of one of these
  Images,      // every_image()
  PairInput,   // input_pair
  PairOutput,  // output(pair)
};

// What every_image() takes in a text: one to three axes of a box, or vectors.
enum class ImageForm : std::uint8_t { Line, Plane, Box, TwoVectors, ThreeVectors };

struct CrossedText {
  std::string text;
  Pipeline pipeline;
  std::uint64_t number = 0;
  ImageForm form = ImageForm::Box;
};

// The family whose texts show a row of the table of capabilities; a row that is not known is a failure of the caller.
TextFamily family_of(std::string_view row, std::uint64_t number);
// Text `number` of a family; two successive numbers have results of all kinds of the table between them.
CrossedText crossed_text(TextFamily family, std::uint64_t number);
// Particles for it. One set: fields of i and j with equal names hold equal values.
OracleInput crossed_input(const CrossedText& text, std::int64_t ni, std::int64_t nj, bool one_set, std::uint64_t seed);

// Statements that declare `vec3 d`, the images of a difference; `sign`: "-" of a difference that is turned.
std::string image_difference(ImageForm form, const std::string& difference, const char* sign);
// A cell for the params a, b and c of such a text, and how many of its images the oracle tries. The first fields of
// both sides are positions and velocities.
void give_cell(const Pipeline& pipeline, ImageForm form, OracleInput& input, RandomSource& random);

}  // namespace nbcc::test
