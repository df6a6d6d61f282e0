"""Tokens to expressions, by recursive descent; one method for each level of precedence."""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from .expressions import (
    BINARY,
    UNARY,
    Aggregate,
    ArrayOf,
    Binary,
    Call,
    Coalesce,
    Conditional,
    Conjunction,
    Constant,
    Disjunction,
    Expression,
    In,
    Index,
    Like,
    ObjectOf,
    Path,
    Unary,
)
from .functions import FUNCTIONS
from .tokens import KEYWORDS, Sort, SyntaxFault, Token, tokens
from .values import UNDEFINED

AGGREGATES = frozenset({"COUNT", "SUM", "AVG", "MIN", "MAX"})
_LEVELS = (("=", "!=", "<>"), ("<", ">", "<=", ">="), ("|", "&", "^"), ("||",), ("+", "-"), ("*", "/", "%"))
_LITERALS = {"TRUE": True, "FALSE": False, "NULL": None, "UNDEFINED": UNDEFINED}


class NotSupported(Exception):
    """The service understands this, the stand-in does not."""


class ExpressionParser:
    """A cursor over the tokens of one query."""

    def __init__(self, text: str, parameters: Mapping[str, Any]) -> None:
        self.text = text
        self.aggregates: list[Aggregate] = []  # in the order in which they appear
        self.names: set[str] = set()  # aliases that expressions use
        self._parameters = parameters
        self._tokens = tokens(text)
        self._at = 0

    # The cursor

    @property
    def next(self) -> Token:
        return self._tokens[self._at]

    def take(self) -> Token:
        token = self.next
        if token.sort is Sort.END:
            self.fail()
        self._at += 1
        return token

    def fail(self) -> NoReturn:
        raise SyntaxFault(f"Syntax error, incorrect syntax near '{self.next.text}'.")

    def keyword(self, *words: str) -> bool:
        """Whether these words come next; they are taken then."""
        ahead = self._tokens[self._at : self._at + len(words)]
        if [token.word for token in ahead] != list(words):
            return False
        self._at += len(words)
        return True

    def mark(self, *marks: str) -> str | None:
        """The mark that comes next if it is one of these; it is taken then."""
        if self.next.sort is not Sort.MARK or self.next.text not in marks:
            return None
        return self.take().text

    def need(self, mark: str) -> None:
        if self.mark(mark) is None:
            self.fail()

    def need_keyword(self, word: str) -> None:
        if not self.keyword(word):
            self.fail()

    def identifier(self) -> str:
        if self.next.sort is not Sort.NAME or self.next.word in KEYWORDS:
            self.fail()
        return self.take().text

    def optional_alias(self) -> str | None:
        if self.keyword("AS") or (self.next.sort is Sort.NAME and self.next.word not in KEYWORDS):
            return self.identifier()
        return None

    def source(self, start: int) -> str:
        """The query's text from a position up to the last token taken."""
        return self.text[start : self._tokens[self._at - 1].end]

    def listed[T](self, one: Callable[[], T]) -> list[T]:
        found = [one()]
        while self.mark(","):
            found.append(one())
        return found

    def parameter(self, name: str) -> Any:
        if name not in self._parameters:
            raise SyntaxFault(f"The query uses the parameter {name}, which is not given.")
        return self._parameters[name]

    # Precedence, loosest first

    def expression(self) -> Expression:
        first = self._disjunction()
        if self.mark("?"):
            then = self.expression()
            self.need(":")
            first = Conditional(first, then, self.expression())
        elif self.mark("??"):
            first = Coalesce(first, self.expression())
        return first

    def _disjunction(self) -> Expression:
        parts = [self._conjunction()]
        while self.keyword("OR"):
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else Disjunction(tuple(parts))

    def _conjunction(self) -> Expression:
        parts = [self._negation()]
        while self.keyword("AND"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else Conjunction(tuple(parts))

    def _negation(self) -> Expression:
        negations = 0
        while self.keyword("NOT"):
            negations += 1
        inner = self._predicate()
        for _ in range(negations):
            inner = Unary(UNARY["NOT"], inner)
        return inner

    def _predicate(self) -> Expression:
        operand = self._binary(0)
        negated = self.keyword("NOT")
        found = self._tail_of_predicate(operand)
        if negated and found is operand:
            self.fail()
        return Unary(UNARY["NOT"], found) if negated else found

    def _tail_of_predicate(self, operand: Expression) -> Expression:
        if self.keyword("IN"):
            self.need("(")
            choices = self.listed(self.expression)
            self.need(")")
            return In(operand, tuple(choices))
        if self.keyword("BETWEEN"):
            low = self._binary(0)
            self.need_keyword("AND")
            high = self._binary(0)
            return Conjunction((Binary(BINARY[">="], operand, low), Binary(BINARY["<="], operand, high)))
        if self.keyword("LIKE"):
            like = Like(operand, self._binary(0))
            if self.keyword("ESCAPE"):
                raise NotSupported("LIKE … ESCAPE")
            return like
        return operand

    def _binary(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while mark := self.mark(*_LEVELS[level]):
            left = Binary(BINARY[mark], left, self._binary(level + 1))
        return left

    def _unary(self) -> Expression:
        marks = []
        while mark := self.mark("-", "+", "~", "!"):
            marks.append(mark)
        inner = self.postfix()
        for mark in reversed(marks):
            inner = Unary(UNARY[mark], inner)
        return inner

    def postfix(self) -> Expression:
        """A primary and what is chained to it: `.name`, `["name"]`, `[0]`."""
        base = self._primary()
        while mark := self.mark(".", "["):
            if mark == ".":
                key: Expression = Constant(self.take().text if self.next.sort is Sort.NAME else self.fail())
            else:
                key = self.expression()
                self.need("]")
            match base, key:
                case Path(steps), Constant(str() as name):
                    base = Path((*steps, name))
                case _:
                    base = Index(base, key)
        return base

    def _primary(self) -> Expression:
        token = self.take()
        match token.sort, token.text:
            case ((Sort.NUMBER | Sort.STRING), _):
                return Constant(token.value())
            case Sort.PARAMETER, name:
                return Constant(self.parameter(name))
            case Sort.MARK, "(":
                if self.next.word == "SELECT":
                    raise NotSupported("A subquery")
                inner = self.expression()
                self.need(")")
                return inner
            case Sort.MARK, "[":
                return ArrayOf(tuple(self._until("]", self.expression)))
            case Sort.MARK, "{":
                return ObjectOf(tuple(self._until("}", self._pair)))
            case Sort.NAME, _:
                return self._named(token)
        self._at -= 1
        return self.fail()

    def _named(self, token: Token) -> Expression:
        if token.word in ("EXISTS", "ARRAY"):
            raise NotSupported("A subquery")
        if token.word in KEYWORDS:
            self._at -= 1
            self.fail()
        if token.word in _LITERALS:
            return Constant(_LITERALS[token.word])
        if token.word == "UDF" and self.next.text == ".":
            raise NotSupported("A user-defined function")
        if self.mark("("):
            return self._call(token.word)
        self.names.add(token.text)
        return Path((token.text,))

    def _call(self, name: str) -> Expression:
        arguments = self._until(")", self.expression)
        if name in AGGREGATES:
            if len(arguments) != 1:
                raise SyntaxFault(f"The aggregate function {name} takes one argument.")
            self.aggregates.append(Aggregate(name, arguments[0]))
            return self.aggregates[-1]
        if name not in FUNCTIONS:
            # It may well be one of the service's many functions: 501 is honest about either case.
            raise NotSupported(f"The function {name}")
        return Call(FUNCTIONS[name], tuple(arguments))

    def _pair(self) -> tuple[str, Expression]:
        token = self.take()
        if token.sort not in (Sort.STRING, Sort.NAME):
            self.fail()
        self.need(":")
        return (str(token.value()) if token.sort is Sort.STRING else token.text), self.expression()

    def _until[T](self, closing: str, one: Callable[[], T]) -> list[T]:
        if self.mark(closing):
            return []
        found = self.listed(one)
        self.need(closing)
        return found
