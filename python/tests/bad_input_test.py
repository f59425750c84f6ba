# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Bad input: one line that names it, and exit code 2, before any work."""

import signal
import subprocess
import sys
import time

import pytest
import ring
import ringcheck
import torch
from ringcheck import program
from ringcheck.case import Case
from ringcheck.order import order
from runs import HERE
from runs import ringcheck as command

FILES = {
    "no such file": (None, "is no file"),
    "no such name": ("def other(): pass", "has no mine"),
    "syntax error": ("def mine(:", "SyntaxError"),
    "import error": ("import no_such_package", "ModuleNotFoundError: No module named 'no_such_package'"),
    "no function": ("mine = 3", "is a int"),
    "unknown dtype": ("import ringcheck\n@ringcheck.subject(dtypes=['int8'])\ndef mine(): pass", "'int8' is unknown"),
    "unknown balance": ("import ringcheck\n@ringcheck.subject(balance='zigzag')\ndef mine(): pass", "balance='zigzag'"),
    "flag that is a word": ("import ringcheck\n@ringcheck.subject(whole='yes')\ndef mine(): pass", "whole='yes'; want True or False"),
    "exits": ("import sys; sys.exit(7)", "SystemExit: 7"),
    "dies": ("import os; os._exit(7)", "exit code 7"),
}


