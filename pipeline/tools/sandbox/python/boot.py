# Runs the program that comes on standard input. Given to python by -c; its argument is the source of module chart.
# Every import here costs each program time: json and traceback take longer than Python's own start.
import os, sys


def boot():
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

    work = os.environ["HOME"]
    os.chdir(work)
    sys.path[:] = [p for p in sys.path if p] + [work]
    sys.meta_path.append(Chart())
    main = type(sys)("__main__")
    sys.modules["__main__"] = main
    source = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        exec(compile(source, "program.py", "exec"), main.__dict__)
    except SystemExit:
        raise
    except BaseException as e:
        import linecache, traceback
        linecache.cache["program.py"] = (len(source), None, source.splitlines(True), "program.py")
        trace = e.__traceback__
        traceback.print_exception(type(e), e, trace.tb_next if trace else None)
        sys.exit(1)


boot()
