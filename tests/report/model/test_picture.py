"""Pictures carry no name of the user's: these stand beside them."""

from matplotlib.text import Text

from mixkern.report.model.fact import ModelFacts
from mixkern.report.model.picture import confidence_picture, map_picture


def texts(figure):
    return " ".join(each.get_text() for each in figure.findobj(Text))


def test_names_are_in_the_key_and_not_in_the_picture(nasty):
    facts = ModelFacts.of(*nasty, "label")
    for picture in (map_picture(facts), confidence_picture(facts)):
        assert [each.text for each in picture.key] == list(facts.classes)
        for draw in (picture.draw, picture.draw_dark):
            assert "script" not in texts(draw().figure)


def test_light_and_dark_differ(facts):
    picture = map_picture(facts)
    assert picture.draw().figure.get_facecolor() != picture.draw_dark().figure.get_facecolor()
