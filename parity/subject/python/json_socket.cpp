// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/python/json_socket.h"

#include <c10/util/StringUtil.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

namespace ringcheck::parity {
namespace {

constexpr int kTickMilliseconds = 20;
constexpr size_t kMostLine = 64 << 20;
constexpr size_t kMostDescriptors = 4;
constexpr int kAboveThoseOfAChild = 16;

int moved_up(int descriptor) {
  const int high = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kAboveThoseOfAChild);
  if (high < 0) throw std::system_error(errno, std::generic_category(), "socket");
  ::close(descriptor);
  return high;
}

// So many bytes of the line, and the descriptors with the first of them.
ssize_t sent(int socket, const char* data, size_t size, const std::vector<int>& descriptors) {
  iovec bytes{const_cast<char*>(data), size};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    const size_t length = descriptors.size() * sizeof(int);
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(length);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(length);
    std::memcpy(CMSG_DATA(header), descriptors.data(), length);
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

}  // namespace

Tick within_seconds(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  return [=] {
    if (std::chrono::steady_clock::now() > end)
      throw Silent(c10::str("it says nothing for ", seconds, " s, the limit; is it at work where it is only loaded?"));
  };
}

namespace {

constexpr double kToLoad = 600;  // seconds

std::function<void(int)>& sign_of_loading() {
  static std::function<void(int)> sign;
  return sign;
}

}  // namespace

void while_loading(std::function<void(int)> sign_of_life) { sign_of_loading() = std::move(sign_of_life); }

Tick loading(int rank) {
  return [rank, limit = within_seconds(kToLoad)] {
    limit();
    if (sign_of_loading()) sign_of_loading()(rank);
  };
}

JsonSocket::JsonSocket() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "socket");
  own_ = moved_up(ends[0]), other_ = moved_up(ends[1]);
}

JsonSocket::~JsonSocket() {
  ::close(own_);
  close_other_end();
}

void JsonSocket::close_other_end() {
  if (other_ >= 0) ::close(other_);
  other_ = -1;
}

void JsonSocket::send(const nlohmann::json& json, const std::vector<int>& descriptors) {
  const std::string line = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  for (size_t done = 0; done < line.size();) {
    const ssize_t count = sent(own_, line.data() + done, line.size() - done, done == 0 ? descriptors : std::vector<int>{});
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Closed("its socket is closed");
    done += static_cast<size_t>(count);
  }
}

nlohmann::json JsonSocket::receive(const Tick& tick) {
  size_t end = 0;
  while ((end = received_.find('\n')) == std::string::npos) {
    if (tick) tick();
    pollfd waiting{own_, POLLIN, 0};
    if (::poll(&waiting, 1, kTickMilliseconds) <= 0) continue;
    std::array<char, 1 << 16> bytes;
    const ssize_t count = ::recv(own_, bytes.data(), bytes.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw Closed("its socket is closed");
    received_.append(bytes.data(), static_cast<size_t>(count));
    if (received_.size() > kMostLine) throw PythonFailed("its answer has no end");
  }
  const std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  nlohmann::json said = nlohmann::json::parse(line, nullptr, false);
  if (!said.is_object()) throw PythonFailed("its answer is no JSON object: " + line.substr(0, 200));
  if (said.contains("error"))
    throw PythonFailed(said["error"].is_string() ? said["error"].get<std::string>() : line);
  return said;
}

}  // namespace ringcheck::parity
