"""Options of commands with a wrong, an empty and a missing value, and options that do not go together: exit 2. Which options, follows from
the program's bytes; FULL=1 takes every one of every command.

The commands and options are those of cli/commands.def and base/options.def: an option that is not in WRONG or FREE fails the suite.
"""
import os

import tables
import toolkit
from support import BUILD, HEDDLE, expect, run, write
from usage import KERNEL, status

NUMBER = (("x", "takes a number"), ("-1", "takes a number"), ("1x", "takes a number"), ("", "takes a number"), ("99999999999", "takes a number"))
# By option: wrong values, each with what the message says; it names the value, too.
WRONG = {
    "PASSES": (("nosuch", "-p:1:1: error: no pass is named"), ("bow(", "-p:1:5: error: "), ("", "-p:1:1: error: ")),
    "EMIT": (("nosuch", "--emit takes one of portable|extended, not"), ("", "--emit takes one of")),
    "CODE": (("nosuch", "--code takes one of ptx|machine|auto, not"), ("", "--code takes one of")),
    "THREADS": NUMBER + (("1025", "--threads takes a number up to 1024, not"),),
    "PRINT_AFTER": (("nosuch", "--print-after: no pass is named"), ("", "--print-after")),
    "GPU": (("nosuch", "no GPU is called"), ("", "no GPU is called")),
    "ARCH": (("nosuch", "no GPU is called"), ("", "no GPU is called")),
    "TECHNIQUE": (("nosuch", "--technique:1:1: error: no technique is called"), ("bow,none", "--technique:1:5: error: 'none' is given alone"), ("", "--technique takes LIST, not ''")),
    "MAX_REGISTERS": NUMBER + (("256", "--max-registers takes a number up to 255, not"),),
    "REGISTERS": NUMBER + (("0", "--registers takes a number from 1 to 255, not"), ("256", "--registers takes a number from 1 to 255, not")),
    "TRIALS": NUMBER + (("17", "--trials takes a number up to 16, not"),),
    "INSTRUCTION_LIMIT": NUMBER, "LATENCY": NUMBER, "PTXAS_TIMEOUT": NUMBER, "ERROR_LIMIT": NUMBER,
    "ACTIVE_WARPS": NUMBER + (("0", "--active-warps takes a number from 1 to 1024, not"),),
    "SMS": NUMBER + (("0", "--sms takes a number from 1 to 1024, not"),),
    "SAMPLE": NUMBER + (("3", "--sample takes a number from 4 to"),),
    "LANE_FAULT": (("nosuch", "--lane-fault"), ("", "--lane-fault")),
    "RECORD": (("", "--record takes FOLDER, not ''"),),
    "SET": (("nosuch", "'nosuch' is not KEY=VALUE"), ("nosuch.x=1", "there is no section 'nosuch'"), ("", "--set takes KEY=VALUE, not ''"),
            ("limits.sms=x", "'x' is not a whole number"), ("limits.nosuch=1", "unknown key 'nosuch'"), ("limits.sms.x=1", "there are no keys in what '.x' is to be in"),
            ("=1", "is not KEY=VALUE"), ("limits.sms=[1", "did not find expected")),
    "TIMELINE": (("", "--timeline takes FILE, not ''"),),
    "TIMELINE_CYCLES": (("x", "--timeline-cycles takes A:B"), ("5:3", "--timeline-cycles takes A:B"), ("", "--timeline-cycles takes A:B")),
    "TIMELINE_SM": (("x", "--timeline-sm takes a number"), ("5:3", "--timeline-sm takes a number"), ("", "--timeline-sm takes a number")),
    "MEMORY_BASE": (("x", "--memory-base takes a multiple of"), ("0", "--memory-base takes"), ("", "--memory-base takes")),
    "BLOCK_ORDER": tuple((wrong, "--block-order takes linear, reverse, random or random:SEED") for wrong in ("x", "", "random:", "random:4294967296", "reverse:1")),
    "BUFFER_ORDER": (("x", "--buffer-order takes linear, reverse, random or random:SEED"), ("", "--buffer-order takes linear")),
    "SEED": NUMBER + (("0", "--seed takes a number from 1 to 4294967295, not"),),
    "FORMAT": (("nosuch", "--format takes one of"), ("", "--format takes one of")),
    "REQUIRE": (("nosuch<=1", "--require:1:1: error: "), ("registers", "--require:1:"), ("", "--require:1:1: error: ")),
    "BLOCK": (("x", "--block takes"), ("0", "--block takes"), ("", "--block takes")),
    "SHARED": (("x", "--shared takes bytes"), ("1Q", "--shared takes bytes"), ("", "--shared takes bytes")),
    "WARN": (("nosuch", "-Wnosuch: no such warning"), ("no-syntax", "-Wno-syntax: no such warning, or an error"), ("", "-W: no such warning")),
    "DIAGNOSTICS": (("nosuch", "--diagnostics takes one of text|json|sarif, not"), ("", "--diagnostics takes one of")),
    "PROGRESS": (("nosuch", "--progress takes one of auto|always|never, not"), ("", "--progress takes one of")),
    "COLOR": (("nosuch", "--color takes one of auto|always|never, not"), ("", "--color takes one of")),
    "OUTPUT": (("", "--output takes FILE, not ''"),),
    "KERNEL": (("", "--kernel takes GLOB, not ''"),),
    "PLUGIN": (("", "--plugin takes FILE|NAME, not ''"),),
    "REFERENCE": (("", "--reference takes FILE, not ''"),),
    "TRACE": (("", "--trace takes FILE, not ''"),),
    "SASS": (("", "--sass takes FILE, not ''"),),
    "DEPFILE_PATH": (("", "-MF takes FILE, not ''"),),
    "SHARD": (("x", "--shard takes I/N"), ("2/2", "--shard takes I/N"), ("1/", "--shard takes I/N"), ("", "--shard takes")),
    "SUBMIT": (("nosuch", "--submit takes one of slurm, not"), ("", "--submit takes one of")),
    "EXPORT": (("nosuch", "--export takes one of make|ninja, not"), ("", "--export takes one of")),
    "LIKE": (("nosuch", "no figure has the name 'nosuch'"), ("", "--like takes NAME, not ''")),
    "DEPFILE_TARGET": (("", "-MT takes TARGET, not ''"),),
}
# PTXAS: a program that cannot be run is a note, and the report is made without it; STEP: that it does not run is no error of usage;
# QUERY: the database reads it
FREE = {"PTXAS", "REPORT", "STEP", "QUERY"}
# By command: options that do not go together, and what the message says of them.
TOGETHER = {
    "rewrite": ((["--no-section", "--emit=extended", "-p", "bow"], "--no-section goes with --emit=portable"),
                (["--print-after=bow"], "--print-after: there is no list of passes"),
                (["-p", "bow", "--print-after=ltrf"], "--print-after: 'ltrf' is not in the list"),
                (["-MD"], "-MD and -MF need"), (["-MF", "x"], "-MD and -MF need"), (["-MT", "x"], "-MT goes with -MD or -MF"),
                (["-MP"], "-MP goes with -MD or -MF"), (["-p", "all", "--cache"], "-p all writes a table"),
                (["-p", "all", "--stats"], "-p all writes a table"), (["-p", "all", "-MD", "-o", "x"], "-p all writes a table"),
                (["-p", "regmutex,demo"], "-p:1:"), (["-p", "bow(iw=3,iw=4)"], "is given twice")),
    "report": ((["--arch=sm_80", "--gpu=sm_80"], "--arch and --gpu"), (["--ptxas=no", "--ptxas-timeout=3"], "--ptxas-timeout goes with"),
               (["--ptxas=no", "--trials=3"], "--trials goes with"),
               (["--listing", "--format=html"], "--listing goes with --format=text and --format=json"), (["--listing", "--format=sarif"], "--listing goes with")),
    "diff": ((["--arch=sm_80", "--gpu=sm_80"], "--arch and --gpu"), (["--ptxas=no", "--ptxas-timeout=3"], "--ptxas-timeout goes with")),
    "replay": ((["--virtual", "--max-registers=9"], "--virtual and --max-registers"), (["--counters", "--format=json"], "--counters goes with --format=text"),
               (["--technique=bow-wr(iw=3, iw=4)"], "--technique:1:13: error: option 'iw' is given twice")),
    "dump": ((["--cfg", "--ir"], "one of --tokens"), (["--tokens", "--json"], "--json goes with")),
    "nvcc": ((["--ptxas=no", "--ptxas-timeout=3"], "--ptxas-timeout goes with"), (["-p", "all"], "-p all compares techniques"),
             (["--print-after=bow"], "--print-after: there is no list of passes")),
    "run": ((["--lane-fault=sm=0,lane=5,unit=sp,bit=3,stuck=1"], "--lane-fault goes with --technique or --time"), (["--models"], "--models goes with"),
            (["--virtual", "--max-registers=9"], "--virtual and --max-registers"), (["--counters", "--format=json"], "--counters goes with --format=text")),
    "sweep": ((["--dry-run", "--export=make"], "one at a time"), (["--shard=0/2", "--submit=slurm"], "make shards of their own"),
              (["--query=SELECT 1"], "--format and --query go with")),
    "plot": ((["--like=speedup"], "the figure of one file, or one of --like"),),
    "list": (), "init": (), "strip": (), "check": (), "help": (), "completion": (), "cache": (), "new": (), "check-plugin": (),
}


