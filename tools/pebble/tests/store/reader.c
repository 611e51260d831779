/* Reads an image of the store by docs/reference/store-format.md alone, and lists the objects of its newest generation:
 * one line each, "FRAME KIND VERSION PLACE CHECKSUM", sorted by frame. Shares no code with Pebble. One disk; a generation's
 * journal is not looked at. Ends with status 1 and a message when something is not as the document says. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME 4096
static FILE *image;
static uint64_t key;

static void stop(const char *what, uint64_t number)
{
  fprintf(stderr, "reader: %s (%llu)\n", what, (unsigned long long)number);
  exit(1);
}

static uint64_t get(const uint8_t *at, int bytes)
{
  uint64_t value = 0;
  while (bytes--) value = value << 8 | at[bytes];
  return value;
}

/* XXH3, 64 bits, with a seed, for more than 240 bytes: as its specification says. */
#define PRIME32_1 0x9E3779B1u
#define PRIME32_2 0x85EBCA77u
#define PRIME32_3 0xC2B2AE3Du
#define PRIME64_1 0x9E3779B185EBCA87ull
#define PRIME64_2 0xC2B2AE3D27D4EB4Full
#define PRIME64_3 0x165667B19E3779F9ull
#define PRIME64_4 0x85EBCA77C2B2AE63ull
#define PRIME64_5 0x27D4EB2F165667C5ull

