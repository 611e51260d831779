/* What compiled C++ calls without exceptions: operators new and delete, ends for what would be thrown elsewhere,
   and the one function of libc++ that is not a template. Written in C under the mangled names, so that the SDK needs no C++ compiler. */
#include <stdarg.h>

#include "internal.h"

static void *allocate(size_t bytes, size_t alignment)
{
	void *memory = alignment > _Alignof(max_align_t) ? aligned_alloc(alignment, bytes) : malloc(bytes ? bytes : 1);
	if (!memory) {
		fprintf(stderr, "operator new: no memory for %zu bytes; raise the component's memory limit\n", bytes);
		abort();
	}
	return memory;
}

#define NEW(name, symbol, ...) void *name(__VA_ARGS__) __asm__(symbol)
NEW(operator_new, "_Znwm", size_t bytes);
NEW(operator_new_array, "_Znam", size_t bytes);
NEW(operator_new_aligned, "_ZnwmSt11align_val_t", size_t bytes, size_t alignment);
NEW(operator_new_array_aligned, "_ZnamSt11align_val_t", size_t bytes, size_t alignment);
NEW(operator_new_nothrow, "_ZnwmRKSt9nothrow_t", size_t bytes, const void *tag);
NEW(operator_new_array_nothrow, "_ZnamRKSt9nothrow_t", size_t bytes, const void *tag);

void *operator_new(size_t bytes)
{
	return allocate(bytes, 1);
}

void *operator_new_array(size_t bytes)
{
	return allocate(bytes, 1);
}

void *operator_new_aligned(size_t bytes, size_t alignment)
{
	return allocate(bytes, alignment);
}

void *operator_new_array_aligned(size_t bytes, size_t alignment)
{
	return allocate(bytes, alignment);
}

void *operator_new_nothrow(size_t bytes, const void *tag)
{
	(void)tag;
	return malloc(bytes ? bytes : 1);
}

void *operator_new_array_nothrow(size_t bytes, const void *tag)
{
	(void)tag;
	return malloc(bytes ? bytes : 1);
}

/* Further parameters (size, alignment) are not needed to free. */
#define DELETE(name, symbol)                  \
	void name(void *memory) __asm__(symbol); \
	void name(void *memory)                  \
	{                                        \
		free(memory);                     \
	}
DELETE(operator_delete, "_ZdlPv")
DELETE(operator_delete_array, "_ZdaPv")
DELETE(operator_delete_sized, "_ZdlPvm")
DELETE(operator_delete_array_sized, "_ZdaPvm")
DELETE(operator_delete_aligned, "_ZdlPvSt11align_val_t")
DELETE(operator_delete_array_aligned, "_ZdaPvSt11align_val_t")
DELETE(operator_delete_sized_aligned, "_ZdlPvmSt11align_val_t")
DELETE(operator_delete_array_sized_aligned, "_ZdaPvmSt11align_val_t")

/* Where libc++ would throw: `std::vector::at` and the like. */
void library_abort(const char *format, ...) __asm__("_ZNSt3__122__libcpp_verbose_abortEPKcz");
void library_abort(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	abort();
}

/* Sizes of hash tables: the smallest prime that is not below `least`. */
size_t next_prime(size_t least) __asm__("_ZNSt3__112__next_primeEm");
size_t next_prime(size_t least)
{
	if (least <= 2)
		return least;
	for (size_t candidate = least | 1;; candidate += 2) {
		size_t divisor = 3;
		while (divisor <= candidate / divisor && candidate % divisor)
			divisor += 2;
		if (divisor > candidate / divisor)
			return candidate;
	}
}

void __cxa_pure_virtual(void)
{
	fputs("pure virtual function called: an object is used before it is made or after it is gone\n", stderr);
	abort();
}
