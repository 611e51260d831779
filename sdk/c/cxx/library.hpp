/* The parts of libc++ that Debian's headers leave to its library, which does not exist for Pebble: strings, sorting
   of plain numbers, shared pointers' counts. Every C++ file of a component includes this first (flags.toml); all
   definitions may occur in several files, and what is not used is dropped by the linker.

   After libc++ 19's src/{string,algorithm,memory}.cpp; written anew for a system without exceptions. */
#ifndef PEBBLE_CXX_LIBRARY_HPP
#define PEBBLE_CXX_LIBRARY_HPP
#pragma GCC system_header

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

_LIBCPP_BEGIN_NAMESPACE_STD

template class basic_string<char>;

template <class Compare, class Iterator>
void __sort(Iterator first, Iterator last, Compare)
{
	__less<> less; /* Compare is __less<type> &, a name only */
	__introsort<_ClassicAlgPolicy, __less<> &, Iterator, false>(first, last, less, 2 * __log2i(last - first));
}
#define PEBBLE_SORT(type) template void __sort<__less<type> &, type *>(type *, type *, __less<type> &);
PEBBLE_SORT(char)
PEBBLE_SORT(signed char)
PEBBLE_SORT(unsigned char)
PEBBLE_SORT(short)
PEBBLE_SORT(unsigned short)
PEBBLE_SORT(int)
PEBBLE_SORT(unsigned)
PEBBLE_SORT(long)
PEBBLE_SORT(unsigned long)
PEBBLE_SORT(long long)
PEBBLE_SORT(unsigned long long)
PEBBLE_SORT(float)
PEBBLE_SORT(double)
PEBBLE_SORT(long double)
#undef PEBBLE_SORT

inline __shared_count::~__shared_count() {}
inline __shared_weak_count::~__shared_weak_count() {}

inline void __shared_weak_count::__release_weak() noexcept
{
	if (__libcpp_atomic_refcount_decrement(__shared_weak_owners_) == -1)
		__on_zero_shared_weak();
}

inline __shared_weak_count *__shared_weak_count::lock() noexcept
{
	long owners = __atomic_load_n(&__shared_owners_, __ATOMIC_RELAXED);
	while (owners != -1) {
		if (__atomic_compare_exchange_n(&__shared_owners_, &owners, owners + 1, true, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return this;
	}
	return nullptr;
}

inline const void *__shared_weak_count::__get_deleter(const type_info &) const noexcept
{
	return nullptr;
}

template <class Number>
string __pebble_integer(Number value)
{
	char text[24];
	to_chars_result end = to_chars(text, text + sizeof(text), value);
	return string(text, end.ptr);
}
inline string to_string(int value) { return __pebble_integer(value); }
inline string to_string(unsigned value) { return __pebble_integer(value); }
inline string to_string(long value) { return __pebble_integer(value); }
inline string to_string(unsigned long value) { return __pebble_integer(value); }
inline string to_string(long long value) { return __pebble_integer(value); }
inline string to_string(unsigned long long value) { return __pebble_integer(value); }

inline string to_string(double value)
{
	string text(snprintf(nullptr, 0, "%f", value), '\0');
	snprintf(text.data(), text.size() + 1, "%f", value);
	return text;
}
inline string to_string(float value) { return to_string((double)value); }

/* Text that is no number, or one that does not fit, would be thrown elsewhere: here it ends the program. */
template <class Number, class Convert>
Number __pebble_number(const string &text, size_t *used, Convert convert)
{
	char *end;
	errno = 0;
	auto value = convert(text.c_str(), &end);
	if (end == text.c_str() || errno == ERANGE || (numeric_limits<Number>::is_integer && (Number)value != value))
		__libcpp_verbose_abort("std::stoi and the like: \"%s\" is not a number that fits", text.c_str());
	if (used)
		*used = end - text.c_str();
	return (Number)value;
}
#define PEBBLE_NUMBER(name, type, function) \
	inline type name(const string &text, size_t *used, int base) \
	{ \
		return __pebble_number<type>(text, used, \
					     [base](const char *from, char **end) { return function(from, end, base); }); \
	}
PEBBLE_NUMBER(stoi, int, strtol)
PEBBLE_NUMBER(stol, long, strtol)
PEBBLE_NUMBER(stoll, long long, strtoll)
PEBBLE_NUMBER(stoul, unsigned long, strtoul)
PEBBLE_NUMBER(stoull, unsigned long long, strtoull)
#undef PEBBLE_NUMBER
inline float stof(const string &text, size_t *used) { return __pebble_number<float>(text, used, strtof); }
inline double stod(const string &text, size_t *used) { return __pebble_number<double>(text, used, strtod); }

_LIBCPP_END_NAMESPACE_STD

#endif
