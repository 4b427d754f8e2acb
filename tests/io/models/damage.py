"""Ways to damage a model file, the same ones each time.

Another test may use them too: ``damaged(path.read_bytes())``. The files of ``OPEN`` and ``TRICKS`` have wrong checksums
or another structure of the zip. Those of ``SEALED`` have right checksums and the structure of a model file, so that the
layers below are reached: arrays with other shapes, objects of other classes, parts that are missing.
"""

import hashlib
import io
import json
import random
import struct
import warnings
from dataclasses import dataclass
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

STRANGE = (
    None,
    "x",
    -1,
    1e308,
    [],
    {},
    True,
    0,
    10**30,
    "\0",
    [[[[1]]]],
    {"tuple": [1]},
    {"float": "nan"},
    {"dict": [["a", 1]]},
    {"array": 0},
    {"shared": 0},
    {"class": "RBFKernel", "parts": {}},
    {"texts": ["a"], "dtype": "object"},
)
NOT_JSON = ("NaN", "Infinity", "-Infinity", "1e999", "[" * 3000, '{"a":' * 3000, "9" * 5000, '{"a":1,"a":1}', "")
MODEL, SUMS = "model.json", "SHA256SUMS"


@dataclass(frozen=True)
class Damage:
    name: str
    content: bytes
    is_sealed: bool  # checksums and zip are right, and only what is inside is not


def damaged(content, n=200, seed=0):
    """Give n damaged versions of a model's file."""
    found = []
    for i in range(n):
        way = WAYS[i % len(WAYS)]
        dice = random.Random(1000 * seed + i)
        found.append(Damage(f"{i:03d} {way.__name__}", way(content, dice), way in SEALED))
    return found


# ---------------------------------------------------------------- a file, its description and its arrays


def members(content):
    with ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts, compression=ZIP_STORED, **changes):
    """Zip members as mixkern does; changes are attributes of each entry."""
    buffer = io.BytesIO()
    with warnings.catch_warnings(), ZipFile(buffer, "w") as archive:
        warnings.simplefilter("ignore")  # of zipfile, about a name that is there twice
        for name, part in parts.items() if isinstance(parts, dict) else parts:
            info = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = compression
            info.create_system = 3
            for attribute, value in changes.items():
                setattr(info, attribute, value)
            archive.writestr(info, part)
    return buffer.getvalue()


def sums(parts):
    lines = (f"{hashlib.sha256(part).hexdigest()}  {name}\n" for name, part in parts.items() if name != SUMS)
    return "".join(lines).encode()


def sealed(content, description=None, arrays=None, facts=None):
    """Give a file with another description, other arrays or other facts, and right checksums."""
    parts = members(content)
    description = parts[MODEL] if description is None else description
    if facts:
        description = {**json.loads(description), **facts}
    text = description if isinstance(description, (str, bytes)) else json.dumps(description)
    parts[MODEL] = text.encode() if isinstance(text, str) else text
    parts.update(arrays or {})
    parts.pop(SUMS)
    return zipped({**parts, SUMS: sums(parts)})


def described(content):
    return json.loads(members(content)[MODEL])


def array_names(content):
    return [name for name in members(content) if name.endswith(".npy")]


def objects(description):
    """List all objects of a description: dicts with a class and its parts."""
    found, waiting = [], [description]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            found += [part] if "class" in part and "parts" in part else []
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return found


# ---------------------------------------------------------------- damage that checksums find


def cut(content, dice):
    return content[: dice.randrange(len(content))]


def flipped(content, dice):
    changed = bytearray(content)
    for _ in range(dice.choice([1, 3, 50])):
        changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def flipped_directory(content, dice):
    start = struct.unpack("<L", content[-6:-2])[0]
    changed = bytearray(content)
    for _ in range(dice.choice([1, 2, 5])):
        changed[dice.randrange(start, len(changed))] = dice.randrange(256)
    return bytes(changed)


def stretched(content, dice):
    at = dice.randrange(len(content))
    return content[:at] + dice.randbytes(dice.choice([1, 100])) + content[at:]


