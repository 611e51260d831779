// An AXI4 slave: in order, one beat a cycle, up to eight requests outstanding, fixed latency.
//
// The processor has two: one for RAM, one for devices. Rocket's bridge sends incrementing bursts only.
#pragma once

#include <cstdint>
#include <deque>

#include "devices.hpp"
#include "memory.hpp"

// What the processor drives on one port in a cycle.
struct Driven {
	bool ar_valid, r_ready, aw_valid, w_valid, w_last, b_ready;
	uint64_t ar_address, aw_address, w_data;
	uint8_t ar_id, ar_length, ar_size, aw_id, aw_size, w_strobe;
};

class Port {
public:
	// What the port drives.
	bool ar_ready = true, aw_ready = true, w_ready = false, r_valid = false, r_last = false, b_valid = false;
	uint8_t r_id = 0, b_id = 0;
	uint64_t r_data = 0;

	// Cycles from a read request to its first beat, and from a write's last beat to its answer.
	Port(Memory *memory, Devices *devices, unsigned read_latency, unsigned write_latency)
		: memory(memory), devices(devices), read_latency(read_latency), write_latency(write_latency)
	{
	}

	// After a rising edge at which the processor drove `in`.
	void step(uint64_t cycle, const Driven &in)
	{
		step_read(cycle, in);
		step_write(cycle, in);
	}

private:
	static constexpr size_t OUTSTANDING = 8;

	struct Read {
		uint64_t address, due;
		uint8_t id, length, size;
	};
	struct Write {
		uint64_t address;
		uint8_t id;
		uint8_t size;
	};
	struct Answer {
		uint64_t due;
		uint8_t id;
	};

	Memory *memory;	  // or null: the port of the devices
	Devices *devices;
	unsigned read_latency, write_latency;
	std::deque<Read> reads;
	std::deque<Write> writes;
	std::deque<Answer> answers;
	unsigned beat = 0;

	void step_read(uint64_t cycle, const Driven &in)
	{
		if (in.ar_valid && ar_ready)
			reads.push_back({ in.ar_address, cycle + read_latency, in.ar_id, in.ar_length, in.ar_size });
		if (r_valid && in.r_ready) {
			r_valid = false;
			beat++;
			if (r_last) {
				reads.pop_front();
				beat = 0;
			}
		}
		if (!r_valid && !reads.empty() && cycle >= reads.front().due) {
			const Read &read = reads.front();
			r_valid = true;
			r_id = read.id;
			r_last = beat == read.length;
			r_data = get(read.address + (uint64_t(beat) << read.size), read.length > 0);
		}
		ar_ready = reads.size() < OUTSTANDING;
	}

	void step_write(uint64_t cycle, const Driven &in)
	{
		// A beat is taken only when its request was there the cycle before.
		bool beat_taken = in.w_valid && w_ready;
		if (in.aw_valid && aw_ready)
			writes.push_back({ in.aw_address, in.aw_id, in.aw_size });
		if (beat_taken) {
			Write &write = writes.front();
			put(write.address, in.w_data, in.w_strobe);
			write.address += 1ull << write.size;
			if (in.w_last) {
				answers.push_back({ cycle + write_latency, write.id });
				writes.pop_front();
			}
		}
		if (b_valid && in.b_ready)
			b_valid = false;
		if (!b_valid && !answers.empty() && cycle >= answers.front().due) {
			b_valid = true;
			b_id = answers.front().id;
			answers.pop_front();
		}
		aw_ready = writes.size() < OUTSTANDING;
		w_ready = !writes.empty();
	}

	uint64_t get(uint64_t address, bool burst)
	{
		uint64_t word = 0;
		if (!memory)
			return burst ? devices->fetch(address) : uint64_t(devices->read(address)) << 8 * (address % 8);
		if (const uint8_t *place = memory->word(address))
			memcpy(&word, place, sizeof word);
		return word;
	}

	void put(uint64_t address, uint64_t word, uint8_t strobe)
	{
		if (!memory) {
			if (strobe == 0)
				return;
			unsigned first = __builtin_ctz(strobe);
			devices->write((address & ~7ull) + first, word >> 8 * first);
		} else if (uint8_t *place = memory->word(address)) {
			for (unsigned i = 0; i < 8; i++)
				if (strobe >> i & 1)
					place[i] = word >> 8 * i;
		}
	}
};
