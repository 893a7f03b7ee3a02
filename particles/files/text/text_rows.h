// Converts rows of words to columns of numbers, for the readers of all text formats. A column may hold type names (H,
// O) instead of numbers; --types assigns a number to each name.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "particles/column_choice.h"
#include "particles/text_words.h"

namespace nbcc {

// Options of the readers of text formats.
struct TextOptions {
  std::vector<ColumnName> columns;  // from --columns: the columns of a row, instead of the file's; may be empty
  std::vector<std::string> types;   // from --types: the names of types 0, 1, ...
  std::int64_t skip_lines = 0;      // lines to skip at the beginning of a text table
  ColumnChoice choice{};            // a column of type names is read only if chosen; columns of numbers always are
};

// Parses the value of --types: "H,O". Throws UsageError.
std::vector<std::string> parse_types(std::string_view text);

// The kind of a column's words. Automatic: the first row decides between Number and Name. Truth: T or F.
enum class WordColumnKind { Automatic, Number, Name, Truth };

inline constexpr const char* kTypesOption = "--types";

struct RowColumn {
  ColumnName column;
  std::string name_in_file;  // its name in the file, if that differs; else ""
  WordColumnKind kind = WordColumnKind::Automatic;
};

// An id that two rows of the table have; nothing if there is none, or no column of ids. Ids of 0 are not compared,
// which LAMMPS writes for atoms without ids.
std::optional<std::int64_t> repeated_id(const ParticleTable& table);

class TextRows {
 public:
  // `types_from` names the source of the type names in messages.
  TextRows(std::string path, std::vector<RowColumn> columns, const TextOptions& options,
           std::string types_from = kTypesOption);

  std::int64_t words_wanted() const { return words_wanted_; }
  // Appends a row of words_wanted() words. Throws FileError.
  void append(long line, const std::vector<Word>& words);
  // Moves the columns into the table. Throws FileError if a chosen column holds type names that have no number.
  void finish(ParticleTable& table);

 private:
  struct WordColumn {  // the k-th word of every row
    WordColumnKind kind;
    long line = 0, column = 0;       // position of the first type name without a number
    std::vector<std::string> names;  // type names without a number, for the message
  };
  // The values of a column as int64, as long as all its words are integers; for integers beyond 2^53.
  struct ExactIntegers {
    bool possible = false;
    std::string rounded;  // the first integer that a double cannot represent
    std::vector<std::int64_t> values;
    void take(const Word& word);
  };
  void decide_kinds(const std::vector<Word>& words);
  void append(ParticleColumn& column, std::size_t first, const std::vector<Word>& words);
  double number_of_name(WordColumn& word_column, const Word& word, bool asked);
  double number_of_truth(const Word& word) const;
  [[noreturn]] void refuse(const Word& word, std::errc error, const ParticleColumn& column) const;
  [[noreturn]] void refuse_names(const WordColumn& word_column) const;
  [[noreturn]] void fail(long column, const std::string& reason) const;

  std::string path_;
  std::vector<RowColumn> columns_;
  std::vector<std::string> types_;
  std::string types_from_;
  ColumnChoice choice_;
  std::int64_t words_wanted_ = 0;
  std::int64_t rows_ = 0;
  long line_ = 0;
  std::vector<WordColumn> word_columns_;
  std::vector<ParticleColumn> data_;           // [column], without skipped columns
  std::vector<bool> asked_;                    // [column of data_] choice_ takes it
  std::vector<bool> is_beyond_;                // [column of data_] not asked for, with a number beyond its type
  bool types_used_ = false;                    // a type name was looked up in types_
  std::vector<ExactIntegers> exact_integers_;  // [column of data_]
};

}  // namespace nbcc
