// Data that the host and the kernel that stores histograms (cuda_histogram_values.cu.in) share. The file is plain C++
// without headers of the standard library, which NVRTC does not have. Pointers are addresses of GPU memory.
#pragma once

namespace nbcc::histogram_data {

constexpr int kThreads = 128;
constexpr int kMaxWords = 80;  // of an element of doubles

// Rows of one histogram: the elements of a total, or of consecutive i.
struct Rows {
  const long long* words;     // [copy][row][element + 1][word] (KernelSource::histograms)
  long long copies, of_copy;  // words from one copy to the next
  long long rows, row_words;
  int elements, words_of_element, digit, exponent;  // bits of a digit; the lowest digit counts 2^exponent
  int integral;                                     // nonzero: an element is one word, an integer
  int accumulate;                                   // nonzero: added to the numbers that are there
  char* to;                                         // of the first row
  long long stride, component_stride, element;      // bytes, bytes, Element
  long long* outside;                               // += pairs of the rows that named no element; null: not counted
};

}  // namespace nbcc::histogram_data
