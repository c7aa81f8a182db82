"""Reading a command line as getopt_long does: short options together, values attached or in the next word, shortened long names."""


class Wrong(Exception):
    """The command line cannot be read; the text is for the user."""


class Options:
    """What a command understands. `spec`: words such as "f,format=" (takes a value), "h,noheader" and "j,jobs=?" (a value if there is one:
    attached, or the next word if that does not begin with a dash)."""

    def __init__(self, spec):
        self.kind, self.short = {}, {}
        for word in spec.split():
            names = word.rstrip("?=").split(",")
            kind = "optional" if word.endswith("=?") else "value" if word.endswith("=") else "flag"
            self.kind[names[-1]] = kind
            for name in names[:-1]:
                self.short[name] = names[-1]

    def long_name(self, given):
        if given in self.kind:
            return given
        matches = [name for name in self.kind if name.startswith(given)]
        if len(matches) != 1:
            raise Wrong(f"{'option' if matches else 'unrecognized option'} '--{given}'{' is ambiguous' if matches else ''}")
        return matches[0]

    def read(self, words, stop_at_operand=False):
        """Returns [(name, value or None)] in the order given, and the operands."""
        found, operands, words = [], [], list(words)
        while words:
            word = words.pop(0)
            if word == "--":
                operands += words
                break
            if word.startswith("--"):
                given, equals, value = word[2:].partition("=")
                name = self.long_name(given)
                if self.kind[name] == "flag" and equals:
                    raise Wrong(f"option '--{name}' doesn't allow an argument")
                if self.kind[name] != "flag" and not equals:
                    value = self.next_value(words, self.kind[name], name)
                found.append((name, None if self.kind[name] == "flag" else value))
            elif word.startswith("-") and len(word) > 1:
                self.read_short(word[1:], words, found)
            else:
                operands.append(word)
                if stop_at_operand:
                    operands += words
                    break
        return found, operands

    def read_short(self, letters, words, found):
        while letters:
            name = self.short.get(letters[0])
            if not name:
                raise Wrong(f"invalid option -- '{letters[0]}'")
            if self.kind[name] == "flag":
                found.append((name, None))
                letters = letters[1:]
                continue
            value = letters[1:] or self.next_value(words, self.kind[name], letters[0])
            found.append((name, value))
            return

    @staticmethod
    def next_value(words, kind, name):
        if kind == "optional":
            return words.pop(0) if words and not words[0].startswith("-") else None
        if not words:
            raise Wrong(f"option requires an argument -- '{name}'" if len(name) == 1 else f"option '--{name}' requires an argument")
        return words.pop(0)


def words_of(found, leave_out=()):
    """The options as words again, by their long names."""
    words = []
    for name, value in found:
        if name not in leave_out:
            words.append(f"--{name}" if value is None else f"--{name}={value}")
    return words
