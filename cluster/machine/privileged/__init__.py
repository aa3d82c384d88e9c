"""Programs that root runs for an ordinary user of a host, by sudo: all that a study may ask of root there.

sudo compares one line of joined arguments with a rule, so a rule cannot tell where an argument ends. Each of
these programs therefore checks its own arguments, one by one. They import nothing of this project, run in
Python's isolated mode, ignore the environment except for SUDO_UID, which sudo itself sets, and read no file
that a user can name. `study sudo-rules` prints the script that installs them.
"""
