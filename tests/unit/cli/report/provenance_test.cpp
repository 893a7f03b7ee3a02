// The record of a run in every result: each field of it, in each format, compared with what other programs say or with
// the options of the run; and records of earlier versions in files that are updated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/sum/particle_sum.h"
#include "compiler/text/sha256.h"
#include "particles/files/numpy/npz.h"
#include "particles/files/particle_files.h"
#include "particles/run_record.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/program/cuda_device.h"
#include "tests/support/command.h"
#include "tests/support/cuda_shim.h"

namespace nbcc::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// The program of GNU coreutils.
std::string digits_of_sha256sum(const Shell& shell, const std::string& file) {
  return shell.line("sha256sum < " + file).out.substr(0, 64);
}

std::string value_of(const ParticleTable& table, const std::string& key) {
  const std::string* const value = table.find_attribute(key);
  return value ? *value : "(no " + key + ")";
}

TEST(Sha256, IsThatOfFips180AndOfSha256sum) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  const Shell shell;
  // The padding takes one block or two.
  for (const std::size_t size : {55, 56, 63, 64, 65, 119, 120, 4096}) {
    std::string bytes;
    for (std::size_t k = 0; k < size; ++k) bytes += char(k * 37 + size);
    shell.write("bytes", bytes);
    EXPECT_EQ(sha256(bytes), digits_of_sha256sum(shell, "bytes")) << size;
  }
}

class Provenance : public testing::Test, public Shell {
 protected:
  Provenance() {
    EXPECT_EQ(nbcc("make-ic plummer --n 60 --seed 3 -o p.npz").code, 0);
    EXPECT_EQ(line("cp \"$pipelines/gravity.pipe\" mine.pipe").code, 0);
  }
  // The result of `nbcc run WORDS -o FILE`.
  ParticleTable result_of(const std::string& words, const std::string& file = "out.npz") const {
    const Outcome outcome = nbcc("run " + words + " --force -o " + file);
    EXPECT_EQ(outcome.code, 0) << words << outcome.err;
    return outcome.code == 0 ? read_particles(path(file)) : ParticleTable();
  }
  std::string recorded(const std::string& key, const std::string& words) const {
    return value_of(result_of(words), key);
  }
};

TEST_F(Provenance, EveryFormatWithAPlaceForItHoldsEveryField) {
  const std::string version = nlohmann::json::parse(nbcc("--version --json").out)["version"];
  const std::string isa(name(baseline_isa())), hash = digits_of_sha256sum(*this, "mine.pipe");
  const std::vector<std::pair<std::string, std::string>> fields = {
      {"made by", "nbcc " + version}, {"pipeline", "mine"},
      {"pipeline sha256", hash},      {"device", "cpu, " + isa + ", 1 thread"},
      {"instruction set", isa},       {"arithmetic", "mixed precision, precise math"},
      {"precision", "mixed"},         {"method", "all pairs"},
      {"param eps2", "0.25"}};
  const std::string words =
      "mine.pipe --i p.npz --param eps2=0.25 --precision mixed --math precise --threads 1 --isa " + isa;
  for (const std::string file : {"out.npz", "out.h5", "out.txt"}) {
    const ParticleTable table = result_of(words, file);
    for (const auto& [key, value] : fields) EXPECT_EQ(value_of(table, key), value) << file;
    EXPECT_THAT(value_of(table, "command"), HasSubstr("run mine.pipe --i p.npz --param eps2=0.25")) << file;
    // Bytes of another run.
    const std::string before = read(file);
    result_of(words, file);
    EXPECT_TRUE(read(file) == before) << file;
  }
  const std::string text = nbcc("run " + words + " -o -").out;
  for (const auto& [key, value] : fields) EXPECT_THAT(text, HasSubstr("# " + key + ": " + value + "\n"));
  for (const std::string format : {"csv", "tsv"})  // they have no comments
    EXPECT_THAT(nbcc("run " + words + " -o - --format " + format).out, Not(HasSubstr("#"))) << format;
}

