// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The real command keeps what failed, and judges it again.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/to_result.h"
#include "parity/case/safetensors.h"
#include "parity/subject/files/manifest.h"
#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

const std::string kPlanted = "subject:planted[causal_sees_next_key]/headtail/causal/";
const parity::Format kBundle{"ringcheck-bundle", 1, "ringcheck verify --bundle"};

// What a verdict is made of, without what was found out about it afterwards.
json figures(json test) {
  test.erase("findings");
  test.erase("reproduce");
  return cli::without_times(test);
}

class Bundles : public ::testing::Test {
 protected:
  std::string place() const { return folder_.file("bundles"); }
  // The folders in it.
  Words bundles() const {
    Words all;
    for (const auto& entry : fs::directory_iterator(place())) all.push_back(entry.path());
    return all;
  }
  Ran verify(Words words) const {
    words.insert(words.begin(), "verify");
    words.insert(words.end(), {"--bundle", place(), "--json", folder_.file("json")});
    return ringcheck(words);
  }
  // Under mpirun, where nothing is made smaller.
  Ran launched(Words words) const {
    Words all{"/usr/bin/env", "mpirun", "-n", "2", ringcheck_program(), "verify"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"--bundle", place(), "--json", folder_.file("json")});
    return Running(all).wait();
  }
  json verified() const { return json::parse(read_text(folder_.file("json")))["cases"]; }
  json replayed(const std::string& bundle, int code = 1) const {
    const Ran ran = ringcheck({"replay", bundle, "--json", folder_.file("replayed")});
    EXPECT_EQ(ran.code, code) << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("every figure is the recorded one, to the last bit"));
    return json::parse(read_text(folder_.file("replayed")))["cases"][0];
  }
  static json manifest(const std::string& bundle) {
    return json::parse(read_text(bundle + "/manifest.json"));
  }
  void refused(const std::string& bundle, const std::string& says) const {
    const Ran ran = ringcheck({"replay", bundle});
    EXPECT_EQ(ran.code, 2) << says << "\n" << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(says));
    EXPECT_THAT(ran.err, HasSubstr("'" + bundle + "'"));
    EXPECT_THAT(ran.out, IsEmpty());
  }

  Folder folder_;
};

TEST_F(Bundles, AFailedCaseIsMadeSmallerAndReplaysToTheSameBits) {
  const std::string text = kPlanted + "P3/hq2/hkv1/s40/d8/bf16";
  const Ran ran = verify({"--case", text});
  EXPECT_EQ(ran.code, 1) << ran.err;
  ASSERT_EQ(bundles().size(), 1U) << ran.err;
  const std::string bundle = bundles().front();
  const json kept = manifest(bundle);
  EXPECT_EQ(verified()[0]["findings"][0], "kept, made smaller: " + kept["case"].get<std::string>() +
                                              ": ringcheck replay '" + bundle + "'");
  EXPECT_EQ(kept["shrunk"]["from"], verified()[0]["name"]);
  EXPECT_GT(kept["shrunk"]["tried"].get<int>(), 0);
  EXPECT_LT(kept["parts"]["seq"].get<int>() * kept["parts"]["world"].get<int>(), 40 * 3);
  EXPECT_EQ(kept["result"]["verdict"], "fail");
  EXPECT_EQ(kept["result"]["name"], kept["case"]);
  EXPECT_EQ(figures(replayed(bundle)), figures(kept["result"]));
}

// Of one token every output is right, and only what is sent is not: that is another failure.
TEST_F(Bundles, AWrongCaseIsNotMadeSmallerIntoOneThatOnlyCountsOtherwise) {
  const Ran ran = verify({"--case", "subject:planted[context_parallelism_off]/headtail/causal/P2/hq1/hkv1/s24/d8/float64",
                          "--oracles", "counters,parity"});
  EXPECT_EQ(ran.code, 1) << ran.err;
  ASSERT_EQ(bundles().size(), 1U) << ran.err;
  const json kept = manifest(bundles().front());
  EXPECT_TRUE(kept.contains("shrunk"));
  for (const json& oracle : kept["result"]["oracles"])
    if (oracle["name"] == "parity") {
      EXPECT_EQ(oracle["verdict"], "fail") << kept["case"];
    }
}

