#!/usr/bin/env python3
"""Fails if a file includes what its room may not use.

Data passes through the rooms of src/ in one order, and includes follow it: docs/architecture.md has the reasons.
Prints file:line for each include that goes the wrong way. Tests and benchmarks (x_test.cc, x_bench.cc) may look anywhere.
"""
import re
import sys
from pathlib import Path

# What any room may name: the vocabulary of types, tensors and errors, without the operations on models.
VOCABULARY = ["binet/element_type.h", "binet/error.h", "binet/export.h", "binet/float16.h", "binet/tensor.h"]

# Room: what it may include beside itself. An entry is a folder (with its last slash) or one header.
MAY_INCLUDE = {
    "include/binet/": [],
    "src/base/": VOCABULARY,
    "src/tensor/": [*VOCABULARY, "base/"],
    "src/threads/": [*VOCABULARY, "base/", "binet/executor.h"],
    "src/kernels/": [*VOCABULARY, "base/", "threads/", "tensor/broadcast.h"],
    "src/operators/": [*VOCABULARY, "base/", "threads/", "tensor/", "kernels/"],
    # Nodes are bound to operator versions: graph sees their declarations, not what they compute.
    "src/graph/": [*VOCABULARY, "base/", "tensor/", "operators/operator_version.h", "operators/registry.h", "binet/model.h"],
    "src/formats/": [*VOCABULARY, "base/", "tensor/", "graph/", "binet/tensor_file.h"],
    "src/runtime/": ["binet/", "base/", "threads/", "tensor/", "kernels/", "operators/", "graph/", "formats/"],
    # The users' side sees what users see.
    "src/tool/": ["binet/"],
    "bindings/": ["binet/"],
    "examples/": ["binet/"],
}

INCLUDE = re.compile(r'\s*#\s*include\s*(?:"([^"]+)"|<(binet/[^>]+)>)')


def own_prefix(room):
    """How files of a room name their own headers: include paths start below src/ and include/."""
    return re.sub(r"^(src|include)/", "", room)


def main():
    root = Path(__file__).resolve().parent.parent
    rooms = {entry.parent.relative_to(root).as_posix() + "/" for entry in root.glob("src/*/CMakeLists.txt")}
    wrong = [f"{room}: this room is not in the table of {Path(__file__).name}" for room in sorted(rooms - set(MAY_INCLUDE))]
    count = 0
    for room, allowed in MAY_INCLUDE.items():
        allowed = (own_prefix(room), *allowed)
        folder = root / room
        for path in sorted(p for p in folder.rglob("*") if p.suffix in (".h", ".cc")) if folder.is_dir() else []:
            if path.stem.endswith(("_test", "_bench")):
                continue
            count += 1
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                target = match and (match[1] or match[2])
                # A folder is allowed by its beginning, a header by its whole name.
                if target and not any(target.startswith(a) if a.endswith("/") else target == a for a in allowed):
                    wrong.append(f"{path.relative_to(root)}:{number}: {room} may not include {target}")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"include directions: {count} files, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
