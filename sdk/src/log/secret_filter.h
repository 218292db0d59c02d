// SecretFilter: a command line without its secrets. The others: addresses and errors without them.
#pragma once

#include <cstddef>
#include <string_view>

namespace crema::internal {

/// What is shown of a command line. `***` stands for
/// - values that belong to names such as token, secret, pass, pwd, key, cred, auth, jwt, cookie, bearer: `--token=abc`,
///   `--token abc`, `TOKEN=abc`, `{"token": "abc"}`, and headers, `Authorization: Bearer abc`, in one argument or in
///   several. Words of a shell string count like arguments;
/// - the word after `Bearer` or `Basic` anywhere;
/// - passwords in addresses, `https://user:abc@host`, and after a user's name, `--user me:abc`, `-u me:abc`;
/// - what signs an address: `https://host/file?X-Amz-Signature=abc`.
class SecretFilter {
 public:
  struct Shown {
    std::string_view text;
    bool hides_value = false;  ///< `***` stands for what followed
    std::string_view rest;     ///< what is behind that again
  };
  /// For the next argument; the texts are in it.
  Shown Next(std::string_view argument) noexcept;

 private:
  bool value_is_secret_ = false;
  bool value_is_user_ = false;
};

/// A server's name without what shows who asks: of `root://user:password@host:1094//data?authz=token` remains
/// `root://host:1094//data`. A name that is another one then is in `memory`, cut at `capacity`.
std::string_view ServerWithoutUser(std::string_view server, char* memory, std::size_t capacity) noexcept;

/// Takes out of each address in the text, in place, what shows who asks and for how long: user, password, and the
/// parameters of tokens and signatures. Of `root://me:abc@host//f.root?authz=abc&svc=disk` remains
/// `root://host//f.root?svc=disk`: the same file under another signature has the same name. Returns the size left.
std::size_t TakeSecretsOut(char* text, std::size_t size) noexcept;

/// The same for the text of an error, which may name secrets outside addresses: of `403 (Authorization: Bearer abc)`
/// remains `403 (Authorization: Bearer ***)`.
std::size_t TakeSecretsOutOfText(char* text, std::size_t size) noexcept;

}  // namespace crema::internal
