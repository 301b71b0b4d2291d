// EXPECT: counts and prints what is not so.
#pragma once
#include <cstdio>

static int wrong;
#define EXPECT(condition)                                                                                          \
    do {                                                                                                           \
        if (!(condition) && wrong++ < 10)                                                                          \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                         \
    } while (0)
