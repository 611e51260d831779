// C++ without exceptions: constructors before main, virtual calls, libc++'s headers, new and delete.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pebble.h>

namespace {

struct Announcer {
	Announcer() { std::puts("constructed before main"); }
	~Announcer() { std::puts("destroyed after main"); }
};
Announcer announcer;

struct Shape {
	virtual ~Shape() = default;
	virtual int area() const = 0;
};
struct Square : Shape {
	explicit Square(int side) : side(side) {}
	int area() const override { return side * side; }
	int side;
};

std::optional<int> largest(std::span<const int> values)
{
	if (values.empty())
		return std::nullopt;
	return *std::max_element(values.begin(), values.end());
}

} // namespace

int main(int argc, char **argv)
{
	std::string_view name = argv[0];
	std::printf("hello from %.*s in domain %s\n", (int)name.size(), name.data(), get_asid() > 0 ? "above 0" : "?");
	std::array values{ 3, 9, 4 };
	std::printf("largest %d, of nothing %d\n", *largest(values), largest({}).value_or(-1));
	std::unique_ptr<Shape> shape = std::make_unique<Square>(12);
	std::printf("area %d\n", shape->area());

	std::vector<std::string> words{ "small", "and", "round", "and", "smooth" };
	std::sort(words.begin(), words.end());
	std::map<std::string, int> count;
	for (const std::string &word : words)
		count[word]++;
	std::string line;
	for (const auto &[word, times] : count)
		line += word + " " + std::to_string(times) + "; ";
	std::printf("%s\n", line.c_str());
	return argc - 1;
}
