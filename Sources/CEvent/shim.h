#include <features.h>
#include <event2/event.h>