COMMANDS = tables.commands()
OPTIONS = tables.options()


def takes(command, option):
    return tables.takes(COMMANDS[command], OPTIONS[option])


# Of some 2,000 command lines a third, and fewer with sanitizers, with which a process takes long to start.
STEP = 15 if toolkit.is_slow(BUILD) else 3


def pairs(taken=True):
    every = [(command, option) for command in COMMANDS for option in OPTIONS if takes(command, option) == taken]
    return toolkit.drawn(every, STEP, HEDDLE)


def has_argument(option):
    return OPTIONS[option].argument is not None


def spelling(option):
    """--name, -MF, or the letter where there is no name."""
    return tables.spellings(OPTIONS[option])[-1]


def given(option, value):
    """The option with its value as the command line has it."""
    name = spelling(option)
    return [name + "=" + value] if name.startswith("--") else [name, value]


def command_line(command, folder, option=None):
    """A command line that lacks nothing."""
    good = write(os.path.join(folder, "good.ptx"), KERNEL)
    operands = {"DIFF": [good, good], "LIST": ["passes"], "NEW": ["technique", "mine"], "COMPLETION": ["bash"], "CACHE": ["stats"], "HELP": [], "REPLAY": [write(os.path.join(folder, "l.yaml"), "")]}.get(command, [good])
    if command == "SWEEP":
        operands = ["export", folder] if option in ("FORMAT", "QUERY") else [write(os.path.join(folder, "s.yaml"), "axes: {input: good.ptx}")]
    if command == "PLOT":
        operands = [folder] if option == "LIKE" else [folder, good]
    needed = {"SWEEP": [] if option in ("FORMAT", "QUERY") else ["-o", "out"], "PLOT": ["-o", "out.gp"], "DUMP": ["--ir"], "REPORT": ["--ptxas=no"], "DIFF": ["--ptxas=no"], "NVCC": ["--ptxas=no"]}.get(command, [])
    if command == "RUN" and option == "LANE_FAULT":
        needed = ["--technique=warped-dmr"]
    if option in ("TIMELINE_CYCLES", "TIMELINE_SM"):
        needed = needed + ["--time", "--timeline=" + os.path.join(folder, "timeline.json")]
    return COMMANDS[command].name, needed, operands


