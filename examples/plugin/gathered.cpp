// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Context parallelism in plain C++, as a plug-in for RingCheck: every rank gathers K and V of all,
// attends its own queries to them, and sends each rank the gradients of its keys and values.
#include <ringcheck.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr double kInfinity = HUGE_VAL;

// A tensor [batch, heads, slots, channels] of numbers that are all wide enough.
struct Numbers {
  int64_t sizes[4];
  std::vector<double> x;

  Numbers(int64_t batch, int64_t heads, int64_t slots, int64_t channels)
      : sizes{batch, heads, slots, channels}, x(batch * heads * slots * channels) {}
  double* at(int64_t b, int64_t h, int64_t s) {
    return x.data() + ((b * sizes[1] + h) * sizes[2] + s) * sizes[3];
  }
};

double number(const DLTensor& t, int64_t offset) {
  const char* data = static_cast<const char*>(t.data) + t.byte_offset;
  if (t.dtype.bits == 64) return reinterpret_cast<const double*>(data)[offset];
  if (t.dtype.bits == 32) return reinterpret_cast<const float*>(data)[offset];
  const uint32_t wide = uint32_t{reinterpret_cast<const uint16_t*>(data)[offset]} << 16;  // bf16
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

// Slots without a token hold NaN: they become 0.
Numbers read(const DLTensor& t, const std::vector<bool>& is_token) {
  Numbers n(t.shape[0], t.shape[1], t.shape[2], t.shape[3]);
  for (int64_t b = 0; b < t.shape[0]; ++b)
    for (int64_t h = 0; h < t.shape[1]; ++h)
      for (int64_t s = 0; s < t.shape[2]; ++s)
        for (int64_t c = 0; c < t.shape[3] && is_token[s]; ++c)
          n.at(b, h, s)[c] = number(t, b * t.strides[0] + h * t.strides[1] + s * t.strides[2] + c * t.strides[3]);
  return n;
}

// Lent to the functions of RingCheck.
struct Lent {
  int64_t size, stride = 1;
  DLTensor tensor;
  Lent(double* data, int64_t count)
      : size(count), tensor{data, {kDLCPU, 0}, 1, {kDLFloat, 64, 1}, &size, &stride, 0} {}
  Lent(const Lent&) = delete;
};

double dot(const double* a, const double* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}
void add(double factor, const double* from, double* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

// Keys and values of one rank, and their gradients.
struct Keys {
  int64_t slots;
  std::vector<double> positions;
  Numbers k, v, dk, dv;
  Keys(const ringcheck_case& c, int64_t slots)
      : slots(slots), positions(slots), k(c.batch, c.kv_heads, slots, c.dim),
        v(c.batch, c.kv_heads, slots, c.dim_v), dk(k), dv(v) {}
};

// One query: o and lse, then what it adds to the gradients.
struct Query {
  const ringcheck_case& c;
  int64_t b, h, position;
  const double *q, *d_o;

  template <class Each>  // of every key that it sees: the keys of its rank, and the slot
  void see(std::vector<Keys>& ranks, const Each& each) const {
    const bool causal = std::strcmp(c.mask, "causal") == 0;
    for (Keys& keys : ranks)
      for (int64_t s = 0; s < keys.slots; ++s)
        if (keys.positions[s] < c.seq && (!causal || keys.positions[s] <= position)) each(keys, s);
  }
  double score(Keys& keys, int64_t s) const { return c.scale * dot(q, keys.k.at(b, h, s), c.dim); }

  double attend(std::vector<Keys>& ranks, double* o) const {
    double most = -kInfinity, sum = 0;
    see(ranks, [&](Keys& keys, int64_t s) { most = std::fmax(most, score(keys, s)); });
    see(ranks, [&](Keys& keys, int64_t s) {
      const double weight = std::exp(score(keys, s) - most);
      sum += weight;
      add(weight, keys.v.at(b, h, s), o, c.dim_v);
    });
    for (int64_t i = 0; i < c.dim_v; ++i) o[i] /= sum;
    return most + std::log(sum);
  }
  void differentiate(std::vector<Keys>& ranks, const double* o, double lse, double* dq) const {
    const double d = dot(d_o, o, c.dim_v);
    see(ranks, [&](Keys& keys, int64_t s) {
      const double p = std::exp(score(keys, s) - lse);
      const double ds = c.scale * p * (dot(d_o, keys.v.at(b, h, s), c.dim_v) - d);
      add(p, d_o, keys.dv.at(b, h, s), c.dim_v);
      add(ds, q, keys.dk.at(b, h, s), c.dim);
      add(ds, keys.k.at(b, h, s), dq, c.dim);
    });
  }
};

struct Failed {
  std::string why;
};

// One buffer of each rank, as RingCheck takes them.
class Buffers {
 public:
  void add(std::vector<double>& x) {
    lent_.push_back(std::make_unique<Lent>(x.data(), static_cast<int64_t>(x.size())));
    list_.push_back(&lent_.back()->tensor);
  }
  const DLTensor* const* list() const { return list_.data(); }

 private:
  std::vector<std::unique_ptr<Lent>> lent_;
  std::vector<const DLTensor*> list_;
};

// `part` of the keys of every rank becomes what that rank has.
template <class Part>
void gather(const ringcheck_ranks& ranks, Keys& own, std::vector<Keys>& all, const Part& part) {
  Buffers everybody;
  for (Keys& keys : all) everybody.add(part(keys));
  const Lent mine(part(own).data(), static_cast<int64_t>(part(own).size()));
  if (ranks.all_gather(&ranks, &mine.tensor, everybody.list()) != 0) throw Failed{"all-gather"};
}

// The sum over all ranks of what each has for the keys of this one.
template <class Part>
std::vector<double> sent_home(const ringcheck_ranks& ranks, std::vector<Keys>& all, const Part& part) {
  std::vector<std::vector<double>> terms(all.size(), std::vector<double>(part(all.front()).size()));
  Buffers sends, receives;
  for (Keys& keys : all) sends.add(part(keys));
  for (std::vector<double>& term : terms) receives.add(term);
  if (ranks.all_to_all(&ranks, sends.list(), receives.list()) != 0) throw Failed{"all-to-all"};
  for (size_t rank = 1; rank < terms.size(); ++rank)
    add(1, terms[rank].data(), terms[0].data(), static_cast<int64_t>(terms[0].size()));
  return terms[0];
}

DLManagedTensor* tensor(const ringcheck_ranks& ranks, const Numbers& n, int dims) {
  DLManagedTensor* made = ranks.zeros(&ranks, {kDLFloat, 64, 1}, dims, n.sizes);
  if (made == nullptr) throw Failed{"no memory"};
  std::memcpy(made->dl_tensor.data, n.x.data(), n.x.size() * sizeof(double));
  return made;
}

void attend(const ringcheck_case& c, const ringcheck_ranks& ranks, const ringcheck_input& in,
            ringcheck_output& out) {
  const int64_t slots = in.query_slots;
  std::vector<bool> is_token(slots);
  for (int64_t s = 0; s < slots; ++s) is_token[s] = in.query_positions[s] < c.seq;
  Keys own(c, slots);
  for (int64_t s = 0; s < slots; ++s) own.positions[s] = static_cast<double>(in.key_positions[s]);
  own.k = read(*in.k, is_token);
  own.v = read(*in.v, is_token);
  std::vector<Keys> all(ranks.ranks, Keys(c, slots));
  gather(ranks, own, all, [](Keys& keys) -> auto& { return keys.positions; });
  gather(ranks, own, all, [](Keys& keys) -> auto& { return keys.k.x; });
  gather(ranks, own, all, [](Keys& keys) -> auto& { return keys.v.x; });

  Numbers q = read(*in.q, is_token), d_o = read(*in.d_o, is_token);
  Numbers o(c.batch, c.q_heads, slots, c.dim_v), lse(c.batch, c.q_heads, slots, 1);
  Numbers dq(c.batch, c.q_heads, slots, c.dim);
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.q_heads; ++h)
      for (int64_t s = 0; s < slots; ++s) {
        double& log_sum = *lse.at(b, h, s) = -kInfinity;
        if (!is_token[s]) continue;
        const Query query{c, b, h * c.kv_heads / c.q_heads, in.query_positions[s], q.at(b, h, s),
                          d_o.at(b, h, s)};
        log_sum = query.attend(all, o.at(b, h, s));
        query.differentiate(all, o.at(b, h, s), log_sum, dq.at(b, h, s));
      }
  own.dk.x = sent_home(ranks, all, [](Keys& keys) -> auto& { return keys.dk.x; });
  own.dv.x = sent_home(ranks, all, [](Keys& keys) -> auto& { return keys.dv.x; });
  out.o = tensor(ranks, o, 4);
  out.lse = tensor(ranks, lse, 3);
  out.dq = tensor(ranks, dq, 4);
  out.dk = tensor(ranks, own.dk, 4);
  out.dv = tensor(ranks, own.dv, 4);
}

// Nothing of C++ crosses the interface, so no exception either.
int32_t run(const ringcheck_case* c, const ringcheck_ranks* ranks, const ringcheck_input* in,
            ringcheck_output* out, char* error, uint64_t capacity) {
  try {
    attend(*c, *ranks, *in, *out);
    return 0;
  } catch (const Failed& failed) {
    std::snprintf(error, capacity, "%s", failed.why.c_str());
  } catch (const std::exception& failed) {
    std::snprintf(error, capacity, "%s", failed.what());
  }
  return 1;
}

const char* refuses(const ringcheck_case* c) {
  const std::string mask = c->mask;
  if (mask != "causal" && mask != "full") return "gathered knows the masks causal and full";
  if (std::strcmp(c->rope, "none") != 0) return "gathered has no rotary embedding";
  if (std::strcmp(c->dtype, "fp16") == 0) return "gathered reads no fp16";
  return std::strcmp(c->device, "cpu") != 0 ? "gathered computes on CPUs" : nullptr;
}

void promise(const ringcheck_case*, ringcheck_promise* promise) {
  promise->partials = 1;  // all keys are there before the first is attended
  promise->deterministic = 1;
}

}  // namespace

extern "C" const ringcheck_subject* ringcheck_plugin(void) {
  static const ringcheck_subject subject{RINGCHECK_ABI, sizeof subject, 1, refuses, promise, run};
  return &subject;
}
