// Devices beside the processor: a serial port, a finisher, and the ROM that leads to RAM.
//
// CLINT and PLIC are part of the processor's RTL. The serial port is the part of a 16550 that a driver uses; its
// interrupt is source 1. The finisher ends the simulation, in the manner of SiFive's test device.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <deque>

class Devices {
public:
	static constexpr uint64_t UART = 0x10000000;
	static constexpr uint64_t FINISHER = 0x11000000;

	bool finished = false;
	int status = 0;

	// The processor's boot ROM jumps to the address of the serial port, because the package was made for a machine
	// with memory there. Instruction fetches come as bursts, device accesses do not, so both can live there.
	// The reset code: t0 = start of RAM, a1 = device tree.
	explicit Devices(uint64_t device_tree)
	{
		uint32_t page = device_tree & 0xfffff000;
		uint32_t code[] = {
			page | 0x5b7,	// lui a1, page
			0x02059593,	// slli a1, a1, 32
			0x0205d593,	// srli a1, a1, 32
			0x00100293,	// li t0, 1
			0x01f29293,	// slli t0, t0, 31
			0x00028067,	// jr t0
		};
		for (unsigned i = 0; i < sizeof code / sizeof *code; i++)
			reset[i / 2] |= uint64_t(code[i]) << 32 * (i % 2);
	}

	uint64_t fetch(uint64_t address) const { return reset[address / 8 % 8]; }

	uint8_t read(uint64_t address)
	{
		if (address / 256 != UART / 256)
			return 0;
		switch (address % 8) {
		case DATA:
			return line_control & DIVISOR ? divisor_low : take();
		case INTERRUPT_ENABLE:
			return line_control & DIVISOR ? divisor_high : interrupt_enable;
		case INTERRUPT_ID:
			return 0xc0 | (interrupt() ? 4 : 1);
		case LINE_CONTROL:
			return line_control;
		case MODEM_CONTROL:
			return modem_control;
		case LINE_STATUS:
			return 0x60 | !input.empty();
		case MODEM_STATUS:
			return 0xb0;
		default:
			return scratch;
		}
	}

	void write(uint64_t address, uint64_t value)
	{
		if (address == FINISHER)
			return finish(value);
		if (address / 256 != UART / 256)
			return;
		switch (address % 8) {
		case DATA:
			if (line_control & DIVISOR)
				divisor_low = value;
			else
				send(value);
			break;
		case INTERRUPT_ENABLE:
			(line_control & DIVISOR ? divisor_high : interrupt_enable) = value;
			break;
		case LINE_CONTROL:
			line_control = value;
			break;
		case MODEM_CONTROL:
			modem_control = value;
			break;
		case SCRATCH:
			scratch = value;
			break;
		}
	}

	bool interrupt() const { return !input.empty() && (interrupt_enable & 1); }

	// Takes what has arrived on standard input.
	void poll_input()
	{
		struct pollfd waiting = { 0, POLLIN, 0 };
		uint8_t byte;
		while (poll(&waiting, 1, 0) > 0 && (waiting.revents & POLLIN) && ::read(0, &byte, 1) == 1)
			input.push_back(byte);
	}

private:
	enum { DATA, INTERRUPT_ENABLE, INTERRUPT_ID, LINE_CONTROL, MODEM_CONTROL, LINE_STATUS, MODEM_STATUS, SCRATCH };
	static constexpr uint8_t DIVISOR = 0x80;

	uint64_t reset[8] = {};
	std::deque<uint8_t> input;
	uint8_t interrupt_enable = 0, line_control = 0, modem_control = 0, scratch = 0, divisor_low = 0, divisor_high = 0;

	uint8_t take()
	{
		if (input.empty())
			return 0;
		uint8_t byte = input.front();
		input.pop_front();
		return byte;
	}

	static void send(uint8_t byte)
	{
		putchar(byte);
		if (byte == '\n')
			fflush(stdout);
	}

	void finish(uint32_t value)
	{
		if ((value & 0xffff) == 0x5555)
			status = 0;
		else if ((value & 0xffff) == 0x3333)
			status = value >> 16 ? value >> 16 & 0xff : 1;
		else
			return;
		finished = true;
	}
};