def refused(arguments, says, folder):
    result = status(2, *arguments, says=says, cwd=folder)
    expect(result.out == b"" and result.err.count("error") + result.err.count("heddle: ") >= 1, "%s: %r", arguments, result.err)
    return result.err


def case_the_tables_are_read(folder):
    expect(len(COMMANDS) >= 9 and len(OPTIONS) >= 50, "%d commands, %d options", len(COMMANDS), len(OPTIONS))
    places = sorted(int(row.echo.split("(")[1].split(",")[0]) for row in OPTIONS.values() if row.echo != "SILENT")
    expect(places == list(range(len(places))), "places of settings in results: %s", places)
    unknown = {option for option in OPTIONS if has_argument(option)} ^ (set(WRONG) | FREE)
    expect(not unknown, "neither wrong values nor free: %s", unknown)
    expect({row.name for row in COMMANDS.values()} == set(TOGETHER), "commands without a list of options that do not go together")


def case_wrong_values(folder):
    for command, option in pairs():
        name, needed, operands = command_line(command, folder, option)
        needed = [word for word in needed if not (option in ("PTXAS_TIMEOUT", "TRIALS") and word.startswith("--ptxas"))]
        more = ["-p", "bow"] if option == "PRINT_AFTER" else []
        for value, says in WRONG.get(option, ()):
            said = refused([name] + needed + more + given(option, value) + operands, says, folder)
            expect(value in said, "%s %s: %r is not named: %s", name, option, value, said)