def exchanged_members(content, dice):
    parts = members(content)
    one, other = dice.sample(sorted(parts), 2)
    return zipped({**parts, one: parts[other], other: parts[one]})


# ---------------------------------------------------------------- tricks with the zip


def twice(content, dice):
    parts = list(members(content).items())
    parts.insert(dice.randrange(len(parts) + 1), dice.choice(parts))
    return zipped(parts)


def another_member(content, dice):
    parts = list(members(content).items())
    name = dice.choice(["more.txt", "arrays/99.npy", "../model.json", "/model.json", "model.json/", "MODEL.JSON"])
    parts.insert(dice.randrange(len(parts) + 1), (name, dice.randbytes(20)))
    return zipped(parts)


def lost_member(content, dice):
    parts = members(content)
    parts.pop(dice.choice(sorted(parts)))
    return zipped(parts)


def compressed(content, dice):
    return zipped(members(content), dice.choice([ZIP_DEFLATED, ZIP_BZIP2]))


def flagged(content, dice):
    changes = dice.choice([{"extra": b"\x01\x00\x04\x00abcd"}, {"comment": b"x"}, {"comment": b"x" * 60_000}])
    return zipped(members(content), **changes)


def other_sizes(content, dice):
    """Change the size of a member, in the directory or in its own header, or both."""
    name = dice.choice(sorted(members(content))).encode()
    new = struct.pack("<L", dice.choice([0, 1, 2**31, 2**32 - 1, dice.randrange(10**6)]))
    changed = bytearray(content)
    for mark, to_size, to_name in ((b"PK\x01\x02", 20, 46), (b"PK\x03\x04", 18, 30)):
        at = changed.find(name) - to_name
        while at >= 0 and bytes(changed[at : at + 4]) != mark:
            at = changed.find(name, at + to_name + 1) - to_name
        if at >= 0 and dice.random() < 0.7:
            changed[at + to_size + 4 : at + to_size + 8] = new
            if dice.random() < 0.7:
                changed[at + to_size : at + to_size + 4] = new
    return bytes(changed)


def overlapping(content, dice):
    """Let an entry of the directory point to another place."""
    places = [i for i in range(len(content) - 4) if content[i : i + 4] == b"PK\x01\x02"]
    at = dice.choice(places) + 42
    offset = struct.pack("<L", dice.choice([0, 30, dice.randrange(len(content)), 2**32 - 1]))
    return content[:at] + offset + content[at + 4 :]


def before(content, dice):
    return b"PK" + dice.randbytes(dice.choice([1, 100])) + content


def zip64(content, dice):
    end = b"PK\x06\x06" + struct.pack("<Q2H2L4Q", 44, 45, 45, 0, 0, 2, 2, 100, dice.randrange(len(content)))
    locator = b"PK\x06\x07" + struct.pack("<LQL", 0, len(content) - 22, 1)
    return content[:-22] + end + locator + content[-22:]


# ---------------------------------------------------------------- with right checksums


def other_facts(content, dice):
    wrong = dice.choice(["1", 0, -1, None, [], {}, True, 1.5, 2**70, 2, 4])
    return sealed(content, facts={dice.choice(sorted(described(content))): wrong})


def unknown_key(content, dice):
    if dice.random() < 0.5:
        return sealed(content, facts={dice.choice(["", "extra", "class", "__class__"]): 1})
    facts = described(content)
    found = dice.choice(objects(facts))
    dice.choice([found, found["parts"]])[dice.choice(["predict", "__class__", "__dict__", "", "extra"])] = 1
    return sealed(content, facts)


def json_bytes(content, dice):
    changed = bytearray(members(content)[MODEL])
    for _ in range(dice.choice([1, 2, 4])):
        changed[dice.randrange(len(changed))] = dice.choice(b'0123456789"{}[],:aN-.e\\')
    return sealed(content, bytes(changed))


def not_json(content, dice):
    facts = described(content)
    parts = dice.choice(objects(facts))["parts"]
    parts[dice.choice(sorted(parts) or ["x"])] = "HERE"
    return sealed(content, json.dumps(facts).replace('"HERE"', dice.choice(NOT_JSON)))


