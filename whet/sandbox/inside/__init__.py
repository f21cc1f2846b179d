"""The program that runs inside the sandbox: the standard library only, under any python3 of 3.10 or later.

It is staged into the sandbox as a folder of its own, so its modules import each other relatively and nothing
else of whet.
"""