def case_missing_values(folder):
    for command, option in pairs():
        name, needed, operands = command_line(command, folder)
        operands = [] if command == "RUN" else operands  # whose options are those of the program
        if has_argument(option) and not OPTIONS[option].argument.startswith("["):
            refused([name] + needed + operands + [spelling(option)], "'%s' needs an argument" % spelling(option), folder)
        if OPTIONS[option].letter and has_argument(option):
            letter = "-" + OPTIONS[option].letter
            refused([name] + needed + operands + [letter], "'%s' needs an argument" % letter, folder)


def case_values_of_options_without(folder):
    for command, option in pairs():
        name, needed, operands = command_line(command, folder)
        if not has_argument(option) and spelling(option).startswith("--"):
            refused([name] + needed + [spelling(option) + "=x"] + operands, "'%s=x': this option takes no argument" % spelling(option), folder)


def case_options_of_other_commands(folder):
    for command, option in pairs(taken=False):
        name, needed, operands = command_line(command, folder)
        short = any(takes(command, other) and spelling(other).startswith(spelling(option)) for other in OPTIONS)
        if OPTIONS[option].name and not short:  # for one of its own
            refused([name] + needed + [spelling(option)] + operands, "'%s' is no option of %s: it belongs to " % (spelling(option), name), folder)


def case_misspelt_options(folder):
    for command, option in pairs():
        long = OPTIONS[option].name or ""
        name, needed, operands = command_line(command, folder)
        if len(long) > 4:
            wrong = "--" + long[:-2] + long[-1] + long[-2] if long[-1] != long[-2] else "--" + long + "x"
            refused([name] + needed + [wrong] + operands, "did you mean '--%s'?" % long, folder)


def case_numbers_of_operands(folder):
    for command, row in COMMANDS.items():
        name, needed, operands = command_line(command, folder)
        least, most = int(row.minimum), row.maximum
        if least:
            refused([name] + needed + operands[:least - 1], "usage: heddle %s [OPTIONS] %s" % (name, row.operands), folder)
        if most != "MANY":
            refused([name] + needed + (operands or ["report"]) * (int(most) + 1), "usage: heddle %s [OPTIONS] %s" % (name, row.operands), folder)


def case_options_that_do_not_go_together(folder):
    for command in COMMANDS:
        name, needed, operands = command_line(command, folder)
        for arguments, says in TOGETHER[name]:
            kept = [word for word in needed if command != "DUMP" and not any(argument.startswith("--ptxas") for argument in arguments)]
            refused([name] + kept + arguments + operands, says, folder)
            expect(not os.path.exists(os.path.join(folder, "x")), "%s %s wrote something", name, arguments)


def case_unknown_commands_and_lists(folder):
    for row in COMMANDS.values():
        name = row.name
        refused([name[:-1] + "x" + name[-1]], "did you mean '%s'?" % name, folder)
        refused(["help", name + "x"], "did you mean '%s'?" % name, folder)
    refused(["list", "gpu"], "did you mean 'gpus'?", folder)
    expect(run("nosuch").out == b"", "an unknown command writes something")
