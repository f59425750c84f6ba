// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/parity/case/generators.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "parity/case/simpler.h"
#include "property_tests/test_device.h"

namespace ringcheck {

void showValue(const Mask& mask, std::ostream& out) {
  out << parity::mask_text(mask.kind) << " over " << mask.length;
}

void showValue(const Positions& positions, std::ostream& out) {
  for (const Span& span : positions)
    out << "{" << span.begin << ", " << span.count << ", " << span.stride << "}";
}

void showValue(const Rope& rope, std::ostream& out) { out << parity::rope_text(rope); }

void parity::showValue(const Case& test, std::ostream& out) { out << to_text(test); }

namespace gen {
rc::Gen<int64_t> between(int64_t low, int64_t high) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<int64_t>(low, high + 1));
}

rc::Gen<bool> flag() { return choice<bool>({false, true}); }
rc::Gen<int> world() { return rc::gen::cast<int>(between(1, 8)); }
rc::Gen<uint64_t> seed() {
  return rc::gen::noShrink(rc::gen::cast<uint64_t>(between(1, int64_t{1} << 48)));
}
rc::Gen<at::ScalarType> dtype() {
  return choice<at::ScalarType>({at::kFloat, at::kDouble, at::kBFloat16, at::kHalf});
}

rc::Gen<Documents> documents(int64_t slots) {
  return rc::gen::exec([slots] {
    Documents packed;
    for (int64_t left = slots; left > 0; left -= packed.back().slots) {
      const int64_t taken = *between(1, left);
      const bool pads = *choice<bool>({false, false, true});
      packed.push_back({pads ? *between(0, taken) : taken, taken});
    }
    return packed;
  });
}

rc::Gen<Mask> mask(int64_t length) {
  return rc::gen::exec([length]() -> Mask {
    switch (*between(0, 5)) {
      case 0:
        return {Causal{}, length};
      case 1:
        return {Full{}, length};
      case 2:
        return {Window{*between(1, length + 1)}, length};
      case 3:
        return {Prefix{*between(0, length + 3)}, length};
      case 4:
        return {DocumentCausal{*documents(length)}, length};
      default:
        return {DocumentFull{*documents(length)}, length};
    }
  });
}

int64_t Cut::padded() const {
  return padded_length(length(), entry().granule(sequence.block, world));
}
Layout Cut::layout() const { return layout_of(entry(), sequence, world); }

void showValue(const Cut& cut, std::ostream& out) {
  out << cut.balancer << "[" << cut.sequence.block << "] of ";
  rc::show(cut.sequence.mask, out);
  out << " on " << cut.world << " ranks";
}

rc::Gen<Cut> cut() {
  return rc::gen::exec([] {
    Cut cut{*name_of<Balancers>(), {}, *gen::world()};
    if (cut.entry().takes_block)
      cut.sequence.block = *between(1, 4);
    const int64_t granule = cut.entry().granule(cut.sequence.block, cut.world);
    const int64_t whole = granule * *between(0, 3), tail = *between(0, granule - 1);
    cut.sequence.mask = *gen::mask(std::max<int64_t>(1, whole + tail));
    return cut;
  });
}

rc::Gen<Positions> positions(int64_t length) {
  return rc::gen::exec([length] {
    std::vector<Span> spans;
    for (int64_t n = *between(0, 4); n > 0; --n)
      spans.push_back({*between(0, length + 2), *between(0, 6), *between(1, 5)});
    return Positions(spans);
  });
}

rc::Gen<Rope> rope() {
  return rc::gen::exec([] {
    Rope rope;
    rope.pairing = *choice<Rope::Pairing>({Rope::Pairing::kHalf, Rope::Pairing::kInterleaved});
    rope.base = *choice<double>({10000, 100, 500000});
    if (*flag())
      rope.llama3 = Rope::Llama3{8, 1, 4, 64};
    return rope;
  });
}

namespace {

rc::Shrinkable<parity::Case> shrinkable(const parity::Case& test) {
  return rc::shrinkable::shrinkRecur(
      test, [](const parity::Case& c) { return rc::seq::fromContainer(parity::simpler(c)); });
}

}  // namespace

