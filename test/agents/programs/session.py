"""What every Python client has in common: two tools on files, and where it is told to speak to."""

import json
import os
import pathlib

ADDRESS = os.environ["IL_ADDRESS"]
KEY = os.environ["IL_KEY"]
MODEL = os.environ["IL_MODEL"]
PROMPT = os.environ["IL_PROMPT"]
# How Claude's formats are asked to think.
THINKING = json.loads(os.environ["IL_THINKING"])
# More than any session here takes.
STEPS = 8


def read_file(path: str) -> str:
    """Read a file.

    Args:
        path: Where it is.
    """
    return pathlib.Path(path).read_text()


def write_file(path: str, content: str) -> str:
    """Write a file.

    Args:
        path: Where it goes.
        content: What goes there.
    """
    pathlib.Path(path).write_text(content)
    return f"wrote {len(content)} characters"


TOOLS = {"read_file": read_file, "write_file": write_file}


def run(name, arguments):
    """The output of a call; arguments may be JSON."""
    given = json.loads(arguments) if isinstance(arguments, str) else arguments
    return TOOLS[name](**given)


def schema(*names):
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": list(names),
        "additionalProperties": False,
    }


DECLARED = [
    {"name": "read_file", "description": "Read a file.", "parameters": schema("path")},
    {"name": "write_file", "description": "Write a file.", "parameters": schema("path", "content")},
]
