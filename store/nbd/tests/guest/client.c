/* A bare-metal client of virtio-blk on QEMU's riscv64 virt machine: does what a script in memory says.
 *
 * The script is text at 0x84000000, ended by a zero byte. Commands, each with numbers behind it:
 *   w SECTOR BYTE   start writing the byte to a whole sector, and do not wait
 *   a               wait for everything started
 *   f               flush, and wait: "flush 0", or the device's error, 1
 *   r SECTOR        read, and wait: "read SECTOR BYTE", or "read SECTOR mixed" if the bytes differ
 *   q               power off
 * Writes that fail are told when they are waited for. The virtio registers are those of the modern MMIO transport. */
#include <stdint.h>

#define UART ((volatile uint8_t *)0x10000000)
#define POWER ((volatile uint32_t *)0x100000)
#define SCRIPT ((const char *)0x84000000)
#define SLOTS 8
#define QUEUE 64 /* descriptors: three for each of at most 16 requests in flight */
#define FLIGHT 16

enum { NEXT = 1, DEVICE_WRITES = 2 };
enum { READ = 0, WRITE = 1, FLUSH = 4 };

struct descriptor { uint64_t address; uint32_t length; uint16_t flags, next; };
struct available { uint16_t flags, index, ring[QUEUE]; };
struct used { uint16_t flags, index; struct { uint32_t id, length; } ring[QUEUE]; };
struct header { uint32_t kind, reserved; uint64_t sector; };

static struct descriptor descriptors[QUEUE] __attribute__((aligned(16)));
static volatile struct available available __attribute__((aligned(2)));
static volatile struct used used __attribute__((aligned(4)));
static struct header headers[FLIGHT];
static uint8_t buffers[FLIGHT][512];
static volatile uint8_t statuses[FLIGHT];
static uint8_t busy[FLIGHT];
static volatile uint32_t *device;
static uint16_t seen;

static void put(const char *text) { while (*text) *UART = *text++; }

static void put_number(uint64_t number)
{
  char digits[24];
  int at = sizeof digits;
  digits[--at] = 0;
  do digits[--at] = '0' + number % 10; while (number /= 10);
  put(&digits[at]);
}

static void power_off(int code)
{
  *POWER = code ? (code << 16 | 0x3333) : 0x5555;
  for (;;) ;
}

static void fail(const char *why)
{
  put("client: ");
  put(why);
  put("\n");
  power_off(1);
}

static void address(int at, volatile void *memory)
{
  device[at / 4] = (uint64_t)memory;
  device[at / 4 + 1] = (uint64_t)memory >> 32;
}

static void set_up(void)
{
  for (int slot = 1; slot <= SLOTS; slot++) {
    volatile uint32_t *at = (volatile uint32_t *)(0x10000000ul + 0x1000ul * slot);
    if (at[0] == 0x74726976 && at[1] == 2 && at[2] == 2) device = at;
  }
  if (!device) fail("no modern virtio block device");
  device[0x70 / 4] = 0;
  device[0x70 / 4] = 1 | 2;
  device[0x14 / 4] = 0;
  if (!(device[0x10 / 4] & 1 << 9)) fail("the device has no flush");
  device[0x24 / 4] = 0;
  device[0x20 / 4] = 1 << 9;
  device[0x24 / 4] = 1;
  device[0x20 / 4] = 1; /* version 1 */
  device[0x70 / 4] = 1 | 2 | 8;
  if (!(device[0x70 / 4] & 8)) fail("features refused");
  device[0x30 / 4] = 0;
  if (device[0x34 / 4] < QUEUE) fail("queue too short");
  device[0x38 / 4] = QUEUE;
  address(0x80, descriptors);
  address(0x90, &available);
  address(0xa0, &used);
  device[0x44 / 4] = 1;
  device[0x70 / 4] = 1 | 2 | 8 | 4;
}

/* Takes back what the device is done with. */
static void collect(void)
{
  __sync_synchronize();
  while (seen != used.index) {
    int flight = used.ring[seen % QUEUE].id / 3;
    busy[flight] = 0;
    if (headers[flight].kind == WRITE && statuses[flight]) {
      put("write ");
      put_number(headers[flight].sector);
      put(" failed\n");
    }
    seen++;
  }
}

static int start_request(uint32_t kind, uint64_t sector, uint8_t byte)
{
  int flight = 0;
  while (busy[flight])
    if (++flight == FLIGHT) { collect(); flight = 0; }
  busy[flight] = 1;
  statuses[flight] = 255;
  headers[flight] = (struct header){ kind, 0, sector };
  for (int i = 0; i < 512; i++) buffers[flight][i] = byte;
  struct descriptor *chain = &descriptors[3 * flight];
  uint16_t first = 3 * flight;
  chain[0] = (struct descriptor){ (uint64_t)&headers[flight], 16, NEXT, kind == FLUSH ? first + 2 : first + 1 };
  chain[1] = (struct descriptor){ (uint64_t)buffers[flight], 512, NEXT | (kind == READ ? DEVICE_WRITES : 0), first + 2 };
  chain[2] = (struct descriptor){ (uint64_t)&statuses[flight], 1, DEVICE_WRITES, 0 };
  available.ring[available.index % QUEUE] = first;
  __sync_synchronize();
  available.index++;
  __sync_synchronize();
  device[0x50 / 4] = 0;
  return flight;
}

static void wait_for(int flight) { while (busy[flight]) collect(); }

static uint64_t number(const char **at)
{
  uint64_t value = 0;
  while (**at == ' ') ++*at;
  while (**at >= '0' && **at <= '9') value = 10 * value + (*(*at)++ - '0');
  return value;
}

static void read_sector(uint64_t sector)
{
  int flight = start_request(READ, sector, 0);
  wait_for(flight);
  uint8_t *bytes = buffers[flight];
  int mixed = 0;
  for (int i = 1; i < 512; i++) mixed |= bytes[i] != bytes[0];
  put("read ");
  put_number(sector);
  put(" ");
  if (statuses[flight]) put("failed");
  else if (mixed) put("mixed");
  else put_number(bytes[0]);
  put("\n");
}

void main(void)
{
  const char *at = SCRIPT;
  set_up();
  for (;;) {
    switch (*at++) {
    case 'w': {
      uint64_t sector = number(&at);
      start_request(WRITE, sector, number(&at));
      break;
    }
    case 'a':
      for (int flight = 0; flight < FLIGHT; flight++) wait_for(flight);
      break;
    case 'f': {
      int flight = start_request(FLUSH, 0, 0);
      wait_for(flight);
      put("flush ");
      put_number(statuses[flight]);
      put("\n");
      break;
    }
    case 'r': read_sector(number(&at)); break;
    case 'q': put("done\n"); power_off(0); break;
    case ' ': case '\n': break;
    default: fail("the script has an unknown command");
    }
  }
}