static const uint8_t SECRET[192] = {
  0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde, 0xd4, 0x6d, 0xe9,
  0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78,
  0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21, 0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6,
  0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
  0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8, 0xa8, 0xfa, 0x76, 0x3f,
  0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31,
  0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64, 0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff,
  0xfa, 0x13, 0x63, 0xeb, 0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
  0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f,
  0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

static uint64_t fold(uint64_t a, uint64_t b)
{
  unsigned __int128 product = (unsigned __int128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static void accumulate(uint64_t *lanes, const uint8_t *stripe, const uint8_t *secret)
{
  for (int lane = 0; lane < 8; lane++) {
    uint64_t value = get(stripe + 8 * lane, 8);
    uint64_t keyed = value ^ get(secret + 8 * lane, 8);
    lanes[lane ^ 1] += value;
    lanes[lane] += (keyed & 0xffffffff) * (keyed >> 32);
  }
}

static uint64_t xxh3(uint64_t seed, const uint8_t *bytes, size_t length)
{
  uint8_t secret[192];
  uint64_t lanes[8] = { PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1 };
  if (length <= 240) stop("the reader's checksum is for long records only", length);
  for (int at = 0; at < 192; at += 16)
    for (int half = 0; half < 2; half++) {
      uint64_t word = get(SECRET + at + 8 * half, 8);
      word = half ? word - seed : word + seed;
      for (int byte = 0; byte < 8; byte++) secret[at + 8 * half + byte] = word >> 8 * byte;
    }
  size_t stripes = (length - 1) / 64, in_block = 16;
  for (size_t stripe = 0; stripe < stripes; stripe++) {
    accumulate(lanes, bytes + 64 * stripe, secret + 8 * (stripe % in_block));
    if (stripe % in_block == in_block - 1)
      for (int lane = 0; lane < 8; lane++) {
        lanes[lane] ^= lanes[lane] >> 47;
        lanes[lane] ^= get(secret + 128 + 8 * lane, 8);
        lanes[lane] *= PRIME32_1;
      }
  }
  accumulate(lanes, bytes + length - 64, secret + 192 - 64 - 7);
  uint64_t sum = length * PRIME64_1;
  for (int lane = 0; lane < 8; lane += 2)
    sum += fold(lanes[lane] ^ get(secret + 11 + 8 * lane, 8), lanes[lane + 1] ^ get(secret + 19 + 8 * lane, 8));
  sum ^= sum >> 37;
  sum *= 0x165667919E3779F9ull;
  return sum ^ sum >> 32;
}

static void read_frame(uint64_t at, uint8_t *frame)
{
  if (fseek(image, at * FRAME, SEEK_SET) || fread(frame, FRAME, 1, image) != 1) stop("cannot read frame", at);
}

/* The seed of a record that belongs to a place of the volume. */
static uint64_t seed(uint64_t place) { return key + place * 0x9E3779B97F4A7C15ull; }

/* A record is its mark, its checksum, and fields under the checksum. */
static int is(const uint8_t *frame, const char *mark, size_t extent, uint64_t record_seed)
{
  return !memcmp(frame, mark, 8) && get(frame + 8, 8) == xxh3(record_seed, frame + 16, extent - 16);
}

struct object { uint64_t frame, version, log, sum; int kind, null, lost; };
static struct object *objects;
static size_t count, room;

/* Newer knowledge comes first: what is known already stays. */
static void enter(uint64_t frame, uint64_t log, uint64_t word, uint64_t sum)
{
  for (size_t at = 0; at < count; at++)
    if (objects[at].frame == frame) return;
  if (count == room) objects = realloc(objects, (room = 2 * room + 64) * sizeof *objects);
  if (!objects) stop("no memory", room);
  objects[count++] = (struct object){ frame, word & 0xffffffffffff, log, sum, word >> 48 & 255, word >> 56 & 1, word >> 57 & 1 };
}

static int by_frame(const void *one, const void *other)
{
  uint64_t a = ((const struct object *)one)->frame, b = ((const struct object *)other)->frame;
  return (a > b) - (a < b);
}

struct range { int kind; uint64_t number, first, frames, base; };
static struct range ranges[32], *log_range;

static uint64_t log_place(uint64_t number) { return log_range->first + 4 + number % (log_range->frames - 4); }

static void read_generation(uint64_t reference, uint64_t sum)
{
  uint8_t frame[FRAME];
  read_frame(log_place(reference), frame);
  if (!is(frame, "PebGener", 512, seed(reference)) || get(frame + 8, 8) != sum) stop("no generation header", reference);
  uint64_t first = get(frame + 48, 8), frames = get(frame + 56, 8);
  for (uint64_t index = 0; index < frames; index++) {
    uint8_t part[FRAME];
    read_frame(log_place(first + index), part);
    if (!is(part, "PebObjec", FRAME, seed(first + index))) stop("no object directory", first + index);
    for (uint64_t entry = 0; entry < get(part + 32, 8); entry++) {
      const uint8_t *at = part + 64 + 32 * entry;
      enter(get(at, 8), get(at + 8, 8), get(at + 16, 8), get(at + 24, 8));
    }
  }
}

static void read_cluster(const struct range *range, uint64_t cluster, uint64_t left)
{
  uint8_t pot[2][FRAME];
  int best = -1;
  for (int copy = 0; copy < 2; copy++) {
    read_frame(range->first + 256 * cluster + copy, pot[copy]);
    if (is(pot[copy], "PebTags\0", FRAME, seed(cluster | range->number << 48)))
      if (best < 0 || get(pot[copy] + 16, 8) > get(pot[best] + 16, 8)) best = copy;
  }
  if (best < 0) stop("no tag pot of cluster", cluster);
  for (uint64_t index = 0; index < 254 && index < left; index++) {
    const uint8_t *tag = pot[best] + 32 + 16 * index;
    enter(range->base + 254 * cluster + index, 0, get(tag, 8), get(tag + 8, 8));
  }
}

static void verify(const struct object *object)
{
  uint8_t frame[FRAME];
  uint64_t place = 0;
  if (object->log) place = log_place(object->log);
  for (struct range *range = ranges; !object->log && range < ranges + 32; range++) {
    uint64_t number = object->frame - range->base;
    if (range->kind == 4 && object->frame >= range->base && number < range->frames)
      place = range->first + number / 254 * 256 + 2 + number % 254;
  }
  read_frame(place, frame);
  if (xxh3(object->frame, frame, FRAME) != object->sum) stop("wrong contents of object frame", object->frame);
}

int main(int arguments, char **argument)
{
  static const char *kinds[] = { "unused", "data page", "capability page", "nodes" };
  uint8_t frame[FRAME], header[FRAME];
  if (arguments != 2 || !(image = fopen(argument[1], "rb"))) stop("give an image", 0);
  read_frame(0, frame);
  if (!is(frame, "PebSuper", FRAME, 0)) stop("no superblock", 0);
  key = get(frame + 24, 8) ^ get(frame + 32, 8);
  for (uint64_t index = 0; index < get(frame + 48, 8); index++) {
    const uint8_t *at = frame + 64 + 40 * index;
    ranges[index] = (struct range){ at[0], get(at + 2, 2), get(at + 8, 8), get(at + 16, 8), get(at + 24, 8) };
    if (at[0] == 3) log_range = &ranges[index];
  }
  if (!log_range) stop("no log", 0);
  uint64_t newest = 0;
  for (int slot = 0; slot < 2; slot++) {
    read_frame(log_range->first + slot, frame);
    if (is(frame, "PebCheck", 512, seed(slot)) && get(frame + 16, 8) > newest) {
      newest = get(frame + 16, 8);
      memcpy(header, frame, FRAME);
    }
  }
  if (!newest) stop("no checkpoint header", 0);
  for (uint64_t index = 0; index < get(header + 88, 8); index++)
    read_generation(get(header + 112 + 16 * index, 8), get(header + 120 + 16 * index, 8));
  for (struct range *range = ranges; range < ranges + 32; range++) {
    uint64_t rest = range->frames % 256, held = range->frames / 256 * 254 + (rest > 2 ? rest - 2 : 0);
    for (uint64_t cluster = 0; range->kind == 4 && cluster * 254 < held; cluster++)
      read_cluster(range, cluster, held - cluster * 254);
  }
  qsort(objects, count, sizeof *objects, by_frame);
  for (size_t at = 0; at < count; at++) {
    struct object *object = &objects[at];
    if (!object->kind) continue;
    if (!object->null && !object->lost) verify(object);
    const char *place = object->null ? "null" : object->lost ? "lost" : object->log ? "log" : "home";
    printf("%llu %s %llu %s %016llx\n", (unsigned long long)object->frame, kinds[object->kind & 3],
           (unsigned long long)object->version, place, (unsigned long long)object->sum);
  }
  return 0;
}
