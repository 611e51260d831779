/* What the glutton may be told to take, one bit for each, and how it is to end. */
#ifndef MENU_H
#define MENU_H

enum { NAMES, STACKS, THREADS, ADDRESSES, HEAP, PAGES, CHILDREN, SEMAPHORES, PORTALS, KINDS };
enum { LITTLE = 1 << 16, WAY_EXIT = 1 << 17, WAY_FAULT = 1 << 18, WAY_WAIT = 0, WAYS = WAY_EXIT | WAY_FAULT };

#endif
