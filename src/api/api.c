#include <stdlib.h>

#include "lockstep.h"

void ls_free(void *p)
{
	free(p);
}
