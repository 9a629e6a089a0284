# SPDX-License-Identifier: MIT
"""tap.py - runs the tests of this folder and says in TAP what they found

    python3 python/tests/tap.py [FILE...]

A line for each method; a subtest that fails is a comment of its method's.  What
a test prints goes to standard error.  The package is BUILD/python's (build) if
PYTHONPATH has no other.  Exit code 1 if a test fails, or none is there.
"""

import os
import signal
import sys
import traceback
import unittest
from contextlib import redirect_stdout
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Tap(unittest.TestResult):
    """One line per test, when it is known how it ended."""

    def __init__(self, out):
        super().__init__()
        self.out = out
        self.count = self.failed = 0
        self.faults = []

    def line(self, word, test, directive=""):
        self.count += 1
        self.failed += word != "ok"
        name = test.id().replace("#", "")
        print(f"{word} {self.count} - {name}{directive}", file=self.out)
        for text in "\n".join(self.faults).splitlines():
            print(f"# {text}", file=self.out)
        self.faults = []
        self.out.flush()

    def startTest(self, test):
        super().startTest(test)
        self.ended = None

    def stopTest(self, test):
        super().stopTest(test)
        if self.faults:
            self.line("not ok", test)
        elif self.ended is not None:
            self.line("ok", test, self.ended)

    def fault(self, test, error):
        self.faults.append("".join(traceback.format_exception(*error)))
        # The class or the module, which has no stopTest.
        if not isinstance(test, unittest.TestCase):
            self.line("not ok", test)

    addError = addFailure = fault

    def addSubTest(self, test, subtest, error):
        if error:
            self.faults.append(f"{subtest.id()}:")
            self.fault(test, error)

    def addSuccess(self, test):
        self.ended = ""

    def addExpectedFailure(self, test, error):
        self.ended = ""

    def addUnexpectedSuccess(self, test):
        self.faults.append("this test was expected to fail")

    def addSkip(self, test, reason):
        self.ended = " # SKIP " + " ".join(reason.split())
        if not isinstance(test, unittest.TestCase):
            self.line("ok", test, self.ended)


def load(files):
    loader = unittest.TestLoader()
    if not files:
        return loader.discover(str(HERE))
    return unittest.TestSuite(
        loader.discover(str(Path(file).resolve().parent), Path(file).name)
        for file in files
    )


def main():
    sys.path.append(str(Path(os.environ.get("BUILD", "build"), "python").resolve()))
    # A shell that runs this in the background has it ignored, for children, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tap = Tap(sys.stdout)
    suite = load(sys.argv[1:])
    with redirect_stdout(sys.stderr):
        suite.run(tap)
    print(f"1..{tap.count}")
    return 1 if tap.failed or not tap.count else 0


if __name__ == "__main__":
    sys.exit(main())
