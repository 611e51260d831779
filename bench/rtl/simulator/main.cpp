// Rocket's RTL, translated by Verilator, with RAM and devices around it: a machine that Pebble boots on.
//
// simulator [OPTION...] ELF...
//   --memory MIB        RAM from 0x80000000 (128)
//   --device-tree FILE  goes to the last 2 MiB of RAM; its address is in a1 at the start
//   --load ADDRESS:FILE puts a file into RAM
//   --latency N         cycles from a read request to the first eight bytes (20)
//   --cycles N          end after so many, with status 124
//   --trace FILE        write every executed instruction: cycle, address, instruction, X for a trap
//   --from N, --to N    trace only these cycles
//   --progress N        say every N cycles, on standard error, how many there were
//
// The exit status is what the guest gives the finisher.
#include "Vrocket.h"
#include "Vrocket___024root.h"
#include "verilated.h"

#include <memory>
#include <utility>

#include "port.hpp"

namespace {

constexpr uint64_t RESET_CYCLES = 50;
constexpr uint64_t INPUT_PERIOD = 1 << 14; // cycles between looks at standard input
constexpr unsigned WRITE_LATENCY = 4;
constexpr int OUT_OF_CYCLES = 124;

struct Options {
	uint64_t memory = 128ull << 20, cycles = ~0ull, from = 0, to = ~0ull, progress = 0;
	unsigned latency = 20;
	std::string device_tree, trace;
	std::vector<std::pair<uint64_t, std::string>> files;
	std::vector<std::string> images;

	Options(int argc, char **argv)
	{
		for (int i = 1; i < argc; i++) {
			std::string word = argv[i];
			if (word.rfind("--", 0) != 0) {
				images.push_back(word);
				continue;
			}
			if (i + 1 == argc)
				fail("nothing behind " + word);
			std::string value = argv[++i];
			auto number = [&] { return strtoull(value.c_str(), nullptr, 0); };
			if (word == "--memory")
				memory = number() << 20;
			else if (word == "--device-tree")
				device_tree = value;
			else if (word == "--load")
				files.emplace_back(number(), value.substr(value.find(':') + 1));
			else if (word == "--latency")
				latency = number();
			else if (word == "--cycles")
				cycles = number();
			else if (word == "--trace")
				trace = value;
			else if (word == "--from")
				from = number();
			else if (word == "--to")
				to = number();
			else if (word == "--progress")
				progress = number();
			else
				fail("unknown option " + word);
		}
	}
};

// The pins of the two ports have names that differ in their prefix only.
#define DRIVE(prefix, port)                              \
	do {                                             \
		top->prefix##_ar_ready = port.ar_ready;  \
		top->prefix##_aw_ready = port.aw_ready;  \
		top->prefix##_w_ready = port.w_ready;    \
		top->prefix##_r_valid = port.r_valid;    \
		top->prefix##_r_bits_id = port.r_id;     \
		top->prefix##_r_bits_data = port.r_data; \
		top->prefix##_r_bits_last = port.r_last; \
		top->prefix##_r_bits_resp = 0;           \
		top->prefix##_b_valid = port.b_valid;    \
		top->prefix##_b_bits_id = port.b_id;     \
		top->prefix##_b_bits_resp = 0;           \
	} while (0)

#define SAMPLE(prefix)                                              \
	Driven {                                                    \
		.ar_valid = bool(top->prefix##_ar_valid),           \
		.r_ready = bool(top->prefix##_r_ready),             \
		.aw_valid = bool(top->prefix##_aw_valid),           \
		.w_valid = bool(top->prefix##_w_valid),             \
		.w_last = bool(top->prefix##_w_bits_last),          \
		.b_ready = bool(top->prefix##_b_ready),             \
		.ar_address = top->prefix##_ar_bits_addr,           \
		.aw_address = top->prefix##_aw_bits_addr,           \
		.w_data = top->prefix##_w_bits_data,                \
		.ar_id = uint8_t(top->prefix##_ar_bits_id),         \
		.ar_length = uint8_t(top->prefix##_ar_bits_len),    \
		.ar_size = uint8_t(top->prefix##_ar_bits_size),     \
		.aw_id = uint8_t(top->prefix##_aw_bits_id),         \
		.aw_size = uint8_t(top->prefix##_aw_bits_size),     \
		.w_strobe = uint8_t(top->prefix##_w_bits_strb),     \
	}

#define CORE(signal) \
	top->rootp->ExampleRocketSystem__DOT__tile_prci_domain__DOT__tile_reset_domain_tile__DOT__core__DOT__##signal

void hold_in_reset(Vrocket *top, bool held)
{
	top->reset = held;
	top->debug_reset = held;
	top->debug_clockeddmi_dmiReset = held;
	top->resetctrl_hartIsInReset_0 = held;
}

} // namespace

int main(int argc, char **argv)
{
	Options options(argc, argv);
	Memory memory(options.memory);
	uint64_t device_tree = Memory::BASE + options.memory - (2 << 20);
	Devices devices(device_tree);
	for (auto &image : options.images)
		memory.load_elf(image);
	for (auto &[address, file] : options.files)
		memory.load_file(address, file);
	if (!options.device_tree.empty())
		memory.load_file(device_tree, options.device_tree);
	FILE *trace = nullptr;
	if (!options.trace.empty() && !(trace = fopen(options.trace.c_str(), "w")))
		fail("cannot write " + options.trace);

	auto context = std::make_unique<VerilatedContext>();
	auto model = std::make_unique<Vrocket>(context.get());
	Vrocket *top = model.get();
	Port ram(&memory, nullptr, options.latency, WRITE_LATENCY);
	Port device(nullptr, &devices, options.latency, WRITE_LATENCY);
	hold_in_reset(top, true);
	uint64_t cycle = 0;
	while (!devices.finished && cycle < options.cycles) {
		if (cycle == RESET_CYCLES)
			hold_in_reset(top, false);
		DRIVE(mem_axi4_0, ram);
		DRIVE(mmio_axi4_0, device);
		top->interrupts = devices.interrupt();
		top->clock = 0;
		top->eval();
		Driven to_ram = SAMPLE(mem_axi4_0), to_device = SAMPLE(mmio_axi4_0);
		if (trace && cycle >= options.from && cycle < options.to &&
		    (CORE(csr_io_trace_0_valid) || CORE(csr_io_trace_0_exception)))
			fprintf(trace, "%llu %010llx %08x%s\n", (unsigned long long)cycle,
				(unsigned long long)CORE(csr_io_trace_0_iaddr), unsigned(CORE(csr_io_trace_0_insn)),
				CORE(csr_io_trace_0_exception) ? " X" : "");
		top->clock = 1;
		top->eval();
		cycle++;
		if (cycle > RESET_CYCLES) {
			ram.step(cycle, to_ram);
			device.step(cycle, to_device);
		}
		if (cycle % INPUT_PERIOD == 0)
			devices.poll_input();
		if (options.progress && cycle % options.progress == 0)
			fprintf(stderr, "%llu cycles\n", (unsigned long long)cycle);
	}
	fflush(stdout);
	if (trace)
		fclose(trace);
	top->final();
	return devices.finished ? devices.status : OUT_OF_CYCLES;
}
