"""Prints the folder of the task files, for `--include_path`."""

from . import task_dir

print(task_dir())
