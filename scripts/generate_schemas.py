#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/apiserver/kind/data/schemas_table.c from src/apiserver/kind/data/schemas.txt, rules.txt and defaults.txt: which fields the
built-in kinds have, what their values may be, and their defaults.

    scripts/generate_schemas.py                 write the table
    scripts/generate_schemas.py --check         change nothing; fail when the table is not what would be written
    scripts/generate_schemas.py --import DIR PROTOS
        write schemas.txt again from the openapi-spec/v3 folder of Kubernetes and the generated.proto below PROTOS

schemas.txt has one type per paragraph, and one field per line:

    io.k8s.api.core.v1.Container
      name string required
      ports []io.k8s.api.core.v1.ContainerPort keys=containerPort,protocol merge=containerPort
      limits {}quantity

[] is a list, {} an object with any names. keys= names the fields that identify elements for server-side apply; "set" is a
list of unique scalars; a list with neither is replaced as a whole. merge= names the field that identifies elements for a
strategic merge patch ("merge" alone for scalars); retainKeys is its other directive. atomic is a value that apply replaces as
a whole. #3 is the number of the field in Kubernetes' protobuf; #2.3 is field 3 of the message in field 2, which JSON inlines;
#2.2.1 has two such messages around it. pointer is an optional value, which is written even if it is 0, false, "" or empty; a
value without it is always present in protobuf. micro is a time with microseconds; schema is a JSON schema, or a value that is
allowed instead of one. A type that is itself a kind has "kind=GROUP/VERSION/KIND" after its name.

rules.txt also has one type per paragraph, and one rule per line: a field ("-" for the object itself), a word of RULES with its
arguments, and after a colon the message, if it is not the usual one.

defaults.txt has one type per paragraph, and one default per line: a member, its value, and the condition:

    io.k8s.api.core.v1.ServiceSpec
      type "ClusterIP"
      externalTrafficPolicy "Cluster" if type=LoadBalancer,NodePort

The value is JSON without spaces, $PATH for a copy of the value at that path of the same object, or FUNCTION($PATH), with a word
of FUNCTIONS, for a value computed from it. A new {} gets the defaults of its own type. "spec.priority" is a member of "spec",
if that exists, and "spec.ports.nodePort" is a member of each element: for defaults of one kind that do not apply to other users
of its parts. A name with dots is in brackets: "metadata.labels[example.com/a]". "if" and "unless" are followed by a member that
must be present, or by a string member with its possible values. Lines are applied in their order.
"""
import csv
import glob
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXT = ROOT / "src/apiserver/kind/data/schemas.txt"
RULES_TEXT = ROOT / "src/apiserver/kind/data/rules.txt"
DEFAULTS_TEXT = ROOT / "src/apiserver/kind/data/defaults.txt"
TABLE = ROOT / "src/apiserver/kind/data/schemas_table.c"
RESOURCES = ROOT / "src/api/resource/resources.tsv"

SCALARS = ["any", "object", "string", "date-time", "byte", "integer", "int32", "int64", "number", "double", "boolean",
           "int-or-string", "quantity"]
# Words of rules.txt: their names in enum ki_as_rule_kind, and how many numbers follow.
RULES = {"required": ("REQUIRED", 0), "min": ("MIN", 1), "range": ("RANGE", 2), "one": ("ONE_OF", 0), "label": ("LABEL", 0),
         "subdomain": ("SUBDOMAIN", 0), "1035": ("LABEL_1035", 0), "segment": ("SEGMENT", 0), "key": ("KEY", 0),
         "portname": ("PORT_NAME", 0), "ip": ("IP", 0), "cidr": ("CIDR", 0), "absolute": ("ABSOLUTE", 0),
         "port": ("PORT", 0), "percent": ("PERCENT", 1), "labels": ("LABELS", 0),
         "within": ("WITHIN", 0), "some": ("SOME", 0), "single": ("SINGLE", 0)}
# Words of defaults.txt: their names in enum ki_as_default_kind.
FUNCTIONS = {"": "COPY", "merge": "MERGE", "single": "SINGLE", "lower": "LOWER", "listKind": "LIST_KIND",
             "pullPolicy": "PULL_POLICY", "address": "ADDRESS", "nodePort": "NODE_PORT"}
SPECIAL = {
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "date-time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "date-time",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "object",
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "object",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": "any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": "any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": "any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": "any",
}
# Kinds that are served in addition to the resources of the table.
MORE_KINDS = [
    ("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "v1", "APIService"),
    ("autoscaling", "v1", "Scale"),
    ("policy", "v1", "Eviction"),
    ("", "v1", "Binding"),
    ("", "v1", "Status"),
]
# A kind that OpenAPI does not describe.
PARTIAL = """io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata kind=meta.k8s.io/v1/PartialObjectMetadata
  apiVersion string
  kind string
  metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta #1
