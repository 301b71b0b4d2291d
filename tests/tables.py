"""Rows of the project's tables (.def), and what the tables of commands and options say."""
import collections
import os
import re

TOP = os.environ.get("TOP") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
Option = collections.namedtuple("Option", "id letter name argument value commands marks sets echo help")
Command = collections.namedtuple("Command", "id name run minimum maximum operands formats summary")
TOKEN = re.compile(r"""("(?:[^"\\]|\\.)*"|'[^']*'|[^"'(),]+|[(),])""")


def cells(row):
    """The columns of a row: what is between commas outside of parentheses and quotes."""
    found, depth = [""], 0
    for token in TOKEN.findall(row):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "," and not depth:
            found.append("")
        else:
            found[-1] += token
    return [cell.strip() for cell in found]


def plain(cell):
    """A string or a letter without its quotes; None where there is none."""
    return None if cell == "NULL" else re.sub(r"\\(.)", r"\1", cell.strip("'\"")) if cell[:1] in "'\"" else cell


def rows(path, macro):
    with open(os.path.join(TOP, path), encoding="ascii") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    found = [cells(row) for row in re.findall(r"^%s\((.*)\)$" % macro, text, re.M)]
    if not found or len(found) != len(re.findall(r"^%s\(" % macro, text, re.M)):
        raise ValueError("%s: a row of another shape" % path)
    return found


def commands():
    """By id."""
    table = [Command(*map(plain, row)) for row in rows("cli/commands.def", "HD_COMMAND")]
    return {row.id: row for row in table}


def options():
    """By id."""
    table = [Option(*map(plain, row)) for row in rows("base/options.def", "HD_OPTION")]
    return {row.id: row._replace(letter=None if row.letter == "0" else row.letter) for row in table}


def takes(command, option):
    return option.commands == "ALL" or "IN(%s)" % command.id in option.commands


def spellings(option):
    """As the command line has them: -h, --help, -MD (one dash, as compilers have it)."""
    found = ["-" + option.letter] if option.letter else []
    if option.name:
        found.append(("-" if option.name.isupper() else "--") + option.name)
    return found
