// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <memory>
#include <vector>

namespace ringcheck {

// Does work on this device go into streams, behind the host's back? Not on the CPU, and tensors
// without memory have no work.
inline bool has_streams(at::Device device) { return !device.is_cpu() && !device.is_meta(); }

// A point in the work that was queued on a device. On the CPU work is done when its call returns:
// every moment has passed. Everything is asked of LibTorch's own device interface.
class Moment {
 public:
  Moment() = default;                       // long ago
  static Moment now(at::Device device);     // behind all that the device's current stream holds
  static Moment timed(at::Device device);   // the same, and the device notes its time
  void hold_back(at::Device device) const;  // what its current stream gets from now on comes later
  bool passed() const;
  // Seconds from an earlier moment to this one by the device's clock. Both timed, on one device,
  // and passed; negative where it came first. Throws c10::Error otherwise.
  double since(const Moment& earlier) const;
  explicit operator bool() const { return event_ != nullptr; }  // not "long ago"

 private:
  static Moment recorded(at::Device device, c10::EventFlag flag);
  std::shared_ptr<c10::Event> event_;
};

// Makes a device the calling thread's own, with a stream of its own on every device of the kind,
// for as long as it lives: ranks that share a device do not wait for each other. Nothing on a CPU.
class OnDevice {
 public:
  explicit OnDevice(at::Device device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  at::Device before_;
  std::vector<c10::Stream> streams_before_;
};

// Devices of a kind that this process can use; 1 for the CPU, 0 where nothing drives the kind.
int device_count(at::DeviceType type);
// The device of a rank: round robin over those there are, so that a world may be larger.
at::Device device_of_rank(at::DeviceType type, int rank);

}  // namespace ringcheck
