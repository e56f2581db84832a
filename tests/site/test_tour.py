"""The tour is of the sample: every story has its words, and nowhere but in the demo is there such an address."""

import pytest
from django.urls import NoReverseMatch, reverse

from checks.sample import STORIES
from taugrid_portal.demo.tour import WORDS


def test_every_story_has_a_title_and_one_sentence() -> None:
    assert list(WORDS) == list(STORIES)
    for title, sentence in WORDS.values():
        assert title and sentence.endswith(".") and ". " not in sentence


def test_outside_the_demo_there_is_no_tour() -> None:
    with pytest.raises(NoReverseMatch):
        reverse("tour")