def lost_key(content, dice):
    facts = described(content)
    place = dice.choice([facts, *objects(facts)])
    place.pop(dice.choice(sorted(place)))
    return sealed(content, facts)


def lost_part(content, dice):
    facts = described(content)
    parts = dice.choice([each["parts"] for each in objects(facts) if each["parts"]])
    parts.pop(dice.choice(sorted(parts)))
    return sealed(content, facts)


def renamed_part(content, dice):
    facts = described(content)
    parts = dice.choice([each["parts"] for each in objects(facts) if each["parts"]])
    one, other = dice.choice(sorted(parts)), dice.choice([*sorted(parts), "predict", "__class__"])
    parts[other] = parts.pop(one)
    return sealed(content, facts)


def exchanged_objects(content, dice):
    facts = described(content)
    one, other = dice.choice(objects(facts)), json.loads(json.dumps(dice.choice(objects(facts))))
    one.clear()
    one.update(other)
    return sealed(content, facts)


def other_class(content, dice):
    facts = described(content)
    names = ["MixtureSVC", "RBFKernel", "Mixture", "os.system", "", "RandomState", "sklearn.Sum", None, 1]
    dice.choice(objects(facts))["class"] = dice.choice(names)
    return sealed(content, facts)


def strange_value(content, dice):
    facts = described(content)
    parts = dice.choice([each["parts"] for each in objects(facts) if each["parts"]])
    parts[dice.choice(sorted(parts))] = dice.choice(STRANGE)
    return sealed(content, facts)


def other_shapes(content, dice):
    facts = described(content)
    if not facts["arrays"]:
        return strange_value(content, dice)
    declared = dice.choice(facts["arrays"])
    if dice.random() < 0.5:
        declared["shape"] = dice.choice(
            [[], [0], [2**40], [2**62, 4], [-1], [1] * 40, ["1"], None, [1.0], [0, 2**31], declared["shape"][::-1]]
        )
    else:
        declared["dtype"] = dice.choice(["<f4", "|O", "<U9", ">f8", "<c16", "<M8[s]", "f8", None, 8, "<i8", "|V8"])
    return sealed(content, facts)


def flipped_numbers(content, dice):
    if not array_names(content):
        return json_bytes(content, dice)
    name = dice.choice(array_names(content))
    changed = bytearray(members(content)[name])
    for _ in range(dice.choice([1, 8])):
        changed[-dice.randrange(1, max(2, len(changed) - 127))] ^= 1 << dice.randrange(8)
    return sealed(content, arrays={name: bytes(changed)})


def flipped_header(content, dice):
    if not array_names(content):
        return json_bytes(content, dice)
    name = dice.choice(array_names(content))
    changed = bytearray(members(content)[name])
    changed[dice.randrange(128)] = dice.choice(b"0123456789(),'<>fiuOU \0")
    return sealed(content, arrays={name: bytes(changed)})


def exchanged_arrays(content, dice):
    names = array_names(content)
    if len(names) < 2:
        return json_bytes(content, dice)
    one, other = dice.sample(names, 2)
    parts, facts = members(content), described(content)
    if dice.random() < 0.5:
        a, b = names.index(one), names.index(other)
        facts["arrays"][a], facts["arrays"][b] = facts["arrays"][b], facts["arrays"][a]
    return sealed(content, facts, arrays={one: parts[other], other: parts[one]})


OPEN = (cut, flipped, flipped_directory, stretched, exchanged_members)
TRICKS = (twice, another_member, lost_member, compressed, flagged, other_sizes, overlapping, before, zip64)
SEALED = (
    other_facts,
    unknown_key,
    json_bytes,
    not_json,
    lost_key,
    lost_part,
    renamed_part,
    exchanged_objects,
    other_class,
    strange_value,
    other_shapes,
    flipped_numbers,
    flipped_header,
    exchanged_arrays,
)
WAYS = (*OPEN, *TRICKS, *SEALED, *SEALED[1:])
