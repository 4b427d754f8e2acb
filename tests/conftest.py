"""Fixtures for tests that need a fresh interpreter."""

import json
import subprocess
import sys

import pytest

# Runs snippets in forks of one process, so that the imports of "setup", which take seconds, are made once.
SERVER = """
import json, os, sys, tempfile, traceback
setup, snippets = json.load(sys.stdin)
exec(setup, {"__name__": "__main__"})
found = []
for snippet in snippets:
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if not child:
            os.dup2(output.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            code = 0
            try:
                exec(snippet, {"__name__": "__main__"})
            except SystemExit as error:
                code = 0 if error.code is None else 1
                print(error.code, file=sys.stderr)
            except BaseException:
                traceback.print_exc()
                code = 1
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        _, status = os.waitpid(child, 0)
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode())
        found.append([os.waitstatus_to_exitcode(status), *texts])
print(json.dumps(found))
"""


@pytest.fixture(scope="session")
def fresh_interpreter():
    """Run snippets of code, each as if alone in an interpreter; return exit code, output and errors of each."""

    def run(setup, snippets):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", SERVER],
            input=json.dumps([setup, list(snippets)]),
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    return run
