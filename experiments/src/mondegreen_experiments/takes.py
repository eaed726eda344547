"""Which options of a call an experiment takes: one that it does not is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mondegreen.errors import ConfigurationError
from mondegreen_experiments.choices import Choices
from mondegreen_experiments.code import code_of, is_ours
from mondegreen_experiments.recipe import Recipe, Scale


def check_taken(
    recipes: Sequence[Recipe],
    scale: Scale,
    choices: Choices,
    tell: Callable[[str], object],
) -> None:
    """Refuse an option that no experiment takes; say which ones do not take it.

    Raises
    ------
    ConfigurationError
        If none of these experiments takes one of the options.
    """
    unused = [dict(list_unused(each, scale, choices)) for each in recipes]
    for option in dict.fromkeys(name for each in unused for name in each):
        lacking = [
            (recipe.name, each[option])
            for recipe, each in zip(recipes, unused, strict=True)
            if option in each
        ]
        told = "; ".join(f"{name} {why}" for name, why in lacking)
        if len(lacking) == len(recipes):
            raise ConfigurationError(f"{option} would change nothing: {told}")
        tell(f"{option} changes nothing for {told}")


def list_unused(
    recipe: Recipe, scale: Scale, choices: Choices
) -> Iterator[tuple[str, str]]:
    """Yield the options that a recipe of ours does not take, and what it takes.

    Which models it takes is read off its code. A recipe of another package may take
    any.
    """
    if not is_ours(recipe.measure.__module__):
        return
    code = code_of(recipe.measure)
    spaces = sorted(recipe.spaces_of(recipe.points[scale]))
    takes = f"takes {', '.join(spaces)} at {scale} scale"
    for name, _ in choices.spaces:
        if spaces and not any(f"{space}-".startswith(f"{name}-") for space in spaces):
            yield f"--space {name}", takes
    if choices.classifier and "chosen_classifier(" not in code:
        yield "--classifier", "takes no other classifier"
    if choices.sentence_model and "sentence_model(bench" not in code:
        yield "--sentence-model", "compares no texts with a model of sentences"
    reads = any(f"bench.{name}(" in code for name in ("labelled", "written"))
    if choices.preprocess and not reads:
        yield "--preprocess", "reads no texts"
