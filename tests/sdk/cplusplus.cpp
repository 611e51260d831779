// C++ without exceptions: the order of construction and destruction, virtual calls, templates, new and delete, and what
// libc++'s headers give.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <pebble.h>

static int failures;
#define CHECK(condition)                                                    \
	do {                                                                \
		if (!(condition)) {                                         \
			failures++;                                         \
			std::printf("line %d: not so: %s\n", __LINE__, #condition); \
		}                                                           \
	} while (0)

struct Loud {
	explicit Loud(const char *name) : name(name) { std::printf("made %s\n", name); }
	~Loud() { std::printf("gone %s\n", name); }
	const char *name;
};
static Loud first("first"), second("second");

static Loud &local()
{
	static Loud once("once");
	return once;
}

struct Animal {
	virtual ~Animal() { count--; }
	virtual int legs() const = 0;
	virtual int twice() const { return 2 * legs(); }
	Animal() { count++; }
	static inline int count = 0;
};
struct Bird : Animal {
	int legs() const override { return 2; }
};
struct Insect final : Animal {
	int legs() const override { return 6; }
	int twice() const override { return Animal::twice() + 1; }
};

struct alignas(64) Aligned {
	char bytes[64];
};

extern "C" long entry(long constant, long a, long b)
{
	return constant + a * b;
}

template <class... Numbers> static constexpr auto sum(Numbers... numbers)
{
	return (numbers + ...);
}

static std::atomic<int> total;
static void add(void *amount)
{
	for (int i = 0; i < 1000; i++)
		total += static_cast<int>(reinterpret_cast<intptr_t>(amount));
}

int main(int argc, char **argv)
{
	local();
	local();
	{
		std::array<std::unique_ptr<Animal>, 3> zoo{ std::make_unique<Bird>(), std::make_unique<Insect>(),
							    std::make_unique<Bird>() };
		CHECK(Animal::count == 3);
		CHECK(std::accumulate(zoo.begin(), zoo.end(), 0, [](int n, auto &a) { return n + a->legs(); }) == 10);
		CHECK(zoo[1]->twice() == 13 && zoo[0]->twice() == 4);
	}
	CHECK(Animal::count == 0);

	auto *aligned = new Aligned[3];
	CHECK(reinterpret_cast<uintptr_t>(aligned) % 64 == 0);
	delete[] aligned;
	CHECK(new (std::nothrow) char[size_t(1) << 40] == nullptr);
	for (int i = 0; i < 20000; i++)
		delete new std::array<int, 100>; // would need 8 MB if nothing were freed
	CHECK(reinterpret_cast<uintptr_t>(sbrk(0)) < PEBBLE_IMAGE + (2 << 20));

	static_assert(sum(1, 2, 3.5) == 6.5);
	std::array values{ 5, 2, 9, 1 };
	std::sort(values.begin(), values.end(), std::greater<>{});
	CHECK((values == std::array{ 9, 5, 2, 1 }));
	std::variant<int, double> either = 2.5;
	CHECK(std::holds_alternative<double>(either) && std::get<double>(either) == 2.5);
	auto [a, b] = std::make_tuple(1, 'x');
	CHECK(a == 1 && b == 'x');
	std::optional<int> none;
	CHECK(!none && none.value_or(3) == 3);
	CHECK(std::hypot(3.0, 4.0) == 5.0);

	// Portals and threads as in C.
	CHECK(portal_register("/program/cplusplus", "nmcii", 100, entry) == 0);
	int portal = portal_open("/program/cplusplus");
	CHECK(invoke_portal(portal, 6, 7, 0, 0, 0) == 142);
	for (intptr_t i = 1; i <= 3; i++)
		CHECK(thread_create(add, reinterpret_cast<void *>(i)) > 0);
	for (int i = 0; i < 100 && total != 6000; i++)
		sleep_nanoseconds(1000000);
	CHECK(total == 6000);
	CHECK(argc == 2 && std::strcmp(argv[1], "argument") == 0);
	std::puts(failures ? "failed" : "all well");
	return failures;
}
