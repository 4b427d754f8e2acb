"""Bind the arguments of a call, or raise an error that names the public class and the parameters that it has.

Python's own error names the class in which a method is defined, which may be a base class that users have never seen.
"""

from collections.abc import Callable
from functools import wraps
from inspect import BoundArguments, Parameter, Signature, signature
from typing import Any, TypeVar, cast

from mixkern.errors import ArgumentError
from mixkern.wording import joined, nearest

_Method = TypeVar("_Method", bound=Callable[..., Any])


def bound(parameters: Signature, name: str, owner: object, args: Any, kwargs: Any) -> BoundArguments:
    """Bind the arguments of a method, or raise an error.

    Parameters
    ----------
    parameters : inspect.Signature
        Of the method as it is defined, with ``self``.
    name : str
        Name of the method.
    owner : object
        Whose method it is.
    args, kwargs : tuple, dict
        The arguments after ``self``.
    """
    try:
        return parameters.bind(owner, *args, **kwargs)
    except TypeError as error:
        raise _wrong(parameters, f"{type(owner).__name__}.{name}", kwargs, error) from None


def _wrong(parameters: Signature, name: str, kwargs: Any, error: TypeError) -> ArgumentError:
    known = [each.name for each in list(parameters.parameters.values())[1:] if each.kind is not Parameter.VAR_KEYWORD]
    takes = f"It takes {joined(known, len(known))}."
    unknown = [each for each in kwargs if each not in known]
    if unknown:
        return ArgumentError(f"{name} has no parameter {unknown[0]!r}.{nearest(unknown[0], known)} {takes}")
    return ArgumentError(f"{name}: {str(error).rstrip('.')}. {takes}")


def named_arguments(method: _Method) -> _Method:
    """Decorate a method: a wrong argument raises an error that names the class of the object.

    >>> class Base:
    ...     @named_arguments
    ...     def area(self, width, height): ...
    >>> class Square(Base): ...
    >>> Square().area(2, side=3)
    Traceback (most recent call last):
    mixkern.errors.ArgumentError: Square.area has no parameter 'side'. It takes width and height.
    """
    parameters = signature(method)

    @wraps(method)
    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        bound(parameters, method.__name__, self, args, kwargs)
        return method(self, *args, **kwargs)

    return cast(_Method, call)
