"""Two hundred ways to damage a model's file, the same ones each time.

Another test may use them too: ``damaged(path.read_bytes())``. More than half have a right checksum and a valid zip, so
that the layers below are reached: arrays that claim other shapes, nodes of other types, attributes that are gone.
"""

import hashlib
import io
import json
import random
from dataclasses import dataclass
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

STRANGE = (
    "null",
    '"x"',
    "-1",
    "1e308",
    "1e999",
    "NaN",
    "[]",
    "{}",
    "true",
    "0",
    "10000000000000000000000000000000",
    '"\\u0000"',
    "[[[[1]]]]",
    "not JSON",
    "",
    "[" * 5000,
)


@dataclass(frozen=True)
class Damage:
    name: str
    content: bytes
    is_sealed: bool  # checksum and zip are right, and only what is inside is not


def damaged(content, n=200, seed=0):
    """Give n damaged versions of a model's file."""
    found = []
    for i in range(n):
        way = WAYS[i % len(WAYS)]
        dice = random.Random(1000 * seed + i)
        is_sealed = way in SEALED
        found.append(Damage(f"{i:03d} {way.__name__}", way(content, dice), is_sealed))
    return found


# ---------------------------------------------------------------- a file, its header and its model


def members(content):
    with ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts, compression=ZIP_DEFLATED):
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", compression) as archive:
        for name, part in parts.items() if isinstance(parts, dict) else parts:
            archive.writestr(name, part)
    return buffer.getvalue()


def sealed(content, payload=None, facts=None):
    """Put another model or other facts into a file, with the right checksum."""
    parts = members(content)
    header = json.loads(parts["mixkern.json"])
    payload = parts["model.skops"] if payload is None else payload
    header["payload"] = {"sha256": hashlib.sha256(payload).hexdigest(), "size": len(payload)}
    header.update(facts or {})
    return zipped({"mixkern.json": json.dumps(header), "model.skops": payload})


def inside(content):
    """Give the schema of a file's model, and its arrays."""
    parts = members(members(content)["model.skops"])
    return json.loads(parts.pop("schema.json")), parts


def with_inside(content, schema, arrays):
    """Give the same file with another schema and other arrays, and the right checksum."""
    text = schema if isinstance(schema, (str, bytes)) else json.dumps(schema)
    return sealed(content, zipped({"schema.json": text, **arrays}, ZIP_STORED))


def nodes(schema):
    """List all nodes of a schema, the places of nodes, and dicts of nodes."""
    found, waiting = [], [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            found += [part] if "__loader__" in part else []
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return found


# ---------------------------------------------------------------- ways that a checksum finds


def cut(content, dice):
    return content[: dice.randrange(len(content))]


def flipped(content, dice):
    changed = bytearray(content)
    for _ in range(dice.choice([1, 3, 50])):
        changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def flipped_directory(content, dice):
    changed = bytearray(content)
    for _ in range(dice.choice([1, 2, 5])):
        changed[-dice.randrange(1, 140)] = dice.randrange(256)
    return bytes(changed)


def swapped_members(content, dice):
    parts = members(content)
    return zipped({"mixkern.json": parts["model.skops"], "model.skops": parts["mixkern.json"]})


def stretched(content, dice):
    at = dice.randrange(len(content))
    return content[:at] + dice.randbytes(dice.choice([1, 100])) + content[at:]


# ---------------------------------------------------------------- ways that it does not


def other_facts(content, dice):
    wrong = dice.choice(["1", 0, -1, None, [], {}, True, 1.5, 2**70])
    name = dice.choice(["format", "mixkern", "class", "created", "versions", "notes", "payload"])
    return sealed(content, facts={name: wrong})


def schema_bytes(content, dice):
    schema, arrays = inside(content)
    changed = bytearray(json.dumps(schema).encode())
    for _ in range(dice.choice([1, 2, 4])):
        changed[dice.randrange(len(changed))] = dice.choice(b'0123456789"{}[],:aN-.e\\')
    return with_inside(content, bytes(changed), arrays)


def lost_key(content, dice):
    schema, arrays = inside(content)
    node = dice.choice(nodes(schema))
    node.pop(dice.choice(sorted(node)))
    return with_inside(content, schema, arrays)


def lost_attribute(content, dice):
    schema, arrays = inside(content)
    node = dice.choice([node for node in nodes(schema) if isinstance(node.get("content"), dict) and node["content"]])
    node["content"].pop(dice.choice(sorted(node["content"])))
    return with_inside(content, schema, arrays)


def renamed_attribute(content, dice):
    schema, arrays = inside(content)
    places = [node["content"] for node in nodes(schema) if node["__loader__"] == "DictNode" and node["content"]]
    place = dice.choice(places)
    one, other = dice.choice(sorted(place)), dice.choice(["predict", "__class__", "__dict__", "", *sorted(place)])
    place[other] = place.pop(one)
    return with_inside(content, schema, arrays)


def exchanged_nodes(content, dice):
    schema, arrays = inside(content)
    all_nodes = nodes(schema)
    one, other = dice.choice(all_nodes[1:]), json.loads(json.dumps(dice.choice(all_nodes)))
    one.clear()
    one.update(other)
    return with_inside(content, schema, arrays)


def other_types(content, dice):
    schema, arrays = inside(content)
    all_nodes = nodes(schema)
    node, model = dice.choice(all_nodes), dice.choice(all_nodes)
    for key in dice.choice([("__class__", "__module__"), ("__loader__",), ("__class__",)]):
        node[key] = model[key]
    return with_inside(content, schema, arrays)


def strange_value(content, dice):
    schema, arrays = inside(content)
    node = dice.choice([node for node in nodes(schema) if node["__loader__"] == "JsonNode"])
    node["content"] = dice.choice(STRANGE)
    return with_inside(content, schema, arrays)


def flipped_numbers(content, dice):
    schema, arrays = inside(content)
    if not arrays:
        return schema_bytes(content, dice)
    name = dice.choice(sorted(arrays))
    changed = bytearray(arrays[name])
    for _ in range(dice.choice([1, 8])):
        changed[-dice.randrange(1, max(2, len(changed) - 127))] ^= 1 << dice.randrange(8)
    return with_inside(content, schema, {**arrays, name: bytes(changed)})


def flipped_claims(content, dice):
    schema, arrays = inside(content)
    if not arrays:
        return schema_bytes(content, dice)
    name = dice.choice(sorted(arrays))
    changed = bytearray(arrays[name])
    changed[dice.randrange(128)] = dice.choice(b"0123456789(),'<>fiuOU ")
    return with_inside(content, schema, {**arrays, name: bytes(changed)})


def exchanged_arrays(content, dice):
    schema, arrays = inside(content)
    if len(arrays) < 2:
        return schema_bytes(content, dice)
    one, other = dice.sample(sorted(arrays), 2)
    return with_inside(content, schema, {**arrays, one: arrays[other], other: arrays[one]})


OPEN = (cut, flipped, flipped_directory, swapped_members, stretched)
SEALED = (
    other_facts,
    schema_bytes,
    lost_key,
    lost_attribute,
    renamed_attribute,
    exchanged_nodes,
    other_types,
    strange_value,
    flipped_numbers,
    flipped_claims,
    exchanged_arrays,
)
WAYS = (*OPEN, *SEALED, *SEALED[1:])
