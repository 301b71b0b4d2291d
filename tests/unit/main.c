/* All unit tests in one program, which runs the one by whose name it is called. names.def is made by the Makefile. */
#include <stdio.h>
#include <string.h>

#define UNIT(name) int name(void);
#include "tests/unit/names.def"
#undef UNIT

static const struct {
    const char *name;
    int (*run)(void);
} units[] = {
#define UNIT(name) {#name, name},
#include "tests/unit/names.def"
#undef UNIT
};

int main(int count, char **arguments)
{
    const char *called = count > 0 ? arguments[0] : "";
    const char *slash = strrchr(called, '/');
    const char *name = slash ? slash + 1 : called;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(units[i].name, name))
            return units[i].run();
    fprintf(stderr, "%s is the name of no unit test\n", name);
    return 2;
}
