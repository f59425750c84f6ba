// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <vector>

namespace ringcheck::parity {

// Calls work(i, device) for i = 0 ... count - 1, on a thread for each device that takes the next i
// when it is free; alone, on the calling thread. Each thread has its device current, with a
// stream of its own behind what the caller has queued, and LibTorch computes on it alone, so that
// a piece of work has the same bits however many share the pieces. Returns when all is done; the
// first exception ends the rest and is thrown here.
void on_devices(const std::vector<at::Device>& devices, int64_t count,
                const std::function<void(int64_t, at::Device)>& work);

// `first` and, if it is a GPU, all the others that this process can use; the CPU as many times as
// threads may share the work.
std::vector<at::Device> devices_from(at::Device first);

// The same for work of large and small steps in turn: each GPU twice, so that what leaves most of it
// idle for one thread, or waits for the host, is hidden by the other's.
std::vector<at::Device> lanes_from(at::Device first);

// Those of them that have so many bytes to spare; all of them where none has.
std::vector<at::Device> having(const std::vector<at::Device>& devices, double bytes,
                               const std::function<double(at::Device)>& spare);
// Bytes of a GPU that LibTorch's allocator has taken and hands out to nobody at the moment.
double kept_memory(at::Device gpu);
// Bytes that the driver of a GPU, or that allocator, would hand out.
double spare_memory(at::Device gpu);

// Gives back to the drivers of all GPUs what LibTorch's allocator keeps of them for later, where that is more than so
// many bytes on one: other processes may need it.
void give_back_kept(double most);

}  // namespace ringcheck::parity
