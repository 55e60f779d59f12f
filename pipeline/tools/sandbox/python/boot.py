# Runs the program that comes on standard input. Given to python by -c.
import sys


def boot():
    import atexit, base64, json, linecache, os, stat, traceback, types
    given = json.loads(sys.stdin.buffer.read())
    work = given["work"]
    os.chdir(work)
    export = given.get("export")
    if export:  # a program gets no descriptor that somebody left open, in this process or in one before it
        os.closerange(3, export["fd"])
        os.closerange(export["fd"] + 1, 2**31 - 1)
    sys.path[:] = [p for p in sys.path if p] + [work]
    for name, limit in (given.get("rlimits") or {}).items():
        import resource
        resource.setrlimit(getattr(resource, name), (limit, limit))

    chart = types.ModuleType("chart")
    exec(compile(given["chart"], "chart.py", "exec"), chart.__dict__)
    sys.modules["chart"] = chart
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main

    # What leaves the sandbox is checked outside. A program that spoils this loses its own figures, no more.
    listdir, lstat, fopen, isreg = os.listdir, os.lstat, open, stat.S_ISREG
    dumps, encode = json.dumps, base64.b64encode

    def leave():
        with os.fdopen(export["fd"], "w", encoding="ascii") as out:
            left = export["max_files"]
            for name in sorted(listdir(work)):
                if left == 0 or not name.lower().endswith((".svg", ".png")):
                    continue
                info = lstat(work + "/" + name)
                if not isreg(info.st_mode) or info.st_size > export["max_bytes"]:
                    continue
                with fopen(work + "/" + name, "rb") as f:
                    body = f.read(export["max_bytes"])
                out.write(dumps({"name": name, "body": encode(body).decode("ascii")}) + "\n")
                left -= 1

    if export:
        atexit.register(leave)

    source = given["program"]
    linecache.cache["program.py"] = (len(source), None, source.splitlines(True), "program.py")
    try:
        exec(compile(source, "program.py", "exec"), main.__dict__)
    except SystemExit:
        raise
    except BaseException as e:
        trace = e.__traceback__
        traceback.print_exception(type(e), e, trace.tb_next if trace else None)
        sys.exit(1)


boot()