TEST_F(Provenance, TheHashIsThatOfTheTextAsItWasRead) {
  const std::string before = recorded("pipeline sha256", "mine.pipe --i p.npz");
  EXPECT_EQ(before, digits_of_sha256sum(*this, "mine.pipe"));
  write("mine.pipe", read("mine.pipe") + "// the same pipeline\r\n");
  const std::string after = recorded("pipeline sha256", "mine.pipe --i p.npz");
  EXPECT_EQ(after, digits_of_sha256sum(*this, "mine.pipe"));
  EXPECT_NE(after, before);
  // A pipe is read once, and a word names a pipeline of the library.
  const Outcome piped = line("cat mine.pipe | \"$nbcc\" run /dev/stdin --i p.npz -o -");
  EXPECT_THAT(piped.out, HasSubstr("# pipeline sha256: " + after + "\n")) << piped.err;
  ASSERT_EQ(nbcc("show gravity > shown").code, 0);
  EXPECT_EQ(recorded("pipeline sha256", "gravity --i p.npz"), digits_of_sha256sum(*this, "shown"));
}

TEST_F(Provenance, ThePrecisionIsTheChosenOne) {
  EXPECT_EQ(recorded("precision", "mine.pipe --i p.npz"), "double");
  for (const std::string precision : {"single", "mixed", "double"})
    EXPECT_EQ(recorded("precision", "mine.pipe --i p.npz --precision " + precision), precision);
}

TEST_F(Provenance, TheInstructionSetIsTheOneThatRan) {
  EXPECT_EQ(recorded("instruction set", "mine.pipe --i p.npz"), name(detect_isa()));
  int count = 0;
  for (const IsaFacts& isa : kIsas) {
    if (!isa.is_here()) continue;
    EXPECT_EQ(recorded("instruction set", "mine.pipe --i p.npz --isa " + std::string(isa.name)), isa.name);
    ++count;
  }
  EXPECT_GE(count, 1);
}

TEST_F(Provenance, OfAGpuItIsTheArchitecture) {
  CudaShim shim;
  const auto gpu = std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", "");
  const ParticleSum sum(path("mine.pipe"), {}, {}, gpu);
  EXPECT_EQ(sum.instruction_set(), "sm_90");
  EXPECT_EQ(sum.device_name(), "cuda:0, Shim GPU, sm_90");
  EXPECT_EQ(sum.pipeline_sha256(), digits_of_sha256sum(*this, "mine.pipe"));
}

TEST_F(Provenance, TheMethodIsTheOneThatRan) {
  ASSERT_EQ(nbcc("make-ic plummer --n 12000 --no-scale -o many.npz").code, 0);
  write("none.txt", "# id m x[3]\n");
  const std::string short_range = "lennard_jones --i p.npz --param rc=0.3 --pairs ";
  const std::pair<std::string, std::string> cases[] = {
      {short_range + "all", "all pairs"},
      {short_range + "cutoff", "search"},
      {"gravity --i p.npz --symmetric always", "symmetric"},
      {"gravity --i p.npz --symmetric off", "all pairs"},
      {"gravity --i none.txt", "none"},
      // Few particles are summed over all pairs, with the precision that the tolerance needs.
      {"gravity --i p.npz --tolerance 1e-3", "all pairs"},
      {"gravity --i p.npz --tolerance 1e-10 --precision single", "all pairs, tolerance 1e-10, double precision"},
      {"gravity --i many.npz --tolerance 1e-2 --precision single", "far field, tolerance 0.01, single precision"},
      {"gravity --i many.npz --tolerance 0.02 --precision double", "far field, tolerance 0.02, double precision"},
      {"gravity --i many.npz --tolerance 0.02 --pairs all --symmetric off", "all pairs"}};
  for (const auto& [words, method] : cases) EXPECT_EQ(recorded("method", words), method) << words;
}

TEST_F(Provenance, ObjectsOfMeasurementsHoldItToo) {
  const std::string hash = digits_of_sha256sum(*this, "mine.pipe"), isa(name(baseline_isa()));
  const std::string words = " mine.pipe --json --precision double --symmetric off --isa " + isa;
  const json verified = json::parse(nbcc("verify" + words + " --random 50,1").out);
  const json measured = json::parse(nbcc("bench" + words + " --n 60 --repeat 5").out)[0];
  for (const json& object : {verified, measured}) {
    EXPECT_EQ(object["version"], json::parse(nbcc("--version --json").out)["version"]);
    EXPECT_EQ(object["pipeline_sha256"], hash);
    EXPECT_EQ(object["precision"], "double");
    EXPECT_EQ(object["method"], "all pairs");
    EXPECT_EQ(object["instruction_set"], isa);
    EXPECT_THAT(object["device"].get<std::string>(), HasSubstr("cpu, " + isa));
  }
}

