"""Tables of fields that a user names, such as "jobname%20,state": widths, headers and the layout of Slurm's accounting commands."""
from . import table


class Fields:
    """What a command can print. `widths`: Slurm's names and widths; negative: to the left. `headers` of fields that have another one.
    `ours`: what the command of Ares calls a field, where it has another name. `empty`: nothing of this is measured or kept here: an empty
    column, as Slurm prints without the plugin that measures it. `convert`: what makes Slurm's words of ours. `later`: widths of fields
    of newer releases, which are not listed."""

    def __init__(self, command, widths, headers=None, ours=None, empty=(), convert=None, later=None):
        self.command, self.listed, self.headers, self.ours = command, widths, headers or {}, ours or {}
        self.widths = widths | (later or {})
        self.empty, self.convert = set(empty), convert or {}
        self.by_name = {name.lower(): name for name in self.widths}

    def full_name(self, given):
        name = self.by_name.get(given.lower())
        if not name:
            matches = [full for short, full in self.by_name.items() if given and short.startswith(given.lower())]
            if not matches:
                raise SystemExit(f'{self.command}: error: Invalid field requested: "{given}"')
            name = matches[0]
        return name

    def column(self, word):
        """A field such as "jobname%20" or "state%-12"."""
        given, _, width = word.strip().partition("%")
        name = self.full_name(given)
        try:
            size = int(width) if width else self.widths[name]
        except ValueError:
            raise SystemExit(f'{self.command}: error: Invalid field width: "{word}"') from None
        empty = name in self.empty
        return table.Column(field=None if empty else self.ours.get(name, name), constant="" if empty else None,
                            header=self.headers.get(name, name), width=abs(size), right=size > 0, after=" ", convert=self.convert.get(name))

    def columns(self, texts):
        """Of lists separated by commas."""
        return [self.column(word) for text in texts for word in text.split(",") if word.strip()]

    def print_names(self, columns=4, width=19):
        ordered = sorted(self.listed, key=str.lower)
        for at in range(0, len(ordered), columns):
            print(" ".join(name.ljust(width) for name in ordered[at:at + columns]))


def cells(columns, row):
    """The texts of a line, with those of the fields that are not asked for."""
    asked = iter(row)
    texts = [column.constant if column.field is None else next(asked, "") for column in columns]
    return [column.convert(text) if column.convert else text for column, text in zip(columns, texts)]


def cut(column, text):
    """In Slurm's tables a text that was cut ends with a plus."""
    if len(text) > column.width:
        text = text[:column.width - 1] + "+"
    return column.cell(text)


def print_rows(columns, rows, delimiter, trailing, header):
    """`delimiter` None: aligned."""
    if delimiter:
        for row in ([[column.header for column in columns]] if header else []) + [cells(columns, row) for row in rows]:
            print(delimiter.join(row) + (delimiter if trailing else ""))
        return
    if header:
        print("".join(column.cell(column.header) for column in columns))
        print("".join(column.cell("-" * column.width) for column in columns))
    for row in rows:
        print("".join(cut(column, text) for column, text in zip(columns, cells(columns, row))))


def layout(names):
    """The delimiter, whether lines end with it, and whether there is a header, by the options given."""
    delimiter = "|" if "parsable" in names or "parsable2" in names else None
    return delimiter, "parsable2" not in names, "noheader" not in names
