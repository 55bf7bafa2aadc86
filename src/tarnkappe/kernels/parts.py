"""Functions that only kernels call are not compiled to machine code of their own, but as parts of those who call them.

Numba optimises and translates every function by itself, and once more within each one that calls it. The first of the
two is for callers in Python; where there are none, it is an eighth of all that the first run after installing waits
for. Numba has no public switch for that, so this module is loaded only with versions that it was tried with.
"""

# mypy: disallow-untyped-calls=False

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

if TYPE_CHECKING:
    from numba.core.compiler_machinery import PassManager


@ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
def _nothing(*_: object) -> None:
    """What Python finds where it calls a part: no result, which it takes for a SystemError."""


class _Part(JITCodeLibrary):
    """Code that waits to be linked into that of its callers, and is optimised there."""

    def _optimize_final_module(self) -> None:
        """Left to the callers."""

    def _finalize_final_module(self) -> None:
        """Ready to be linked; no machine code is made."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(NativeLowering):
    """Numba's last step, without machine code."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        """Make the code of a part, and tell Numba where callers find it."""
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.flags.no_compile = state.flags.no_cpython_wrapper = True
        super().run_pass(state)
        made = state["cr"]
        name = made.fndesc.qualname.rpartition(".")[2]
        address = ctypes.cast(_nothing, ctypes.c_void_p).value
        entry = _dynfunc.make_function(made.fndesc.lookup_module(), name, "", address, made.env, (state.library,))
        state.targetctx.insert_user_function(entry, made.fndesc, [state.library])
        state.reload_init.extend(state.library._reload_init)
        state["cr"] = _LowerResult(made.fndesc, made.call_helper, cfunc=entry, env=made.env)
        return True


class PartCompiler(Compiler):
    """Numba's compiler with another last step."""

    def define_pipelines(self) -> list[PassManager]:
        """Numba's steps, the last of them exchanged."""
        pipelines: list[PassManager] = super().define_pipelines()
        for steps in pipelines:
            steps.passes = [(_PartLowering if step is NativeLowering else step, why) for step, why in steps.passes]
            steps._finalized = False
            steps.finalize()
        return pipelines
