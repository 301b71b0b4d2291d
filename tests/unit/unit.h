/* The common declarations of CMocka programs, in the order that cmocka.h requires. */
#ifndef HD_TESTS_UNIT_H
#define HD_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The main of a test has its file's name: one program holds all of them (main.c). */
#ifdef UNIT_NAME
int UNIT_NAME(void);
#define main UNIT_NAME
#endif

/* How many of n random cases are taken: with the address sanitizer, which takes several times as long, a third. */
#ifdef __SANITIZE_ADDRESS__
#define UNIT_CASES(n) (((n) + 2) / 3)
#else
#define UNIT_CASES(n) (n)
#endif

/* A small deterministic generator (splitmix64) for property tests. */
static inline uint64_t unit_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

#endif
