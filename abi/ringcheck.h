/* SPDX-FileCopyrightText: The RingCheck authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Attention from outside as the subject of RingCheck, over a stable C interface: nothing of C++
 * crosses it, no exception, no LibTorch. A shared library defines
 *
 *     const ringcheck_subject *ringcheck_plugin(void);
 *
 * and is judged by `ringcheck verify --subject 'plugin[libmine.so]'`. A program that has started its
 * own ranks calls ringcheck_verify, below, instead.
 *
 * Every struct of RingCheck's begins with its own size, so that later versions can add members at
 * the end: a member beyond `size` is not there. Texts are UTF-8 and end with a zero. What a call is
 * given is lent until it returns.
 */
#ifndef RINGCHECK_H
#define RINGCHECK_H

#include <stdint.h>

/* DLPack, as it is installed or as LibTorch brings it. */
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#else
#include <ATen/dlpack.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Of another version nothing may be assumed. */
#define RINGCHECK_ABI 1

/* The question. */
typedef struct ringcheck_case {
  uint32_t size;
  const char *text;       /* all of it, as `ringcheck verify --case` reads it */
  const char *arguments;  /* what follows the library in plugin[libmine.so,...] */
  int64_t batch, q_heads, kv_heads, seq, dim, dim_v;  /* q_heads is a multiple of kv_heads */
  const char *dtype;      /* float64 | float32 | bf16 | fp16: of q, k, v and dO */
  const char *mask;       /* full, causal, window[4], doc[4,12], ...: docs/cli.md, parts of a case */
  const char *rope;       /* none, or the rotary embedding that q and k still need */
  const char *balance;    /* how the sequence is cut: headtail, contiguous, striped[16] */
  double scale;           /* of the scores q k */
  int32_t ranks;
  const char *world;      /* thread: the ranks are threads of one process; mpi: a process each */
  const char *device;     /* cpu | cuda */
  /* Tokens of each batch entry, 0 to seq: behind them it has no token in any slot. NULL: every entry
   * holds seq. Only where the promise says `lengths`. */
  const int64_t *lengths;
} ringcheck_case;

/* What one rank has. Sizes are [batch, heads, slots, dim]; strides are always given. */
typedef struct ringcheck_input {
  uint32_t size;
  const DLTensor *q, *k, *v, *d_o;
  /* The place of each slot in the sequence. One at or beyond `seq`, or the length of its batch entry,
   * or in the padding of a packed document, holds no token: its values are NaN, and must not matter. */
  const int64_t *query_positions, *key_positions;
  int64_t query_slots, key_slots;
} ringcheck_input;

/* What it gives back: tensors of any floating dtype that it made, whose deleter RingCheck calls.
 * [batch, heads, slots, dim], the log-sum-exp (natural logarithm) without dim. At slots without a
 * token lse is -inf and everything else 0. What the promise does not show stays NULL. */
typedef struct ringcheck_output {
  uint32_t size;
  DLManagedTensor *o, *lse, *dq, *dk, *dv;
  DLManagedTensor *q_rotated, *k_rotated; /* q and k as they were attended */
} ringcheck_output;

/* The ranks of a case, as one of them sees them. A subject with a transport of its own makes it for
 * `world_ranks` (by MPI_Comm_create_group, or an NCCL id that all_gather spreads) and not for the
 * whole job: some runs are of a part of it. What it sends by MPI, NCCL or torch.distributed is
 * counted. Each function is collective and returns 0; anything else has failed, and the subject
 * returns as well: RingCheck knows why. Tensors are contiguous. */
typedef struct ringcheck_ranks {
  uint32_t size;
  int32_t rank, ranks;
  const int32_t *world_ranks; /* of each of them, its rank in the job */
  void *self;
  int32_t (*exchange)(const struct ringcheck_ranks *, const DLTensor *send, int32_t to,
                      const DLTensor *receive, int32_t from);
  /* gathered[r] becomes what rank r holds. */
  int32_t (*all_gather)(const struct ringcheck_ranks *, const DLTensor *local,
                        const DLTensor *const *gathered);
  /* sends[r] goes to rank r, receives[r] comes from it. */
  int32_t (*all_to_all)(const struct ringcheck_ranks *, const DLTensor *const *sends,
                        const DLTensor *const *receives);
  /* A tensor for an output: on the device of this rank, filled with zeros. NULL: failed. */
  DLManagedTensor *(*zeros)(const struct ringcheck_ranks *, DLDataType dtype, int32_t dims,
                            const int64_t *sizes);
} ringcheck_ranks;

/* What a subject says of itself before it runs: all of it is judged. Zeros are the defaults. */
typedef struct ringcheck_promise {
  /* Whose rounding errors it may have, by the name of a kernel: plain, flash, ... NULL: of each
   * constant the largest that a known kernel has for this dtype. */
  const char *contract;
  int32_t partials;      /* rounded partial results that a row of O, or of a gradient, is merged from; 0: the ranks */
  double angle_roundoff; /* of the angles of a rotary embedding; 0: 2^-53, float64 */
  int32_t deterministic; /* the same input gives the same bits */
  const char *shows;     /* with commas; NULL: o,lse,dq,dk,dv */
  int32_t lengths;       /* it takes batch entries that hold different numbers of tokens */
} ringcheck_promise;

typedef struct ringcheck_subject {
  uint32_t abi;  /* RINGCHECK_ABI */
  uint32_t size; /* of this struct */
  int32_t in_threads; /* several ranks may be threads of one process */
  /* Why a case cannot run, or NULL. The text stays until the next call on this thread. */
  const char *(*refuses)(const ringcheck_case *);
  /* NULL: the defaults. */
  void (*promise)(const ringcheck_case *, ringcheck_promise *);
  /* On each rank, both passes. 0, or it has failed: then `error`, of at most `capacity` bytes with
   * the zero, says why. */
  int32_t (*run)(const ringcheck_case *, const ringcheck_ranks *, const ringcheck_input *,
                 ringcheck_output *, char *error, uint64_t capacity);
} ringcheck_subject;

/* Defined by the shared library. Never NULL; lives as long as the library. */
const ringcheck_subject *ringcheck_plugin(void);

/* Exported by libringcheck. Judges a subject of this program, which mpirun, srun or torchrun started
 * as one of several ranks: each of them calls it, with the same words, which are those that follow
 * `ringcheck verify` (docs/cli.md): "--profile", "smoke", "--json", "result.json". The subject's name
 * in cases is plugin[program]. Every rank gets the exit code; the first one prints and writes. Where a
 * rank fails outside of `run`, or waits for too long, all of them end with exit code 5. MPI, where it
 * carries the ranks, stays as it is if it was initialised; else it is, and is finalised. */
int32_t ringcheck_verify(int32_t count, const char *const *options, const ringcheck_subject *subject);

#ifdef __cplusplus
}
#endif

#endif