rc::Gen<parity::Case> of(const parity::CaseSpace& space) {
  return [space](const rc::Random& from, int) {
    const parity::Draw draw = [random = from](int64_t least, int64_t most) mutable {
      return least + static_cast<int64_t>(random.next() % static_cast<uint64_t>(most - least + 1));
    };
    return shrinkable(space.build(space.choose(draw), draw));
  };
}

rc::Gen<parity::Case> only(const parity::Case& test) {
  return [test](const rc::Random&, int) { return shrinkable(test); };
}

rc::Gen<parity::Case> test_case() {
  return of({parity::law_ranges(test_device_name()), test_device_name()});
}

void showValue(const PartialShape& shape, std::ostream& out) {
  out << "[" << shape.batch << ", " << shape.heads << ", " << shape.rows << ", " << shape.dim_v
      << "] " << c10::toString(shape.dtype);
}

rc::Gen<PartialShape> partial_shape() {
  return rc::gen::exec([] {
    return PartialShape{*between(1, 2), *between(1, 3), *between(1, 7), *between(1, 5),
                        *choice<at::ScalarType>({at::kFloat, at::kDouble})};
  });
}

Partial partial(const PartialShape& shape, uint64_t seed, double spread) {
  const std::vector<int64_t> rows{shape.batch, shape.heads, shape.rows};
  std::vector<int64_t> sizes = rows;
  sizes.push_back(shape.dim_v);
  const at::Tensor empty = normal(rows, seed + 1).gt(0.4);
  Partial p{normal(sizes, seed, shape.dtype), normal(rows, seed + 2, shape.dtype) * spread};
  p.out.masked_fill_(empty.unsqueeze(-1), 0);
  p.lse.masked_fill_(empty, -std::numeric_limits<double>::infinity());
  return p;
}

}  // namespace gen

at::Tensor normal(at::IntArrayRef sizes, uint64_t seed, at::ScalarType dtype) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  if (!c10::isFloatingType(dtype))
    return at::randint(-9, 10, sizes, generator, at::TensorOptions(at::kLong)).to(dtype);
  return at::randn(sizes, generator, at::TensorOptions(at::kDouble)).to(dtype);
}

std::string difference(const at::Tensor& one, const at::Tensor& other) {
  std::ostringstream text;
  if (!one.defined() || !other.defined())
    return one.defined() == other.defined() ? "" : "one is undefined";
  const at::Tensor a = one.cpu(), b = other.cpu();
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) {
    text << a.scalar_type() << a.sizes() << " against " << b.scalar_type() << b.sizes();
    return text.str();
  }
  if (a.numel() == 0)
    return "";
  const auto flat = [](const at::Tensor& t) {
    return t.clone(at::MemoryFormat::Contiguous).view({-1});
  };
  const at::Tensor x = flat(a), y = flat(b);
  const auto bytes = [](const at::Tensor& t) { return t.view(at::kByte).view({t.size(0), -1}); };
  const at::Tensor unequal = bytes(x).ne(bytes(y)).any(1).nonzero();
  if (unequal.numel() == 0)
    return "";
  int64_t index = unequal[0].item<int64_t>();
  const double left = x[index].item<double>(), right = y[index].item<double>();
  std::vector<int64_t> coordinate;
  for (int64_t d = a.dim(); d-- > 0; index /= a.size(d))
    coordinate.insert(coordinate.begin(), index % a.size(d));
  text.precision(17);
  text << at::IntArrayRef(coordinate) << ": " << left << " against " << right << ", "
       << unequal.size(0) << " of " << a.numel() << " differ";
  return text.str();
}

std::string difference(const Partial& a, const Partial& b) {
  if (const std::string out = difference(a.out, b.out); !out.empty())
    return "out " + out;
  if (const std::string lse = difference(a.lse, b.lse); !lse.empty())
    return "lse " + lse;
  return "";
}

}  // namespace ringcheck
