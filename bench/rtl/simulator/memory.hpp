// RAM of the simulated machine, and how images get into it.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

[[noreturn]] inline void fail(const std::string &what)
{
	fprintf(stderr, "simulator: %s\n", what.c_str());
	exit(2);
}

inline std::vector<uint8_t> read_file(const std::string &name)
{
	FILE *file = fopen(name.c_str(), "rb");
	if (!file)
		fail("cannot read " + name);
	std::vector<uint8_t> bytes;
	uint8_t part[65536];
	size_t count;
	while ((count = fread(part, 1, sizeof part, file)) > 0)
		bytes.insert(bytes.end(), part, part + count);
	fclose(file);
	return bytes;
}

class Memory {
public:
	static constexpr uint64_t BASE = 0x80000000;

	explicit Memory(uint64_t size) : bytes(size, 0) {}

	// The eight bytes around an address; nothing is there outside of RAM.
	uint8_t *word(uint64_t address)
	{
		uint64_t offset = (address & ~7ull) - BASE;
		return offset + 8 <= bytes.size() ? &bytes[offset] : nullptr;
	}

	void load(uint64_t address, const uint8_t *content, size_t count)
	{
		if (address < BASE || address - BASE > bytes.size() || bytes.size() - (address - BASE) < count)
			fail("an image lies outside of RAM; give the machine more memory");
		memcpy(&bytes[address - BASE], content, count);
	}

	void load_file(uint64_t address, const std::string &name)
	{
		auto content = read_file(name);
		load(address, content.data(), content.size());
	}

	// Segments go to their physical addresses.
	void load_elf(const std::string &name)
	{
		auto content = read_file(name);
		auto *header = reinterpret_cast<Elf64_Ehdr *>(content.data());
		if (content.size() < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
		    header->e_phoff + uint64_t(header->e_phnum) * sizeof(Elf64_Phdr) > content.size())
			fail(name + " is not an ELF image");
		auto *segment = reinterpret_cast<Elf64_Phdr *>(content.data() + header->e_phoff);
		for (int i = 0; i < header->e_phnum; i++, segment++) {
			if (segment->p_type != PT_LOAD || segment->p_filesz == 0)
				continue;
			if (segment->p_offset + segment->p_filesz > content.size())
				fail(name + " is cut short");
			load(segment->p_paddr, content.data() + segment->p_offset, segment->p_filesz);
		}
	}

private:
	std::vector<uint8_t> bytes;
};
