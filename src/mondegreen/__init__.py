"""Word-level metric differential privacy for text."""

from __future__ import annotations

from typing import TYPE_CHECKING

# Eager, and light: importing the package ``mondegreen.mechanisms`` binds its name
# here, where the public function of the same name must be.
from mondegreen import errors
from mondegreen.lazy import load_lazily
from mondegreen.mechanisms import mechanism, mechanisms, register

if TYPE_CHECKING:
    from mondegreen.attacks.context import ContextCertificate, certify_context
    from mondegreen.guarantee import Guarantee
    from mondegreen.language.store import load_language
    from mondegreen.privatizer.containers import privatize
    from mondegreen.privatizer.privatizer import Privatizer
    from mondegreen.privatizer.release import Release
    from mondegreen.prompts.conversation import Conversation, conversation
    from mondegreen.prompts.private_search import private_search
    from mondegreen.sampling.noise import KeyedNoise, OSNoise, Seeded
    from mondegreen.settings import Settings
    from mondegreen.space.space import Space
    from mondegreen.space.store import load_space

__version__ = "0.1.0"

__all__ = [
    "ContextCertificate",
    "Conversation",
    "Guarantee",
    "KeyedNoise",
    "OSNoise",
    "Privatizer",
    "Release",
    "Seeded",
    "Settings",
    "Space",
    "certify_context",
    "conversation",
    "errors",
    "load_language",
    "load_space",
    "mechanism",
    "mechanisms",
    "private_search",
    "privatize",
    "register",
]

_HOMES = {
    "ContextCertificate": "attacks.context",
    "Conversation": "prompts.conversation",
    "Guarantee": "guarantee",
    "KeyedNoise": "sampling.noise",
    "OSNoise": "sampling.noise",
    "Privatizer": "privatizer.privatizer",
    "Release": "privatizer.release",
    "Seeded": "sampling.noise",
    "Settings": "settings",
    "Space": "space.space",
    "certify_context": "attacks.context",
    "conversation": "prompts.conversation",
    "load_language": "language.store",
    "load_space": "space.store",
    "private_search": "prompts.private_search",
    "privatize": "privatizer.containers",
}

__getattr__, __dir__ = load_lazily(
    __name__,
    _HOMES,
    eager=["__version__", "errors", "mechanism", "mechanisms", "register"],
)
