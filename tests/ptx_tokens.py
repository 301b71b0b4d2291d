"""PTX tokens, for tests that compare two texts without their comments and white space. It shares nothing with lexer/.

An opcode and each of its suffixes are tokens of their own, so "mov .b32" and "mov.b32" are the same; a name is never
joined with what follows it. Spelling is kept: 0x10 and 16 differ. A line marker (# 12 "file") counts as a comment.
"""
import re

TOKEN = re.compile(r"""
    (?P<space>[ \t\r\n]+ | //[^\n]* | /\*.*?\*/ | \#[ \t]*[0-9]+[ \t]+"[^"\n]*"[^\n]*)
  | (?P<string>"[^"]*")
  | (?P<number>0[fF][0-9a-fA-F]{8}(?![0-9a-zA-Z_$]) | 0[dD][0-9a-fA-F]{16}(?![0-9a-zA-Z_$])
             | 0[xX][0-9a-fA-F]+U? | 0[bB][01]+U? | [0-9]+(\.[0-9]*)?[eE][+-]?[0-9]+ | [0-9]+\.[0-9]*(?![a-zA-Z_$]) | [0-9]+U?)
  | (?P<dotted>\.[A-Za-z0-9_$]+(::[A-Za-z0-9_]+)*)
  | (?P<name>[A-Za-z][A-Za-z0-9_$]* | [_$%][A-Za-z0-9_$]+)
  | (?P<sign><<|>>|<=|>=|==|!=|&&|\|\||@@|[][{}()<>,;:=+\-*/%&|^~!?@\#._$'])
""", re.X | re.S)


def tokens(text):
    """The tokens of a text (str). Raises ValueError with the place where no token starts."""
    found, at, end = [], 0, len(text)
    while at < end:
        match = TOKEN.match(text, at)
        if not match:
            raise ValueError("line %d: no token starts with %r" % (text.count("\n", 0, at) + 1, text[at]))
        at = match.end()
        if match.lastgroup != "space":
            found.append(match.group())
    return found


def difference(a, b):
    """None if both texts have the same tokens, else where they part."""
    try:
        left, right = tokens(a), tokens(b)
    except ValueError as error:
        return str(error)
    for number, (x, y) in enumerate(zip(left, right)):
        if x != y:
            around = " ".join(left[max(0, number - 4):number + 1])
            return "token %d: '%s' became '%s' after ... %s" % (number, x, y, around)
    if len(left) != len(right):
        return "%d tokens became %d" % (len(left), len(right))
    return None
