/* Services by name, and their specifications. Generated from interfaces/: do not edit. */
#ifndef PEBBLE_SERVICES_H
#define PEBBLE_SERVICES_H

/* standard output: (buffer within one page, length); answers the bytes written */
#define CONSOLE_WRITE "/console/write"
#define CONSOLE_WRITE_SPECIFICATION "nmcri"
/* standard error: (buffer within one page, length); answers the bytes written */
#define CONSOLE_ERROR "/console/error"
#define CONSOLE_ERROR_SPECIFICATION "nmcri"
/* system messages, whole lines: (buffer within one page, length); answers the bytes written */
#define CONSOLE_LOG "/console/log"
#define CONSOLE_LOG_SPECIFICATION "nmcri"
/* input: (buffer within one page, length); waits for at least one byte, answers how many there were */
#define CONSOLE_READ "/console/read"
#define CONSOLE_READ_SPECIFICATION "nmcwi"
/* set the time of day from the device: (); answers nanoseconds since 1970 */
#define CLOCK_SYNCHRONIZE "/clock/synchronize"
#define CLOCK_SYNCHRONIZE_SPECIFICATION "nmc"
/* switch the machine off: (exit status); does not return */
#define POWER_OFF "/power/off"
#define POWER_OFF_SPECIFICATION "nmci"
/* reset the machine: (); does not return */
#define POWER_RESTART "/power/restart"
#define POWER_RESTART_SPECIFICATION "nmc"
/* make a pipe between the caller and a peer: (peer's domain, 0: only the caller); answers its number */
#define PIPE_CREATE "/pipe/create"
#define PIPE_CREATE_SPECIFICATION "nmdi"
/* faults of a region whose pages all clients share: (cookie, domain, address, access); answers 0 */
#define PAGER_SHARED "/pager/shared"
#define PAGER_SHARED_SPECIFICATION "nmciiii"
/* portal manager only: (name, portal id, owner's domain); answers 0, -EACCES, -EEXIST, -EMFILE, -ENFILE */
#define NAME_BIND "/name-server/bind"
#define NAME_BIND_SPECIFICATION "nmdrii"
/* portal manager only: (name, client's domain); answers the portal id, -EACCES or -ENOENT */
#define NAME_LOOKUP "/name-server/lookup"
#define NAME_LOOKUP_SPECIFICATION "nmdri"
/* portal manager only: (domain): forget its names, rules and delegations; answers how many names */
#define NAME_UNBIND "/name-server/unbind"
#define NAME_UNBIND_SPECIFICATION "nmdi"
/* init only: (domain, component's name, rules of the system description); answers 0 or -EINVAL */
#define NAME_ALLOW "/name-server/allow"
#define NAME_ALLOW_SPECIFICATION "nmdirr"
/* (domain, rule): give a rule within a subtree that was delegated to the caller; answers 0 or -EACCES */
#define NAME_GRANT "/name-server/grant"
#define NAME_GRANT_SPECIFICATION "nmdir"
/* (domain, pattern): let that domain decide over a subtree of the caller's own; answers 0 or -EACCES */
#define NAME_DELEGATE "/name-server/delegate"
#define NAME_DELEGATE_SPECIFICATION "nmdir"
/* (index, buffer of NAMELEN bytes): the name there; answers its portal id, -ENOENT: none there that the caller may open, -EINVAL past the last index */
#define NAME_LIST "/name-server/list"
#define NAME_LIST_SPECIFICATION "nmdiw"
/* start a component: (name); answers its domain, -ENOENT: not in the description, -EEXIST: it runs, -EPERM: a core server, or why it cannot be loaded */
#define INIT_START "/init/start"
#define INIT_START_SPECIFICATION "nmcr"
/* end a component: (name, force); answers 0, -ENOENT: not in the description, -ESRCH: it does not run, -EPERM: a core server, -EBUSY: its end would end the system, which happens with force 1 */
#define INIT_STOP "/init/stop"
#define INIT_STOP_SPECIFICATION "nmcri"
/* what the description says of a component, and whether it runs: (index, buffer for an info record); answers 0, -EINVAL past the last */
#define INIT_COMPONENT "/init/component"
#define INIT_COMPONENT_SPECIFICATION "nmciw"

#define CONSOLE_MOST 4096
#define PIPE_CAPACITY 4096
#define PIPE_READING_END 0
#define PIPE_WRITING_END 1
#define PAGER_SPECIFICATION "nmciiii"
#define PAGER_READ 4
#define PAGER_WRITE 2
#define PAGER_EXECUTE 1
#define PAGER_SUPPLY_MOVE 1
#define PAGER_SUPPLY_WRITE 2

#endif