// What nbcc 0.1.0 wrote before records had hashes; `more` are attributes of the user behind it.
void write_old_record(const Shell& shell, const std::string& file,
                      const std::vector<std::pair<std::string, std::string>>& more = {}) {
  ParticleTable table = read_particles(shell.path("p.npz"));
  table.attributes = {
      {"made by", "nbcc 0.1.0"},         {"command", "nbcc run mine.pipe --i p.npz --update"}, {"pipeline", "mine"},
      {"device", "cpu, old, 3 threads"}, {"arithmetic", "double precision, fast math"},        {"param eps2", "0.5"}};
  table.attributes.insert(table.attributes.end(), more.begin(), more.end());
  write_particles(shell.path(file), table, {.force = true});
}

TEST_F(Provenance, RecordsOfEarlierVersionsAreReplaced) {
  for (const std::string file : {"old.npz", "old.txt", "old.h5"}) {
    write_old_record(*this, file);
    for (int run = 0; run < 2; ++run) {  // the second replaces the new record
      const std::string more = run == 0 ? "--precision mixed" : "--precision double --symmetric always";
      const Outcome outcome = nbcc("run mine.pipe --i " + file + " --update " + more);
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      const ParticleTable table = read_particles(path(file));
      std::set<std::string> keys;
      for (const auto& [key, value] : table.attributes) EXPECT_TRUE(keys.insert(key).second) << file << ": " << key;
      EXPECT_EQ(keys, (std::set<std::string>{"made by", "command", "pipeline", "pipeline sha256", "device",
                                             "instruction set", "arithmetic", "precision", "method", "param eps2"}));
      EXPECT_EQ(value_of(table, "pipeline sha256"), digits_of_sha256sum(*this, "mine.pipe")) << file;
      EXPECT_EQ(value_of(table, "precision"), run == 0 ? "mixed" : "double") << file;
      EXPECT_EQ(value_of(table, "method"), run == 0 ? "all pairs" : "symmetric") << file;
      EXPECT_THAT(value_of(table, "device"), Not(HasSubstr("old"))) << file;
    }
  }
}

// Earlier versions wrote no method and no precision.
TEST_F(Provenance, LinesBehindAnOldRecordAreTheUsers) {
  for (const std::string file : {"old.npz", "old.txt"}) {
    write_old_record(*this, file, {{"method", "by hand"}, {"precision", "three digits"}});
    const Outcome outcome = nbcc("run mine.pipe --i " + file + " --update");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    std::vector<std::string> methods, precisions;
    for (const auto& [key, value] : read_particles(path(file)).attributes) {
      if (key == "method") methods.push_back(value);
      if (key == "precision") precisions.push_back(value);
    }
    EXPECT_EQ(methods, (std::vector<std::string>{"all pairs", "by hand"})) << file;
    EXPECT_EQ(precisions, (std::vector<std::string>{"double", "three digits"})) << file;
  }
  // An HDF5 file has one attribute of a name.
  write_old_record(*this, "old.h5", {{"method", "by hand"}});
  const std::string before = read("old.h5");
  const Outcome refused = nbcc("run mine.pipe --i old.h5 --update");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("attribute 'method' was not written by nbcc"));
  EXPECT_TRUE(read("old.h5") == before);
}

TEST(RunRecord, OnlyAHashOpensTheNewerKeys) {
  ParticleTable results;
  results.attributes = {{"pipeline", "p"}, {"pipeline sha256", ""}, {"device", ""}, {"arithmetic", ""}, {"method", ""}};
  const std::string hash = "pipeline sha256: " + sha256("p");
  const auto last = [&](std::vector<std::string_view> after) {
    std::vector<std::string_view> lines = {"made by: nbcc 0.1.0", "command: c", "pipeline: p"};
    lines.insert(lines.end(), after.begin(), after.end());
    return lines_of_record(lines, results).last;
  };
  EXPECT_EQ(last({hash, "device: cpu", "arithmetic: a", "method: m", "method: mine"}), 7u);
  EXPECT_EQ(last({"device: cpu", "arithmetic: a", "method: mine"}), 5u);
  EXPECT_EQ(last({"device: cpu", hash, "method: mine"}), 4u);
  EXPECT_EQ(last({"pipeline sha256: unknown", "device: cpu"}), 3u);
  EXPECT_EQ(last({hash + "0", "device: cpu"}), 3u);
}

}  // namespace
}  // namespace nbcc::test
