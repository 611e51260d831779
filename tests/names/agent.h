/* What an agent can be asked to do. */
#ifndef AGENT_H
#define AGENT_H

#include <pebble.h>

#define AGENT_SPECIFICATION "nmciri"
enum operation { OPEN, REGISTER, CALL, GRANT, DELEGATE, NUMBER, END };

/* Aligned, so that it lies in one page: a window shows no more. */
struct __attribute__((aligned(128))) text {
	char text[128];
};
#endif