TEST_F(Bundles, OfProcessesHoldWhatTheRunSaid) {
  const Ran ran = launched({"--case", kPlanted + "mpi/P2/s60/d16/float32/rope:half[10000]"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  ASSERT_EQ(bundles().size(), 1U);
  const json said = figures(verified()[0]);
  EXPECT_EQ(said, figures(manifest(bundles().front())["result"]));
  EXPECT_EQ(said, figures(replayed(bundles().front())));
  EXPECT_EQ(said["ranks"].size(), 2U);
}

TEST_F(Bundles, HoldTheRunsOfEveryOracle) {
  launched({"--case", kPlanted + "mpi/P2/s24/d8/float64", "--oracles", "all"});
  ASSERT_EQ(bundles().size(), 1U);
  const json kept = manifest(bundles().front());
  EXPECT_GT(kept["further_runs"].size(), 15U);
  EXPECT_EQ(figures(replayed(bundles().front())), figures(verified()[0]));
}

TEST_F(Bundles, HoldTheUsersOwnTensors) {
  parity::Safetensors file;
  for (const char* name : {"q", "k", "v"})
    file.tensors[name] =
        at::sin(at::arange(2 * 24 * 8, at::kFloat) * (name[0] - 'a' + 1.37)).view({1, 2, 24, 8});
  const std::string path = folder_.file("qkv.safetensors");
  parity::write_safetensors(path, file);
  launched({"--tensors", path, "--mask", "causal", "--subject", "planted[causal_sees_next_key]",
            "--world", "2", "--oracles", "parity,conservation,worlds,value-sum"});
  ASSERT_EQ(bundles().size(), 1U);
  fs::remove(path);
  const json again = replayed(bundles().front());
  EXPECT_EQ(figures(again), figures(verified()[0]));
  EXPECT_THAT(again["name"].get<std::string>(), HasSubstr("tensors[" + path + "]"));
}

TEST_F(Bundles, AreNotMadeOfWhatPasses) {
  EXPECT_EQ(verify({"--case", "s24/P2/d8/float32"}).code, 0);
  EXPECT_FALSE(fs::exists(place()));
  fs::create_directory(place());
  EXPECT_EQ(verify({"--case", "s24/P2/d8/float32"}).code, 0);
  EXPECT_THAT(bundles(), IsEmpty());
}

TEST_F(Bundles, AreAtMostSoMany) {
  Words words;
  for (int seed = 1; seed <= 22; ++seed)
    words.insert(words.end(), {"--case", kPlanted + "mpi/P2/s8/d4/float32/seed" + std::to_string(seed)});
  const Ran ran = launched(words);
  EXPECT_EQ(bundles().size(), 20U);
  EXPECT_THAT(ran.err, HasSubstr("2 of the failed cases are not kept in '" + place() +
                                 "': at most 20 are, of at most 256 MiB each"));
}

TEST_F(Bundles, AreKeptInANewFolderOnly) {
  write_text(place(), "a file");
  Ran ran = verify({"--case", "s24/P2/d8/float32"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--bundle '" + place() + "' is not an empty folder; name a new one"));
  EXPECT_THAT(ran.out, IsEmpty());
  ran = ringcheck({"verify", "--case", "s24/P2/d8/float32", "--bundle", place() + "/below/it"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("cannot be made"));
}

TEST_F(Bundles, AreKeptInAFolderOfOneRun) {
  fs::create_directory(place());
  const int other = ::open(place().c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  const Ran ran = verify({"--case", "s24/P2/d8/float32"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--bundle '" + place() + "' is in use by another run; name a new folder"));
  ::close(other);
  EXPECT_EQ(verify({"--case", "s24/P2/d8/float32"}).code, 0);
}

// One bundle, and what is done to it.
class SpoiltBundles : public Bundles {
 protected:
  SpoiltBundles() {
    launched({"--case", kPlanted + "mpi/P2/s24/d8/float32", "--oracles", "parity,worlds,value-sum"});
    good_ = bundles().at(0);
    spoilt_ = folder_.file("spoilt");
  }
  // Those that the manifest names.
  std::vector<std::string> files() const {
    const json content = manifest(good_);
    std::vector<std::string> names;
    for (const auto& [name, file] : content.at("files").items()) names.push_back(name);
    return names;
  }
  // A copy, changed.
  const std::string& spoilt(const std::function<void(const std::string&)>& change) {
    fs::remove_all(spoilt_);
    fs::copy(good_, spoilt_);
    change(spoilt_);
    return spoilt_;
  }
  // With another manifest, whose checksum is right.
  const std::string& rewritten(const std::function<void(json&)>& change) {
    return spoilt([&](const std::string& folder) {
      json content = manifest(folder);
      change(content);
      content.erase("sha1");
      content["sha1"] = parity::checksum(content.dump());
      write_text(folder + "/manifest.json", content.dump());
    });
  }

  std::string good_, spoilt_;
};

TEST_F(SpoiltBundles, AreRefused) {
  for (const std::string& name : files()) {
    refused(spoilt([&](const std::string& f) { fs::remove(f + "/" + name); }), "has no file " + name);
    refused(spoilt([&](const std::string& f) {
              std::string bytes = read_text(f + "/" + name);
              bytes.back() ^= 1;
              write_text(f + "/" + name, bytes);
            }),
            "has " + name + " with another checksum");
    refused(spoilt([&](const std::string& f) { fs::resize_file(f + "/" + name, 100); }),
            "has " + name + " of 100 bytes");
  }
  refused(spoilt([](const std::string& f) { fs::remove(f + "/manifest.json"); }),
          "has no file manifest.json");
  refused(spoilt([](const std::string& f) { fs::resize_file(f + "/manifest.json", 500); }),
          "has a manifest.json that is no JSON object");
  refused(spoilt([](const std::string& f) {
            std::string text = read_text(f + "/manifest.json");
            text.replace(text.find("float32"), 7, "float64");
            write_text(f + "/manifest.json", text);
          }),
          "it was changed");
  refused(rewritten([](json& m) { m["schema_version"] = 2; }), "is of version 2 of ringcheck-bundle");
  refused(rewritten([](json& m) { m["format"] = "ringcheck-cases"; }),
          "is not of format ringcheck-bundle");
  refused(rewritten([](json& m) { m.erase("promises"); }), "not what its version says");
  refused(rewritten([](json& m) { m["further_runs"]["value-sum"] = 7; }),
          "without the file value-sum-3");
  refused(folder_.file("missing"), "is not there");
  refused(good_ + "/manifest.json", "is no folder");
}

TEST_F(SpoiltBundles, AreNotWhatAReplayWrites) {
  for (const std::string& name : files())
    for (const char* option : {"--json", "--junit"}) {
      const Ran ran = ringcheck({"replay", good_, option, good_ + "/../" + fs::path(good_).filename().string() + "/" + name});
      EXPECT_EQ(ran.code, 2);
      EXPECT_THAT(ran.err, HasSubstr("is what is read"));
    }
  EXPECT_EQ(ringcheck({"replay", good_, "--json", good_ + "/manifest.json"}).code, 2);
  EXPECT_EQ(ringcheck({"replay", good_, "--json", folder_.file("x"), "--junit", folder_.path() + "/./x"}).code, 2);
  EXPECT_EQ(ringcheck({"replay", good_}).code, 1);
}

TEST_F(SpoiltBundles, WithAnotherVerdictAreNotBelieved) {
  const auto replay = [](const std::string& bundle) { return ringcheck({"replay", bundle}); };
  const auto figure = [](json& m) -> json& { return m["result"]["oracles"][0]["tensors"][0]["max_z"]; };
  const auto next = [](double x) { return std::nextafter(x, 2 * x); };
  const std::string& other = rewritten([&](json& m) { figure(m) = next(figure(m)); });
  Ran ran = replay(other);
  EXPECT_EQ(ran.code, 70) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("not the recorded figures: 1"));
  EXPECT_THAT(ran.out, HasSubstr("/oracles/0/tensors/0/max_z is "));
  // Another processor may have other last bits, and then it is said.
  ran = replay(rewritten([&](json& m) {
    figure(m) = next(figure(m));
    m["environment"]["cpu"] = "Another CPU";
  }));
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("recorded with cpu Another CPU"));
  // But no other verdict, and none that cannot be.
  for (const auto& [verdict, code] : {std::pair("inconclusive", 70), {"pass", 2}}) {
    ran = replay(rewritten([&, text = verdict](json& m) {
      m["result"]["verdict"] = text;
      m["environment"]["cpu"] = "Another CPU";
    }));
    EXPECT_EQ(ran.code, code) << ran.out << ran.err;
  }
}

}  // namespace
}  // namespace ringcheck::testing
