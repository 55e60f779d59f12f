# Runs the program that comes on standard input. Given to python by -c; its arguments are the source of module chart and
# the mark after which the drawings follow on standard error.
# Every import here costs each program time: json and traceback take longer than Python's own start.
import builtins, io, os, sys

MOST, LARGEST = 8, 2 << 20  # drawings, and bytes of one, as in sandbox.go
files = {}  # by name: a program has no file system, so what it writes stays in its memory


class Written(io.BytesIO):
    def __init__(self, name, start):
        super().__init__(start)
        self.name = name

    def close(self):
        if not self.closed:
            files[self.name] = self.getvalue()
        super().close()


def in_memory(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None,
              open=io.open):
    name = file if isinstance(file, int) else os.path.normpath(os.fsdecode(file))
    kind = mode.strip("bt")[:1] or mode[:1]
    writes = kind in "wax" or "+" in mode
    known = name in files
    if isinstance(file, int) or "/" in name or "\0" in name or not known and (not writes or kind == "r"):
        return open(file, mode, buffering, encoding, errors, newline, closefd, opener)
    if kind == "x" and known:
        raise FileExistsError(17, "File exists", name)
    start = files[name] if known and kind != "w" else b""
    f = Written(name, start) if writes else io.BytesIO(start)
    if kind == "a":
        f.seek(0, 2)
    return f if "b" in mode else io.TextIOWrapper(f, encoding or "utf-8", errors, newline)


def draw(mark, write=os.write):
    sys.stderr.flush()
    out = mark
    for name in [n for n in sorted(files) if n.lower().endswith(".svg") and len(files[n]) <= LARGEST][:MOST]:
        out += "\0".encode() + name.encode("utf-8", "replace") + b"\0" + files[name].replace(b"\0", b"")
    while out:
        out = out[write(2, out):]


def boot():
    mark = sys.argv.pop().encode()
    chart = sys.argv.pop()

    class Chart:  # makes module chart for a program that imports it
        def find_spec(self, name, path=None, target=None):
            if name == "chart":
                from _frozen_importlib import ModuleSpec
                return ModuleSpec(name, self)

        def create_module(self, spec):
            return None

        def exec_module(self, module):
            exec(compile(chart, "chart.py", "exec"), module.__dict__)

    builtins.open = io.open = in_memory
    sys.path[:] = [p for p in sys.path if p]
    sys.meta_path.append(Chart())
    main = type(sys)("__main__")
    sys.modules["__main__"] = main
    source = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        exec(compile(source, "program.py", "exec"), main.__dict__)
    except SystemExit:
        draw(mark)
        raise
    except BaseException as e:
        import linecache, traceback
        linecache.cache["program.py"] = (len(source), None, source.splitlines(True), "program.py")
        trace = e.__traceback__
        traceback.print_exception(type(e), e, trace.tb_next if trace else None)
        sys.exit(1)
    draw(mark)


boot()
