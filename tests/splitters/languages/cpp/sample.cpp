// A shelf of jars. class Fake { is text here.
#include <map>
#include <string>

#define JAR(name) Jar name{#name}

namespace pantry::store {

enum class Size : char { Small, Large };

using Weight = double;

/// One jar.
class Jar {
 public:
  explicit Jar(std::string label);
  virtual ~Jar() = default;

  // The weight, in grams.
  Weight weight() const { return weight_; }
  Jar& operator+=(Weight more);
  operator bool() const;
  static int count;

  struct Lid {
    int turns = 0;
    void open();
  };

 private:
  std::string label_ = "void Fake::method() {";
  Weight weight_ = 0;
};

template <typename T>
concept Weighable = requires(T t) { t.weight(); };

/// Holds what fits.
template <typename T, int Limit = 12>
class Shelf {
 public:
  bool add(const T& jar);

 private:
  std::map<std::string, T> jars_;
};

template <typename T, int Limit>
bool Shelf<T, Limit>::add(const T& jar) {
  return jars_.size() < Limit && jars_.emplace("}", jar).second;
}

Jar::Jar(std::string label) : label_(std::move(label)) {}

Jar::operator bool() const { return weight_ > 0; }

Jar& Jar::operator+=(Weight more) {
  weight_ += more;
  return *this;
}

void Jar::Lid::open() { turns++; }

}  // namespace pantry::store

namespace {

int hidden() { return 1; }

}  // namespace

const char* raw = R"(
int not_a_function() {
)";

bool operator<(const pantry::store::Jar& a, const pantry::store::Jar& b) {
  auto less = [](double x, double y) { return x < y; };
  return less(a.weight(), b.weight());
}

extern "C" int pantry_version(void) { return hidden(); }

TEST(Shelf, HoldsWhatFits) {
  EXPECT_EQ(pantry_version(), 1);
}

class PANTRY_API Door : public Lock {
 public:
  void close();
};
