"""What runs inside the target interpreter: a memory model, an import system and a pytest plugin for checks.

Nothing in ``pipeline`` imports this package: it is sent to the target by path. It needs the standard library only; torch,
numpy, triton and pytest are the target's own and are imported when they are needed. It knows no kit: a kit's
``operators.py`` says which modules get stand-ins and what the device operators do.
"""