"""


# ---- import ---------------------------------------------------------------------------------------------------


def read_protos(root):
    """{message: {field: (number, type)}} with messages named as OpenAPI names them."""
    messages = {}
    for name in glob.glob(root + "/**/generated.proto", recursive=True):
        package = message = None
        for line in open(name):
            line = line.split("//")[0].strip()
            if line.startswith("package "):
                package = line[8:].rstrip("; ")
            elif line.startswith("message "):
                message = messages.setdefault("io.k8s" + package[6:].replace("_", "-") + "." + line.split()[1], {})
            elif line.endswith(";") and "=" in line and message is not None:
                words, number = line.rstrip(";").rsplit("=", 1)
                words = words.replace("map<string, ", "map ").replace(">", " ").split()
                kind = words[-2].lstrip(".").replace("_", "-")
                kind = "io.k8s" + kind[6:] if kind.startswith("k8s.io.") else "io.k8s" + package[6:].replace("_", "-") + "." + kind
                message[words[-1].lower()] = (int(number.split("[")[0]), kind)
    return messages


def read_pointers(root):
    """{(type, field)} of the fields that are pointers in Go, with types named as OpenAPI names them."""
    pointers = set()
    for name in glob.glob(root + "/*/**/types*.go", recursive=True):
        module, *folders = pathlib.Path(name).parent.relative_to(root).parts
        package = ".".join(["io.k8s", module.split("@")[0], *folders])
        owner = None
        for line in open(name):
            begin = re.match(r"type (\w+) struct", line)
            owner = begin.group(1) if begin else owner
            field = re.match(r'\s+\w+\s+\*[\w.]+\s+`json:"([\w$-]+)', line)
            if field and owner:
                pointers.add((package + "." + owner, field.group(1)))
    return pointers


def reference(value):
    parts = value.get("allOf", [value])
    return parts[0]["$ref"].split("/")[-1] if len(parts) == 1 and "$ref" in parts[0] else None


class Import:
    def __init__(self, folder, protos):
        self.messages = read_protos(protos)
        self.pointers = read_pointers(protos)
        self.schemas = {}
        self.kinds = {}
        self.types = {}
        for name in sorted(glob.glob(folder + "/*_openapi.json")):
            self.schemas.update(json.load(open(name)).get("components", {}).get("schemas", {}))
        for name, schema in self.schemas.items():
            for kind in schema.get("x-kubernetes-group-version-kind", []):
                self.kinds.setdefault((kind["group"], kind["version"], kind["kind"]), name)

    def type_of(self, value):
        name = reference(value)
        if name is not None:
            if name in SPECIAL:
                return SPECIAL[name]
            if "properties" not in self.schemas[name] and self.messages.get(name) != {}:
                return "object"
            self.add(name)
            return name
        kind = value.get("type", "any")
        if kind == "array":
            return "[]" + self.type_of(value["items"])
        if kind == "object":
            return "{}" + self.type_of(value["additionalProperties"]) if "additionalProperties" in value else "object"
        return value["format"] if value.get("format") in SCALARS else kind

    def number(self, owner, name, properties):
        """The numbers of the embedded messages around the field and its own, as "2.3"; and the type that has the field."""
        fields = self.messages.get(owner, {})
        name = name.lower().lstrip("$").replace("-", "")
        if name in fields:
            return str(fields[name][0]), owner
        for inline, (number, kind) in fields.items():
            if inline not in properties:
                inner, go_type = self.number(kind, name, properties)
                if inner is not None:
                    return "%d.%s" % (number, inner), go_type
        return None, owner

    def field(self, owner, name, value, required):
        words = [name, self.type_of(value)]
        number, go_type = self.number(owner, name, {one.lower() for one in self.schemas[owner]["properties"]})
        if number is not None:
            words.append("#" + number)
        if name in required:
            words.append("required")
        if (go_type, name) in self.pointers:
            words.append("pointer")
        of = reference(value) or reference(value.get("additionalProperties") or {}) or ""
        if of.endswith(".MicroTime"):
            words.append("micro")
        if ".JSONSchemaPropsOr" in of:
            words.append("schema")
        kind = value.get("x-kubernetes-list-type")
        if kind == "map":
            words.append("keys=" + ",".join(value["x-kubernetes-list-map-keys"]))
        elif kind == "set":
            words.append("set")
        if value.get("x-kubernetes-map-type") == "atomic":
            words.append("atomic")
        strategy = value.get("x-kubernetes-patch-strategy", "").split(",")
        if "merge" in strategy:
            key = value.get("x-kubernetes-patch-merge-key")
            words.append("merge=" + key if key else "merge")
        if "retainKeys" in strategy:
            words.append("retainKeys")
        return " ".join(words)

    def add(self, name):
        if name in self.types:
            return
        schema = self.schemas[name]
        self.types[name] = []
        required = schema.get("required", [])
        lines = [self.field(name, field, value, required) for field, value in sorted(schema.get("properties", {}).items())]
        kinds = [kind for kind, owner in self.kinds.items() if owner == name and not kind[2].endswith("List")]
        head = name
        if len(kinds) == 1:
            head += " kind=" + "/".join(kinds[0])
        if schema.get("x-kubernetes-map-type") == "atomic":
            head += " atomic"
        self.types[name] = [head] + ["  " + line for line in lines]

    def text(self):
        rows = csv.DictReader(open(RESOURCES), delimiter="\t")
        for kind in [(row["group"], row["version"], row["kind"]) for row in rows] + MORE_KINDS:
            if kind in self.kinds:
                self.add(self.kinds[kind])
        self.types[PARTIAL.split()[0]] = PARTIAL.rstrip("\n").split("\n")
        return "\n".join("\n".join(self.types[name]) + "\n" for name in sorted(self.types))


# ---- table ----------------------------------------------------------------------------------------------------


def quoted(text):
    return "NULL" if text is None else '"' + text + '"'


def read_types():
    types = []
    for paragraph in TEXT.read_text().split("\n\n"):
        lines = paragraph.strip("\n").split("\n")
        types.append((lines[0].split(), [line.split() for line in lines[1:]]))
    return types


def type_number(text, numbers):
    return len(SCALARS) + numbers[text] if text in numbers else SCALARS.index(text)


def option(words, name):
    for word in words:
        if word.startswith(name + "="):
            return word[len(name) + 1:]
    return None


def wire_place(words):
    """The messages around the field, the outermost in the lower four bits; and the number of the field itself."""
    *around, inner = ([word[1:].split(".") for word in words if word.startswith("#")] or [["0"]])[0]
    assert len(around) <= 2 and all(int(number) < 16 for number in around), words
    return sum(int(number) << 4 * i for i, number in enumerate(around)), int(inner)


def wire_order(lines):
    """The indexes of the fields in the order of protobuf; fields of the same embedded message are adjacent."""
    def numbers(i):
        outer, inner = wire_place(lines[i])
        return [number for number in (outer & 15, outer >> 4, inner) if number > 0]
    return ["%d," % i for i in sorted(range(len(lines)), key=numbers)]


def field_line(words, numbers):
    name, kind, options = words[0], words[1], words[2:]
    shape = "ONE"
    flags = []
    if kind.startswith("[]"):
        shape = "LIST"
        kind = kind[2:]
    elif kind.startswith("{}"):
        shape = "MAP"
        kind = kind[2:]
    if kind[:2] in ("[]", "{}"):
        kind = "any"
    keys = option(options, "keys")
    merge = option(options, "merge")
    for flag in ("required", "set", "atomic", "retainKeys", "pointer", "micro", "schema"):
        if flag in options:
            flags.append({"retainKeys": "RETAIN"}.get(flag, flag.upper()))
    if "merge" in options or merge:
        flags.append("MERGE")
    outer, inner = wire_place(words)
    return "{%s, %s, %s, %d, %s, %s, %d, %d}," % (
        quoted(name), quoted(keys), quoted(merge), type_number(kind, numbers), shape, " | ".join(flags) or "0", outer, inner)


def read_rules(types):
    """{type: [line]}; a type or field that does not exist is an error."""
    fields = {head[0]: {words[0] for words in lines} | {"-"} for head, lines in types}
    rules = {}
    for paragraph in RULES_TEXT.read_text().strip("\n").split("\n\n"):
        head, *lines = paragraph.split("\n")
        for line in lines:
            assert line.split()[0] in fields[head], "%s has no %s" % (head, line)
        rules[head] = [rule_line(line) for line in lines]
    return rules


def word_list(words):
    return "(const char *const[]){%s, NULL}" % ", ".join(quoted(word) for word in words.split(","))


def rule_line(line):
    line, _, detail = line.strip().partition(": ")
    field, kind, *words = line.split()
    if kind == "name":
        kind = {"port": "portname"}.get(words[0], words[0])
        words = []
    name, count = RULES[kind]
    numbers = [int(word) for word in words[:count]] + [0, 0]
    words = words[count:]
    listed = word_list(words[0]) if words else "NULL"
    return "{%s, %s, %s, %d, %d, KI_AS_RULE_%s}," % (quoted(field), listed, quoted(detail or None), *numbers[:2], name)


def names_of(path):
    """["metadata", "labels", "example.com/a"] of "metadata.labels[example.com/a]"."""
    path, _, last = path.rstrip("]").partition("[")
    return path.split(".") + ([last] if last else [])


def read_defaults(types):
    """{type: [line]}; a type or member that does not exist is an error."""
    fields = {head[0]: {words[0]: words[1:] for words in lines} for head, lines in types}
    paragraphs = [paragraph.split("\n") for paragraph in DEFAULTS_TEXT.read_text().strip("\n").split("\n\n")]
    own = {head: lines for head, *lines in paragraphs}
    rows = {}
    for head, lines in own.items():
        for path, value, *condition in (line.split() for line in lines):
            at, options = head, []
            for name in names_of(path):
                assert at.startswith("{}") or name in fields.get(at, {}), "%s has no %s" % (head, path)
                at, *options = ["", "pointer"] if at.startswith("{}") else fields[at][name]
                at = at[2:] if at.startswith("[]") else at
            assert "." not in path or value != "{}" or at not in own, "%s: %s would lack its defaults" % (head, path)
            rows.setdefault(head, []).append(default_line(names_of(path), value, condition, "pointer" in options))
    return rows


def default_line(names, value, condition, keeps_zero):
    text, number = None, 0
    made = re.fullmatch(r"(\w*)\(?\$([\w.]+)\)?", value)
    if made:
        kind = FUNCTIONS[made.group(1)]
    else:
        value = json.loads(value)
        kind = {str: "TEXT", int: "NUMBER", bool: str(value).upper(), dict: "OBJECT", list: "JSON", type(None): "NULL"}[type(value)]
        text = value if kind == "TEXT" else json.dumps(value).replace('"', '\\"') if kind == "JSON" else None
        number = value if kind == "NUMBER" else 0
    word, other = condition or ("if", "")
    other, _, words = other.partition("=")
    return "{%s, %s, %s, %s, %d, %s, %s, %s, %s, KI_AS_DEFAULT_%s}," % (
        quoted(".".join(names[:-1]) or None), quoted(names[-1]), quoted(text), quoted(made.group(2) if made else None), number,
        quoted(other or None), word_list(words) if words else "NULL", {"if": "false", "unless": "true"}[word],
        "true" if keeps_zero else "false", kind)


def opening(name):
    """The first eight bytes as a number: comparing the numbers orders names as comparing the names does."""
    return "0x%016x," % int.from_bytes(name.encode()[:8].ljust(8, b"\0"), "big")


def packed(items):
    lines, line = [], "   "
    for item in items:
        if len(line) + 1 + len(item) > 118:
            lines.append(line)
            line = "   "
        line += " " + item
    return "\n".join(lines + [line]) + "\n"


def table():
    types = read_types()
    numbers = {head[0]: number for number, (head, _) in enumerate(types)}
    rules_of, defaults_of = read_rules(types), read_defaults(types)
    fields, rows, rules, defaults, at = [], [], [], [], 0
    for head, lines in types:
        fields += [field_line(words, numbers) for words in lines]
        kind = option(head, "kind")
        group, version, name = kind.split("/") if kind else (None, None, None)
        api_version = None if kind is None else (group + "/" + version if group else version)
        own_rules, own_defaults = rules_of.get(head[0], []), defaults_of.get(head[0], [])
        rows.append("{%s, %s, %s, %d, %d, %d, %d, %d, %d, %s}," % (
            quoted(head[0]), quoted(api_version), quoted(name), at, len(lines), len(rules), len(own_rules), len(defaults),
            len(own_defaults), "true" if "atomic" in head else "false"))
        rules += own_rules
        defaults += own_defaults
        at += len(lines)
    of_kind = sorted((option(head, "kind").split("/")[2], number) for number, (head, _) in enumerate(types)
                     if option(head, "kind"))
    kinds = ["%d," % number for _, number in of_kind]
    openings = [opening(words[0]) for _, lines in types for words in lines]
    orders = [index for _, lines in types for index in wire_order(lines)]
    return (
        "/* SPDX-License-Identifier: Apache-2.0 */\n"
        "/* Generated by scripts/generate_schemas.py from schemas.txt, rules.txt and defaults.txt: change those. */\n"
        '#include "apiserver/kind/schemas_table.h"\n\n'
        "/* clang-format off */\n\n"
        + "".join("#define %s KI_AS_FIELD_%s\n" % (name, name)
                  for name in ("ONE", "LIST", "MAP", "REQUIRED", "SET", "ATOMIC", "RETAIN", "MERGE", "POINTER",
                               "MICRO", "SCHEMA"))
        + "\nconst struct ki_as_schema_field ki_as_schema_fields[] = {\n" + packed(fields) + "};\n"
        + "\nconst uint64_t ki_as_schema_openings[] = {\n" + packed(openings) + "};\n"
        + "\nconst uint8_t ki_as_schema_wire_order[] = {\n" + packed(orders) + "};\n"
        + "\nconst struct ki_as_rule ki_as_rules[] = {\n" + packed(rules) + "};\n"
        + "\nconst struct ki_as_default ki_as_defaults[] = {\n" + packed(defaults) + "};\n"
        + "\nconst struct ki_as_schema ki_as_schemas[] = {\n" + packed(rows) + "};\n"
        + "\nconst uint16_t ki_as_schema_kinds[] = {\n" + packed(kinds) + "};\n"
        + "\nconst size_t ki_as_schema_kind_count = %d;\nconst size_t ki_as_schema_count = %d;\n" % (len(kinds), len(types))
    )


def main():
    if sys.argv[1:2] == ["--import"]:
        TEXT.write_text(Import(sys.argv[2], sys.argv[3]).text())
    wanted = table()
    if "--check" in sys.argv[1:]:
        if not TABLE.exists() or TABLE.read_text() != wanted:
            sys.exit("%s is not what scripts/generate_schemas.py writes" % TABLE.relative_to(ROOT))
        return
    TABLE.write_text(wanted)


main()
