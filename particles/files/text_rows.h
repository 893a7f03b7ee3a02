// Rows of words -> columns of numbers: what the readers of all text formats share. A column may hold the names of
// types (H, O) in the place of numbers; --types says which number each of them stands for.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "particles/column_choice.h"
#include "particles/text_words.h"

namespace nbcc {

// What a reader of text is told besides the bytes.
struct TextOptions {
  std::vector<ColumnName> columns;  // of --columns: the words of a row, in place of what the file says; may be empty
  std::vector<std::string> types;   // of --types: names that stand for 0, 1, ...
  std::int64_t skip_lines = 0;      // lines at the beginning of a text table that are not looked at
  ColumnChoice choice{};            // columns of names that it does not take are left out; numbers are always read
};

// The value of --types, as "H,O". Throws UsageError.
std::vector<std::string> parse_types(std::string_view text);

// What the words of a column are. Automatic: in the first row it is seen whether they are numbers or names.
enum class WordKind { Automatic, Number, Name, Truth };

struct RowColumn {
  ColumnName column;
  std::string also;  // its name in the file, where that is another
  WordKind kind = WordKind::Automatic;
};

class TextRows {
 public:
  // `types_from` says in messages where the types come from.
  TextRows(std::string path, std::vector<RowColumn> columns, const TextOptions& options,
           std::string types_from = "--types");

  std::int64_t words_wanted() const { return words_wanted_; }
  // A row of words_wanted() words. Throws FileError.
  void append(long line, const std::vector<Word>& words);
  // Puts the columns into the table. Throws FileError where a column is asked for that holds names without a number.
  void finish(ParticleTable& table);

 private:
  struct Place {  // a word of every row
    WordKind kind;
    long line = 0, column = 0;       // where its first name stands
    std::vector<std::string> names;  // found, while it is not known which numbers they are
  };
  // The words of a column as whole numbers, for as long as all of them are digits.
  struct Whole {
    bool possible = false;
    std::string rounded;  // the first word of digits that a double does not hold
    std::vector<std::int64_t> values;
    void take(const Word& word);
  };
  void settle(const std::vector<Word>& words);
  void append(ParticleColumn& column, std::size_t first, const std::vector<Word>& words);
  double number_of_name(Place& place, const Word& word, bool asked);
  double number_of_truth(const Word& word) const;
  [[noreturn]] void refuse(const Word& word, std::errc error, const ParticleColumn& column) const;
  [[noreturn]] void refuse_names(const Place& place) const;
  [[noreturn]] void fail(long column, const std::string& reason) const;

  std::string path_;
  std::vector<RowColumn> columns_;
  std::vector<std::string> types_;
  std::string types_from_;
  ColumnChoice choice_;
  std::int64_t words_wanted_ = 0;
  std::int64_t rows_ = 0;
  long line_ = 0;
  std::vector<Place> places_;
  std::vector<ParticleColumn> data_;  // of the columns that are not skipped
  std::vector<bool> asked_;           // of these
  std::vector<Whole> whole_;          // of these
};

}  // namespace nbcc
