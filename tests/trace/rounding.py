"""Floating-point numbers as bits, computed exactly and rounded once."""
import fractions
import math
import struct

QUIET = {32: 0x7fffffff, 64: 0x7ff8 << 48}  # the NaN that operations give
FORMAT = {16: "<e", 32: "<f", 64: "<d"}
MANTISSA, LOWEST = {32: 23, 64: 52}, {32: -126, 64: -1022}


def number_of(bits, width):
    return struct.unpack(FORMAT[width], bits.to_bytes(width // 8, "little"))[0]


def bits_of(value, width):
    return int.from_bytes(struct.pack(FORMAT[width], value), "little")


def is_finite(*values):
    return all(math.isfinite(v) for v in values)


def rounded(value, width, mode="RN"):
    """The bits of a Fraction other than 0, rounded once."""
    sign, value = value < 0, abs(value)
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    exponent -= value < fractions.Fraction(2) ** exponent
    unit = fractions.Fraction(2) ** (max(exponent, LOWEST[width]) - MANTISSA[width])
    count, rest = divmod(value, unit)
    half = rest * 2 - unit
    if mode == {True: "RM", False: "RP"}[sign]:
        count += rest > 0
    elif mode == "RN":
        count += half > 0 or (half == 0 and count & 1)
    bits = count if exponent < LOWEST[width] else count + ((exponent - LOWEST[width]) << MANTISSA[width])
    largest = ((2 << (width - 2 - MANTISSA[width])) - 1) << MANTISSA[width]
    return min(bits, largest) | sign << (width - 1)


def flushed(bits, width=32):
    """A denormal becomes a zero of its sign."""
    return bits & 1 << (width - 1) if not bits >> MANTISSA[width] & (1 << (width - 1 - MANTISSA[width])) - 1 else bits


def fused(a, b, c, width=32, mode="RN", ftz=False):
    """Bits of a * b + c, rounded once."""
    if ftz:
        a, b, c = flushed(a), flushed(b), flushed(c)
    x, y, z = (number_of(v, width) for v in (a, b, c))
    if not is_finite(x, y, z):
        result = x * y + z
        return QUIET[width] if math.isnan(result) else bits_of(result, width)
    exact = fractions.Fraction(x) * fractions.Fraction(y) + fractions.Fraction(z)
    if exact:
        result = rounded(exact, width, mode)
        return flushed(result) if ftz else result
    signs = ((a ^ b) >> (width - 1), c >> (width - 1))
    return (signs[0] if z == 0 and signs[0] == signs[1] else mode == "RM") << (width - 1)


def reciprocal(bits):
    bits = flushed(bits)
    x = number_of(bits, 32)
    if math.isnan(x):
        return QUIET[32]
    return flushed(rounded(1 / fractions.Fraction(x), 32)) if x and is_finite(x) else bits & 1 << 31 | (0 if x else 0x7f800000)


def root_reciprocal(bits):
    bits = flushed(bits)
    x = number_of(bits, 32)
    if math.isnan(x) or x < 0:
        return QUIET[32]
    if not x or math.isinf(x):
        return 0 if x else bits | 0x7f800000
    exact = 1 / fractions.Fraction(x)
    root = math.isqrt(exact.numerator * (1 << 400) // exact.denominator)
    return rounded(fractions.Fraction(2 * root + 1, 1 << 201), 32)  # the rest is not 0: half a unit far below the last bit
