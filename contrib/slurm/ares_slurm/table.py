"""Listings in Slurm's layout. The command of Ares is asked for the fields alone; widths, headers and the fields that have no meaning here
are added by this module."""
import re

SEPARATOR = "<~|~>"  # no name contains it
AUTOMATIC = {"P": 9, "N": 9}  # least widths of columns whose width is "#"
LETTER = re.compile(r"%(#?)(\.?)(\d*)([a-zA-Z])")


class Column:
    """A field of the table: `field` is asked for and converted, or `constant` is printed. `width` 0: as wide as the text."""

    def __init__(self, field=None, constant=None, header=None, width=0, right=False, before="", after="", automatic=False, convert=None, hidden=False):
        self.field, self.constant, self.header, self.convert = field, constant, header, convert
        self.width, self.right, self.before, self.after = width, right, before, after
        self.hidden = hidden  # asked for, and not printed
        self.automatic = automatic  # `width` is the least

    def cell(self, text):
        if self.width:
            text = text[:self.width]
            text = text.rjust(self.width) if self.right else text.ljust(self.width)
        return self.before + text + self.after


class Derived:
    """A field that is made of another one: its header, the field that is asked for, and how."""

    def __init__(self, header, field, convert):
        self.header, self.field, self.convert = header, field, convert


def column_for(name, special, converters, **more):
    """`special`: (header, constant) or Derived of the fields that Ares has not; `converters`: what makes Slurm's words of ours."""
    known = special.get(name if len(name) == 1 else key_of(name))
    if isinstance(known, Derived):
        return Column(field=known.field, header=known.header, convert=known.convert, **more)
    if known:
        return Column(constant=known[1], header=known[0], **more)
    return Column(field=name, convert=converters.get(name if len(name) == 1 else key_of(name)), **more)


def key_of(name):
    return name.lower().replace("-", "").replace("_", "")


def columns_of_letters(text, special, converters):
    """A format such as "%.18i %t"."""
    columns, at = [], 0
    for found in LETTER.finditer(text):
        automatic, dot, width, letter = found.groups()
        columns.append(column_for(letter, special, converters, width=int(width or 0) or (AUTOMATIC.get(letter, 0) if automatic else 0),
                                  right=bool(dot), before=text[at:found.start()], automatic=bool(automatic)))
        at = found.end()
    if columns:
        columns[-1].after = text[at:]
    return columns


def columns_of_names(text, special, converters, default_width=20):
    """A format such as "jobid:10,state:.8". Separated by commas; a field without width takes `default_width`."""
    columns = []
    for word in text.split(","):
        name, _, rest = word.partition(":")
        found = re.fullmatch(r"(\.?)(\d*)(.*)", rest)
        dot, width, after = found.groups()
        columns.append(column_for(name.strip(), special, converters, width=int(width or default_width), right=bool(dot), after=after))
    return columns


def lines(columns, rows, header=True):
    """`rows`: the header and the lines of the fields that were asked for, each a list. Yields the lines of the table."""
    for number, row in enumerate(rows):
        if number == 0 and not header:
            continue
        cells = iter(row)
        out = ""
        for column in columns:
            if column.field is None:
                text = column.header if number == 0 else column.constant
            else:
                text = next(cells, "")
                if number == 0:
                    text = column.header or text
                elif column.convert:
                    text = column.convert(text)
            out += "" if column.hidden else column.cell(text)
        yield out


WIDEST = 4096  # of a field that is asked for by name, which always has a width


def letters_to_ask(columns):
    return SEPARATOR.join("%" + column.field for column in columns if column.field)


def names_to_ask(columns):
    return ",".join(f"{column.field}:{WIDEST}{SEPARATOR}" for column in columns if column.field)


def rows_of(output):
    return [[cell.rstrip(" ") for cell in line.split(SEPARATOR)] for line in output.split("\n")[:-1]]