@pytest.mark.parametrize("what", FILES)
def test_file(tmp_path, what):
    text, said = FILES[what]
    if text is not None:
        (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    run = command("verify", "--subject", f"python[{tmp_path}/mine.py:mine]", "--world", "2")
    assert run.returncode == 2, run.stderr
    assert said in [line for line in run.stderr.splitlines() if line.strip()][-1], run.stderr


@pytest.mark.parametrize("said", [
    {"masks": [3]}, {"masks": []}, {"masks": ["causl"]}, {"worlds": ["2"]}, {"worlds": []}, {"worlds": [0]}, {"dims": [True]},
    {"longest": "4096"}, {"longest": float("nan")}, {"longest": -5}, {"partials": -1}, {"partials": 1.5}, {"u_angle": -1},
    {"u_angle": float("nan")}, {"u_angle": "x"}, {"contract": 3}, {"gqa": "no"}, {"batch": 1}, {"rope": 5}, {"refuses": 3},
    {"sends": 3}, {"function": 3}, {"masks": None}, {"dtypes": None}, {"devices": None}, {"shows": None}, {"masks": "causl"},
    {"worlds": "2"}, {"dims": 0.5}], ids=str)
def test_declaration(said):
    (name, _), = said.items()
    with pytest.raises(ringcheck.Refused, match=f"{name}( is empty|=.*(want|known))"):
        ringcheck.subject(**{"function": lambda q, k, v, *, case, group: q} | said)


def test_a_value_of_a_declaration_is_a_list_of_one():
    one = {"masks": "window[4]", "dtypes": "bf16", "devices": "cpu", "worlds": 2, "dims": 64, "shows": "o"}
    for declared in (ringcheck.subject(ring.ring.function, **one), ringcheck.subject(**one)(ring.ring.function)):
        assert {name: getattr(declared, name) for name in one} == {name: (value,) for name, value in one.items()}
    with pytest.raises(ringcheck.Refused, match=r"^masks=.*: 'causl' is unknown; known: full"):
        ringcheck.subject(ring.ring.function, masks="causl")


def test_what_refuses_says_must_be_a_reason():
    case = Case(text="full/P2/s8", batch=1, q_heads=1, kv_heads=1, seq=8, dim=8, dim_v=8, dtype="float32", mask="full",
                rope="none", balance="contiguous", scale=8**-0.5, world=2, device="cpu", data="spread3", lengths=(8,))
    for said, why in ((None, None), ("too short", "too short")):
        assert ringcheck.subject(lambda q, k, v, *, case, group: q, refuses=lambda _: said).refusal(case) == why
    with pytest.raises(ringcheck.Refused, match="gives 5; want a reason"):
        ringcheck.subject(lambda q, k, v, *, case, group: q, refuses=lambda _: 5).refusal(case)


@pytest.mark.parametrize(("framework", "whole"), [("numpy", False), ("torch", True)])
def test_numpy_is_of_all_ranks(framework, whole):
    with pytest.raises(ringcheck.Refused, match=f"framework='{framework}' and whole={whole}; want framework='numpy' and whole=True"):
        ringcheck.subject(lambda q, k, v, *, case, group: q, framework=framework, whole=whole)


@pytest.mark.parametrize("argument", ["", "mine.py", ":mine", "/dev/null:mine", ".:mine", "mine.py:"])
def test_argument(argument):
    run = command("verify", "--subject", f"python[{argument}]", "--world", "2")
    assert run.returncode == 2, run.stderr


def test_no_such_python():
    run = subprocess.run([*program.command(), "verify", "--subject", "python[ring.py:ring]", "--world", "2"], cwd=HERE,
                         env=program.environment() | {"RINGCHECK_PYTHON": "/no/such/python"}, capture_output=True,
                         text=True, check=False)
    assert run.returncode == 2 and "cannot run /no/such/python" in run.stderr, run.stderr


def test_functions_without_a_file_are_refused():
    def inner(q, k, v, *, case, group):
        return q

    for function in (inner, lambda: 0, 3):
        with pytest.raises(ringcheck.Refused):
            ringcheck.verify(function)


BESIDE = """
import sys, ringcheck
def local(q, k, v, *, case, group): raise RuntimeError("ran")
judged = ringcheck.subject(masks="full", dtypes="float32")(local)
@ringcheck.subject(masks=["full", "causal"], dtypes=["float32", "float64"])
def own(q, k, v, *, case, group): raise RuntimeError("ran")
other = ringcheck.subject(masks="causal")(own.function)
if __name__ == "__main__":
    ringcheck.verify(globals()[sys.argv[1]], seq=8, world=2, oracles="returned")
"""


@pytest.mark.parametrize(("name", "code", "said"), [
    ("judged", 1, "Refused: local of __main__ is the function without what is declared of it"),
    ("other", 1, "Refused: own of __main__ is declared otherwise"),
    ("own", 0, "no case had mask full, which are declared; ask for them by mask=[...]")])
def test_what_is_declared_is_what_the_ranks_find(tmp_path, name, code, said):
    (tmp_path / "beside.py").write_text(BESIDE, encoding="utf-8")
    run = subprocess.run([sys.executable, "beside.py", name], cwd=tmp_path, env=program.environment(), capture_output=True, text=True,
                         check=False)
    assert run.returncode == code and said in run.stderr, run.stderr


CALLS = {
    "cases=[]": ({"cases": []}, r"cases=\[\] is empty; leave it out"),
    "cases=[3]": ({"cases": [3]}, r"cases=\[3\]: 3 is a int; want texts"),
    "cases=3": ({"cases": 3}, "cases=3: 3 is a int; want texts"),
    "world=[]": ({"world": []}, r"world=\[\] is empty; leave it out"),
    "world=257": ({"world": 257}, "world='257'; want a number of ranks from 1 to 256"),
    "world=x": ({"world": "x"}, "world='x'; want a number of ranks from 1 to 256"),
    "json_file=''": ({"json_file": ""}, "json_file=''; want the path of a file, or leave it out"),
    "dtype=int8": ({"dtype": "int8", "seq": 64}, "unknown dtype 'int8'; name one"),
    "dtype=fp16": ({"dtype": "fp16"}, "dtype='fp16', but ring takes float32, bf16"),
    "options": ({"options": ["--bad"]}, "unknown word '--bad'; leave it out"),
    "no folder": ({"json_file": "/no/such/folder", "seq": 64}, "cannot write '/no/such/folder'"),
    "options='--jobs 2'": ({"options": "--jobs 2"}, "options='--jobs 2'; want a list of words"),
    "options=[2]": ({"options": [2]}, r"options=\[2\]; want a list of words"),
    "--subject in options": ({"options": ["--subject=ours"]}, "--subject is said by verify itself"),
    "--json in options": ({"options": ["--json", "x"]}, r"--json is said by verify itself \(json_file\)"),
    "a folder": ({"json_file": "/tmp", "seq": 64}, "json_file='/tmp' is a folder; want the path of a file"),
    "json_file=3": ({"json_file": 3}, "json_file=3; want the path of a file, or leave it out"),
}


@pytest.mark.parametrize("what", CALLS)
def test_call(what):
    which, said = CALLS[what]
    with pytest.raises(ringcheck.Refused, match=said):
        ringcheck.verify(ring.ring, **which)


def test_unknown_arguments_are_named_with_the_nearest_one():
    for name, said in (("dtypes", "did you mean 'dtype'"), ("foo", "known: profile, cases")):
        with pytest.raises(TypeError, match=rf"^verify\(\) got an unexpected keyword argument '{name}'; {said}"):
            ringcheck.verify(ring.ring, **{name: 1})
    with pytest.raises(TypeError, match=r"^cases\(\) got .* 'worlds'; did you mean 'world'"):
        ringcheck.cases(worlds=2)(ring.ring)


def test_dtypes_of_torch_are_taken():
    names = {"float64": "float64", "float32": "float32", "bfloat16": "bf16", "float16": "fp16"}
    of_torch = [getattr(torch, name) for name in names]
    assert order(ring.ring, dtype=of_torch).only == {"dtypes": list(names.values())}
    assert order(ring.ring, dtype=torch.bfloat16, seq=64).words[-2:] == ["--dtype", "bf16"]


def test_ctrl_c_ends_a_file_that_hangs(tmp_path):
    (tmp_path / "mine.py").write_text("import time\ntime.sleep(1000)", encoding="utf-8")
    run = subprocess.Popen([*program.command(), "verify", "--subject", f"python[{tmp_path}/mine.py:mine]"],
                           env=program.environment(), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        time.sleep(2)
        run.send_signal(signal.SIGINT)
        assert run.wait(20) != 0
    finally:
        run.kill()
